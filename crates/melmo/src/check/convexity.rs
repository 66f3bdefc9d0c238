//! g along segments: its value, ρ, L_g.
//!
//! g + ρ/2·‖·‖² is convex, so g at the middle of a segment is at most the mean of its ends and ρ/8·‖a − b‖². Turned round,
//! every segment tells how large ρ has to be at least.

use crate::check::law::Law;
use crate::check::points::{coordinates, distance, moved, scale, unit};
use crate::check::{Finding, Options, Term};
use crate::penalty::Prox;
use crate::real::Real;
use crate::seeded::Seeded;

/// Lengths of the segments, in multiples of the size of u: thresholds of a penalty may be anywhere.
const LENGTHS: [f64; 7] = [1.0, 1e-4, 1e-3, 1e-2, 1e-1, 10.0, 100.0];
/// Where a segment begins and ends, in multiples of its length.
const SEGMENTS: [(f64, f64); 4] = [(0.0, 1.0), (1.0, 3.0), (3.0, 10.0), (-1.0, 1.0)];
/// How often a segment is halved in search of the largest curvature.
const HALVINGS: usize = 20;

/// g with scratch of its own.
pub(super) struct Values<'a, S> {
    pub g: &'a dyn Prox<S>,
    pub work: Vec<S>,
}

impl<S: Real> Values<'_, S> {
    pub fn at(&mut self, u: &[S]) -> f64 {
        self.g.value(u, &mut self.work)
    }
}

/// A segment with g at its ends and in its middle.
struct Segment<S> {
    a: Vec<S>,
    b: Vec<S>,
    middle: Vec<S>,
    /// g(a), g(m), g(b).
    values: [f64; 3],
}

impl<S: Real> Segment<S> {
    fn new(a: Vec<S>, b: Vec<S>, g: &mut Values<'_, S>) -> Self {
        let middle: Vec<S> = a.iter().zip(&b).map(|(a, b)| S::of(0.5 * (a.f64() + b.f64()))).collect();
        let values = [g.at(&a), g.at(&middle), g.at(&b)];
        Self { a, b, middle, values }
    }

    fn size(&self) -> f64 {
        self.values.iter().map(|v| v.abs()).sum()
    }

    /// How far the middle lies above the mean of the ends.
    fn bulge(&self) -> f64 {
        self.values[1] - 0.5 * (self.values[0] + self.values[2])
    }

    /// The least ρ that allows it; 0 where rounding alone may have made it.
    fn needs(&self) -> f64 {
        let rounding = 1e3 * S::EPSILON * self.size();
        if self.bulge() > rounding { 8.0 * self.bulge() / distance(&self.a, &self.b).powi(2) } else { 0.0 }
    }
}

/// What was found along segments, the ρ that is stated or that they ask for, and whether the stated one was enough.
pub(super) struct Along<S> {
    pub findings: Vec<Finding<S>>,
    pub rho: f64,
    pub enough: bool,
}

/// Checks g's value, ρ and L_g along segments through 0 and through `near`.
pub(super) fn along<S: Real>(g: &mut Values<'_, S>, near: &[S], options: &Options) -> Along<S> {
    let (rho, most, tolerance) = (g.g.weak_convexity(), g.g.lipschitz(), options.tolerance::<S>());
    let mut value = Law::new(Term::G, "value", "g(u) is a number or ∞");
    let mut convex = Law::new(Term::G, "weak convexity", "g((a + b)/2) ≤ (g(a) + g(b))/2 + ρ/8·‖a − b‖²");
    let mut lipschitz = Law::new(Term::G, "Lipschitz constant", "|g(a) − g(b)| ≤ L_g‖a − b‖");
    let mut worst: Option<(f64, Segment<S>)> = None;
    let zero = vec![S::ZERO; near.len()];
    for (a, b) in segments(&zero, near, options) {
        let segment = Segment::new(a, b, g);
        let [at_a, at_m, at_b] = segment.values;
        let bad = segment.values.iter().position(|v| v.is_nan() || *v == f64::NEG_INFINITY);
        let at = [&segment.a, &segment.middle, &segment.b][bad.unwrap_or(1)];
        value.at_most(bad.map_or(0.0, |i| segment.values[i].abs()), 0.0, 1.0, || vec![("u", at.clone())]);
        // Outside the domain nothing is asked.
        if bad.is_some() || at_a.is_infinite() || at_b.is_infinite() {
            continue;
        }
        let apart = distance(&segment.a, &segment.b);
        let slack = tolerance * (at_a.abs() + at_b.abs() + if at_m.is_finite() { at_m.abs() } else { 0.0 });
        let pair = || vec![("a", segment.a.clone()), ("b", segment.b.clone())];
        convex.at_most(at_m, 0.5 * (at_a + at_b) + rho / 8.0 * apart * apart, slack, pair);
        if let Some(most) = most {
            lipschitz.at_most((at_a - at_b).abs(), most * apart, slack + tolerance * most * apart, pair);
        }
        let needs = segment.needs();
        if needs.is_finite() && worst.as_ref().is_none_or(|(least, _)| needs > *least) {
            worst = Some((needs, segment));
        }
    }
    let (mut needed, enough) = (rho, convex.holds());
    if !enough && let Some((_, segment)) = worst {
        let (found, growing) = sharpen(segment, g);
        needed = found.max(rho);
        convex.advise(advice(rho, found, growing));
    }
    let stated = most.map(|_| lipschitz.done());
    Along { findings: [value.done(), convex.done()].into_iter().chain(stated).collect(), rho: needed, enough }
}

