//! Where terms are evaluated: points at several scales, directions, coordinates; the same for the same seed.

use crate::real::Real;
use crate::seeded::Seeded;
use crate::vector;

/// How far from the given point the others lie, in multiples of its size.
const SPREAD: [f64; 4] = [0.1, 1.0, 0.01, 10.0];

/// The size of an entry of x in the mean; 1 where x is 0 or not finite.
pub(super) fn scale<S: Real>(x: &[S]) -> f64 {
    let size = vector::norm2(x) / (x.len() as f64).sqrt();
    if size > 0.0 && size.is_finite() { size } else { 1.0 }
}

/// `near`, and `count` points around it.
pub(super) fn around<S: Real>(near: &[S], count: usize, seeded: &mut Seeded) -> Vec<Vec<S>> {
    let scale = scale(near);
    let mut points = vec![near.to_vec()];
    points.extend((0..count).map(|i| moved(near, SPREAD[i % SPREAD.len()] * scale, &seeded.normals(near.len()))));
    points
}

/// x + a·d.
pub(super) fn moved<S: Real>(x: &[S], a: f64, d: &[S]) -> Vec<S> {
    x.iter().zip(d).map(|(&x, &d)| S::of(x.f64() + a * d.f64())).collect()
}

/// a − b.
pub(super) fn difference<S: Real>(a: &[S], b: &[S]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a.f64() - b.f64()).collect()
}

/// ‖a − b‖₂.
pub(super) fn distance<S: Real>(a: &[S], b: &[S]) -> f64 {
    vector::norm2(&difference(a, b))
}

/// The i-th unit vector.
pub(super) fn unit<S: Real>(n: usize, i: usize) -> Vec<S> {
    let mut e = vec![S::ZERO; n];
    e[i] = S::ONE;
    e
}

/// Coordinates that visit 0..n evenly: the first, then by the golden section. All of a small n are soon seen.
pub(super) fn coordinates(n: usize) -> impl Iterator<Item = usize> {
    (0..).map(move |k| ((f64::from(k) * 0.618_033_988_749_894_9).fract() * n as f64) as usize % n)
}
