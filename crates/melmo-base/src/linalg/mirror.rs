//! The lower triangle of a symmetric matrix copied onto the upper one, in panels of rows that threads share.

use faer::prelude::IntoConst;
use faer::{MatMut, MatRef};

use super::faer_mut;
use crate::simd;
use crate::threads;

/// The most panels.
const PANELS: usize = 16;
/// Rows of a panel, at least.
const LEAST: usize = 64;
/// Side of the tiles that are turned in registers.
const TILE: usize = 4;

/// C_ji ← C_ij for all i > j.
pub(super) fn mirror<T: Copy + Send + Sync>(c: &mut [T], n: usize) {
    let height = n.div_ceil(PANELS).max(LEAST).next_multiple_of(TILE);
    let mut before: [Option<MatRef<'_, T>>; PANELS] = [None; PANELS];
    let mut panels: [Option<MatMut<'_, T>>; PANELS] = [const { None }; PANELS];
    let mut rest = faer_mut(c, n, n);
    for (p, (before, panel)) in before.iter_mut().zip(&mut panels).enumerate().take(n.div_ceil(height)) {
        let (rows, below) = rest.split_at_row_mut(height.min(n - p * height));
        let (left, right) = rows.split_at_col_mut(p * height); // what is read, and what is written
        (*before, *panel, rest) = (Some(left.into_const()), Some(right), below);
    }
    let panels = panels.into_iter().flatten().enumerate();
    threads::share(n * n / 2, panels, |(p, mut panel)| {
        simd(
            #[inline(always)]
            || {
                turn_diagonal(&mut panel);
                for (q, rows) in before.iter().enumerate().skip(p + 1).filter_map(|(q, rows)| Some((q, (*rows)?))) {
                    let from = rows.subcols(p * height, panel.nrows());
                    turn(panel.as_mut().subcols_mut((q - p) * height, rows.nrows()), from);
                }
            },
        );
    });
}

/// The square at the left of a panel becomes symmetric.
#[inline(always)]
fn turn_diagonal<T: Copy>(panel: &mut MatMut<'_, T>) {
    for i in 1..panel.nrows() {
        for j in 0..i {
            panel[(j, i)] = panel[(i, j)];
        }
    }
}

/// To ← Fromᵀ.
#[inline(always)]
fn turn<T: Copy>(mut to: MatMut<'_, T>, from: MatRef<'_, T>) {
    let (rows, cols) = (to.nrows() / TILE * TILE, to.ncols() / TILE * TILE);
    for j in (0..cols).step_by(TILE) {
        let lines: [&[T]; TILE] = std::array::from_fn(|k| line(from, j + k));
        for i in (0..rows).step_by(TILE) {
            let tile: [[T; TILE]; TILE] = std::array::from_fn(|k| std::array::from_fn(|l| lines[k][i + l]));
            (0..TILE).for_each(|l| {
                let turned: [T; TILE] = std::array::from_fn(|k| tile[k][l]);
                line_mut(&mut to, i + l)[j..j + TILE].copy_from_slice(&turned);
            });
        }
    }
    for i in 0..to.nrows() {
        let first = if i < rows { cols } else { 0 };
        (first..to.ncols()).for_each(|j| to[(i, j)] = from[(j, i)]);
    }
}

#[inline(always)]
fn line<T>(of: MatRef<'_, T>, i: usize) -> &[T] {
    of.row(i).try_as_row_major().expect("row-major").as_slice()
}

#[inline(always)]
fn line_mut<'c, T>(of: &'c mut MatMut<'_, T>, i: usize) -> &'c mut [T] {
    of.as_mut().row_mut(i).try_as_row_major_mut().expect("row-major").as_slice_mut()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_above_the_diagonal_is_that_below_it() {
        for n in [1, 3, 63, 64, 65, 130, 257, 1029, 1100] {
            let mut c: Vec<usize> = (0..n * n).map(|at| if at % n <= at / n { at } else { usize::MAX }).collect();
            mirror(&mut c, n);
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                assert_eq!(c[i * n + j], i.max(j) * n + i.min(j), "{n}: {i} {j}");
            }
        }
    }
}
