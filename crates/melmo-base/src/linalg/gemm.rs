//! Products: general, Gram, symmetric.

use std::ops::{AddAssign, Range};

use faer::traits::ComplexField;
use faer::{Accum, Par};
use pulp::{Simd, WithSimd};

use super::blocks::{BLOCK, Lent, Place, blocks, in_stretches};
use super::mirror::mirror;
use super::tiles::{self, Tile};
use super::{Into, Mat, columns, dots, faer_mut, outer};
use crate::threads;

/// Lanes of the vectors that the narrow kernels are for. Shorter vectors come with half the registers, or have not been measured.
pub(super) const LANES: usize = 8;

/// Whether the machine has such vectors.
pub(super) struct Suits;

impl WithSimd for Suits {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        S::F64_LANES == LANES
    }
}

/// Kernels for narrow shapes, where the crate's are slower. False, and nothing is done, where there is none.
pub(super) trait Narrow: Sized {
    /// C ← αAB or C + αAB.
    fn product(_c: &mut [Self], _into: Into, _alpha: Self, _a: Mat<Self>, _b: Mat<Self>) -> bool {
        false
    }

    /// C ← AᵀB, known to be symmetric, A and B with n columns.
    fn outer(_c: &mut [Self], _a: &[Self], _b: &[Self], _n: usize) -> bool {
        false
    }
}

impl Narrow for f32 {}

impl Narrow for f64 {
    fn product(c: &mut [f64], into: Into, alpha: f64, a: Mat<f64>, b: Mat<f64>) -> bool {
        let (m, inner, n) = (a.rows(), a.cols(), b.cols());
        match (a.transposed, b.transposed) {
            (false, true) => dots::pays(m, n, inner) && dots::rows_by_rows(c, into, alpha, a, b.t()),
            (true, false) => inner > 0 && columns::pays(m, n) && columns::columns_by_columns(c, into, alpha, a.t(), b),
            _ => false,
        }
    }

    fn outer(c: &mut [f64], a: &[f64], b: &[f64], n: usize) -> bool {
        outer::symmetric(c, a, b, n)
    }
}

pub(super) fn product<T: ComplexField + Copy + Narrow>(c: &mut [T], into: Into, alpha: T, a: Mat<T>, b: Mat<T>) {
    let (m, inner, n) = (a.rows(), a.cols(), b.cols());
    if m * n == 0 || T::product(c, into, alpha, a, b) {
        return;
    }
    let accum = match into {
        Into::Replace => Accum::Replace,
        Into::Add => Accum::Add,
    };
    let (a, b) = (a.faer(), b.faer());
    let tiles = tiles::tiles(&mut c[..m * n], n, tiles::size(m, n, inner));
    threads::share(tiles::nanoseconds::<T>(m, n, inner), tiles, |Tile { top, left, c }| {
        let (a, b) = (a.subrows(top, c.nrows()), b.subcols(left, c.ncols()));
        faer::linalg::matmul::matmul(c, accum, a, b, alpha, Par::Seq);
    });
}

/// From this size on, half of a symmetric product is cheaper than all of it. Measured, half over all: in `f64` 0.9 at n = 30,
/// 0.62 at 77, 0.57 from 115 on; in `f32` 0.85 at 64, 0.63 at 115, 0.57 at 256.
const fn half_pays<T>(n: usize) -> bool {
    n >= if size_of::<T>() == 8 { 28 } else { 56 }
}

/// What sums in blocks need of a number type.
pub(super) trait Number: ComplexField + Copy + Narrow + Lent + AddAssign {}
impl<T: ComplexField + Copy + Narrow + Lent + AddAssign> Number for T {}

pub(super) fn gram<T: Number>(g: &mut [T], x: Mat<T>) {
    let n = x.cols();
    in_stretches(&mut g[..n * n], x.rows(), |g, rows| {
        let entries = rows.start * n..rows.end * n;
        if x.transposed || !T::outer(g, &x.data[entries.clone()], &x.data[entries], n) {
            lower_product(g, x.t(), x, rows);
        }
    });
}

pub(super) fn symmetric_product<T: Number>(c: &mut [T], a: &[T], b: &[T], n: usize) {
    let (a, b) = (Mat::new(a, n, n), Mat::new(b, n, n));
    if !T::outer(c, a.data, b.data, n) {
        in_stretches(&mut c[..n * n], n, |c, terms| lower_product(c, a, b, terms)); // AᵀB = AB
    }
}

/// Rows of a panel: few, so that little is computed twice, until the other factor no longer stays in cache from one panel to
/// the next. Measured in `f64`: 0.57 of the whole at 256 and 800 with 8 rows; 0.62 at 2048 with 64, 0.93 with 8.
const fn panel(n: usize) -> usize {
    if n < 900 { 8 } else { 64 }
}

/// C ← AB over a stretch of terms, known to be symmetric: the lower triangle is computed, a panel of rows at a time, and
/// mirrored.
fn lower_product<T: Number>(c: &mut [T], a: Mat<T>, b: Mat<T>, stretch: Range<usize>) {
    let n = a.rows();
    let whole = stretch.len() == a.cols();
    if !half_pays::<T>(n) {
        if !whole || !T::product(c, Into::Replace, T::one_impl(), a, b) {
            add_blocks(c, n, (n, n), a, b, stretch);
        }
        return;
    }
    if n <= NARROW && stretch.len() > BLOCK {
        block_by_block(c, a, b, stretch);
    } else {
        add_blocks(c, n, (panel(n), if n < 900 { n } else { 256 }), a, b, stretch);
    }
    mirror(c, n);
}

