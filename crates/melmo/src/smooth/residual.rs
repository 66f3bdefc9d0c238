//! M⊙(x − y) and its squared norm: the pass over the data that denoising, robust PCA and factorisation share.

use crate::error::Error;
use crate::real::Real;
use crate::threads;
use crate::vector::simd;

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

const LANES: usize = 16;

/// out ← M⊙(Σ x − y), where no x at all means `out` itself; returns ‖out‖².
pub(super) fn residual<S: Real, const K: usize>(out: &mut [S], x: [&[S]; K], y: &[S], mask: Option<&[S]>) -> f64 {
    let n = out.len();
    if n <= SHARED {
        return residual_of_part(out, x, y, mask);
    }
    let size = threads::block(n, LANES, SHARED);
    let [squared] = threads::sums(n, out.chunks_mut(size).enumerate(), |(i, out)| {
        let part = i * size..i * size + out.len();
        let x = x.map(|x| &x[part.clone()]);
        [residual_of_part(out, x, &y[part.clone()], mask.map(|mask| &mask[part]))]
    });
    squared
}

/// So many entries are one part, whoever works on them.
const SHARED: usize = 1 << 15;

fn residual_of_part<S: Real, const K: usize>(out: &mut [S], x: [&[S]; K], y: &[S], mask: Option<&[S]>) -> f64 {
    simd(
        #[inline(always)]
        || match mask {
            None => walk(out, x, y, y, |_, v| v),
            Some(mask) => walk(out, x, y, mask, |m, v| m * v),
        },
    )
}

/// Sixteen entries at a time, in registers from the difference to its square.
#[inline(always)]
fn walk<S: Real, const K: usize>(out: &mut [S], x: [&[S]; K], y: &[S], mask: &[S], masked: impl Fn(S, S) -> S) -> f64 {
    let n = out.len(); // all are of one length, or this panics: a shorter one would leave entries as they were
    let (chunks, rest) = out.as_chunks_mut::<LANES>();
    let x = x.map(|x| x[..n].as_chunks::<LANES>());
    let (y, mask) = (y[..n].as_chunks::<LANES>(), mask[..n].as_chunks::<LANES>());
    let at = |out: S, x: [S; K]| if K == 0 { out } else { x.iter().fold(S::ZERO, |sum, &x| sum + x) };
    let mut squares = [0.0; LANES];
    for (i, ((out, y), mask)) in chunks.iter_mut().zip(y.0).zip(mask.0).enumerate() {
        let x = x.map(|x| &x.0[i]);
        let new: [S; LANES] = std::array::from_fn(
            #[inline(always)]
            |l| masked(mask[l], at(out[l], x.map(|x| x[l])) - y[l]),
        );
        *out = new;
        for (square, v) in squares.iter_mut().zip(new) {
            *square += v.f64() * v.f64();
        }
    }
    for (i, ((out, &y), &mask)) in rest.iter_mut().zip(y.1).zip(mask.1).enumerate() {
        *out = masked(mask, at(*out, x.map(|x| x.1[i])) - y);
        squares[i] += out.f64() * out.f64();
    }
    squares.iter().sum()
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
