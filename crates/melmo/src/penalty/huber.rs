use crate::error::Error;
use crate::penalty::{Psi, Separable, Shape};
use crate::real::Real;

/// ψ(x) = λx²/(2δ) for |x| ≤ δ, else λ(|x| − δ/2).
///
/// ρ = 0, slope λ; the envelope of λ|x| with smoothing δ/λ. Huber, "Robust estimation of a location parameter" (1964).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Huber {
    lambda: f64,
    delta: f64,
}

/// Huber's function of s ≥ 0 and its derivative.
#[inline(always)]
fn huber<S: Real>(s: S, lambda: S, delta: S) -> (S, S) {
    let t = delta.smaller(s);
    let slope = t * (lambda / delta);
    (slope * (s - S::of(0.5) * t), slope)
}

impl Huber {
    /// Weight λ > 0 and δ > 0, where the parabola becomes a line.
    pub fn new(lambda: f64, delta: f64) -> Result<Self, Error> {
        Ok(Self { lambda: Error::expect_positive("lambda", lambda)?, delta: Error::expect_positive("delta", delta)? })
    }
}

impl<S: Real> Separable<S> for Huber {
    #[inline(always)]
    fn psi(&self, x: S) -> S {
        huber(x.abs(), S::of(self.lambda), S::of(self.delta)).0
    }

    /// The larger of the two pieces: they cross where one hands over to the other, at δ + βλ.
    #[inline(always)]
    fn prox_psi(&self, x: S, beta: S) -> S {
        let (delta, shift) = (S::of(self.delta), beta * S::of(self.lambda));
        let s = x.abs();
        (s - shift).larger(s * (delta / (delta + shift))).copysign(x)
    }

    #[inline(always)]
    fn derivative(&self, x: S) -> S {
        huber(x.abs(), S::of(self.lambda), S::of(self.delta)).1.copysign(x)
    }

    fn rho(&self) -> f64 {
        0.0
    }

    fn form(&self) -> Option<Psi> {
        Some(Shape::Huber { lambda: self.lambda, delta: self.delta }.into())
    }

    fn slope(&self) -> Option<f64> {
        Some(self.lambda)
    }

    /// Envelopes of an envelope add their smoothings: Huber's function with δ + βλ.
    #[inline(always)]
    fn envelope(&self, x: S, beta: S) -> (S, S) {
        let lambda = S::of(self.lambda);
        let (value, slope) = huber(x.abs(), lambda, S::of(self.delta) + beta * lambda);
        (value, slope.copysign(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::laws;

    #[test]
    fn obeys_the_laws() {
        laws::scalar(&Huber::new(0.7, 0.4).unwrap());
        laws::scalar(&Huber::new(2.0, 1.5).unwrap());
    }

    #[test]
    fn known_values() {
        let psi = Huber::new(2.0, 0.5).unwrap();
        assert_eq!(psi.psi(0.25), 0.125);
        assert_eq!(psi.psi(-3.0), 5.5);
        assert_eq!(psi.prox_psi(1.0, 0.5), 1.0 / 3.0);
        assert_eq!(psi.prox_psi(-4.0, 0.5), -3.0);
    }

    #[test]
    fn bad_parameters_are_refused() {
        laws::refuses("lambda", Huber::new(-1.0, 1.0));
        laws::refuses("delta", Huber::new(1.0, 0.0));
        laws::refuses("delta", Huber::new(1.0, f64::INFINITY));
    }
}
