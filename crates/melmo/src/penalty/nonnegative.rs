use crate::penalty::{Psi, Separable, Shape};
use crate::real::Real;

/// ψ(x) = 0 for x ≥ 0, else ∞.
///
/// ρ = 0, no bound on the slope; the prox is the projection max(x, 0).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nonnegative;

impl<S: Real> Separable<S> for Nonnegative {
    /// Outside, |x| > 0 times ∞, so that NaN stays NaN.
    #[inline(always)]
    fn psi(&self, x: S) -> S {
        if x >= S::ZERO { S::ZERO } else { x.abs() * S::of(f64::INFINITY) }
    }

    #[inline(always)]
    fn prox_psi(&self, x: S, _: S) -> S {
        S::ZERO.larger(x)
    }

    #[inline(always)]
    fn derivative(&self, _: S) -> S {
        S::ZERO
    }

    fn rho(&self) -> f64 {
        0.0
    }

    fn form(&self) -> Option<Psi> {
        Some(Shape::Interval { lower: 0.0, upper: f64::INFINITY }.into())
    }

    fn slope(&self) -> Option<f64> {
        None
    }

    fn is_even(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::laws;

    #[test]
    fn obeys_the_laws() {
        laws::scalar(&Nonnegative);
    }

    #[test]
    fn known_values() {
        assert_eq!(Nonnegative.psi(-1e-300), f64::INFINITY);
        assert_eq!(Nonnegative.psi(0.0f32), 0.0);
        assert_eq!(Nonnegative.prox_psi(-3.0, 0.7), 0.0);
        assert_eq!(Nonnegative.envelope(-3.0, 0.5), (9.0, -6.0));
        assert!(!Separable::<f64>::is_even(&Nonnegative));
    }
}
