//! f: smooth losses. A loss gives its value and its gradient in one call, and knows the blocks of its variable.

mod cox;
pub(crate) mod entry_factors;
pub(crate) mod factor;
mod filtered;
mod form;
mod held;
mod huber;
mod known;
#[cfg(test)]
mod laws;
mod least_squares;
mod linear_model;
mod link;
mod logistic;
mod masked;
mod multinomial;
mod poisson;
mod quadratic;
mod quantile;
mod residual;
mod responses;
mod ridge;
mod robust_pca;
mod sampled;
mod separate;

pub use cox::{Cox, Risk, Times};
pub use entry_factors::{EntryFactors, EntryLoss};
pub use factor::{Data, Factorization, Rows};
pub use filtered::Filtered;
pub use form::{Form, Lent};
pub use held::Held;
pub use huber::{Huber, HuberRegression};
pub use known::KnownFactors;
pub(crate) use known::turn;
pub use least_squares::{LeastSquares, Squares};
pub use linear_model::LinearModel;
pub use link::Link;
pub use logistic::{Logistic, TwoClasses};
pub use masked::MaskedLeastSquares;
pub use multinomial::{ManyClasses, Multinomial};
pub use poisson::{Counts, Poisson};
pub(crate) use quadratic::Quadratic;
pub use quantile::{Level, Quantile};
pub use responses::{Kind, Responses};
pub use ridge::Ridge;
pub use robust_pca::RobustPca;
pub use sampled::Sampled;
pub use separate::Separate;

use crate::block::Layout;
use crate::real::Real;
use crate::vector::{norm2, sum_error};

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

    /// m ≥ 0 such that f − m/2·‖·‖² is convex, proven: 0 for a loss that is convex and no more; `None` where it is not known
    /// to be convex.
    fn strong_convexity(&self) -> Option<f64> {
        None
    }

    /// Whether f is known to be convex: what [`Smooth::strong_convexity`] says, where that is dear to ask.
    fn is_convex(&self) -> bool {
        self.strong_convexity().is_some()
    }

    /// A lower bound on f; `None` where none is known.
    fn lower_bound(&self) -> Option<f64> {
        None
    }

    /// How far rounding can have moved what [`Smooth::value_grad`] gave at x: a bound, not its usual size. The default is an
    /// assumption about losses of one's own: as if every entry of the gradient were a short sum without cancellation.
    fn rounding(&self, x: &[S], value: f64, grad: &[S]) -> Rounding {
        let _ = x;
        Rounding { value: 16.0 * S::EPSILON * value.abs(), grad: 16.0 * S::EPSILON * norm2(grad) }
    }

    /// This loss as a sum over the entries of x, when it is one: it can then be evaluated row by row, in the same pass
    /// over memory as the penalty.
    fn pointwise(&self) -> Option<&dyn Pointwise<S>> {
        None
    }

    /// This loss as a sum of parts that can be evaluated a few at a time, when it is one.
    fn sampled(&self) -> Option<&dyn Sampled<S>> {
        None
    }

    /// What it is made of, when methods can use that.
    fn form(&self) -> Form<'_, S> {
        Form::General
    }
}

/// Bounds on the errors of a computed value and, in ‖·‖₂, of a computed gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounding {
    /// Of f(x).
    pub value: f64,
    /// Of ∇f(x).
    pub grad: f64,
}

impl Rounding {
    /// Of ½‖M⊙(x − y)‖² on n entries, from its value and ‖∇f(x)‖₂: one subtraction an entry, and squares of what it gave.
    pub fn of_proximity<S: Real>(value: f64, grad: f64, n: usize) -> Self {
        Self { value: (4.0 * S::EPSILON + sum_error(n)) * value, grad: S::EPSILON * grad }
    }

    /// Of ½‖M⊙(Y − L − S)‖² on n entries of L and S, from its value, ‖∇f(x)‖₂ and ‖x‖₂: L + S is rounded, then the difference from Y; both
    /// halves of the gradient carry it.
    pub fn of_sum<S: Real>(value: f64, grad: f64, x: f64, n: usize) -> Self {
        let sums = S::EPSILON * (2.0 * x + grad);
        let value = (2.0 * value).sqrt() * sums + (4.0 * S::EPSILON + sum_error(n)) * value;
        Self { value, grad: std::f64::consts::SQRT_2 * sums }
    }
}

/// A loss f(x) = Σᵢ fᵢ(xᵢ), evaluated on any stretch of entries.
pub trait Pointwise<S: Real>: Send + Sync {
    /// grad ← fᵢ′(xᵢ) for i = first, first + 1, …; returns the sum of fᵢ(xᵢ).
    fn value_grad_at(&self, grad: &mut [S], x: &[S], first: usize) -> f64;
}
