//! The laws of a loss: values that are numbers, ∇f against central differences, L_f.

use crate::check::law::Law;
use crate::check::points::{around, coordinates, difference, distance, moved, scale, unit};
use crate::check::{Finding, Options, Term};
use crate::real::Real;
use crate::seeded::Seeded;
use crate::smooth::Smooth;
use crate::vector::{dot, norm_inf, norm2};

/// Steps of the differences, in multiples of the size of x. The best of them is believed.
const STEPS: [f64; 6] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6];
/// Coordinates that are tried at a point.
const COORDINATES: usize = 4;
/// Steps towards the direction in which ∇f changes most.
const POWER: usize = 8;

/// Checks f at and around `near`. Where f is not finite away from `near`, nothing is said.
pub fn loss<S: Real>(f: &dyn Smooth<S>, near: &[S], options: &Options) -> Vec<Finding<S>> {
    let mut seeded = Seeded::new(options.seed);
    let n = near.len();
    let mut coordinates = coordinates(n);
    let mut finite = Law::new(Term::F, "finite", "|f(x)| + ‖∇f(x)‖ < ∞ at the start");
    let mut gradient = Law::new(Term::F, "gradient", "(f(x + hd) − f(x − hd))/2h = ⟨∇f(x), d⟩");
    let mut lipschitz = Law::new(Term::F, "Lipschitz constant", "‖∇f(x) − ∇f(y)‖ ≤ L_f‖x − y‖");
    for (i, x) in around(near, options.probes, &mut seeded).iter().enumerate() {
        let (value, grad) = evaluate(f, x);
        let size = value.abs() + norm2(&grad);
        if i == 0 {
            finite.at_most(size, f64::MAX, f64::EPSILON, || vec![("x", x.clone())]);
        }
        if !size.is_finite() {
            continue;
        }
        let mut directions = vec![grad.clone(), seeded.normals(n)];
        directions.extend(coordinates.by_ref().take(COORDINATES.min(options.probes)).map(|i| unit(n, i)));
        for d in directions {
            slope(f, x, &grad, d, options, &mut gradient);
        }
        if let Some(most) = f.lipschitz() {
            steepest(f, x, &grad, most, seeded.normals(n), options, &mut lipschitz);
        }
    }
    let stated = f.lipschitz().map(|_| lipschitz.done());
    [finite.done(), gradient.done()].into_iter().chain(stated).collect()
}

fn evaluate<S: Real>(f: &dyn Smooth<S>, x: &[S]) -> (f64, Vec<S>) {
    let (mut grad, mut work) = (vec![S::of(f64::NAN); x.len()], vec![S::of(f64::NAN); f.work_len()]);
    (f.value_grad(&mut grad, x, &mut work), grad)
}

/// f's slope along d by differences of several steps h, the largest entry of hd a share of x. A step is trusted as far as
/// the two before agree with it: too long, and f bends; too short, and its last digits count. (One may agree by chance, where f is
/// made of pieces.)
fn slope<S: Real>(f: &dyn Smooth<S>, x: &[S], grad: &[S], d: Vec<S>, options: &Options, law: &mut Law<S>) {
    let largest = norm_inf(&d);
    if largest == 0.0 || !largest.is_finite() {
        return;
    }
    let mut best = [f64::NAN, f64::NAN, f64::INFINITY];
    let mut before = [f64::NAN; 2];
    for step in STEPS {
        let h = step * scale(x) / largest;
        let (after, behind) = (moved(x, h, &d), moved(x, -h, &d));
        let (above, below) = (evaluate(f, &after).0, evaluate(f, &behind).0);
        // What was really moved, after rounding.
        let moved: Vec<f64> = difference(&after, &behind);
        let grad: Vec<f64> = grad.iter().map(|v| v.f64()).collect();
        let (left, right) = ((above - below) / (2.0 * h), dot(&grad, &moved) / (2.0 * h));
        let rounding = 16.0 * S::EPSILON * (above.abs() + below.abs()) / (2.0 * h);
        let apart = before.map(|before| (left - right - before).abs());
        let trust = 2.0 * (apart[0] + apart[1]) + rounding;
        if trust < best[2] {
            best = [left, right, trust];
        }
        before = [before[1], left - right];
    }
    let [left, right, trust] = best;
    if !trust.is_finite() {
        return; // f is not finite on both sides, whatever the step
    }
    // Where ∇f nearly vanishes it is what rounding of x leaves.
    let rounding = 16.0 * S::EPSILON * f.lipschitz().unwrap_or(0.0) * norm2(x);
    let slack = trust + (10.0 * options.tolerance::<S>() * norm2(grad) + rounding) * norm2(&d);
    law.equal(left, right, slack, || vec![("x", x.to_vec()), ("d", d)]);
}

/// Follows the change of ∇f to the direction in which it is largest, as the power method does, and compares with L_f on
/// the way.
fn steepest<S: Real>(
    f: &dyn Smooth<S>,
    x: &[S],
    grad: &[S],
    most: f64,
    mut d: Vec<S>,
    options: &Options,
    law: &mut Law<S>,
) {
    for _ in 0..POWER {
        let length = norm2(&d);
        if !(length > 0.0 && length.is_finite()) {
            return;
        }
        let y = moved(x, scale(x) * (x.len() as f64).sqrt() / length, &d);
        let (value, there) = evaluate(f, &y);
        if !value.is_finite() {
            return;
        }
        let (change, apart) = (distance(&there, grad), distance(&y, x));
        let rounding = 16.0 * S::EPSILON * (norm2(&there) + norm2(grad));
        let slack = options.tolerance::<S>() * most * apart + rounding;
        law.at_most(change, most * apart, slack, || vec![("x", x.to_vec()), ("y", y)]);
        d = there.iter().zip(grad).map(|(&a, &b)| a - b).collect();
    }
}
