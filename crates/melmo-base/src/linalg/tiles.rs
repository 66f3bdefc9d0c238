//! A product cut into tiles of its result, by its size alone, for threads to share.

use faer::MatMut;

use super::faer_mut;

/// Multiplications from which on a product is cut: a tenth of a millisecond.
const LARGE: usize = 1 << 22;

/// A part of a matrix, and where it begins.
pub(super) struct Tile<'a, T> {
    pub top: usize,
    pub left: usize,
    pub c: MatMut<'a, T>,
}

/// Height and width of the tiles of an m×n product over `inner` terms. Measured on one thread: tiles of 128×64 take 1.03 times
/// as long as the whole, of 64×64 1.05 to 1.1 times.
pub(super) fn size(m: usize, n: usize, inner: usize) -> (usize, usize) {
    let part = |len: usize, parts: usize, least: usize| len.div_ceil(parts).next_multiple_of(32).max(least);
    match () {
        () if m * n * inner < LARGE => (m, n),
        () if n <= 128 => (part(m, 32, 96), n),
        () if m <= 128 => (m, part(n, 32, 96)),
        () => (part(m, 8, 128), part(n, 8, 64)),
    }
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
    fn small_products_are_one_tile_and_large_ones_at_least_eight() {
        assert_eq!(size(77, 77, 77), (77, 77));
        for (m, n, inner) in [(256, 256, 256), (1024, 1024, 1024), (4096, 64, 4096), (64, 4096, 4096), (5000, 30, 64)] {
            let (height, width) = size(m, n, inner);
            assert!(m.div_ceil(height) * n.div_ceil(width) >= 8, "{m} {n} {inner}: {height}×{width}");
        }
    }
}
