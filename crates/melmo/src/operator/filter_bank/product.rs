//! A small matrix times rows of an image: what both directions of a bank are made of.

use crate::real::Real;
use crate::vector::{instructions, simd};

/// Rows of A in a block: each number of B that is read is used for two.
const HIGH: usize = 2;
/// Columns of A in a block: C is read and written once for four.
const WIDE: usize = 4;

/// A, cut into blocks; zeros fill the last ones.
#[derive(Clone, Debug)]
pub(super) struct Product<S> {
    wide: usize,
    blocks: Vec<[[S; WIDE]; HIGH]>,
    /// The machine multiplies and adds in one instruction.
    fused: bool,
}

/// Rows of so many numbers, the first of which begin a slice.
pub(super) struct Rows<T> {
    pub data: T,
    pub stride: usize,
}

impl<S: Real> Product<S> {
    /// A matrix of that size, by its entries.
    pub fn new(rows: usize, cols: usize, entry: impl Fn(usize, usize) -> S) -> Self {
        let (high, wide) = (rows.div_ceil(HIGH), cols.div_ceil(WIDE));
        let padded = |i: usize, j: usize| if i < rows && j < cols { entry(i, j) } else { S::ZERO };
        let block = |at: usize| {
            let (top, left) = (at / wide * HIGH, at % wide * WIDE);
            std::array::from_fn(|i| std::array::from_fn(|j| padded(top + i, left + j)))
        };
        let blocks = (0..high * wide).map(block).collect();
        Self { wide, blocks, fused: matches!(instructions(), "AVX-512" | "AVX2" | "aarch64") }
    }

    /// Rows that n of them are enlarged to, at most: what lies there is multiplied by zero, and has to be finite.
    pub fn padded(n: usize) -> usize {
        n.next_multiple_of(WIDE)
    }

    /// C ← C + AB for the first `len` numbers of every row.
    pub fn add(&self, c: Rows<&mut [S]>, b: Rows<&[S]>, len: usize) {
        match self.fused {
            true => self.add_by(c, b, len, S::mul_add),
            false => self.add_by(c, b, len, |a, b, c| a * b + c),
        }
    }

    #[inline(always)]
    fn add_by(&self, c: Rows<&mut [S]>, b: Rows<&[S]>, len: usize, by: impl Fn(S, S, S) -> S + Copy) {
        simd(
            #[inline(always)]
            || {
                for (i, weights) in self.blocks.chunks_exact(self.wide.max(1)).enumerate() {
                    let (first, second) = c.data[i * HIGH * c.stride..].split_at_mut(c.stride);
                    let (first, second) = (&mut first[..len], &mut second[..len]);
                    for (j, weights) in weights.iter().enumerate() {
                        let row = |k: usize| &b.data[(j * WIDE + k) * b.stride..][..len];
                        block((first, second), [row(0), row(1), row(2), row(3)], weights, by);
                    }
                }
            },
        )
    }
}

/// Two rows of C gain what four rows of B give: a plain loop over runs of equal length, which becomes one of vectors.
#[inline(always)]
fn block<S: Real>(
    (first, second): (&mut [S], &mut [S]),
    b: [&[S]; WIDE],
    [upper, lower]: &[[S; WIDE]; HIGH],
    by: impl Fn(S, S, S) -> S,
) {
    let n = first.len();
    let second = &mut second[..n];
    let [b0, b1, b2, b3] = b.map(|row| &row[..n]);
    let ([u0, u1, u2, u3], [l0, l1, l2, l3]) = (*upper, *lower);
    for i in 0..n {
        let (v0, v1, v2, v3) = (b0[i], b1[i], b2[i], b3[i]);
        first[i] = by(u3, v3, by(u2, v2, by(u1, v1, by(u0, v0, first[i]))));
        second[i] = by(l3, v3, by(l2, v2, by(l1, v1, by(l0, v0, second[i]))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_what_plain_sums_give() {
        for (rows, cols, len) in [(1, 1, 1), (2, 4, 40), (5, 7, 33), (3, 9, 16), (0, 4, 3), (2, 0, 5)] {
            let entry = |i: usize, j: usize| ((i * 31 + j * 17) as f64).cos();
            let (c_stride, b_stride) = (len + 3, len + 1);
            let b: Vec<f64> = (0..Product::<f64>::padded(cols) * b_stride).map(|k| (k as f64).sin()).collect();
            for fused in [false, true] {
                let a = Product { fused, ..Product::new(rows, cols, entry) };
                let mut c = vec![1.0; (rows + 1) * c_stride];
                a.add(Rows { data: &mut c, stride: c_stride }, Rows { data: &b, stride: b_stride }, len);
                for (at, &found) in c.iter().enumerate() {
                    let (i, k) = (at / c_stride, at % c_stride);
                    let sum: f64 = (0..cols).map(|j| entry(i, j) * b[j * b_stride + k % len]).sum();
                    let expected = if i < rows && k < len { 1.0 + sum } else { 1.0 };
                    assert!((found - expected).abs() < 1e-13, "{rows} {cols} {at}");
                }
            }
        }
    }
}
