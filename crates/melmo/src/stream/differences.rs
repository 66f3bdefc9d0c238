//! f(x) + g_β(∇x) of an image and its gradient in one pass over memory, a strip of rows at a time.
//!
//! The slopes of a strip's differences stay in cache until the adjoint has taken them up. A virtual call a row costs
//! little; across two trait objects an entry at a time it would cost everything. Strips are gathered in blocks, which threads
//! share: the row above a block is looked at twice.

use std::ops::Range;

use super::Pass;
use crate::operator::Difference2d;
use crate::penalty::Streamed;
use crate::real::Real;
use crate::smooth::Pointwise;
use crate::threads::{self, Threads};
use crate::vector::simd;

/// A penalty of an image's differences, with the loss when that is a sum over pixels.
pub(crate) struct DifferenceStream<'a, S> {
    f: Option<&'a dyn Pointwise<S>>,
    g: Streamed<'a, S>,
    rows: usize,
    cols: usize,
}

impl<'a, S: Real> DifferenceStream<'a, S> {
    pub fn new(f: Option<&'a dyn Pointwise<S>>, g: Streamed<'a, S>, differences: &Difference2d) -> Self {
        let (rows, cols) = differences.shape();
        Self { f, g, rows, cols }
    }

    /// Rows that are worked on together: few enough that they stay in cache, enough that calls cost nothing.
    fn strip(&self) -> usize {
        (4096 / self.cols).clamp(1, self.rows)
    }

    /// Row i, and the row below it; at the image's foot the row itself, which makes the differences zero there.
    fn row_and_below<'x>(&self, x: &'x [S], i: usize) -> (&'x [S], &'x [S]) {
        let row = |i: usize| &x[i * self.cols..(i + 1) * self.cols];
        (row(i), row((i + 1).min(self.rows - 1)))
    }

    /// ∇g_β of a strip's differences, with zeros where a difference does not depend on x; returns its squared length.
    fn slopes(&self, slope_x: &mut [S], slope_y: &mut [S], x: &[S], strip: Range<usize>, beta: f64) -> f64 {
        let Self { rows, cols, .. } = *self;
        let first = strip.start * cols;
        // Below the image's last row there is none.
        let inside = (strip.end.min(rows - 1) - strip.start) * cols;
        let mut squared = 0.0;
        match &self.g {
            Streamed::Entries(g) => {
                let idle = g.rests_at_zero(beta);
                for (i, slopes) in strip.clone().zip(slope_x.chunks_exact_mut(cols)) {
                    let (row, (inner, last)) = (&x[i * cols..(i + 1) * cols], slopes.split_at_mut(cols - 1));
                    squared += g.slopes_between(inner, &row[..cols - 1], &row[1..], i * cols, beta);
                    if !idle {
                        let end = &row[cols - 1..];
                        squared += g.slopes_between(last, end, end, (i + 1) * cols - 1, beta);
                    }
                }
                let (here, below) = (&x[first..first + inside], &x[first + cols.min(x.len() - first)..]);
                let (inner, foot) = slope_y.split_at_mut(inside);
                squared += g.slopes_between(inner, here, &below[..inside], rows * cols + first, beta);
                if !foot.is_empty() && !idle {
                    let last = &x[(rows - 1) * cols..];
                    squared += g.slopes_between(foot, last, last, (2 * rows - 1) * cols, beta);
                }
            }
            Streamed::Pixels(g) => {
                let pairs = slope_x.chunks_exact_mut(cols).zip(slope_y.chunks_exact_mut(cols));
                for (i, (delta_x, delta_y)) in strip.clone().zip(pairs) {
                    let (row, below) = self.row_and_below(x, i);
                    differences(delta_x, delta_y, row, below);
                }
                squared += g.moreau_at(slope_x, slope_y, first, beta).slope_squared;
            }
        }
        // The last difference of a row or a column is 0 whatever x is: its slope does not reach x.
        slope_x.chunks_exact_mut(cols).for_each(|row| row[cols - 1] = S::ZERO);
        slope_y[inside..].fill(S::ZERO);
        squared
    }

    /// Rows of a block: whole strips, at most `BLOCKS` times.
    fn block(&self) -> usize {
        let rows = self.rows.div_ceil(BLOCKS).max(LEAST.div_ceil(self.cols));
        rows.next_multiple_of(self.strip())
    }

    /// x-slopes of a strip behind one zero; y-slopes of a strip and of the row above it.
    fn scratch_len(&self) -> usize {
        (2 * self.strip() + 1) * self.cols + 1
    }

    /// The y-slopes of the row above a block; of an image's first row there are none. `spare` has room for its x-slopes.
    fn slopes_above(&self, slope_y: &mut [S], spare: &mut [S], x: &[S], top: usize, beta: f64) {
        let Some(i) = top.checked_sub(1) else { return slope_y.fill(S::ZERO) };
        let ((row, below), first) = (self.row_and_below(x, i), i * self.cols);
        match &self.g {
            Streamed::Entries(g) => {
                g.slopes_between(slope_y, row, below, self.rows * self.cols + first, beta);
            }
            Streamed::Pixels(g) => {
                differences(spare, slope_y, row, below);
                g.moreau_at(spare, slope_y, first, beta);
            }
        }
    }

    /// grad ← ∇f + T*∇g_β(Tx), or grad + T*∇g_β(Tx), on a block of rows; returns its share of f(x) and ‖∇g_β(Tx)‖₂².
    fn gradient_of_block(&self, grad: &mut [S], x: &[S], top: usize, beta: f64, scratch: &mut [S]) -> [f64; 2] {
        let cols = self.cols;
        let (slope_x, slope_y) = scratch.split_at_mut(self.strip() * cols + 1);
        self.slopes_above(&mut slope_y[..cols], &mut slope_x[..cols], x, top, beta);
        slope_x[0] = S::ZERO;
        let (mut f_x, mut slope_squared) = (0.0, 0.0);
        for (i, grad) in grad.chunks_mut(self.strip() * cols).enumerate() {
            let top = top + i * self.strip();
            let range = top * cols..top * cols + grad.len();
            let slope_x = &mut slope_x[..range.len() + 1];
            let slope_y = &mut slope_y[..range.len() + cols];
            let strip = top..top + range.len() / cols;
            slope_squared += self.slopes(&mut slope_x[1..], &mut slope_y[cols..], x, strip, beta);
            if let Some(f) = self.f {
                f_x += f.value_grad_at(grad, &x[range.clone()], range.start);
            }
            adjoint(grad, slope_x, slope_y, cols);
            slope_y.copy_within(range.len().., 0);
        }
        [f_x, slope_squared]
    }

    /// Row i's share of g(Tx), or of g_β(Tx) when there is a β.
    fn penalty_of_row(&self, x: &[S], i: usize, beta: Option<f64>, scratch: &mut [S]) -> f64 {
        let (row, below) = self.row_and_below(x, i);
        let first = i * self.cols;
        match &self.g {
            Streamed::Entries(g) => {
                let (last, below_first) = (self.cols - 1, self.rows * self.cols + first);
                let between = |from: &[S], to: &[S], first| match beta {
                    Some(beta) => g.envelope_between(from, to, first, beta),
                    None => g.value_between(from, to, first),
                };
                between(&row[..last], &row[1..], first)
                    + between(&row[last..], &row[last..], first + last)
                    + between(row, below, below_first)
            }
            Streamed::Pixels(g) => {
                let (delta_x, rest) = scratch.split_at_mut(self.cols);
                let delta_y = &mut rest[..self.cols];
                differences(delta_x, delta_y, row, below);
                match beta {
                    Some(beta) => g.moreau_at(delta_x, delta_y, first, beta).value,
                    None => g.value_at(delta_x, delta_y, first),
                }
            }
        }
    }
}

