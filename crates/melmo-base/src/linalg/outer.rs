//! AᵀB = Σ aᵢᵀbᵢ over the rows of A and B in `f64`, where it is known to be symmetric and has 9 to 16 columns.
//!
//! A row of the result is two vectors of 8 that overlap. The right one is computed for all n rows; the left one for the
//! first n − 8 only, the rest of it being the mirror image of the right one. All sums of a block of rows stay in registers.

use pulp::{Arch, Simd, WithSimd};

use super::blocks::BLOCK;
use super::gemm::LANES;

/// C ← AᵀB for A and B with n columns. False, and nothing is done, for an n outside 9..=16 and on machines whose vectors
/// hold fewer than 8 numbers.
pub(super) fn symmetric(c: &mut [f64], a: &[f64], b: &[f64], n: usize) -> bool {
    match n {
        9 => of::<9>(c, a, b),
        10 => of::<10>(c, a, b),
        11 => of::<11>(c, a, b),
        12 => of::<12>(c, a, b),
        13 => of::<13>(c, a, b),
        14 => of::<14>(c, a, b),
        15 => of::<15>(c, a, b),
        16 => of::<16>(c, a, b),
        _ => false,
    }
}

fn of<const N: usize>(c: &mut [f64], a: &[f64], b: &[f64]) -> bool {
    let (c, a, b) = (c.as_chunks_mut().0, a.as_chunks().0, b.as_chunks().0);
    Arch::new().dispatch(Outer::<N> { c, a, b })
}

struct Outer<'a, const N: usize> {
    c: &'a mut [[f64; N]],
    a: &'a [[f64; N]],
    b: &'a [[f64; N]],
}

impl<const N: usize> WithSimd for Outer<'_, N> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        if S::F64_LANES != LANES {
            return false;
        }
        let Self { c, a, b } = self;
        let extra = N - LANES;
        let zero = simd.splat_f64s(0.0);
        let (mut left, mut right) = ([zero; LANES], [zero; N]);
        for (a, b) in a.chunks(BLOCK).zip(b.chunks(BLOCK)) {
            let (mut block_left, mut block_right) = ([zero; LANES], [zero; N]);
            for (a, b) in a.iter().zip(b) {
                let (first, last) = (S::as_simd_f64s(&b[..LANES]).0[0], S::as_simd_f64s(&b[extra..]).0[0]);
                for i in 0..N {
                    let a = simd.splat_f64s(a[i]);
                    block_right[i] = simd.mul_add_e_f64s(a, last, block_right[i]);
                    if i < extra {
                        block_left[i] = simd.mul_add_e_f64s(a, first, block_left[i]);
                    }
                }
            }
            for i in 0..N {
                right[i] = simd.add_f64s(right[i], block_right[i]);
                if i < extra {
                    left[i] = simd.add_f64s(left[i], block_left[i]);
                }
            }
        }
        let c = &mut c[..N];
        for i in 0..N {
            if i < extra {
                S::as_mut_simd_f64s(&mut c[i][..LANES]).0[0] = left[i];
            }
            S::as_mut_simd_f64s(&mut c[i][extra..]).0[0] = right[i];
        }
        let (top, rest) = c.split_at_mut(extra);
        for (j, row) in top.iter().enumerate() {
            for (mirrored, &entry) in rest.iter_mut().zip(&row[extra..]) {
                mirrored[j] = entry;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_plain_sums() {
        for n in 8..=17 {
            for rows in [1, 2, 5, 16, 100] {
                let a: Vec<f64> = (0..rows * n).map(|i| ((i * i) as f64 * 0.11).cos()).collect();
                let b: Vec<f64> = a.iter().enumerate().map(|(i, v)| v * (1.0 + (i / n) as f64)).collect();
                let mut c = vec![f64::NAN; n * n];
                if !symmetric(&mut c, &a, &b, n) {
                    continue;
                }
                assert!((9..=16).contains(&n));
                for (at, &entry) in c.iter().enumerate() {
                    let plain: f64 = (0..rows).map(|k| a[k * n + at / n] * b[k * n + at % n]).sum();
                    assert!((entry - plain).abs() <= 1e-12 * rows as f64 * rows as f64, "{n} {rows} {at}");
                }
            }
        }
    }
}
