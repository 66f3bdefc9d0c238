//! ABᵀ of row-major matrices in `f64`: every entry is a product of two rows, so that vector lanes run along the rows and a
//! small number of rows of B is not padded to a multiple of the lanes, as lanes along the rows of C would need.

use pulp::{Arch, Simd, WithSimd};

use super::gemm::{LANES, Suits};
use super::{Into, Mat, tiles};
use crate::threads;

/// Rows of A in a tile.
const ROWS: usize = 3;
/// The most rows of B in a tile. 3·5 sums and the vectors they need stay in 32 registers, and eight rows that lie a power
/// of two apart still share the eight places of the L1 cache.
const MOST: usize = 5;
/// Columns that are summed at a time: so much of B stays in the L2 cache while the rows of A pass by.
const PANEL: usize = 2048;

/// Whether this is the quicker way to an m×n product over `inner` columns. Measured: lanes along the rows of C take the
/// time of ⌈n/8⌉·8 columns, these here that of 1.1 to 1.15·n (0.64 times as long at n = 10, 0.9 at 20) from 64 columns on;
/// for few rows of A, packing costs the other way more than that. Where rows lie multiples of 4 KiB apart, more than ten
/// rows of B push each other out of L1.
pub(super) fn pays(m: usize, n: usize, inner: usize) -> bool {
    let padded = 5 * n.next_multiple_of(LANES) >= 6 * n;
    n > 1 && inner >= 64 && (padded || m <= 16) && (n <= 10 || !inner.is_multiple_of(512))
}

/// C ← αABᵀ or C + αABᵀ, neither A nor B being a transpose, and not empty. False, and nothing is done, on a machine with
/// other vectors.
pub(super) fn rows_by_rows(c: &mut [f64], into: Into, alpha: f64, a: Mat<f64>, b: Mat<f64>) -> bool {
    if !Arch::new().dispatch(Suits) {
        return false;
    }
    let (m, n, inner) = (a.rows, b.rows, a.cols);
    let height = tiles::size(m, n, inner).0.next_multiple_of(ROWS);
    let panels = c[..m * n].chunks_mut(height * n).zip(a.data.chunks(height * inner));
    threads::share(tiles::nanoseconds::<f64>(m, n, inner), panels, |(c, a)| {
        Arch::new().dispatch(Dots { c, into, alpha, a, b: b.data, n, inner });
    });
    true
}

struct Dots<'a> {
    c: &'a mut [f64],
    into: Into,
    alpha: f64,
    a: &'a [f64],
    b: &'a [f64],
    n: usize,
    inner: usize,
}

impl WithSimd for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { c, into, alpha, a, b, n, inner } = self;
        for from in (0..inner).step_by(PANEL) {
            let into = if from == 0 { into } else { Into::Add };
            let columns = (from, PANEL.min(inner - from));
            for (c, a) in c.chunks_mut(ROWS * n).zip(a.chunks(ROWS * inner)) {
                let tile = Tile { alpha, into, n, inner, columns };
                match a.len() / inner {
                    1 => strip::<S, 1>(simd, c, a, b, tile),
                    2 => strip::<S, 2>(simd, c, a, b, tile),
                    _ => strip::<S, ROWS>(simd, c, a, b, tile),
                }
            }
        }
    }
}

/// What the tiles of a panel have in common.
#[derive(Clone, Copy)]
struct Tile {
    alpha: f64,
    into: Into,
    /// Length of a row of C.
    n: usize,
    /// Length of a row of A and B.
    inner: usize,
    /// First column of the panel, and how many.
    columns: (usize, usize),
}

/// R rows of C, in tiles of nearly equal width.
#[inline(always)]
fn strip<S: Simd, const R: usize>(simd: S, c: &mut [f64], a: &[f64], b: &[f64], t: Tile) {
    let tiles = t.n.div_ceil(MOST);
    let mut left = 0;
    for k in 0..tiles {
        let right = (k + 1) * t.n / tiles;
        let (c, b) = (&mut c[left..], &b[left * t.inner..right * t.inner]);
        match right - left {
            1 => sums::<S, R, 1>(simd, c, a, b, t),
            2 => sums::<S, R, 2>(simd, c, a, b, t),
            3 => sums::<S, R, 3>(simd, c, a, b, t),
            4 => sums::<S, R, 4>(simd, c, a, b, t),
            _ => sums::<S, R, MOST>(simd, c, a, b, t),
        }
        left = right;
    }
}

/// R×K entries of C.
#[inline(always)]
fn sums<S: Simd, const R: usize, const K: usize>(simd: S, c: &mut [f64], a: &[f64], b: &[f64], t: Tile) {
    let (from, len) = t.columns;
    let a: [_; R] = std::array::from_fn(|i| S::as_simd_f64s(&a[i * t.inner + from..][..len]));
    let b: [_; K] = std::array::from_fn(|k| S::as_simd_f64s(&b[k * t.inner + from..][..len]));
    let mut sums = [[simd.splat_f64s(0.0); R]; K];
    for at in 0..len / LANES {
        let x: [_; R] = std::array::from_fn(|i| a[i].0[at]);
        for k in 0..K {
            let y = b[k].0[at];
            for i in 0..R {
                sums[k][i] = simd.mul_add_e_f64s(x[i], y, sums[k][i]);
            }
        }
    }
    if len % LANES > 0 {
        let x: [_; R] = std::array::from_fn(|i| simd.partial_load_f64s(a[i].1));
        for k in 0..K {
            let y = simd.partial_load_f64s(b[k].1);
            for i in 0..R {
                sums[k][i] = simd.mul_add_e_f64s(x[i], y, sums[k][i]);
            }
        }
    }
    for i in 0..R {
        let c = &mut c[i * t.n..][..K];
        for k in 0..K {
            let entry = t.alpha * simd.reduce_sum_f64s(sums[k][i]);
            c[k] = if t.into == Into::Add { c[k] + entry } else { entry };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_plain_sums() {
        let noise = |len: usize, f: f64| (0..len).map(|i| ((i * i) as f64 * f).cos()).collect::<Vec<f64>>();
        for (m, inner) in [(1, 1), (2, 3), (3, 8), (4, 17), (5, 64), (7, 115), (8, 1), (3, 2049), (11, 40)] {
            for n in (1..=13).chain([20, 31]) {
                let (a, b) = (noise(m * inner, 0.11), noise(n * inner, 0.13));
                let start = noise(m * n, 0.17);
                for into in [Into::Replace, Into::Add] {
                    let mut c = start.clone();
                    if !rows_by_rows(&mut c, into, -2.0, Mat::new(&a, m, inner), Mat::new(&b, n, inner)) {
                        return;
                    }
                    for (at, &entry) in c.iter().enumerate() {
                        let (i, k) = (at / n, at % n);
                        let sum: f64 = (0..inner).map(|j| a[i * inner + j] * b[k * inner + j]).sum();
                        let plain = if into == Into::Add { start[at] - 2.0 * sum } else { -2.0 * sum };
                        assert!((entry - plain).abs() <= 1e-13 * (1.0 + inner as f64), "{m} {n} {inner} {at}");
                    }
                }
            }
        }
    }
}
