use crate::error::Error;
use crate::penalty::separable::value_at;
use crate::penalty::{Psi, Separable, Shape};
use crate::real::Real;

/// ψ(x) = λ|x| − x²/(2μ) for |x| ≤ μλ, else μλ²/2: the minimax concave penalty.
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
    fn psi(&self, x: S) -> S {
        let (lambda, mu) = (S::of(self.lambda), S::of(self.mu));
        let s = (mu * lambda).smaller(x.abs());
        s * (lambda - S::of(0.5) * s / mu)
    }

    #[inline(always)]
    fn prox_psi(&self, x: S, beta: S) -> S {
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

    fn form(&self) -> Option<Psi> {
        Some(Shape::Mcp { lambda: self.lambda, mu: self.mu }.into())
    }

    fn slope(&self) -> Option<f64> {
        Some(self.lambda)
    }

    /// The least of what each piece has to offer: its ends, and the point between them where its slope is 0.
    fn least(&self, y: f64, a: f64) -> Option<f64> {
        let (s, end) = (y.abs(), self.mu * self.lambda);
        let inside = (a * s - self.lambda) / (a - 1.0 / self.mu);
        let inside = if a > 1.0 / self.mu { inside.clamp(0.0, end) } else { 0.0 };
        let places = [0.0, inside, end, s.max(end)];
        Some(places.map(|x| value_at::<S>(self, x, s, a)).into_iter().fold(f64::INFINITY, f64::min))
    }

    /// With r = μ/β, k = clamp(x, ±βλ) and l = clamp(x, ±μλ): slope (rk − l)/(μ − β), value (l·slope + rk(l − k)/(μ − β))/2.
    #[inline(always)]
    fn envelope(&self, x: S, beta: S) -> (S, S) {
        let (lambda, mu) = (S::of(self.lambda), S::of(self.mu));
        let (ratio, scale) = (mu / beta, S::ONE / (mu - beta));
        let near = beta * lambda;
        let far = ratio * near; // not μλ: so rounded, the slope beyond it is exactly 0
        // In this order a NaN passes through.
        let clamp = |bound: S| bound.smaller((-bound).larger(x));
        let (k, l) = (clamp(near), clamp(far));
        let slope = scale * (ratio * k - l);
        (S::of(0.5) * (l * slope + scale * ratio * k * (l - k)), slope)
    }

    /// min(|x|/β, (μλ − |x|)/(μ − β)), at least 0, with the sign of x: fewer instructions than by the value's clamps.
    #[inline(always)]
    fn envelope_slope(&self, x: S, beta: S) -> S {
        let (lambda, mu, s) = (S::of(self.lambda), S::of(self.mu), x.abs());
        let (steep, scale) = (S::ONE / beta, S::ONE / (mu - beta));
        let falling = scale * mu * lambda - scale * s;
        S::ZERO.larger(falling.smaller(steep * s)).copysign(x)
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
        let psi = Mcp::new(2.0, 1.5).unwrap();
        assert_eq!([psi.psi(1.5), psi.psi(-3.0), psi.psi(50.0)], [2.25, 3.0, 3.0]);
        assert_eq!([psi.prox_psi(-0.9, 0.5), psi.prox_psi(2.0, 0.75), psi.prox_psi(3.5, 0.5)], [0.0, 1.0, 3.5]);
    }

    #[test]
    fn bad_parameters_are_refused() {
        laws::refuses("lambda", Mcp::new(0.0, 1.0));
        laws::refuses("mu", Mcp::new(1.0, 0.0));
        laws::refuses("mu", Mcp::new(1.0, f64::INFINITY));
    }
}
