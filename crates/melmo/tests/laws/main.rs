//! Laws that every row of the catalogue obeys, in f32 and f64. A new row is tested by being a row.

mod geometries;
mod inputs;
mod losses;
mod operators;
mod penalties;
mod scale;

use melmo::real::Real;

/// How far rounding may take a result of this precision from the truth, relative to its size.
fn slack<S: Real>() -> f64 {
    if S::EPSILON > 1e-10 { 2e-4 } else { 1e-10 }
}

fn dot<S: Real>(a: &[S], b: &[S]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.f64() * b.f64()).sum()
}

fn norm<S: Real>(a: &[S]) -> f64 {
    dot(a, a).sqrt()
}

fn distance<S: Real>(a: &[S], b: &[S]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a.f64() - b.f64()).powi(2)).sum::<f64>().sqrt()
}

/// The same numbers in the other precision.
fn cast<S: Real, R: Real>(x: &[S]) -> Vec<R> {
    x.iter().map(|v| R::of(v.f64())).collect()
}
