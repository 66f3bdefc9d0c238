//! prox, envelope, ρ and L_g of every penalty, on everything it can be lifted to.

use melmo::block::Layout;
use melmo::catalogue::{Addend, Arguments, Lift, PenaltyRow, penalties, sum};
use melmo::check;
use melmo::penalty::{Blocks, Prox};
use melmo::real::Real;
use melmo::seeded::Seeded;

use super::{assert_laws, cast, distance, norm, slack, thorough};

struct Subject<S> {
    name: String,
    g: Box<dyn Prox<S>>,
}

fn weights<S: Real>(n: usize) -> Vec<S> {
    (0..n).map(|i| S::of([1.0, 0.5, 0.0, 0.9][i % 4])).collect()
}

fn lifts<S: Real>(even: bool, size: usize) -> Vec<(&'static str, Lift<S>)> {
    let mut lifts = vec![("entries", Lift::Entries), ("weighted", Lift::Entries.weighted(weights(size)))];
    if even {
        lifts.extend([
            ("nonnegative", Lift::Nonnegative),
            ("nonnegative, weighted", Lift::Nonnegative.weighted(weights(size))),
            ("rows, weighted", Lift::Rows.weighted(weights(6))),
            ("columns, weighted", Lift::Columns.weighted(weights(8))),
            ("pixels, weighted", Lift::Pixels.weighted(weights(size / 2))),
            ("rows", Lift::Rows),
            ("columns", Lift::Columns),
            ("pixels", Lift::Pixels),
            ("groups", Lift::Groups(vec![vec![0, 5, 7], vec![1], vec![2, 3, 4]])),
            ("singular-values", Lift::SingularValues),
        ]);
    }
    lifts
}

/// Sums whose prox is known, a part after another.
fn sums<S: Real>(layout: &Layout) -> Vec<Subject<S>> {
    let addend = |name: &str, lift: Lift<S>| {
        let row = penalties::<S>().into_iter().find(|row| row.entry.name == name).unwrap();
        Addend { arguments: Arguments::defaults(&row.entry).unwrap(), row, lift }
    };
    let weighted = || Lift::Entries.weighted(weights(layout.size()));
    let all = [
        vec![addend("l1", Lift::Entries), addend("mcp", Lift::Entries)],
        vec![addend("l1", weighted()), addend("mcp", weighted()), addend("box", Lift::Entries)],
        vec![addend("elastic-net", Lift::Entries), addend("log-sum", Lift::Rows), addend("nonnegative", Lift::Entries)],
        vec![addend("l1", Lift::Entries), addend("l1", Lift::Pixels), addend("huber", Lift::Pixels)],
        vec![addend("ridge", Lift::Entries), addend("l1", Lift::SingularValues), addend("mcp", Lift::SingularValues)],
    ];
    let subject = |addends: &Vec<Addend<S>>| Subject {
        name: addends
            .iter()
            .map(|a| format!("{} on {}", a.row.entry.name, a.lift.name()))
            .collect::<Vec<_>>()
            .join(" + "),
        g: sum(addends, layout).unwrap().expect("a known prox"),
    };
    all.iter().map(subject).collect()
}

/// Every row on every lift, a weighted sum over blocks, and sums on the same entries.
fn subjects<S: Real>() -> Vec<Subject<S>> {
    let layout = Layout::new([("a", 3, 4), ("b", 3, 4)]).unwrap();
    let mut subjects = Vec::new();
    for PenaltyRow { entry, build, even } in penalties::<S>() {
        let arguments = Arguments::defaults(&entry).unwrap();
        for (lift_name, lift) in lifts(even, layout.size()) {
            let g = build(&arguments, &lift, &layout).unwrap();
            subjects.push(Subject { name: format!("{} on {lift_name}", entry.name), g });
        }
        let block = Layout::matrix(3, 4).unwrap();
        let parts = [("a", 0.5), ("b", 0.25)]
            .map(|(name, weight)| (name, weight, build(&arguments, &Lift::Entries, &block).unwrap()));
        let g = Box::new(Blocks::new(&layout, parts.into()).unwrap());
        subjects.push(Subject { name: format!("{} on blocks", entry.name), g });
    }
    subjects.extend(sums(&layout));
    assert!(subjects.len() >= 8 * 3 + 6 * 5);
    subjects
}

