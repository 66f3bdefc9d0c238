//! f(x) + g_β(∇x) of an image and its gradient in one pass over memory, a strip of rows at a time.
//!
//! The slopes of a strip's differences stay in cache until the adjoint has taken them up. A virtual call a row costs
//! little; across two trait objects an entry at a time it would cost everything. Strips are gathered in blocks, which threads
//! share: the row above a block is looked at twice.
//!
//! A step and the evaluation after it are one pass too: the rows of a strip are moved into a small window, evaluated there and
//! written out. The new gradient takes the place of the old one, so what a block needs of its neighbours is moved beforehand.

use std::ops::Range;

use super::{Pass, Sums, found};
use crate::operator::Difference2d;
use crate::penalty::Streamed;
use crate::problem::Evaluation;
use crate::real::Real;
use crate::smooth::Pointwise;
use crate::threads::{self, Threads};
use crate::vector::{self, simd};

/// A penalty of an image's differences, with the loss when that is a sum over pixels.
pub(crate) struct DifferenceStream<'a, S> {
    f: Option<&'a dyn Pointwise<S>>,
    g: Streamed<'a, S>,
    rows: usize,
    cols: usize,
    /// The rows that are evaluated; what lies beyond them is read, and is somebody else's.
    own: Range<usize>,
}

impl<'a, S: Real> DifferenceStream<'a, S> {
    pub fn new(
        f: Option<&'a dyn Pointwise<S>>,
        g: Streamed<'a, S>,
        differences: &Difference2d,
        own: Option<Range<usize>>,
    ) -> Self {
        let (rows, cols) = differences.shape();
        Self { f, g, rows, cols, own: own.unwrap_or(0..rows) }
    }

    /// The entries of the rows that are evaluated.
    fn entries(&self) -> Range<usize> {
        self.own.start * self.cols..self.own.end * self.cols
    }

    /// Rows that are worked on together: few enough that they stay in cache, enough that calls cost nothing.
    fn strip(&self) -> usize {
        (1024 / self.cols).clamp(1, self.rows)
    }

