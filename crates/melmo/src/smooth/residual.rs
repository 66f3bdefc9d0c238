//! M⊙(x − y) and its squared norm: the pass over the data that denoising, robust PCA and factorisation share.

use crate::error::Error;
use crate::real::Real;
use crate::vector::{norm2_squared, simd};

/// Checks data and mask; entries that are not observed become 0, whatever stood there.
pub(super) fn observed<S: Real>(mut y: Vec<S>, mask: Option<&[S]>, size: usize) -> Result<Vec<S>, Error> {
    Error::expect_len("Y", size, y.len())?;
    if let Some(mask) = mask {
        Error::expect_len("mask", size, mask.len())?;
        Error::expect_mask("mask", mask)?;
        for (y, _) in y.iter_mut().zip(mask).filter(|(_, m)| **m == S::ZERO) {
            *y = S::ZERO;
        }
    }
    Error::expect_finite("Y", &y)?;
    Ok(y)
}

/// Entries that are summed right after they are written, while they are in the nearest cache: a loop that only subtracts
/// and a loop that only sums are both vectorised well, one loop that does both is not.
const STRETCH: usize = 1024;

/// out ← M⊙(Σ x − y), where no x at all means `out` itself; returns ‖out‖².
pub(super) fn residual<S: Real, const K: usize>(out: &mut [S], x: [&[S]; K], y: &[S], mask: Option<&[S]>) -> f64 {
    let mut squared = 0.0;
    for start in (0..out.len()).step_by(STRETCH) {
        let range = start..out.len().min(start + STRETCH);
        let out = &mut out[range.clone()];
        let (x, y, mask) = (x.map(|x| &x[range.clone()]), &y[range.clone()], mask.map(|mask| &mask[range.clone()]));
        simd(
            #[inline(always)]
            || subtract(out, x, y, mask),
        );
        squared += norm2_squared(out);
    }
    squared
}

#[inline(always)]
fn subtract<S: Real, const K: usize>(out: &mut [S], x: [&[S]; K], y: &[S], mask: Option<&[S]>) {
    let x = x.map(|x| &x[..out.len()]); // seen to be of one length, they need no checks in the loops
    for (i, (out, &y)) in out.iter_mut().zip(y).enumerate() {
        *out = if K == 0 { *out } else { x.iter().fold(S::ZERO, |sum, x| sum + x[i]) } - y;
    }
    for (out, &m) in out.iter_mut().zip(mask.unwrap_or_default()) {
        *out *= m;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_agrees_with_a_plain_loop() {
        for n in [1, 15, 16, 50] {
            let series = |step: f64| -> Vec<f64> { (0..n).map(|i| (step * (i + 1) as f64).sin()).collect() };
            let (a, b, y) = (series(0.7), series(1.3), series(2.1));
            let mask: Vec<f64> = (0..n).map(|i| f64::from(i % 3 != 0)).collect();
            for mask in [None, Some(&mask[..])] {
                let m = |i: usize| mask.map_or(1.0, |m| m[i]);
                let (mut one, mut two, mut here) = (vec![9.0; n], vec![9.0; n], a.clone());
                let values = [residual(&mut one, [&a], &y, mask), residual(&mut two, [&a, &b], &y, mask)];
                assert_eq!(residual(&mut here, [], &y, mask), values[0]);
                for i in 0..n {
                    assert_eq!(one[i], m(i) * (a[i] - y[i]));
                    assert_eq!(two[i], m(i) * (a[i] + b[i] - y[i]));
                    assert_eq!(here[i], one[i]);
                }
                let plain: f64 = two.iter().map(|r| r * r).sum();
                assert!((values[1] - plain).abs() <= 1e-14 * plain);
            }
        }
    }
}
