//! The laws of a penalty: those along segments, and what its prox and its subgradients are by definition.

use crate::check::convexity::{Along, Values, along};
use crate::check::law::Law;
use crate::check::points::{around, coordinates, difference, distance, moved, scale, unit};
use crate::check::{Finding, Options, Term};
use crate::penalty::Prox;
use crate::real::Real;
use crate::seeded::Seeded;
use crate::vector::{dot, norm2};

/// β in multiples of its limit.
const BETAS: [f64; 3] = [1.0, 0.3, 0.02];
/// Steps from z towards u; 1 is u itself.
const TOWARDS: [f64; 5] = [-0.1, 0.01, 0.1, 0.5, 1.0];
/// Multiples of z.
const MULTIPLES: [f64; 6] = [0.0, 0.9, 0.99, 1.01, 1.1, 2.0];
/// Steps along a coordinate or a random direction, in multiples of the size of u.
const STEPS: [f64; 6] = [1.0, 0.1, 1e-2, -1e-2, -0.1, -1.0];
/// What z may be off by, in tolerances of u; a hundredth at most.
const INEXACT: f64 = 1000.0;
/// Coordinates that are tried at a point.
const COORDINATES: usize = 4;

/// Checks g at and around `near`, which is Tx for some x.
pub fn penalty<S: Real>(g: &dyn Prox<S>, near: &[S], options: &Options) -> Vec<Finding<S>> {
    let mut values = Values { g, work: vec![S::of(f64::NAN); g.work_len()] };
    let Along { mut findings, rho, enough } = along(&mut values, near, options);
    findings.extend(proximal(&mut values, near, rho, enough, options));
    if options.subgradients && enough {
        findings.push(subgradient(&mut values, near, rho, options));
    }
    findings
}

/// z = prox_{βg}(u) minimises Q(v) = g(v) + ‖v − u‖²/(2β), which is (1/β − ρ)-strongly convex; so Q(v) exceeds Q(z) by
/// (1/β − ρ)/2·‖v − z‖² at least. A wrong ρ is not blamed on the prox: `rho` is then what segments ask for, it limits β
/// and no growth is demanded.
fn proximal<S: Real>(g: &mut Values<'_, S>, near: &[S], rho: f64, enough: bool, options: &Options) -> [Finding<S>; 2] {
    let mut value = Law::new(Term::G, "value at the prox", "the value that prox returns = g(z)");
    let mut least = Law::new(Term::G, "prox", "Q(z) + (1/β − ρ)/2·‖v − z‖² ≤ Q(v) = g(v) + ‖v − u‖²/(2β)");
    let limit = if rho > 0.0 { 0.5 / rho } else { 1.0 };
    let mut seeded = Seeded::new(options.seed + 5);
    let mut coordinates = coordinates(near.len());
    // A first look has three places, and tries every β at each: one may hide a prox that forgets it.
    let betas = |i: usize| if options.probes == 0 { &BETAS[..] } else { &BETAS[i % BETAS.len()..][..1] };
    let places = places(near, options, &mut seeded);
    let tries = places.iter().enumerate().flat_map(|(i, u)| betas(i).iter().map(move |share| (u, share * limit)));
    for (u, beta) in tries {
        let mut z = vec![S::of(f64::NAN); u.len()];
        let returned = g.g.prox(&mut z, u, beta, &mut g.work);
        let at_z = g.at(&z);
        let witness = || vec![("u", u.clone()), ("z", z.clone()), ("β", vec![S::of(beta)])];
        value.equal(returned, at_z, options.tolerance::<S>() * (at_z.abs() + returned.abs()), witness);
        let squares = |v: &[S]| distance(v, u).powi(2) / (2.0 * beta);
        let (fit, slope) = (squares(&z), distance(u, &z) / beta);
        if !(at_z + fit).is_finite() {
            least.at_most(at_z + fit, f64::MAX, 1.0, witness);
            least.advise("g(prox(u)) is ∞ or no number: let the value allow for rounding".into());
            continue;
        }
        let entries = coordinates.by_ref().take(COORDINATES.min(options.probes));
        candidates(u, &z, entries, &mut seeded, |v| {
            let (at_v, of_v) = (g.at(&v), squares(&v));
            if !(at_v + of_v).is_finite() {
                return; // outside the domain
            }
            let growth = if enough { 0.5 * (1.0 / beta - rho) * distance(&v, &z).powi(2) } else { 0.0 };
            // Values are rounded, and so is z, on a function of this slope; and a prox that is computed to a tolerance, or a value that
            // allows for one, is off by a little more.
            let size = at_z.abs() + at_v.abs() + fit + of_v + slope * norm2(&z);
            let off = (INEXACT * options.tolerance::<S>()).min(1e-2) * norm2(u);
            let curved = (1.0 / beta - rho).max(0.0);
            let slack = options.tolerance::<S>() * size + curved * off * (distance(&v, &z) + 0.5 * off);
            least.at_most(at_z + fit + growth, at_v + of_v, slack, || {
                vec![("u", u.clone()), ("z", z.clone()), ("v", v), ("β", vec![S::of(beta)])]
            });
        });
    }
    [value.done(), least.done()]
}

