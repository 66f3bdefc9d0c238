//! AᵀB of row-major matrices in `f64`, where A has few columns: tiles of C stay in registers while the rows of A and B pass
//! by as they lie. Nothing is packed, and lanes along the rows of B leave only the last columns of C to a part of a vector.

use faer::MatMut;
use pulp::{Arch, Simd, WithSimd};

use super::gemm::{LANES, Suits};
use super::tiles::{self, Tile};
use super::{Into, Mat};
use crate::threads;

/// The most columns of A in a tile.
const MOST: usize = 6;
/// Vectors of B in a tile: 6·4 sums, 4 vectors of B and one number of A stay in 32 registers.
const WIDTH: usize = 4;
/// Rows of A and B that are summed at a time: those of a tile stay in cache for the next columns of A.
const BLOCK: usize = 256;

/// Whether this is the quicker way to an r×n product. Measured from 64 columns on, over 10 to 4096 rows: 0.9 times as long
/// at r = 10, 20 and 30, 0.95 at 64; where B comes from L3 0.7 to 0.85. Narrower ones lose by their last columns.
pub(super) fn pays(r: usize, n: usize) -> bool {
    (2..=64).contains(&r) && n >= 64
}

/// C ← αAᵀB or C + αAᵀB, neither A nor B being a transpose, and not empty. False, and nothing is done, on a machine with
/// other vectors.
pub(super) fn columns_by_columns(c: &mut [f64], into: Into, alpha: f64, a: Mat<f64>, b: Mat<f64>) -> bool {
    if !Arch::new().dispatch(Suits) {
        return false;
    }
    let (inner, r, n) = (a.rows, a.cols, b.cols);
    let width = tiles::size(r, n, inner).1.next_multiple_of(WIDTH * LANES);
    let tiles = tiles::tiles(&mut c[..r * n], n, (r, width));
    threads::share(tiles::nanoseconds::<f64>(r, n, inner), tiles, |Tile { left, c, .. }| {
        Arch::new().dispatch(Columns { c, alpha, into, a: a.data, b: &b.data[left..], r, n });
    });
    true
}

/// Some columns of C, and B from there on.
struct Columns<'a> {
    c: MatMut<'a, f64>,
    into: Into,
    alpha: f64,
    a: &'a [f64],
    b: &'a [f64],
    r: usize,
    n: usize,
}

impl WithSimd for Columns<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { mut c, mut into, alpha, a, b, r, n } = self;
        let width = c.ncols();
        for (a, b) in a.chunks(BLOCK * r).zip(b.chunks(BLOCK * n)) {
            let whole = width - width % (WIDTH * LANES);
            for left in (0..whole).step_by(WIDTH * LANES) {
                strip::<S, WIDTH>(simd, &mut c, a, b, Strip { alpha, into, r, n, left });
            }
            for left in (whole..width).step_by(LANES) {
                let t = Strip { alpha, into, r, n, left };
                match width - left {
                    LANES.. => strip::<S, 1>(simd, &mut c, a, b, t),
                    _ => strip::<S, 0>(simd, &mut c, a, b, t),
                }
            }
            into = Into::Add;
        }
    }
}

/// What the tiles of a strip have in common.
#[derive(Clone, Copy)]
struct Strip {
    alpha: f64,
    into: Into,
    /// Length of a row of A.
    r: usize,
    /// Length of a row of B.
    n: usize,
    /// The strip's first column.
    left: usize,
}

/// W vectors of columns of C, or with W = 0 the last ones, in tiles of nearly equal height.
#[inline(always)]
fn strip<S: Simd, const W: usize>(simd: S, c: &mut MatMut<'_, f64>, a: &[f64], b: &[f64], t: Strip) {
    let tiles = t.r.div_ceil(MOST);
    let b = &b[t.left..];
    let mut top = 0;
    for k in 0..tiles {
        let bottom = (k + 1) * t.r / tiles;
        let (a, c) = (&a[top..], c.as_mut().subrows_mut(top, bottom - top));
        match bottom - top {
            1 => tile::<S, 1, W>(simd, c, a, b, t),
            2 => tile::<S, 2, W>(simd, c, a, b, t),
            3 => tile::<S, 3, W>(simd, c, a, b, t),
            4 => tile::<S, 4, W>(simd, c, a, b, t),
            5 => tile::<S, 5, W>(simd, c, a, b, t),
            _ => tile::<S, MOST, W>(simd, c, a, b, t),
        }
        top = bottom;
    }
}