fn betas<S: Real>(g: &dyn Prox<S>) -> [f64; 3] {
    let limit = if g.weak_convexity() > 0.0 { 0.5 / g.weak_convexity() } else { 1.0 };
    [limit, 0.3 * limit, 0.02 * limit]
}

fn points<S: Real>(size: usize) -> Vec<Vec<S>> {
    let mut seeded = Seeded::new(11);
    let mut points: Vec<Vec<S>> =
        [0.2, 1.0, 4.0].iter().map(|scale| (0..size).map(|_| S::of(scale * seeded.normal())).collect()).collect();
    points.push(vec![S::ZERO; size]);
    points
}

struct Scratch<S>(Vec<S>);

impl<S: Real> Scratch<S> {
    fn of(g: &dyn Prox<S>) -> Self {
        Self(vec![S::ZERO; g.work_len()])
    }
}

/// prox, value, ρ, L_g and subgradients, near 0 and away from it.
fn obeys<S: Real>() {
    for Subject { name, g } in subjects::<S>() {
        for near in [vec![S::ZERO; g.size()], Seeded::new(4).normals(g.size())] {
            assert_laws(&name, check::penalty(&*g, &near, &thorough::<S>()));
        }
    }
}

#[test]
fn prox_rho_and_lipschitz_constant_f64() {
    obeys::<f64>();
}

#[test]
fn prox_rho_and_lipschitz_constant_f32() {
    obeys::<f32>();
}

/// Per coordinate, against a search that trusts no closed form.
#[test]
fn prox_of_one_number_agrees_with_brute_force() {
    let layout = Layout::vector(1).unwrap();
    for PenaltyRow { entry, build, .. } in penalties::<f64>() {
        let g = build(&Arguments::defaults(&entry).unwrap(), &Lift::Entries, &layout).unwrap();
        for beta in betas(&*g) {
            for step in -60..=60 {
                let u = f64::from(step) * 0.1037;
                let q = |z: f64| g.value(&[z], &mut []) + (u - z).powi(2) / (2.0 * beta);
                let grid = |centre: f64, width: f64| {
                    (-400..=400)
                        .map(|i| centre + width * f64::from(i) / 400.0)
                        .min_by(|a, b| q(*a).total_cmp(&q(*b)))
                        .unwrap()
                };
                let mut z = grid(0.0, 8.0);
                for width in [0.05, 1e-3, 2e-5, 1e-6] {
                    z = grid(z, width);
                }
                let mut found = [0.0];
                g.prox(&mut found, &[u], beta, &mut []);
                assert!((found[0] - z).abs() < 2e-6, "{} β={beta} u={u}: {} instead of {z}", entry.name, found[0]);
            }
        }
    }
}

/// g_β = g(z) + ‖u − z‖²/(2β), ∇g_β = (u − z)/β, and both agree with differences of g_β, one coordinate at a time.
fn envelope_is_the_envelope<S: Real>() {
    for Subject { name, g } in subjects::<S>() {
        let mut work = Scratch::of(&*g).0;
        for beta in betas(&*g) {
            for u in points::<S>(g.size()) {
                let (mut z, mut slope) = (vec![S::ZERO; g.size()], vec![S::ZERO; g.size()]);
                let g_z = g.prox(&mut z, &u, beta, &mut work);
                let envelope = g.moreau(&mut slope, &u, beta, &mut work);
                let value = g_z + distance(&u, &z).powi(2) / (2.0 * beta);
                let rounding = slack::<S>() * (1.0 + norm(&u) / beta);
                assert!(
                    (envelope.value - value).abs() <= rounding * (1.0 + value.abs()),
                    "{name}: {envelope:?} {value}"
                );
                assert!((envelope.gap(beta) - distance(&u, &z)).abs() <= beta * rounding, "{name}: gap");
                assert!((envelope.slope_squared.sqrt() - norm(&slope)).abs() <= rounding, "{name}: slope");
                for i in 0..u.len() {
                    let want = (u[i].f64() - z[i].f64()) / beta;
                    assert!((slope[i].f64() - want).abs() <= rounding, "{name} β={beta}: ∇{i} {} {want}", slope[i]);
                }
                if let Some(bound) = g.lipschitz() {
                    assert!(norm(&slope) <= bound * (1.0 + slack::<S>()), "{name}: ‖∇g_β‖ {} > {bound}", norm(&slope));
                }
            }
        }
    }
}

