//! Value and gradient of every loss.

use melmo::catalogue::{Arguments, losses};
use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo::smooth::Smooth;

use crate::{cast, distance, norm};

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

#[test]
fn gradients_agree_with_differences() {
    for (name, f) in subjects::<f64>() {
        for seed in 0..3 {
            let mut x: Vec<f64> = Seeded::new(seed).normals(f.layout().size());
            let (value, grad) = evaluate(&*f, &x);
            for i in 0..x.len() {
                let (kept, h) = (x[i], 1e-5);
                x[i] = kept + h;
                let above = evaluate(&*f, &x).0;
                x[i] = kept - h;
                let below = evaluate(&*f, &x).0;
                x[i] = kept;
                let quotient = (above - below) / (2.0 * h);
                let tolerance = 1e-6 * (1.0 + grad[i].abs()) + 1e-10 * value.abs() / h;
                assert!((quotient - grad[i]).abs() <= tolerance, "{name} ∇{i}: {} instead of {quotient}", grad[i]);
            }
        }
    }
}

#[test]
fn lipschitz_constants_bound_the_gradient() {
    for (name, f) in subjects::<f64>() {
        let Some(lipschitz) = f.lipschitz() else { continue };
        let mut seeded = Seeded::new(9);
        for _ in 0..50 {
            let [a, b] = [0, 1].map(|_| seeded.normals::<f64>(f.layout().size()));
            let change = distance(&evaluate(&*f, &a).1, &evaluate(&*f, &b).1);
            assert!(change <= lipschitz * distance(&a, &b) * (1.0 + 1e-12), "{name}: L = {lipschitz}");
        }
    }
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