/// The most blocks of an image: few, so that little is looked at twice.
const BLOCKS: usize = 64;
/// The fewest entries of a block.
const LEAST: usize = 1 << 15;

impl<S: Real> Pass<S> for DifferenceStream<'_, S> {
    fn has_loss(&self) -> bool {
        self.f.is_some()
    }

    fn work_len(&self) -> usize {
        self.rows.div_ceil(self.block()).min(Threads::current().get()) * self.scratch_len()
    }

    fn smoothed_gradient_add(&self, grad: &mut [S], x: &[S], beta: f64, work: &mut [S]) -> (f64, f64) {
        let (own, block) = (work.chunks_exact_mut(self.scratch_len()), self.block());
        let blocks = grad.chunks_mut(block * self.cols).enumerate();
        let [f_x, slope_squared] = threads::sums_with(x.len(), own, blocks, |scratch, (i, grad)| {
            self.gradient_of_block(grad, x, i * block, beta, scratch)
        });
        (f_x, slope_squared)
    }

    fn penalty(&self, x: &[S], beta: Option<f64>, work: &mut [S]) -> f64 {
        let (own, block) = (work.chunks_exact_mut(self.scratch_len()), self.block());
        let blocks = (0..self.rows.div_ceil(block)).map(|i| i * block..self.rows.min((i + 1) * block));
        let [penalty] = threads::sums_with(x.len(), own, blocks, |scratch, rows| {
            [rows.map(|i| self.penalty_of_row(x, i, beta, scratch)).sum()]
        });
        penalty
    }
}

/// Both differences of one row, 0 at its end.
fn differences<S: Real>(delta_x: &mut [S], delta_y: &mut [S], row: &[S], below: &[S]) {
    simd(
        #[inline(always)]
        || {
            for ((delta, &here), &right) in delta_x.iter_mut().zip(row).zip(&row[1..]) {
                *delta = right - here;
            }
            for ((delta, &here), &below) in delta_y.iter_mut().zip(row).zip(below) {
                *delta = below - here;
            }
        },
    );
    delta_x[row.len() - 1] = S::ZERO;
}

/// grad += T*u on a strip: what the left neighbour and the row above took from each pixel, minus its own slopes.
fn adjoint<S: Real>(grad: &mut [S], slope_x: &[S], slope_y: &[S], cols: usize) {
    simd(
        #[inline(always)]
        || {
            let x_slopes = slope_x.iter().zip(&slope_x[1..]);
            let y_slopes = slope_y.iter().zip(&slope_y[cols..]);
            for ((grad, (&left, &own_x)), (&above, &own_y)) in grad.iter_mut().zip(x_slopes).zip(y_slopes) {
                *grad += (left - own_x) + (above - own_y);
            }
        },
    );
}
