//! A penalty of one number: all that a new penalty has to write.

use crate::real::Real;

/// φ: ℝ → ℝ ∪ {∞}, ρ-weakly convex, with its proximal operator.
///
/// Methods are called once an entry inside vectorised loops: plain comparisons and selections, no branches that jump, and
/// NaN in gives NaN out. A penalty is cloned once a call, so that the loops own its parameters: it holds a few numbers and
/// nothing on the heap.
pub trait Separable<S: Real>: Clone + Send + Sync + 'static {
    /// φ(x).
    fn phi(&self, x: S) -> S;

    /// prox_{βφ}(x), for βρ < 1.
    fn prox_phi(&self, x: S, beta: S) -> S;

    /// φ′(x), with 0 for the derivative at a kink at 0.
    fn derivative(&self, x: S) -> S;

    /// ρ of φ.
    fn rho(&self) -> f64;

    /// sup |φ′|; `None` when it is not finite.
    fn slope(&self) -> Option<f64>;

    /// φ(−x) = φ(x): groups and singular values need it.
    fn is_even(&self) -> bool {
        true
    }

    /// (φ_β(x), φ_β′(x)): the envelope and its derivative. Override where a closed form is shorter or more accurate.
    #[inline(always)]
    fn envelope(&self, x: S, beta: S) -> (S, S) {
        let z = self.prox_phi(x, beta);
        let slope = (x - z) / beta;
        (self.phi(z) + S::of(0.5) * beta * slope * slope, slope)
    }

    /// φ_β′(x) alone. Override where the envelope's value costs something that the compiler cannot leave out.
    #[inline(always)]
    fn envelope_slope(&self, x: S, beta: S) -> S {
        self.envelope(x, beta).1
    }
}
