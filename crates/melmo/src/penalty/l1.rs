use crate::error::Error;
use crate::penalty::{Psi, Separable, Shape};
use crate::real::Real;

/// ψ(x) = λ|x|.
///
/// ρ = 0, slope λ; the prox is soft thresholding. Tibshirani, "Regression shrinkage and selection via the lasso" (1996).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct L1 {
    lambda: f64,
}

impl L1 {
    /// Weight λ > 0.
    pub fn new(lambda: f64) -> Result<Self, Error> {
        Ok(Self { lambda: Error::expect_positive("lambda", lambda)? })
    }
}

impl<S: Real> Separable<S> for L1 {
    #[inline(always)]
    fn psi(&self, x: S) -> S {
        S::of(self.lambda) * x.abs()
    }

    #[inline(always)]
    fn prox_psi(&self, x: S, beta: S) -> S {
        S::ZERO.larger(x.abs() - beta * S::of(self.lambda)).copysign(x)
    }

    #[inline(always)]
    fn derivative(&self, x: S) -> S {
        S::of(self.lambda) * x.sign()
    }

    fn rho(&self) -> f64 {
        0.0
    }

    fn form(&self) -> Option<Psi> {
        Some(Shape::L1 { lambda: self.lambda }.into())
    }

    fn slope(&self) -> Option<f64> {
        Some(self.lambda)
    }

    fn growth(&self) -> Option<f64> {
        Some(self.lambda)
    }

    /// Huber's function: slope clip(x/β, ±λ).
    #[inline(always)]
    fn envelope(&self, x: S, beta: S) -> (S, S) {
        let slope = S::of(self.lambda).smaller(x.abs() * (S::ONE / beta));
        (slope * (x.abs() - S::of(0.5) * beta * slope), slope.copysign(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::laws;

    #[test]
    fn obeys_the_laws() {
        laws::scalar(&L1::new(0.7).unwrap());
    }

    #[test]
    fn known_values() {
        let psi = L1::new(2.0).unwrap();
        assert_eq!([psi.psi(-3.0), psi.prox_psi(-3.0, 0.5), psi.prox_psi(0.9, 0.5)], [6.0, -2.0, 0.0]);
        assert_eq!(psi.envelope(-3.0, 0.5), (5.0, -2.0));
    }

    #[test]
    fn bad_parameters_are_refused() {
        for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            laws::refuses("lambda", L1::new(lambda));
        }
    }
}