/// C ← AB over a stretch of terms, in tiles that threads share; what lies above the diagonal is left out. The blocks are added
/// in their order.
fn add_blocks<T: Number>(c: &mut [T], n: usize, size: (usize, usize), a: Mat<T>, b: Mat<T>, stretch: Range<usize>) {
    let (a, b) = (a.faer(), b.faer());
    let whole = size.0 == n;
    let wanted = move |tile: &Tile<'_, T>| whole || tile.left < tile.top + tile.c.nrows();
    let tiles = tiles::tiles(&mut c[..n * n], n, size).filter(wanted);
    threads::share(tiles::nanoseconds::<T>(n, n, stretch.len()) / 2, tiles, |Tile { top, left, c }| {
        let (height, end) = (c.nrows(), if whole { n } else { top + c.nrows() });
        let width = c.ncols().min(end - left);
        let (mut c, mut accum) = (c.subcols_mut(0, width), Accum::Replace);
        for terms in blocks(stretch.clone()) {
            let a = a.submatrix(top, terms.start, height, terms.len());
            let b = b.submatrix(terms.start, left, terms.len(), width);
            faer::linalg::matmul::matmul(c.as_mut(), accum, a, b, T::one_impl(), Par::Seq);
            accum = Accum::Add;
        }
    });
}

/// A symmetric product so narrow is cut along its terms, not into tiles, which would all read all of both factors.
const NARROW: usize = 128;

/// The lower triangle of C ← AB over a stretch of terms: threads share the blocks, whose sums are added in their order.
fn block_by_block<T: Number>(c: &mut [T], a: Mat<T>, b: Mat<T>, stretch: Range<usize>) {
    let n = a.rows();
    let (a, b) = (a.faer(), b.faer());
    let count = stretch.len().div_ceil(BLOCK);
    T::lend(Place::Blocks, count * n * n, |sums| {
        let items = sums.chunks_mut(n * n).zip(blocks(stretch.clone()));
        threads::share(tiles::nanoseconds::<T>(n, n, stretch.len()) / 2, items, |(sum, terms)| {
            let (a, b) = (a.subcols(terms.start, terms.len()), b.subrows(terms.start, terms.len()));
            let mut sum = faer_mut(sum, n, n);
            for top in (0..n).step_by(panel(n)) {
                let end = (top + panel(n)).min(n);
                let target = sum.as_mut().submatrix_mut(top, 0, end - top, end);
                let (a, b) = (a.subrows(top, end - top), b.subcols(0, end));
                faer::linalg::matmul::matmul(target, Accum::Replace, a, b, T::one_impl(), Par::Seq);
            }
        });
        let (first, rest) = sums.split_at(n * n);
        c[..n * n].copy_from_slice(first);
        for sum in rest.chunks(n * n) {
            c.iter_mut().zip(sum).for_each(|(c, &sum)| *c += sum);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::super::{Dense, Into, Mat};

    /// What was summed before is large, and the terms of a block are so small that they would all be lost if they were added
    /// to it one by one. They are not: a block is summed before it is added, and a stretch too.
    #[test]
    fn blocks_are_summed_before_they_are_added() {
        for (rows, n) in [(1025, 2), (1100, 12), (600, 17), (1024, 30), (700, 64), (33_000, 5), (33_000, 12)] {
            // The first row makes 2⁵³; every other term is ½ and lost if it is added alone.
            let entry =
                |at: usize| if at / n == 0 { 53f64.div_euclid(2.0).exp2() * 2f64.sqrt() } else { 0.5f64.sqrt() };
            let x: Vec<f64> = (0..rows * n).map(entry).collect();
            let expected = x[0] * x[0] + (rows - 1) as f64 * 0.5;
            let mut turned = vec![0.0; rows * n];
            (0..rows * n).for_each(|at| turned[at % n * rows + at / n] = x[at]);
            for x in [Mat::new(&x, rows, n), Mat::new(&turned, n, rows).t()] {
                let mut g = vec![0.0; n * n];
                f64::gram(&mut g, x);
                // All blocks but the first, where the large term is, arrive whole.
                let lost = g.iter().map(|g| expected - g).fold(0.0, f64::max);
                assert!(lost <= 0.5 * 520.0 + 64.0, "{rows}×{n}: {lost} of {}", 0.5 * rows as f64);
            }
        }
    }

    #[test]
    fn half_products_equal_whole_ones() {
        for n in [3, 28, 29, 56, 71, 100, 901] {
            let x: Vec<f64> = (0..n * (n + 5)).map(|i| ((i * i) as f64 * 0.11).cos()).collect();
            let (mut g, mut whole) = (vec![0.0; n * n], vec![0.0; n * n]);
            let x = Mat::new(&x, n + 5, n);
            f64::gram(&mut g, x);
            f64::gemm(&mut whole, Into::Replace, 1.0, x.t(), x);
            assert!(g.iter().zip(&whole).all(|(a, b)| (a - b).abs() < 1e-11));
            let (mut square, g2) = (vec![0.0; n * n], Mat::new(&g, n, n));
            f64::symmetric_product(&mut square, &g, &g, n);
            f64::gemm(&mut whole, Into::Replace, 1.0, g2, g2);
            assert!(square.iter().zip(&whole).all(|(a, b)| (a - b).abs() < 1e-8));
        }
    }
}
