use crate::error::Error;
use crate::penalty::Separable;
use crate::real::Real;

/// φ(x) = λ|x|.
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
    fn phi(&self, x: S) -> S {
        S::of(self.lambda) * x.abs()
    }

    #[inline(always)]
    fn prox_phi(&self, x: S, beta: S) -> S {
        (x.abs() - beta * S::of(self.lambda)).larger(S::ZERO).copysign(x)
    }

    #[inline(always)]
    fn derivative(&self, x: S) -> S {
        S::of(self.lambda) * x.sign()
    }

    fn rho(&self) -> f64 {
        0.0
    }

    fn slope(&self) -> Option<f64> {
        Some(self.lambda)
    }

    /// Huber's function: slope clip(x/β, ±λ).
    #[inline(always)]
    fn envelope(&self, x: S, beta: S) -> (S, S) {
        let slope = (x.abs() / beta).smaller(S::of(self.lambda));
        (slope * (x.abs() - S::of(0.5) * beta * slope), slope.copysign(x))
    }
}
