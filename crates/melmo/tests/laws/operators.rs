//! Adjoint, norm bound and right inverse of every operator.

use melmo::catalogue::{Arguments, operators};
use melmo::check;
use melmo::operator::LinOp;
use melmo::real::Real;
use melmo::seeded::Seeded;

use super::{assert_laws, cast, distance, norm, thorough};

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

fn obeys<S: Real>() {
    let mut invertible = 0;
    for (name, t) in subjects::<S>() {
        invertible += usize::from(t.right_inverse().is_some());
        assert_laws(&name, check::operator(&*t, &thorough::<S>()));
    }
    assert!(invertible >= 6, "{invertible} operators have a right inverse");
}

#[test]
fn adjoint_bound_and_right_inverse_f64() {
    obeys::<f64>();
}

#[test]
fn adjoint_bound_and_right_inverse_f32() {
    obeys::<f32>();
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
