//! f: smooth losses. A loss gives its value and its gradient in one call, and knows the blocks of its variable.

mod factor;
mod form;
mod huber;
#[cfg(test)]
mod laws;
mod least_squares;
pub(crate) mod linear_model;
mod logistic;
mod masked;
mod residual;
mod robust_pca;

pub use factor::Factorization;
pub use form::{Form, Link};
pub use huber::HuberRegression;
pub use least_squares::LeastSquares;
pub use logistic::Logistic;
pub use masked::MaskedLeastSquares;
pub use robust_pca::RobustPca;

use crate::block::Layout;
use crate::real::Real;

/// A smooth function f of a block variable.
///
/// Slices have the lengths that the layout and `work_len` state; nothing is allocated. A loss that cannot answer (a
/// callback that failed) returns NaN: the run then ends with [`Status::NotFinite`](crate::drive::Status::NotFinite) at the
/// last good point, and the loss can keep the reason for whoever asks.
pub trait Smooth<S: Real>: Send + Sync {
    /// The blocks of x.
    fn layout(&self) -> &Layout;

    /// Scratch that [`Smooth::value_grad`] needs, in numbers.
    fn work_len(&self) -> usize {
        0
    }

    /// grad ← ∇f(x); returns f(x).
    fn value_grad(&self, grad: &mut [S], x: &[S], work: &mut [S]) -> f64;

    /// L_f: a Lipschitz constant of ∇f in ‖·‖₂, when there is one that is known.
    fn lipschitz(&self) -> Option<f64> {
        None
    }

    /// This loss as a sum over the entries of x, when it is one: it can then be evaluated row by row, in the same pass
    /// over memory as the penalty.
    fn pointwise(&self) -> Option<&dyn Pointwise<S>> {
        None
    }

    /// What it is made of, when methods can use that.
    fn form(&self) -> Form<'_, S> {
        Form::General
    }
}

/// A loss f(x) = Σᵢ fᵢ(xᵢ), evaluated on any stretch of entries.
pub trait Pointwise<S: Real>: Send + Sync {
    /// grad ← fᵢ′(xᵢ) for i = first, first + 1, …; returns the sum of fᵢ(xᵢ).
    fn value_grad_at(&self, grad: &mut [S], x: &[S], first: usize) -> f64;
}
