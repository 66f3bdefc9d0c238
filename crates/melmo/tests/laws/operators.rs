//! Adjoint, norm bound and right inverse of every operator.

use melmo::catalogue::{Arguments, operators};
use melmo::operator::LinOp;
use melmo::real::Real;
use melmo::seeded::Seeded;

use crate::{cast, distance, dot, norm, slack};

fn subjects<S: Real>() -> Vec<(String, Box<dyn LinOp<S>>)> {
    let mut subjects = Vec::new();
    for row in operators::<S>() {
        for example in (row.examples)(8) {
            let arguments = Arguments::new(&row.entry, example.given).unwrap();
            let operator = (row.build)(&arguments, example.inputs).unwrap();
            subjects.push((format!("{}: {}", row.entry.name, example.about), operator));
        }
    }
    assert!(subjects.len() >= 12);
    subjects
}

fn apply<S: Real>(t: &dyn LinOp<S>, x: &[S]) -> Vec<S> {
    // Whatever stands in the output and the scratch must not matter.
    let (mut y, mut work) = (vec![S::of(7.0); t.range().size()], vec![S::of(-3.0); t.work_len()]);
    t.apply(&mut y, x, &mut work);
    y
}

fn adjoint_and_bound<S: Real>() {
    for (name, t) in subjects::<S>() {
        let mut seeded = Seeded::new(1);
        for _ in 0..20 {
            let x: Vec<S> = seeded.normals(t.domain().size());
            let p: Vec<S> = seeded.normals(t.range().size());
            let tx = apply(&*t, &x);
            let base: Vec<S> = seeded.normals(x.len());
            let (mut added, mut work) = (base.clone(), vec![S::of(5.0); t.work_len()]);
            t.adjoint_add(&mut added, &p, &mut work);
            let pulled: Vec<S> = added.iter().zip(&base).map(|(&a, &b)| a - b).collect();
            let scale = norm(&x) * norm(&p) * (1.0 + t.norm_bound());
            let (left, right) = (dot(&tx, &p), dot(&x, &pulled));
            assert!((left - right).abs() <= slack::<S>() * scale, "{name}: ⟨Tx,p⟩ {left}, ⟨x,T*p⟩ {right}");
            assert!(norm(&tx) <= t.norm_bound() * norm(&x) * (1.0 + slack::<S>()), "{name}: ‖Tx‖ exceeds the bound");
        }
    }
}

#[test]
fn adjoint_and_bound_f64() {
    adjoint_and_bound::<f64>();
}

#[test]
fn adjoint_and_bound_f32() {
    adjoint_and_bound::<f32>();
}

/// The bound also holds where random vectors rarely look: at the end of a power iteration on T*T.
#[test]
fn norm_bound_holds_for_the_leading_direction() {
    for (name, t) in subjects::<f64>() {
        let mut x: Vec<f64> = Seeded::new(21).normals(t.domain().size());
        let mut work = vec![0.0; t.work_len()];
        let mut ratio = 0.0;
        for _ in 0..200 {
            let length = norm(&x);
            x.iter_mut().for_each(|v| *v /= length);
            let tx = apply(&*t, &x);
            ratio = norm(&tx);
            x.fill(0.0);
            t.adjoint_add(&mut x, &tx, &mut work);
        }
        assert!(ratio <= t.norm_bound() * (1.0 + 1e-12), "{name}: ‖T‖ ≥ {ratio} > {}", t.norm_bound());
    }
}

fn right_inverse<S: Real>() {
    let mut seen = 0;
    for (name, t) in subjects::<S>() {
        let Some(inverse) = t.right_inverse() else { continue };
        seen += 1;
        let mut seeded = Seeded::new(6);
        for _ in 0..10 {
            let y: Vec<S> = seeded.normals(t.range().size());
            let (mut x, mut work) = (vec![S::of(9.0); t.domain().size()], vec![S::of(9.0); t.work_len()]);
            inverse.right_inverse(&mut x, &y, &mut work);
            let back = apply(&*t, &x);
            assert!(distance(&back, &y) <= 10.0 * slack::<S>() * norm(&y), "{name}: T(Ry) is not y");
            assert!(norm(&x) <= norm(&y) / inverse.sigma_min() * (1.0 + slack::<S>()), "{name}: σ_min is too large");
        }
    }
    assert!(seen >= 6, "{seen} operators have a right inverse");
}

#[test]
fn right_inverse_f64() {
    right_inverse::<f64>();
}

#[test]
fn right_inverse_f32() {
    right_inverse::<f32>();
}

#[test]
fn linear() {
    for (name, t) in subjects::<f64>() {
        let mut seeded = Seeded::new(3);
        let [a, b] = [0, 1].map(|_| seeded.normals::<f64>(t.domain().size()));
        let combined: Vec<f64> = a.iter().zip(&b).map(|(a, b)| 2.0 * a - 3.0 * b).collect();
        let sum: Vec<f64> = apply(&*t, &a).iter().zip(apply(&*t, &b)).map(|(a, b)| 2.0 * a - 3.0 * b).collect();
        assert!(distance(&apply(&*t, &combined), &sum) <= 1e-12 * (1.0 + norm(&sum)), "{name}");
    }
}

#[test]
fn single_precision_follows_double() {
    for ((name, t), (_, single)) in subjects::<f64>().into_iter().zip(subjects::<f32>()) {
        let x: Vec<f64> = Seeded::new(12).normals(t.domain().size());
        let (tx, single_tx) = (apply(&*t, &x), apply(&*single, &cast::<f64, f32>(&x)));
        assert!(distance(&tx, &cast::<f32, f64>(&single_tx)) <= 1e-4 * (1.0 + norm(&tx)), "{name}");
        assert_eq!(t.range(), single.range(), "{name}");
    }
}
