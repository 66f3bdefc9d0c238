//! Laws that every row of the catalogue obeys, in f32 and f64. A new row is tested by being a row.

mod geometries;
mod inputs;
mod letters;
mod losses;
mod operators;
mod penalties;
mod scale;

use melmo::check::{Finding, Options};
use melmo::real::Real;

/// How far rounding may take a result of this precision from the truth, relative to its size.
fn slack<S: Real>() -> f64 {
    if S::EPSILON > 1e-10 { 2e-4 } else { 1e-10 }
}

/// Many points, and no more room than rounding needs.
fn thorough<S: Real>() -> Options {
    Options { probes: 40, tolerance: Some(slack::<S>()), ..Options::default() }
}

/// Every law holds, and each was tried.
fn assert_laws<S: Real>(name: &str, findings: Vec<Finding<S>>) {
    for finding in findings {
        assert!(finding.holds && finding.tests > 0, "{name}\n{finding}");
    }
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
