//! A product cut into tiles of its result for threads to share. An entry is the same sum in the same order in every tile that
//! is not a single row, so that the cut may depend on the number of threads.

use faer::MatMut;

use super::faer_mut;
use crate::threads::Threads;

/// Multiplications from which on a product is cut: a tenth of a millisecond.
const LARGE: usize = 1 << 22;

/// The least length of a long tile, and what it is a multiple of: what the narrow kernels go by.
const LEAST: usize = 96;
const UNIT: usize = 32;

/// A part of a matrix, and where it begins.
pub(super) struct Tile<'a, T> {
    pub top: usize,
    pub left: usize,
    pub c: MatMut<'a, T>,
}

/// Height and width of the tiles of an m×n product over `inner` terms. Measured on one thread: tiles of 128×64 take 1.03 times
/// as long as the whole, of 64×64 1.05 to 1.1 times. A narrow factor is packed or passed by again for every tile, which 96 rows
/// of the other hardly pay for (1.2 times as long as the whole at 400×30 over 4096 terms): such products are cut for the
/// threads there are.
pub(super) fn size(m: usize, n: usize, inner: usize) -> (usize, usize) {
    let part = |len: usize, parts: usize, least: usize| len.div_ceil(parts).next_multiple_of(32).max(least);
    match () {
        () if m * n * inner < LARGE => (m, n),
        () if n <= 128 => (long(m, Threads::current().get()), n),
        () if m <= 128 => (m, long(n, Threads::current().get())),
        () => (part(m, 8, 128), part(n, 8, 64)),
    }
}

/// Length of the tiles of a long side: all of it on one thread, two tiles for each of several. None is less than
/// half of another: the linear algebra crate sums very small products in another order.
fn long(side: usize, threads: usize) -> usize {
    if threads == 1 || side < 2 * LEAST {
        return side;
    }
    let parts = (2 * threads).min(side / LEAST);
    let even = side.div_ceil(parts).next_multiple_of(UNIT);
    (even..).step_by(UNIT).find(|length| side.is_multiple_of(*length) || side % length >= length / 2).unwrap_or(side)
}

/// Nanoseconds that a product takes, roughly.
pub(super) fn nanoseconds<T>(m: usize, n: usize, inner: usize) -> usize {
    m * n * inner / (320 / size_of::<T>())
}

/// The tiles of the matrix with n columns in `c`, row after row.
pub(super) fn tiles<T>(c: &mut [T], n: usize, (height, width): (usize, usize)) -> impl Iterator<Item = Tile<'_, T>> {
    c.chunks_mut(height * n).enumerate().flat_map(move |(i, rows)| {
        let height_here = rows.len() / n;
        Across { top: i * height, left: 0, width, rest: Some(faer_mut(rows, height_here, n)) }
    })
}

/// The tiles of one row of them.
struct Across<'a, T> {
    top: usize,
    left: usize,
    width: usize,
    rest: Option<MatMut<'a, T>>,
}

impl<'a, T> Iterator for Across<'a, T> {
    type Item = Tile<'a, T>;

    fn next(&mut self) -> Option<Tile<'a, T>> {
        let rest = self.rest.take().filter(|rest| rest.ncols() > 0)?;
        let width = self.width.min(rest.ncols());
        let (c, rest) = rest.split_at_col_mut(width);
        let tile = Tile { top: self.top, left: self.left, c };
        (self.rest, self.left) = (Some(rest), self.left + width);
        Some(tile)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Dense as _, Into, Mat};
    use super::*;

    #[test]
    fn tiles_cover_a_matrix_once() {
        for (m, n, size) in [(1, 1, (1, 1)), (5, 7, (2, 3)), (4, 4, (4, 4)), (6, 4, (3, 9)), (3, 10, (2, 5))] {
            let mut c = vec![0; m * n];
            for Tile { top, left, mut c } in tiles(&mut c, n, size) {
                assert!(c.nrows() <= size.0 && c.ncols() <= size.1);
                for i in 0..c.nrows() {
                    (0..c.ncols()).for_each(|j| c[(i, j)] += (top + i) * n + left + j + 1);
                }
            }
            assert!(c.iter().enumerate().all(|(at, &v)| v == at + 1));
        }
    }

    #[test]
    fn small_products_are_one_tile_and_large_ones_enough_for_the_threads() {
        assert_eq!(size(77, 77, 77), (77, 77));
        let shapes = [(256, 256, 256), (1024, 1024, 1024), (4096, 64, 4096), (64, 4096, 4096), (5000, 30, 64)];
        for (m, n, inner) in shapes {
            let (height, width) = Threads::new(4).unwrap().run(|| size(m, n, inner));
            assert!(m.div_ceil(height) * n.div_ceil(width) >= 8, "{m} {n} {inner}: {height}×{width}");
        }
    }

    #[test]
    fn long_tiles_are_whole_on_one_thread_and_none_is_a_sliver() {
        for m in 1..4000 {
            assert_eq!(long(m, 1), m);
            for threads in [2, 3, 8, 64] {
                let height = long(m, threads);
                assert!(
                    height == m || (height >= LEAST && (m.is_multiple_of(height) || m % height >= height / 2)),
                    "{m}: {height}"
                );
            }
        }
    }

    /// As the numbers of threads cut it, and one tile for all: the same bits.
    #[test]
    fn tiles_do_not_change_a_bit() {
        for (m, n, inner) in
            [(400, 30, 512), (777, 20, 300), (1001, 64, 257), (193, 100, 700), (30, 1000, 400), (17, 2001, 130)]
        {
            let (a, b) = (waves(m * inner), waves(n * inner));
            let (a32, b32): (Vec<f32>, Vec<f32>) =
                (a.iter().map(|&v| v as f32).collect(), b.iter().map(|&v| v as f32).collect());
            let by = |threads: usize| {
                let [mut c, mut by_rows, mut by_columns] = [0; 3].map(|_| vec![0.0; m * n]);
                let mut c32 = vec![0f32; m * n];
                Threads::new(threads).unwrap().run(|| {
                    f64::gemm(&mut c, Into::Replace, 1.0, Mat::new(&a, m, inner), Mat::new(&b, inner, n));
                    f64::gemm(&mut by_rows, Into::Replace, 1.0, Mat::new(&a, m, inner), Mat::new(&b, n, inner).t());
                    f64::gemm(&mut by_columns, Into::Replace, 1.0, Mat::new(&a, inner, m).t(), Mat::new(&b, inner, n));
                    f32::gemm(&mut c32, Into::Replace, 1.0, Mat::new(&a32, m, inner), Mat::new(&b32, inner, n));
                });
                (c, by_rows, by_columns, c32)
            };
            let one = by(1);
            assert!([2, 3, 8].into_iter().all(|threads| by(threads) == one), "{m}×{n} over {inner}");
        }
    }

    fn waves(len: usize) -> Vec<f64> {
        (0..len).map(|i| (i as f64 * 0.37).sin()).collect()
    }
}
