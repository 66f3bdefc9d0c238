//! The laws of an operator: linearity, its adjoint, the bound on its norm, its right inverse.

use crate::check::law::Law;
use crate::check::points::{coordinates, distance, unit};
use crate::check::{Finding, Options, Term};
use crate::operator::{LinOp, RightInverse};
use crate::real::Real;
use crate::seeded::Seeded;
use crate::vector::{dot, norm2};

/// Steps of the power method towards ‖T‖.
const POWER: usize = 40;

/// Checks T.
pub fn operator<S: Real>(t: &dyn LinOp<S>, options: &Options) -> Vec<Finding<S>> {
    let mut findings = vec![linear(t, options), adjoint(t, options), added(t, options), bound(t, options)];
    findings.extend(t.right_inverse().map(|inverse| right_inverse(t, inverse, options)).into_iter().flatten());
    findings
}

/// Scratch and results start as NaN: nobody may count on what they hold.
fn nan<S: Real>(len: usize) -> Vec<S> {
    vec![S::of(f64::NAN); len]
}

fn apply<S: Real>(t: &dyn LinOp<S>, x: &[S]) -> Vec<S> {
    let mut y = nan(t.range().size());
    t.apply(&mut y, x, &mut nan(t.work_len()));
    y
}

fn pull<S: Real>(t: &dyn LinOp<S>, y: &[S]) -> Vec<S> {
    let mut x = vec![S::ZERO; t.domain().size()];
    t.adjoint_add(&mut x, y, &mut nan(t.work_len()));
    x
}

fn linear<S: Real>(t: &dyn LinOp<S>, options: &Options) -> Finding<S> {
    let mut law = Law::new(Term::T, "linear", "‖T(2a − 3b) − 2Ta + 3Tb‖ ≤ 0");
    let mut seeded = Seeded::new(options.seed);
    let combine =
        |a: &[S], b: &[S]| -> Vec<S> { a.iter().zip(b).map(|(a, b)| S::of(2.0 * a.f64() - 3.0 * b.f64())).collect() };
    for _ in 0..options.probes.div_ceil(4) {
        let [a, b] = [0, 1].map(|_| seeded.normals::<S>(t.domain().size()));
        let (of_a, of_b) = (apply(t, &a), apply(t, &b));
        let off = distance(&apply(t, &combine(&a, &b)), &combine(&of_a, &of_b));
        let slack = options.tolerance::<S>() * (norm2(&of_a) + norm2(&of_b));
        law.at_most(off, 0.0, slack, || vec![("a", a), ("b", b)]);
    }
    law.done()
}

/// Random x with y = Tx and with random y; unit vectors, where an error at a border shows: ‖Te‖² = ⟨e, T*Te⟩.
fn adjoint<S: Real>(t: &dyn LinOp<S>, options: &Options) -> Finding<S> {
    let mut law = Law::new(Term::T, "adjoint", "⟨Tx, y⟩ = ⟨x, T*y⟩");
    let mut seeded = Seeded::new(options.seed + 1);
    let (n, m) = (t.domain().size(), t.range().size());
    let mut compare = |x: Vec<S>, tx: &[S], y: Vec<S>, pulled: &[S]| {
        let slack = options.tolerance::<S>() * (norm2(tx) * norm2(&y) + norm2(&x) * norm2(pulled));
        law.equal(dot(tx, &y), dot(&x, pulled), slack, || vec![("x", x), ("y", y)]);
    };
    for (i, j) in coordinates(n).zip(coordinates(m)).take(options.probes.max(1)) {
        for x in [seeded.normals(n), unit(n, i)] {
            let y = apply(t, &x);
            let pulled = pull(t, &y);
            compare(x, &y.clone(), y, &pulled);
        }
        let (x, y) = (seeded.normals::<S>(n), seeded.normals::<S>(m));
        compare(x.clone(), &apply(t, &x), y.clone(), &pull(t, &y));
        let y = unit(m, j);
        let x = pull(t, &y);
        compare(x.clone(), &apply(t, &x), y, &x);
    }
    law.done()
}

/// T*y is added to what is there, not put in its place.
fn added<S: Real>(t: &dyn LinOp<S>, options: &Options) -> Finding<S> {
    let mut law = Law::new(Term::T, "adjoint is added", "‖(x ← x + T*y) − x − T*y‖ ≤ 0");
    let mut seeded = Seeded::new(options.seed + 7);
    let (x, y) = (seeded.normals::<S>(t.domain().size()), seeded.normals::<S>(t.range().size()));
    let (mut sum, pulled) = (x.clone(), pull(t, &y));
    t.adjoint_add(&mut sum, &y, &mut nan(t.work_len()));
    let off =
        norm2(&sum.iter().zip(&x).zip(&pulled).map(|((s, x), p)| s.f64() - x.f64() - p.f64()).collect::<Vec<_>>());
    let slack = options.tolerance::<S>() * (norm2(&x) + norm2(&pulled));
    law.at_most(off, 0.0, slack, || vec![("x", x), ("y", y)]);
    law.done()
}

fn bound<S: Real>(t: &dyn LinOp<S>, options: &Options) -> Finding<S> {
    let mut law = Law::new(Term::T, "norm bound", "‖Tx‖ ≤ norm_bound·‖x‖");
    let most = t.norm_bound();
    let mut largest = 0.0f64;
    let mut x: Vec<S> = Seeded::new(options.seed + 2).normals(t.domain().size());
    for _ in 0..POWER.min(10 * options.probes) {
        let length = norm2(&x);
        if !(length > 0.0 && length.is_finite()) {
            break;
        }
        x.iter_mut().for_each(|v| *v = S::of(v.f64() / length));
        let (tx, size) = (apply(t, &x), norm2(&x));
        let found = norm2(&tx);
        largest = largest.max(found / size);
        let slack = options.tolerance::<S>() * (most * size).abs();
        law.at_most(found, most * size, slack, || vec![("x", x.clone())]);
        x = pull(t, &tx);
    }
    if !law.holds() {
        law.advise(format!("‖T‖ is at least {largest:.6}"));
    }
    law.done()
}

fn right_inverse<S: Real>(t: &dyn LinOp<S>, inverse: &dyn RightInverse<S>, options: &Options) -> [Finding<S>; 2] {
    let mut inverts = Law::new(Term::T, "right inverse", "‖T(Ry) − y‖ ≤ 0");
    let mut sigma = Law::new(Term::T, "smallest singular value", "‖Ry‖ ≤ ‖y‖/sigma_min");
    let mut seeded = Seeded::new(options.seed + 3);
    let tolerance = options.tolerance::<S>();
    let m = t.range().size();
    for i in coordinates(m).take(options.probes) {
        for y in [seeded.normals(m), unit(m, i)] {
            let mut x = nan(t.domain().size());
            inverse.right_inverse(&mut x, &y, &mut nan(t.work_len()));
            let (size, length, most) = (norm2(&y), norm2(&x), norm2(&y) / inverse.sigma_min());
            let off = distance(&apply(t, &x), &y);
            inverts.at_most(off, 0.0, tolerance * (size + t.norm_bound() * length), || vec![("y", y.clone())]);
            sigma.at_most(length, most, tolerance * most, || vec![("y", y)]);
        }
    }
    [inverts.done(), sigma.done()]
}