    /// Row i of rows from `top` on, and the row below it; at the image's foot the row itself, which makes the differences zero.
    fn row_and_below<'x>(&self, x: &'x [S], top: usize, i: usize) -> (&'x [S], &'x [S]) {
        let row = |i: usize| &x[(i - top) * self.cols..(i - top + 1) * self.cols];
        (row(i), row((i + 1).min(self.rows - 1)))
    }

    /// ∇g_β of a strip's differences, with zeros where a difference does not depend on x; returns its squared length.
    /// `x` is the strip and the row below it, where there is one.
    fn slopes(&self, slope_x: &mut [S], slope_y: &mut [S], x: &[S], strip: Range<usize>, beta: f64) -> f64 {
        let Self { rows, cols, .. } = *self;
        let first = strip.start * cols;
        // Below the image's last row there is none.
        let inside = (strip.end.min(rows - 1) - strip.start) * cols;
        let mut squared = 0.0;
        match &self.g {
            Streamed::Entries(g) => {
                let idle = g.rests_at_zero(beta);
                let rows_of_x = strip.clone().zip(x.chunks_exact(cols));
                for ((i, row), slopes) in rows_of_x.zip(slope_x.chunks_exact_mut(cols)) {
                    let (inner, last) = slopes.split_at_mut(cols - 1);
                    squared += g.slopes_between(inner, &row[..cols - 1], &row[1..], i * cols, beta);
                    if !idle {
                        let end = &row[cols - 1..];
                        squared += g.slopes_between(last, end, end, (i + 1) * cols - 1, beta);
                    }
                }
                let (inner, foot) = slope_y.split_at_mut(inside);
                squared += g.slopes_between(inner, &x[..inside], &x[cols..][..inside], rows * cols + first, beta);
                if !foot.is_empty() && !idle {
                    let last = &x[inside..inside + cols];
                    squared += g.slopes_between(foot, last, last, (2 * rows - 1) * cols, beta);
                }
            }
            Streamed::Pixels(g) => {
                let pairs = slope_x.chunks_exact_mut(cols).zip(slope_y.chunks_exact_mut(cols));
                for (i, (delta_x, delta_y)) in strip.clone().zip(pairs) {
                    let (row, below) = self.row_and_below(x, strip.start, i);
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
        let rows = self.own.len().div_ceil(BLOCKS).max(LEAST.div_ceil(self.cols));
        rows.next_multiple_of(self.strip())
    }

    /// x-slopes of a strip behind one zero; y-slopes of a strip and of the row above it.
    fn slopes_len(&self) -> usize {
        (2 * self.strip() + 1) * self.cols + 1
    }

    /// Slopes, and the window: a strip and the row below it.
    fn scratch_len(&self) -> usize {
        self.slopes_len() + (self.strip() + 1) * self.cols
    }

    fn blocks(&self) -> usize {
        self.own.len().div_ceil(self.block())
    }

    /// The slopes behind their zeros, the y-slopes of row i = top − 1 first: of an image's first row there are none. `x` is row i
    /// and the row below it.
    fn begin<'w>(
        &self,
        scratch: &'w mut [S],
        x: Option<(&[S], &[S])>,
        top: usize,
        beta: f64,
    ) -> (&'w mut [S], &'w mut [S]) {
        let cols = self.cols;
        let (slope_x, slope_y) = scratch[..self.slopes_len()].split_at_mut(self.strip() * cols + 1);
        match x {
            Some(x) => self.slopes_above(&mut slope_y[..cols], &mut slope_x[..cols], x, (top - 1) * cols, beta),
            None => slope_y[..cols].fill(S::ZERO),
        }
        slope_x[0] = S::ZERO;
        (slope_x, slope_y)
    }

    /// The y-slopes of the row above a block. `spare` has room for its x-slopes.
    fn slopes_above(&self, slope_y: &mut [S], spare: &mut [S], (row, below): (&[S], &[S]), first: usize, beta: f64) {
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

    /// grad ← ∇f + T*∇g_β(Tx), or grad + T*∇g_β(Tx), on the rows of a strip; `x` as in [`Self::slopes`].
    fn gradient_of_strip(
        &self,
        grad: &mut [S],
        x: &[S],
        top: usize,
        beta: f64,
        (slope_x, slope_y): (&mut [S], &mut [S]),
        sums: &mut Sums,
    ) {
        let (cols, len) = (self.cols, grad.len());
        let (slope_x, slope_y) = (&mut slope_x[..len + 1], &mut slope_y[..len + cols]);
        sums.slope_squared += self.slopes(&mut slope_x[1..], &mut slope_y[cols..], x, top..top + len / cols, beta);
        if let Some(f) = self.f {
            sums.f += f.value_grad_at(grad, &x[..len], top * cols);
        }
        sums.squared.add(adjoint(grad, slope_x, slope_y, cols));
        slope_y.copy_within(len.., 0);
    }

    /// The same on a block of rows.
    fn gradient_of_block(&self, grad: &mut [S], x: &[S], top: usize, beta: f64, scratch: &mut [S]) -> [f64; 3] {
        let above = top.checked_sub(1).map(|i| self.row_and_below(x, 0, i));
        let (slope_x, slope_y) = self.begin(scratch, above, top, beta);
        let mut sums = Sums::default();
        for (i, grad) in grad.chunks_mut(self.strip() * self.cols).enumerate() {
            let top = top + i * self.strip();
            self.gradient_of_strip(grad, &x[top * self.cols..], top, beta, (slope_x, slope_y), &mut sums);
        }
        sums.values()
    }

    /// y ← x + aφ and φ ← ∇F_β(y) on a block of rows; `beside` is y's row above the block and the one below it.
    fn move_block(
        &self,
        Moved { y, phi, x, a }: Moved<'_, S>,
        beside: &[S],
        top: usize,
        beta: f64,
        scratch: &mut [S],
    ) -> [f64; 3] {
        let (cols, rows) = (self.cols, y.len() / self.cols);
        let (above, below) = beside.split_at(cols);
        let (scratch, window) = scratch.split_at_mut(self.slopes_len());
        vector::add_scaled(&mut window[..cols], &x[..cols], a, &phi[..cols]);
        let (slope_x, slope_y) = self.begin(scratch, (top > 0).then_some((above, &window[..cols])), top, beta);
        let mut sums = Sums::default();
        for start in (0..rows).step_by(self.strip()) {
            // The window's first row was moved with the strip before.
            let end = (start + self.strip()).min(rows);
            let (len, ahead) = ((end - start) * cols, (start + 1) * cols..(end + 1).min(rows) * cols);
            vector::add_scaled(&mut window[cols..][..ahead.len()], &x[ahead.clone()], a, &phi[ahead]);
            if end == rows {
                window[len..][..cols].copy_from_slice(below);
            }
            y[start * cols..][..len].copy_from_slice(&window[..len]);
            let phi = &mut phi[start * cols..][..len];
            self.gradient_of_strip(phi, window, top + start, beta, (slope_x, slope_y), &mut sums);
            window.copy_within(len..len + cols, 0);
        }
        sums.values()
    }

    /// Row i's share of g(Tx), or of g_β(Tx) when there is a β.
    fn penalty_of_row(&self, x: &[S], i: usize, beta: Option<f64>, scratch: &mut [S]) -> f64 {
        let (row, below) = self.row_and_below(x, 0, i);
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

/// A block of y ← x + aφ, and of the φ that is to be replaced.
struct Moved<'b, S> {
    y: &'b mut [S],
    phi: &'b mut [S],
    x: &'b [S],
    a: f64,
}

/// The most blocks of an image: few, so that little is looked at twice.
const BLOCKS: usize = 64;
/// The fewest entries of a block.
const LEAST: usize = 1 << 15;

impl<S: Real> Pass<S> for DifferenceStream<'_, S> {
    fn has_loss(&self) -> bool {
        self.f.is_some()
    }

    /// Scratch for each thread, and two rows of each block's neighbours.
    fn work_len(&self) -> usize {
        self.blocks().min(Threads::current().get()) * self.scratch_len() + 2 * self.blocks() * self.cols
    }

    fn smoothed_gradient_add(&self, grad: &mut [S], x: &[S], beta: f64, work: &mut [S]) -> Evaluation {
        let (own, block) = (work.chunks_exact_mut(self.scratch_len()), self.block());
        let blocks = grad[self.entries()].chunks_mut(block * self.cols).enumerate();
        found(threads::sums_with(x.len(), own, blocks, |scratch, (i, grad)| {
            self.gradient_of_block(grad, x, self.own.start + i * block, beta, scratch)
        }))
    }

    fn smoothed_gradient_after(
        &self,
        [y, phi]: [&mut [S]; 2],
        x: &[S],
        a: f64,
        beta: f64,
        work: &mut [S],
    ) -> Option<Evaluation> {
        self.f?;
        let (cols, block, entries) = (self.cols, self.block() * self.cols, self.entries());
        let (beside, work) = work.split_at_mut(2 * self.blocks() * cols);
        let moved = |to: &mut [S], phi: &[S], at: usize| {
            let there = at..at + to.len();
            vector::add_scaled(to, &x[there.clone()], a, &phi[there]);
        };
        for (i, beside) in beside.chunks_exact_mut(2 * cols).enumerate() {
            let (above, below) = beside.split_at_mut(cols);
            let top = entries.start + i * block;
            if top > 0 {
                moved(above, phi, top - cols);
            }
            // Below the image its last row once more: it is not looked at.
            moved(below, phi, (top + block).min(entries.end).min(x.len() - cols));
        }
        moved(&mut y[..entries.start], phi, 0);
        moved(&mut y[entries.end..], phi, entries.end);
        let own = work.chunks_exact_mut(self.scratch_len());
        let (y, phi, x) = (&mut y[entries.clone()], &mut phi[entries.clone()], &x[entries]);
        let parts = y.chunks_mut(block).zip(phi.chunks_mut(block)).zip(x.chunks(block));
        let blocks = parts.zip(beside.chunks_exact(2 * cols)).enumerate();
        Some(found(threads::sums_with(x.len(), own, blocks, |scratch, (i, (((y, phi), x), beside))| {
            self.move_block(Moved { y, phi, x, a }, beside, self.own.start + i * self.block(), beta, scratch)
        })))
    }

    fn penalty(&self, x: &[S], beta: Option<f64>, work: &mut [S]) -> f64 {
        let (own, block) = (work.chunks_exact_mut(self.scratch_len()), self.block());
        let Range { start, end } = self.own;
        let blocks = (0..self.blocks()).map(|i| start + i * block..end.min(start + (i + 1) * block));
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

/// grad += T*u on a strip: what the left neighbour and the row above took from each pixel, minus its own slopes. Returns Σ grad².
fn adjoint<S: Real>(grad: &mut [S], slope_x: &[S], slope_y: &[S], cols: usize) -> f64 {
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
    vector::norm2_squared(grad)
}