/// 0, `near`, and points around it and around 0; one around it for a first look.
fn places<S: Real>(near: &[S], options: &Options, seeded: &mut Seeded) -> Vec<Vec<S>> {
    let (n, size) = (near.len(), scale(near));
    let mut places = around(near, options.probes, seeded);
    let spread = [0.05, 0.6, 4.0].into_iter().take(options.probes);
    places.extend(spread.map(|share| moved(&vec![S::ZERO; n], share * size, &seeded.normals(n))));
    places.push(vec![S::ZERO; n]);
    if options.probes == 0 {
        // A prox that is 0 everywhere is right where a run that trusted it has ended.
        places.push(moved(near, size, &seeded.normals(n)));
    }
    places
}

/// Tries what might be better than z, one after another: the way to u, multiples of z, noise, single entries moved or set
/// to 0 or to u's.
fn candidates<S: Real>(
    u: &[S],
    z: &[S],
    entries: impl Iterator<Item = usize>,
    seeded: &mut Seeded,
    mut consider: impl FnMut(Vec<S>),
) {
    let (n, size) = (u.len(), scale(u));
    let towards: Vec<S> = difference(u, z).into_iter().map(S::of).collect();
    TOWARDS.iter().for_each(|&t| consider(moved(z, t, &towards)));
    MULTIPLES.iter().for_each(|&t| consider(moved(z, t - 1.0, z)));
    [1e-3, 0.1].iter().for_each(|step| consider(moved(z, step * size, &seeded.normals(n))));
    for i in entries {
        let e = unit::<S>(n, i);
        let ends = [-z[i].f64(), u[i].f64() - z[i].f64()];
        STEPS.iter().map(|step| step * size).chain(ends).for_each(|h| consider(moved(z, h, &e)));
    }
}

/// w ∈ ∂g(u): g(v) ≥ g(u) + ⟨w, v − u⟩ − ρ/2·‖v − u‖².
fn subgradient<S: Real>(g: &mut Values<'_, S>, near: &[S], rho: f64, options: &Options) -> Finding<S> {
    let mut law = Law::new(Term::G, "subgradient", "g(u) + ⟨w, v − u⟩ − ρ/2·‖v − u‖² ≤ g(v)");
    let mut seeded = Seeded::new(options.seed + 6);
    let mut coordinates = coordinates(near.len());
    for u in places(near, options, &mut seeded) {
        let mut w = vec![S::of(f64::NAN); u.len()];
        let at_u = g.g.subgradient(&mut w, &u, &mut g.work);
        if at_u == f64::INFINITY {
            continue;
        }
        let slopes: Vec<f64> = w.iter().map(|v| v.f64()).collect();
        let entries = coordinates.by_ref().take(COORDINATES.min(options.probes));
        candidates(&u, &u, entries, &mut seeded, |v| {
            let (at_v, step) = (g.at(&v), difference(&v, &u));
            let bound = at_u + dot(&slopes, &step) - 0.5 * rho * dot(&step, &step);
            let size = at_u.abs() + norm2(&slopes) * (norm2(&step) + norm2(&u));
            law.at_most(bound, at_v, options.tolerance::<S>() * size, || {
                vec![("u", u.clone()), ("w", w.clone()), ("v", v)]
            });
        });
    }
    law.done()
}
