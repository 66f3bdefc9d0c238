//! f(x) + g_β(∇x) of an image and its gradient in one pass over memory, a row at a time.
//!
//! The differences of a row, their envelope's slopes and the adjoint stay in a few row buffers, in cache. A virtual call a
//! row costs nothing; across two trait objects an entry at a time it would cost everything.

use crate::operator::Difference2d;
use crate::penalty::{Envelope, Streamed};
use crate::problem::Evaluation;
use crate::real::Real;
use crate::smooth::Pointwise;
use crate::vector::simd;

/// A penalty of an image's differences, with the loss when that is a sum over pixels.
pub(crate) struct Stream<'a, S> {
    f: Option<&'a dyn Pointwise<S>>,
    g: Streamed<'a, S>,
    rows: usize,
    cols: usize,
}

impl<'a, S: Real> Stream<'a, S> {
    pub fn new(f: Option<&'a dyn Pointwise<S>>, g: Streamed<'a, S>, differences: &Difference2d) -> Self {
        let (rows, cols) = differences.shape();
        Self { f, g, rows, cols }
    }

    pub fn has_loss(&self) -> bool {
        self.f.is_some()
    }

    /// Row buffers: Δₓ, Δᵧ, ∇ₓ-slopes behind one zero, ∇ᵧ-slopes of this row and of the row above.
    pub fn work_len(&self) -> usize {
        5 * self.cols + 1
    }

    /// grad ← ∇f + T*∇g_β(Tx), or grad + T*∇g_β(Tx) without a loss of its own.
    pub fn smoothed_gradient_add(&self, grad: &mut [S], x: &[S], beta: f64, work: &mut [S]) -> Evaluation {
        let Self { rows, cols, .. } = *self;
        let (delta_x, work) = work.split_at_mut(cols);
        let (delta_y, work) = work.split_at_mut(cols);
        let (mut slope_y, work) = work.split_at_mut(cols);
        let (mut slope_above, slope_x) = work.split_at_mut(cols);
        slope_above.fill(S::ZERO);
        let slope_x = &mut slope_x[..cols + 1];
        let mut total = Evaluation { f: 0.0, envelope: Envelope::default() };
        for i in 0..rows {
            let first = i * cols;
            let x_row = &x[first..first + cols];
            let below = if i + 1 < rows { &x[first + cols..first + 2 * cols] } else { x_row };
            differences(delta_x, delta_y, x_row, below);
            total.envelope += self.slopes(&mut slope_x[1..], slope_y, delta_x, delta_y, first, beta);
            // The last difference of a row or a column is 0 whatever x is: its slope does not reach x.
            slope_x[0] = S::ZERO;
            slope_x[cols] = S::ZERO;
            if i + 1 == rows {
                slope_y.fill(S::ZERO);
            }
            let grad_row = &mut grad[first..first + cols];
            if let Some(f) = self.f {
                total.f += f.value_grad_at(grad_row, x_row, first);
            }
            adjoint_row(grad_row, slope_x, slope_y, slope_above);
            std::mem::swap(&mut slope_y, &mut slope_above);
        }
        total
    }

    fn slopes(
        &self,
        slope_x: &mut [S],
        slope_y: &mut [S],
        delta_x: &[S],
        delta_y: &[S],
        first: usize,
        beta: f64,
    ) -> Envelope {
        match &self.g {
            Streamed::Entries(g) => {
                let mut envelope = g.moreau_at(slope_x, delta_x, first, beta);
                envelope += g.moreau_at(slope_y, delta_y, self.rows * self.cols + first, beta);
                envelope
            }
            Streamed::Pixels(g) => {
                slope_x.copy_from_slice(delta_x);
                slope_y.copy_from_slice(delta_y);
                g.moreau_at(slope_x, slope_y, first, beta)
            }
        }
    }

    /// g(Tx).
    pub fn penalty(&self, x: &[S], work: &mut [S]) -> f64 {
        let Self { rows, cols, .. } = *self;
        let (delta_x, work) = work.split_at_mut(cols);
        let delta_y = &mut work[..cols];
        (0..rows)
            .map(|i| {
                let first = i * cols;
                let x_row = &x[first..first + cols];
                let below = if i + 1 < rows { &x[first + cols..first + 2 * cols] } else { x_row };
                differences(delta_x, delta_y, x_row, below);
                match &self.g {
                    Streamed::Entries(g) => g.value_at(delta_x, first) + g.value_at(delta_y, rows * cols + first),
                    Streamed::Pixels(g) => g.value_at(delta_x, delta_y, first),
                }
            })
            .sum()
    }
}

/// Δₓ and Δᵧ of one row; `below` is the row itself at the image's foot, which makes Δᵧ zero there.
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

/// grad += (T*u) on one row: what the left neighbour and the row above took from it, minus its own slopes.
fn adjoint_row<S: Real>(grad: &mut [S], slope_x: &[S], slope_y: &[S], slope_above: &[S]) {
    simd(
        #[inline(always)]
        || {
            let left_and_own = slope_x.iter().zip(&slope_x[1..]);
            for (((grad, (&left, &own)), &y), &above) in grad.iter_mut().zip(left_and_own).zip(slope_y).zip(slope_above)
            {
                *grad += (left - own) + (above - y);
            }
        },
    );
}