/// Row k of a tile.
#[inline(always)]
fn row<'c>(c: &'c mut MatMut<'_, f64>, k: usize, t: Strip) -> &'c mut [f64] {
    let row = c.as_mut().row_mut(k).try_as_row_major_mut().expect("C is row-major");
    &mut row.as_slice_mut()[t.left..]
}

/// K rows of a strip.
#[inline(always)]
fn tile<S: Simd, const K: usize, const W: usize>(simd: S, mut c: MatMut<'_, f64>, a: &[f64], b: &[f64], t: Strip) {
    if W == 0 {
        return edge::<S, K>(simd, c, a, b, t);
    }
    let mut sums = [[simd.splat_f64s(0.0); W]; K];
    for (a, b) in a.chunks(t.r).zip(b.chunks(t.n)) {
        let (a, b) = (&a[..K], S::as_simd_f64s(&b[..W * LANES]).0);
        let b: [_; W] = std::array::from_fn(|w| b[w]);
        for k in 0..K {
            let a = simd.splat_f64s(a[k]);
            for w in 0..W {
                sums[k][w] = simd.mul_add_e_f64s(a, b[w], sums[k][w]);
            }
        }
    }
    let alpha = simd.splat_f64s(t.alpha);
    for (k, sums) in sums.iter().enumerate() {
        let c = S::as_mut_simd_f64s(&mut row(&mut c, k, t)[..W * LANES]).0;
        for w in 0..W {
            c[w] = match t.into {
                Into::Replace => simd.mul_f64s(alpha, sums[w]),
                Into::Add => simd.mul_add_e_f64s(alpha, sums[w], c[w]),
            };
        }
    }
}

/// K rows of the last columns, fewer than fill a vector.
#[inline(always)]
fn edge<S: Simd, const K: usize>(simd: S, mut c: MatMut<'_, f64>, a: &[f64], b: &[f64], t: Strip) {
    let width = c.ncols() - t.left;
    let mut sums = [simd.splat_f64s(0.0); K];
    for (a, b) in a.chunks(t.r).zip(b.chunks(t.n)) {
        let (a, b) = (&a[..K], simd.partial_load_f64s(&b[..width]));
        for k in 0..K {
            sums[k] = simd.mul_add_e_f64s(simd.splat_f64s(a[k]), b, sums[k]);
        }
    }
    let alpha = simd.splat_f64s(t.alpha);
    for (k, &sum) in sums.iter().enumerate() {
        let c = row(&mut c, k, t);
        let entries = match t.into {
            Into::Replace => simd.mul_f64s(alpha, sum),
            Into::Add => simd.mul_add_e_f64s(alpha, sum, simd.partial_load_f64s(c)),
        };
        simd.partial_store_f64s(c, entries);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_plain_sums() {
        let noise = |len: usize, f: f64| (0..len).map(|i| ((i * i) as f64 * f).cos()).collect::<Vec<f64>>();
        for (rows, n) in [(1, 1), (2, 7), (3, 8), (5, 9), (4, 32), (257, 33), (7, 115), (1, 64), (600, 3), (11, 39)] {
            for r in (1..=13).chain([20, 31]) {
                let (a, b, start) = (noise(rows * r, 0.11), noise(rows * n, 0.13), noise(r * n, 0.17));
                for into in [Into::Replace, Into::Add] {
                    let mut c = start.clone();
                    if !columns_by_columns(&mut c, into, -2.0, Mat::new(&a, rows, r), Mat::new(&b, rows, n)) {
                        return;
                    }
                    for (at, &entry) in c.iter().enumerate() {
                        let (k, j) = (at / n, at % n);
                        let sum: f64 = (0..rows).map(|i| a[i * r + k] * b[i * n + j]).sum();
                        let plain = if into == Into::Add { start[at] - 2.0 * sum } else { -2.0 * sum };
                        assert!((entry - plain).abs() <= 1e-13 * (1.0 + rows as f64), "{rows} {n} {r} {at}");
                    }
                }
            }
        }
    }
}