#[test]
fn envelope_is_the_envelope_f64() {
    envelope_is_the_envelope::<f64>();
}

#[test]
fn envelope_is_the_envelope_f32() {
    envelope_is_the_envelope::<f32>();
}

#[test]
fn envelope_gradient_agrees_with_differences() {
    for Subject { name, g } in subjects::<f64>() {
        let mut work = Scratch::of(&*g).0;
        let beta = betas(&*g)[1];
        for u in points::<f64>(g.size()) {
            let (mut slope, mut unused) = (vec![0.0; u.len()], vec![0.0; u.len()]);
            g.moreau(&mut slope, &u, beta, &mut work);
            for i in 0..u.len() {
                let h = 1e-6;
                let mut value = |shift: f64| {
                    let mut moved = u.clone();
                    moved[i] += shift;
                    g.moreau(&mut unused, &moved, beta, &mut work).value
                };
                let quotient = (value(h) - value(-h)) / (2.0 * h);
                // ∇g_β is max(1/β, ρ/(1−βρ))-Lipschitz, so a kink in between moves the quotient by at most h/β.
                let tolerance = 1e-8 * (1.0 + slope[i].abs()) / beta.min(1.0) + 2.0 * h / beta;
                assert!((quotient - slope[i]).abs() <= tolerance, "{name} β={beta} ∇{i}: {} {quotient}", slope[i]);
            }
        }
    }
}

/// 0.9ρ would not do: one coordinate shows it.
fn rho_is_needed<S: Real>() {
    for Subject { name, g } in subjects::<S>().into_iter().filter(|subject| subject.g.weak_convexity() > 0.0) {
        let (rho, n) = (g.weak_convexity(), g.size());
        let mut work = Scratch::of(&*g).0;
        let mut excess = |a: &[S], b: &[S]| {
            let middle: Vec<S> = a.iter().zip(b).map(|(&a, &b)| (a + b) * S::of(0.5)).collect();
            let ends = 0.5 * (g.value(a, &mut work) + g.value(b, &mut work));
            g.value(&middle, &mut work) - ends - 0.9 * rho / 8.0 * distance(a, b).powi(2)
        };
        let violated = (0..n).any(|i| {
            [(0.001, 0.03), (0.3, 0.9), (1.3, 2.1)].into_iter().any(|(from, to)| {
                let at = |v: f64| -> Vec<S> { (0..n).map(|j| S::of(if i == j { v } else { 0.0 })).collect() };
                excess(&at(from), &at(to)) > 0.01 * rho * (to - from) * (to - from) / 8.0
            })
        });
        assert!(violated, "{name}: 0.9ρ = {} would be enough", 0.9 * rho);
    }
}

#[test]
fn rho_is_needed_f64() {
    rho_is_needed::<f64>();
}

#[test]
fn rho_is_needed_f32() {
    rho_is_needed::<f32>();
}

#[test]
fn single_precision_follows_double() {
    for (Subject { name, g }, Subject { g: single, .. }) in subjects::<f64>().into_iter().zip(subjects::<f32>()) {
        let (mut work, mut work32) = (Scratch::of(&*g).0, Scratch::of(&*single).0);
        let beta = betas(&*g)[1];
        for u in points::<f64>(g.size()) {
            let (mut slope, mut slope32) = (vec![0.0; u.len()], vec![0.0f32; u.len()]);
            let envelope = g.moreau(&mut slope, &u, beta, &mut work);
            let envelope32 = single.moreau(&mut slope32, &cast::<f64, f32>(&u), beta, &mut work32);
            let tolerance = 1e-4 * (1.0 + norm(&u) / beta);
            assert!(distance(&slope, &cast::<f32, f64>(&slope32)) <= tolerance, "{name}");
            assert!((envelope.value - envelope32.value).abs() <= tolerance * (1.0 + envelope.value), "{name}");
        }
    }
}
