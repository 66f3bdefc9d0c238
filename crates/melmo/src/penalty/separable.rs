//! A penalty of one number: all that a new penalty has to write.

use crate::penalty::Psi;
use crate::real::Real;

/// ψ: ℝ → ℝ ∪ {∞}, ρ-weakly convex, with its proximal operator.
///
/// Methods are called once an entry inside vectorised loops: plain comparisons and selections, no branches that jump, and
/// NaN in gives NaN out. A penalty is cloned once a call, so that the loops own its parameters: it holds a few numbers and
/// nothing on the heap.
pub trait Separable<S: Real>: Clone + Send + Sync + 'static {
    /// ψ(x).
    fn psi(&self, x: S) -> S;

    /// prox_{βψ}(x), for βρ < 1.
    fn prox_psi(&self, x: S, beta: S) -> S;

    /// ψ′(x), with 0 for the derivative at a kink at 0.
    fn derivative(&self, x: S) -> S;

    /// ρ of ψ.
    fn rho(&self) -> f64;

    /// sup |ψ′|; `None` when it is not finite.
    fn slope(&self) -> Option<f64>;

    /// m ≥ 0 such that ψ − m/2·x² is convex.
    fn strong_convexity(&self) -> f64 {
        0.0
    }

    /// λ > 0 with ψ(x) ≥ λ|x| for every x, for convex ψ that have one: sums of it lie above a norm.
    fn growth(&self) -> Option<f64> {
        None
    }

    /// The largest |x| with ψ(x) < ∞, when there is one.
    fn reach(&self) -> Option<f64> {
        None
    }

    /// min over x of a/2·(x − y)² + ψ(x), for any a ≥ 0, to a few units of rounding; `None` where that is not known. By the prox
    /// where a > ρ; override it for penalties whose minimum is known beyond that.
    fn least(&self, y: f64, a: f64) -> Option<f64> {
        least_by_prox(self, y, a)
    }

    /// ψ(−x) = ψ(x): groups and singular values need it.
    fn is_even(&self) -> bool {
        true
    }

    /// Its formula as data; `None` where there is no name for it.
    fn form(&self) -> Option<Psi> {
        None
    }

    /// (ψ_β(x), ψ_β′(x)): the envelope and its derivative. Override where a closed form is shorter or more accurate.
    #[inline(always)]
    fn envelope(&self, x: S, beta: S) -> (S, S) {
        let z = self.prox_psi(x, beta);
        let slope = (x - z) / beta;
        (self.psi(z) + S::of(0.5) * beta * slope * slope, slope)
    }

    /// ψ_β′(x) alone. Override where the envelope's value costs something that the compiler cannot leave out.
    #[inline(always)]
    fn envelope_slope(&self, x: S, beta: S) -> S {
        self.envelope(x, beta).1
    }
}

/// a/2·(z − y)² + ψ(z) at z = prox_{ψ/a}(y), the least there is where a > ρ; ψ is nowhere negative, and 0 somewhere, where a = 0.
pub(super) fn least_by_prox<S: Real>(psi: &impl Separable<S>, y: f64, a: f64) -> Option<f64> {
    if a == 0.0 {
        return Some(0.0);
    }
    (a > psi.rho()).then(|| value_at(psi, psi.prox_psi(S::of(y), S::of(1.0 / a)).f64(), y, a))
}

/// a/2·(x − y)² + ψ(x).
pub(super) fn value_at<S: Real>(psi: &impl Separable<S>, x: f64, y: f64, a: f64) -> f64 {
    0.5 * a * (x - y).powi(2) + psi.psi(S::of(x)).f64()
}
