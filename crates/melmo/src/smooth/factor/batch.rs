//! Minibatches of a factorisation: rows of Y, some at a time.

use super::{Data, Factorization};
use crate::linalg::{Into, Mat};
use crate::real::Real;
use crate::smooth::residual::residual;
use crate::smooth::{Sampled, Smooth};
use crate::vector::axpy;

/// Its parts are the rows of Y, each with its share of ν/2·‖H‖².
impl<S: Real> Sampled<S> for Factorization<S> {
    fn samples(&self) -> usize {
        self.rows
    }

    fn batch_grad(&self, grad: &mut [S], x: &[S], batch: &[usize], work: &mut [S]) {
        let scale = 2.0 * self.coefficient * self.rows as f64 / batch.len() as f64;
        grad.fill(S::ZERO);
        let height = batch.len().div_ceil(batch.len().div_ceil(self.at_once()));
        for some in batch.chunks(height) {
            if self.add_rows(grad, x, some, scale, work).is_none() {
                return grad.fill(S::of(f64::NAN)); // its rows cannot be read
            }
        }
        let h_at = self.rows * self.rank;
        axpy(&mut grad[h_at..], self.ridge, &x[h_at..]);
    }
}

impl<S: Real> Factorization<S> {
    /// Rows of a batch whose residual there is room for, with two rows of the rank's length for each; and with one of Y, where it is read.
    fn at_once(&self) -> usize {
        let read = if matches!(self.y, Data::Dense(_)) { 0 } else { self.cols };
        (self.work_len() - read) / (self.cols + 2 * self.rank)
    }

    /// ∇_W += aRHᵀ in these rows, and ∇_H += aW_BᵀR, R = M⊙(W_BH − Y_B).
    fn add_rows(&self, grad: &mut [S], x: &[S], some: &[usize], a: f64, work: &mut [S]) -> Option<()> {
        let Self { rows, cols, rank, .. } = *self;
        let (w, h) = x.split_at(rows * rank);
        let (grad_w, grad_h) = grad.split_at_mut(rows * rank);
        let (picked, work) = work.split_at_mut(some.len() * rank);
        let (answers, work) = work.split_at_mut(some.len() * rank);
        let (r, work) = work.split_at_mut(some.len() * cols);
        for (to, &i) in picked.chunks_exact_mut(rank).zip(some) {
            to.copy_from_slice(&w[i * rank..(i + 1) * rank]);
        }
        let (w_b, h) = (Mat::new(picked, some.len(), rank), Mat::new(h, rank, cols));
        S::gemm(r, Into::Replace, S::ONE, w_b, h);
        for (r, &i) in r.chunks_exact_mut(cols).zip(some) {
            let mask = self.mask.as_ref().map(|mask| &mask[i * cols..(i + 1) * cols]);
            residual(r, [], self.y.strip(i, 1, cols, work)?, mask);
        }
        let r = Mat::new(r, some.len(), cols);
        S::gemm(answers, Into::Replace, S::of(a), r, h.t());
        for (answer, &i) in answers.chunks_exact(rank).zip(some) {
            axpy(&mut grad_w[i * rank..(i + 1) * rank], 1.0, answer); // a row may be drawn twice
        }
        S::gemm(grad_h, Into::Add, S::of(a), w_b.t(), r);
        Some(())
    }
}
