//! The largest eigenpair of a symmetric tridiagonal matrix T, in a few sweeps over its rows.
//!
//! A sweep eliminates θI − T from the last row up. While the pivots of all rows but the first are positive, θ is above
//! the eigenvalues of T without its first row, the first pivot f(θ) is increasing and concave, and its only root is the
//! largest eigenvalue. The vector s with (θI − T)s = f·e₁, s₁ = 1, comes with the pivots, f′ = ‖s‖², and Newton's step
//! θ − f/‖s‖² is the Rayleigh quotient of s: never too large.

const SWEEPS: usize = 60;

/// The largest eigenvalue, with s ← its vector of length 1; `near` is a first guess. None when the first row has next to
/// no part in it: θ cannot then be told from the eigenvalues of the other rows.
pub(super) fn leading(s: &mut [f64], diagonal: &[f64], beside: &[f64], near: f64) -> Option<f64> {
    let (mut low, mut high) = (f64::NEG_INFINITY, gershgorin(diagonal, beside));
    let mut theta = if near < high { near } else { high };
    for _ in 0..SWEEPS {
        let next = match sweep(s, diagonal, beside, theta) {
            Some(first) => {
                let squared: f64 = s.iter().map(|v| v * v).sum();
                let step = first / squared;
                if step.abs() <= 4.0 * f64::EPSILON * high.abs() {
                    let length = squared.sqrt();
                    s.iter_mut().for_each(|v| *v /= length);
                    return Some(theta - step);
                }
                if first > 0.0 {
                    high = theta;
                }
                theta - step
            }
            None => {
                low = theta;
                low
            }
        };
        theta = if next > low { next } else { 0.5 * (low + high) };
    }
    None
}

/// The first pivot, with s; None when another pivot is not positive.
fn sweep(s: &mut [f64], diagonal: &[f64], beside: &[f64], theta: f64) -> Option<f64> {
    let mut pivot = theta - diagonal[diagonal.len() - 1];
    for i in (1..diagonal.len()).rev() {
        if pivot.is_nan() || pivot <= 0.0 {
            return None;
        }
        s[i] = beside[i - 1] / pivot;
        pivot = theta - diagonal[i - 1] - beside[i - 1] * s[i];
    }
    s[0] = 1.0;
    for i in 1..s.len() {
        s[i] *= s[i - 1];
    }
    Some(pivot)
}

/// No eigenvalue is larger.
fn gershgorin(diagonal: &[f64], beside: &[f64]) -> f64 {
    let at = |i: usize| beside.get(i).map_or(0.0, |b| b.abs());
    let row = |(i, d): (usize, &f64)| d + at(i) + if i == 0 { 0.0 } else { at(i - 1) };
    diagonal.iter().enumerate().map(row).fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Dense;
    use crate::seeded::Seeded;

    #[test]
    fn the_largest_pair_is_found_from_any_guess() {
        for n in [1, 2, 3, 17, 64] {
            for kind in 0..4 {
                let mut seeded = Seeded::new((10 * n + kind) as u64);
                let diagonal: Vec<f64> = (0..n).map(|i| if kind == 0 { 2.0 } else { 1.0 / (1.0 + i as f64) }).collect();
                let beside: Vec<f64> = (1..n)
                    .map(|i| match kind {
                        0 | 1 => 0.3,
                        2 => seeded.uniform(),
                        _ => 0.1f64.powi(i as i32 % 7),
                    })
                    .collect();
                let entry = |i: usize, j: usize| match i.abs_diff(j) {
                    0 => diagonal[i],
                    1 => beside[i.min(j)],
                    _ => 0.0,
                };
                let t: Vec<f64> = (0..n * n).map(|at| entry(at / n, at % n)).collect();
                let (mut values, mut vectors) = (vec![0.0; n], vec![0.0; n * n]);
                assert!(f64::eigen(&mut values, &mut vectors, &t, n, &mut vec![0.0; f64::eigen_work_len(n)]));
                let (exact, vector) = (values[n - 1], &vectors[(n - 1) * n..]);
                for near in [-1.0, 0.0, 0.9 * exact, exact, 1.1 * exact, 1e300] {
                    let mut s = vec![0.0; n];
                    let Some(found) = leading(&mut s, &diagonal, &beside, near) else {
                        assert!(vector[0].abs() < 1e-6, "{n} {kind} {near}: {vector:?}");
                        continue;
                    };
                    assert!((found - exact).abs() <= 1e-14 * exact, "{n} {kind} {near}: {found} {exact}");
                    let sign = vector[0].signum();
                    assert!(s.iter().zip(vector).all(|(a, b)| (a - sign * b).abs() < 1e-8), "{n} {kind} {near}");
                }
            }
        }
    }

    /// Then s₁ is below what a number can tell.
    #[test]
    fn a_first_row_without_a_part_is_refused_or_right() {
        let mut s = [0.0; 3];
        if let Some(found) = leading(&mut s, &[1.0, 2.0, 0.5], &[1e-12, 0.1], 1.0) {
            assert!((found - 2.0066).abs() < 1e-3);
        }
        assert_eq!(leading(&mut s, &[f64::NAN, 2.0, 0.5], &[0.1, 0.1], 1.0), None);
    }
}