/// A line of segments: where it begins, its direction, its length.
struct Line<'a, S> {
    base: &'a [S],
    direction: Vec<S>,
    length: f64,
}

impl<S: Real> Line<'_, S> {
    fn at(&self, share: f64) -> Vec<S> {
        moved(self.base, share * self.length, &self.direction)
    }
}

/// Along single entries and along all of them, from `zero` and from `near`, one after another.
fn segments<'a, S: Real>(
    zero: &'a [S],
    near: &'a [S],
    options: &Options,
) -> impl Iterator<Item = (Vec<S>, Vec<S>)> + use<'a, S> {
    let mut seeded = Seeded::new(options.seed + 4);
    let (n, size) = (near.len(), scale(near));
    let lines = coordinates(n).take(options.probes.div_ceil(2).max(1)).enumerate().flat_map(move |(i, entry)| {
        let direction = if i % 2 == 0 { unit(n, entry) } else { seeded.normals(n) };
        let base = if i % 4 < 2 { zero } else { near };
        let size = if i % 8 < 4 { size } else { -size };
        LENGTHS.map(|length| Line { base, direction: direction.clone(), length: size * length })
    });
    lines.flat_map(|line| SEGMENTS.map(|(from, to)| (line.at(from), line.at(to))))
}

/// Halves a segment as long as a part of it asks for a larger ρ; whether it still grew at the end.
fn sharpen<S: Real>(mut segment: Segment<S>, g: &mut Values<'_, S>) -> (f64, bool) {
    let mut needed = segment.needs();
    let mut growing = false;
    for _ in 0..HALVINGS {
        let half =
            |a: &[S], b: &[S]| -> Vec<S> { a.iter().zip(b).map(|(a, b)| S::of(0.5 * (a.f64() + b.f64()))).collect() };
        let (before, after) = (half(&segment.a, &segment.middle), half(&segment.middle, &segment.b));
        let parts =
            [(segment.a.clone(), segment.middle.clone()), (before, after), (segment.middle.clone(), segment.b.clone())];
        let parts = parts.map(|(a, b)| Segment::new(a, b, g));
        let best = parts.into_iter().max_by(|p, q| p.needs().total_cmp(&q.needs()));
        let Some(best) = best.filter(|part| part.needs().is_finite() && part.needs() > needed) else { break };
        growing = best.needs() > 1.5 * needed;
        needed = best.needs();
        segment = best;
    }
    (needed, growing)
}

fn advice(rho: f64, needed: f64, growing: bool) -> String {
    let stated = if rho == 0.0 {
        "no weak convexity is stated: g is taken for convex, and is not".to_string()
    } else {
        format!("ρ = {rho} is stated, which is too small")
    };
    let asked = match (needed > rho, growing) {
        (true, false) => format!("; these points ask for ρ of {needed:.4} at least"),
        (true, true) => {
            format!(
                "; ρ of {needed:.4} would not be enough, and shorter segments ask for more: g may not be weakly convex"
            )
        }
        (false, _) => String::new(),
    };
    stated + &asked
}
