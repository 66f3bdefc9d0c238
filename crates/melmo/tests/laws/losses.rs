//! Value and gradient of every loss.

use melmo::catalogue::{Arguments, losses};
use melmo::check;
use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo::smooth::Smooth;

use super::{assert_laws, cast, distance, norm, thorough};

fn subjects<S: Real>() -> Vec<(String, Box<dyn Smooth<S>>)> {
    let mut subjects = Vec::new();
    for row in losses::<S>() {
        for example in (row.examples)(3) {
            let arguments = Arguments::new(&row.entry, example.given).unwrap();
            let loss = (row.build)(&arguments, example.inputs).unwrap();
            subjects.push((format!("{}: {}", row.entry.name, example.about), loss));
        }
    }
    assert!(subjects.len() >= 6);
    subjects
}

fn evaluate<S: Real>(f: &dyn Smooth<S>, x: &[S]) -> (f64, Vec<S>) {
    let (mut grad, mut work) = (vec![S::ZERO; x.len()], vec![S::ZERO; f.work_len()]);
    (f.value_grad(&mut grad, x, &mut work), grad)
}

fn obeys<S: Real>() {
    for (name, f) in subjects::<S>() {
        let near: Vec<S> = Seeded::new(1).normals(f.layout().size());
        assert_laws(&name, check::loss(&*f, &near, &thorough::<S>()));
    }
}

#[test]
fn gradient_and_lipschitz_constant_f64() {
    obeys::<f64>();
}

#[test]
fn gradient_and_lipschitz_constant_f32() {
    obeys::<f32>();
}

#[test]
fn a_sum_over_entries_is_the_same_on_stretches() {
    let mut seen = 0;
    for (name, f) in subjects::<f64>() {
        let Some(pointwise) = f.pointwise() else { continue };
        seen += 1;
        let x: Vec<f64> = Seeded::new(2).normals(f.layout().size());
        let (value, grad) = evaluate(&*f, &x);
        let (mut sum, mut pieces) = (0.0, vec![0.0; x.len()]);
        for first in (0..x.len()).step_by(7) {
            let end = (first + 7).min(x.len());
            sum += pointwise.value_grad_at(&mut pieces[first..end], &x[first..end], first);
        }
        assert!((sum - value).abs() <= 1e-12 * value.abs(), "{name}");
        assert_eq!(pieces, grad, "{name}");
    }
    assert!(seen > 0);
}

#[test]
fn single_precision_follows_double() {
    for ((name, f), (_, single)) in subjects::<f64>().into_iter().zip(subjects::<f32>()) {
        let x: Vec<f64> = Seeded::new(4).normals(f.layout().size());
        let (value, grad) = evaluate(&*f, &x);
        let (value32, grad32) = evaluate(&*single, &cast::<f64, f32>(&x));
        assert!((value - value32).abs() <= 1e-4 * (1.0 + value.abs()), "{name}: {value} {value32}");
        assert!(distance(&grad, &cast::<f32, f64>(&grad32)) <= 1e-4 * (1.0 + norm(&grad)), "{name}");
    }
}
