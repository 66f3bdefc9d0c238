use crate::error::Error;
use crate::penalty::Separable;
use crate::real::Real;

/// φ(x) = λ|x| − x²/(2μ) for |x| ≤ μλ, else μλ²/2: the minimax concave penalty.
///
/// ρ = 1/μ, slope λ; the prox is firm thresholding. Zhang, "Nearly unbiased variable selection under minimax concave
/// penalty" (2010).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mcp {
    lambda: f64,
    mu: f64,
}

impl Mcp {
    /// Weight λ > 0 and concavity μ > 0: entries beyond μλ are not shrunk.
    pub fn new(lambda: f64, mu: f64) -> Result<Self, Error> {
        Ok(Self { lambda: Error::expect_positive("lambda", lambda)?, mu: Error::expect_positive("mu", mu)? })
    }
}

impl<S: Real> Separable<S> for Mcp {
    #[inline(always)]
    fn phi(&self, x: S) -> S {
        let (lambda, mu) = (S::of(self.lambda), S::of(self.mu));
        let s = (mu * lambda).smaller(x.abs());
        s * (lambda - S::of(0.5) * s / mu)
    }

    #[inline(always)]
    fn prox_phi(&self, x: S, beta: S) -> S {
        let (lambda, mu) = (S::of(self.lambda), S::of(self.mu));
        let s = x.abs();
        let firm = S::ZERO.larger(s - beta * lambda) / (S::ONE - beta / mu);
        (if s <= mu * lambda { firm } else { s }).copysign(x)
    }

    #[inline(always)]
    fn derivative(&self, x: S) -> S {
        S::ZERO.larger(S::of(self.lambda) - x.abs() / S::of(self.mu)) * x.sign()
    }

    fn rho(&self) -> f64 {
        1.0 / self.mu
    }

    fn slope(&self) -> Option<f64> {
        Some(self.lambda)
    }

    /// Slope min(s/β, c(λ − s/μ))₊ with c = 1/(1 − β/μ); the value is s·slope/2 + cλ/2·clamp(s − βλ, 0, μλ − βλ).
    #[inline(always)]
    fn envelope(&self, x: S, beta: S) -> (S, S) {
        let (lambda, mu, half) = (S::of(self.lambda), S::of(self.mu), S::of(0.5));
        let c = S::ONE / (S::ONE - beta / mu);
        let s = x.abs();
        let falling = S::ZERO.larger(c * lambda - s * (c / mu));
        let slope = (s * (S::ONE / beta)).smaller(falling);
        let past = (s - beta * lambda).larger(S::ZERO).smaller((mu - beta) * lambda);
        (half * (s * slope + c * lambda * past), slope.copysign(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::laws;

    #[test]
    fn obeys_the_laws() {
        laws::scalar(&Mcp::new(0.7, 3.0).unwrap());
        laws::scalar(&Mcp::new(2.0, 0.4).unwrap());
    }

    #[test]
    fn known_values() {
        let phi = Mcp::new(2.0, 1.5).unwrap();
        assert_eq!([phi.phi(1.5), phi.phi(-3.0), phi.phi(50.0)], [2.25, 3.0, 3.0]);
        assert_eq!([phi.prox_phi(-0.9, 0.5), phi.prox_phi(2.0, 0.75), phi.prox_phi(3.5, 0.5)], [0.0, 1.0, 3.5]);
    }

    #[test]
    fn bad_parameters_are_refused() {
        laws::refuses("lambda", Mcp::new(0.0, 1.0));
        laws::refuses("mu", Mcp::new(1.0, 0.0));
        laws::refuses("mu", Mcp::new(1.0, f64::INFINITY));
    }
}
