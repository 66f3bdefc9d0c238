//! g: penalties with a proximal operator, convex or weakly convex.
//!
//! A penalty of one number implements [`Separable`] in one file; [`Entrywise`], [`Group`] and [`Spectral`] make a [`Prox`]
//! of it, on entries, on groups of entries, on singular values. [`Blocks`] sums penalties over blocks.

mod blocks;
mod coordinates;
mod dilated;
mod elastic_net;
mod entrywise;
pub mod form;
mod group;
mod huber;
mod interval;
mod kernel;
mod kinks;
mod l1;
#[cfg(test)]
mod laws;
mod log_sum;
mod mcp;
mod nonnegative;
mod partition;
mod positive;
mod reply;
mod ridge;
mod scad;
mod separable;
mod spectral;
mod spline;
mod sum;
mod tile;

pub use blocks::Blocks;
pub use coordinates::Coordinates;
pub(crate) use dilated::{Dilated, Stretched, dilated_prox, first_dilation};
pub use elastic_net::ElasticNet;
pub use entrywise::Entrywise;
pub use form::{Form, Grouping, Piece, Psi, Shape};
pub use group::Group;
pub use huber::Huber;
pub use interval::Interval;
pub(crate) use kinks::Kinks;
pub use l1::L1;
pub use log_sum::LogSum;
pub use mcp::Mcp;
pub use nonnegative::Nonnegative;
pub use positive::Positive;
pub use ridge::Ridge;
pub use scad::Scad;
pub use separable::Separable;
pub use spectral::Spectral;
pub(crate) use spline::Table;
pub use spline::{Scale, Spline};
pub use sum::Sum;

use crate::real::Real;
use crate::vector;

/// What the Moreau envelope of g at u is worth: with z = prox_{βg}(u).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Envelope {
    /// g_β(u) = g(z) + ‖u − z‖²/(2β).
    pub value: f64,
    /// ‖∇g_β(u)‖₂², so that ‖u − z‖₂ = β·√slope_squared.
    pub slope_squared: f64,
}

impl Envelope {
    /// The proximal gap ‖u − z‖₂.
    pub fn gap(&self, beta: f64) -> f64 {
        beta * self.slope_squared.sqrt()
    }
}

impl std::ops::AddAssign for Envelope {
    /// The envelope of a sum over separate entries.
    fn add_assign(&mut self, other: Self) {
        self.value += other.value;
        self.slope_squared += other.slope_squared;
    }
}

/// A ρ-weakly convex function g with a proximal operator, on a buffer of fixed length.
///
/// Slices have the lengths that `size` and `work_len` state; nothing is allocated. β is positive and βρ < 1.
pub trait Prox<S: Real>: Send + Sync {
    /// Number of entries of u.
    fn size(&self) -> usize;

    /// ρ ≥ 0 such that g + ρ/2·‖·‖² is convex; 0 when g is convex.
    fn weak_convexity(&self) -> f64;

    /// L_g: the Lipschitz constant of g in ‖·‖₂; `None` where there is none (elastic net, indicators).
    fn lipschitz(&self) -> Option<f64>;

    /// m ≥ 0 such that g − m/2·‖·‖² is convex; 0 unless one is known.
    fn strong_convexity(&self) -> f64 {
        0.0
    }

    /// q with |⟨v, u⟩| ≤ q·g(u) for every u, where g is convex and lies above a norm (ℓ1, groups, nuclear, elastic net): the polar
    /// of that norm at v, ∞ where v sees what g does not. `None` where there is no such norm.
    fn polar(&self, v: &[S], work: &mut [S]) -> Option<f64> {
        let _ = (v, work);
        None
    }

    /// r with g(u) = ∞ for every ‖u‖₂ > r, when there is one: a box is bounded.
    fn reach(&self) -> Option<f64> {
        None
    }

    /// c such that rounding moves a computed prox_{βg}(u) by at most c‖u‖₂/(1 − βρ). The default is an assumption about
    /// penalties of one's own: a few operations an entry.
    fn rounding(&self) -> f64 {
        8.0 * S::EPSILON
    }

    /// Scratch that the methods below need, in numbers.
    fn work_len(&self) -> usize {
        0
    }

    /// g(u); ∞ outside the domain.
    fn value(&self, u: &[S], work: &mut [S]) -> f64;

    /// z ← prox_{βg}(u); returns g(z).
    fn prox(&self, z: &mut [S], u: &[S], beta: f64, work: &mut [S]) -> f64;

