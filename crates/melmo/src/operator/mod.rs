//! T: linear operators, each with its exact adjoint, a proven bound on its norm and, where it has one, a right inverse.

mod blur;
mod bound;
mod columns;
mod compose;
mod convolution;
mod dense;
mod difference;
mod difference3d;
mod downsample;
mod filter_bank;
mod form;
mod frequencies;
mod identity;
mod jet;
#[cfg(test)]
mod laws;
mod mask;
mod plane;
mod pseudo_inverse;
mod radon;
mod sample;
mod scale;
mod select;
mod sparse;
mod stack;
mod wavelet;

pub use blur::Blur;
pub use columns::Columns;
pub use compose::Compose;
pub use convolution::{Boundary, Convolution, Kernel};
pub use dense::Dense;
pub use difference::Difference2d;
pub use difference3d::Difference3d;
pub use downsample::Downsample;
pub use filter_bank::FilterBank;
pub use form::Form;
pub use frequencies::Frequencies;
pub use identity::Identity;
pub use jet::Jet;
pub use mask::Mask;
pub use radon::Radon;
pub use sample::Sample;
pub use scale::Scale;
pub use select::Select;
pub use sparse::Sparse;
pub use stack::Stack;
pub use wavelet::Wavelet;

use crate::block::Layout;
use crate::real::Real;

/// A linear map between block variables.
///
/// Slices have the lengths that the layouts and `work_len` state; nothing is allocated.
pub trait LinOp<S: Real>: Send + Sync {
    /// The blocks of x.
    fn domain(&self) -> &Layout;

    /// The blocks of Tx: lifts, groups and isotropic total variation need their shapes.
    fn range(&self) -> &Layout;

    /// An upper bound on ‖T‖₂.
    fn norm_bound(&self) -> f64;

    /// σ ≥ 0 with ‖Tx‖₂ ≥ σ‖x‖₂ for every x, proven; 0 unless one is known.
    fn lower_norm_bound(&self) -> f64 {
        0.0
    }

    /// ϑ such that rounding moves a computed Tx by at most ϑ‖x‖₂ and a computed T*y by at most ϑ‖y‖₂. The default is an
    /// assumption about operators of one's own: sums as long as x and Tx together, of terms bounded by the norm.
    fn rounding(&self) -> f64 {
        (self.domain().size() + self.range().size()) as f64 * S::EPSILON * self.norm_bound()
    }

    /// Scratch that `apply`, `adjoint_add` and the right inverse need, in numbers.
    fn work_len(&self) -> usize {
        0
    }

    /// y ← Tx.
    fn apply(&self, y: &mut [S], x: &[S], work: &mut [S]);

    /// x ← x + T*y.
    fn adjoint_add(&self, x: &mut [S], y: &[S], work: &mut [S]);

    /// A right inverse, when T is known to be surjective and has one.
    fn right_inverse(&self) -> Option<&dyn RightInverse<S>> {
        None
    }

    /// What it is, when that can be used: the penalty of one image's differences is streamed over the image.
    fn form(&self) -> Form<'_, S> {
        Form::General
    }
}

/// R with T(Ry) = y for every y.
pub trait RightInverse<S: Real>: Send + Sync {
    /// x ← Ry.
    fn right_inverse(&self, x: &mut [S], y: &[S], work: &mut [S]);

    /// σ > 0 with ‖Ry‖₂ ≤ ‖y‖₂/σ: a lower bound on σ_min(T).
    fn sigma_min(&self) -> f64;
}