    /// grad ← ∇g_β(u) = (u − prox_{βg}(u))/β.
    fn moreau(&self, grad: &mut [S], u: &[S], beta: f64, work: &mut [S]) -> Envelope {
        let at_prox = self.prox(grad, u, beta, work);
        let inverse = S::of(1.0 / beta);
        vector::simd(
            #[inline(always)]
            || {
                for (grad, &u) in grad.iter_mut().zip(u) {
                    *grad = (u - *grad) * inverse;
                }
            },
        );
        let slope_squared = vector::norm2_squared(grad);
        Envelope { value: at_prox + 0.5 * beta * slope_squared, slope_squared }
    }

    /// grad ← ∇g_β(u) and no more: returns ‖∇g_β(u)‖₂². Override where the value costs something.
    fn slopes(&self, grad: &mut [S], u: &[S], beta: f64, work: &mut [S]) -> f64 {
        self.moreau(grad, u, beta, work).slope_squared
    }

    /// v ← an element of ∂g(u), 0 where g has a kink at 0; returns g(u).
    fn subgradient(&self, v: &mut [S], u: &[S], work: &mut [S]) -> f64;

    /// This penalty as a sum over disjoint sets of entries, when it is one: coordinate descent needs that.
    fn coordinates(&self) -> Option<&dyn Coordinates<S>> {
        None
    }

    /// This penalty in the form that can be evaluated on stretches of entries, when it has one.
    fn streamed(&self) -> Option<Streamed<'_, S>> {
        None
    }

    /// What it is, as data, when that is known.
    fn form(&self) -> Form<'_, S> {
        Form::General
    }

    /// The penalty of the block that starts at `start`, when it is one of the norms of that block's columns.
    fn columns(&self, start: usize) -> Option<&dyn Columns<S>> {
        let _ = start;
        None
    }
}

/// g(u) = Σⱼ ψⱼ(‖u_·j‖₂) of a matrix u, given the norms of any stretch of its columns.
pub trait Columns<S: Real>: Send + Sync {
    /// Σ ψⱼ(normⱼ) for j = first, first + 1, …; the envelopes when there is a β.
    fn value_of(&self, norms: &[S], first: usize, beta: Option<f64>) -> f64;

    /// Replaces the norms by what ∇g_β multiplies the columns with; returns ‖∇g_β‖₂² of these columns.
    fn factors(&self, norms: &mut [S], first: usize, beta: f64) -> f64;
}

/// A penalty that needs no more than a few entries at a time, so that it can be evaluated while an image streams by.
pub enum Streamed<'a, S> {
    /// A sum over entries.
    Entries(&'a dyn Entries<S>),
    /// A sum over pixels of a function of the pixel's two difference components.
    Pixels(&'a dyn Pixels<S>),
}

/// g(u) = Σᵢ ψᵢ(uᵢ), evaluated on any stretch of entries i = first, first + 1, …; of u, or of u = to − from.
pub trait Entries<S: Real>: Send + Sync {
    /// Σ ψᵢ(uᵢ).
    fn value_between(&self, from: &[S], to: &[S], first: usize) -> f64;

    /// ψ(0) = 0 and ψ_β′(0) = 0: entries that are 0 contribute nothing.
    fn rests_at_zero(&self, beta: f64) -> bool;

    /// g_β(u).
    fn envelope_between(&self, from: &[S], to: &[S], first: usize, beta: f64) -> f64;

    /// slope ← ∇g_β(u); returns ‖∇g_β(u)‖₂².
    fn slopes_of(&self, slope: &mut [S], u: &[S], first: usize, beta: f64) -> f64;

    /// grad ← grad + ∇g_β(u); returns ‖∇g_β(u)‖₂².
    fn add_slopes_of(&self, grad: &mut [S], u: &[S], first: usize, beta: f64) -> f64;

    /// slope ← ∇g_β(u), with g_β(u).
    fn moreau_of(&self, slope: &mut [S], u: &[S], first: usize, beta: f64) -> Envelope;

    /// slope ← ∇g_β(u); returns ‖∇g_β(u)‖₂².
    fn slopes_between(&self, slope: &mut [S], from: &[S], to: &[S], first: usize, beta: f64) -> f64;
}

/// g(u, v) = Σᵢ ψᵢ(‖(uᵢ, vᵢ)‖₂), evaluated on any stretch of pixels.
pub trait Pixels<S: Real>: Send + Sync {
    /// Σ ψᵢ(‖(uᵢ, vᵢ)‖₂) for i = first, first + 1, ….
    fn value_at(&self, u: &[S], v: &[S], first: usize) -> f64;

    /// grads ← ∇g_β(u, v) on these pixels; they hold (u, v) on entry.
    fn moreau_at(&self, u: &mut [S], v: &mut [S], first: usize, beta: f64) -> Envelope;
}
