use crate::error::Error;
use crate::penalty::separable::value_at;
use crate::penalty::{Psi, Separable, Shape};
use crate::real::Real;

/// ψ(x) = λ|x| for |x| ≤ λ, (2aλ|x| − x² − λ²)/(2(a−1)) for |x| ≤ aλ, else λ²(a+1)/2: smoothly clipped absolute deviation.
///
/// ρ = 1/(a−1), slope λ. Fan and Li, "Variable selection via nonconcave penalized likelihood and its oracle properties"
/// (2001); they suggest a = 3.7.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scad {
    lambda: f64,
    a: f64,
}

impl Scad {
    /// Weight λ > 0 and a > 2: entries beyond aλ are not shrunk.
    pub fn new(lambda: f64, a: f64) -> Result<Self, Error> {
        let lambda = Error::expect_positive("lambda", lambda)?;
        Ok(Self { lambda, a: Error::expect_parameter("a", a, a > 2.0 && a.is_finite(), "a finite number above 2")? })
    }

    /// ψ_β′(s) past the threshold βλ: λ, then the falling line (aλ−s)/(a−1−β) that meets it at s = λ(1+β), then 0.
    #[inline(always)]
    fn slope_past<S: Real>(&self, s: S, beta: S) -> S {
        let (lambda, a) = (S::of(self.lambda), S::of(self.a));
        lambda.smaller(S::ZERO.larger((a * lambda - s) * (S::ONE / (a - S::ONE - beta))))
    }
}

impl<S: Real> Separable<S> for Scad {
    /// The integrals of λ up to min(s, λ) and of (aλ−t)/(a−1) from λ to min(s, aλ): terms ≥ 0, nothing cancels.
    #[inline(always)]
    fn psi(&self, x: S) -> S {
        let (lambda, a) = (S::of(self.lambda), S::of(self.a));
        let s = (a * lambda).smaller(x.abs());
        let past = S::ZERO.larger(s - lambda);
        lambda * lambda.smaller(s) + past * (a * lambda - lambda - S::of(0.5) * past) * (S::ONE / (a - S::ONE))
    }

    #[inline(always)]
    fn prox_psi(&self, x: S, beta: S) -> S {
        let s = x.abs();
        S::ZERO.larger(s - beta * self.slope_past(s, beta)).copysign(x)
    }

    #[inline(always)]
    fn derivative(&self, x: S) -> S {
        self.slope_past(x.abs(), S::ZERO) * x.sign()
    }

    fn rho(&self) -> f64 {
        1.0 / (self.a - 1.0)
    }

    fn form(&self) -> Option<Psi> {
        Some(Shape::Scad { lambda: self.lambda, a: self.a }.into())
    }

    fn slope(&self) -> Option<f64> {
        Some(self.lambda)
    }

    /// The least of what each piece has to offer: its ends, and the point between them where its slope is 0.
    fn least(&self, y: f64, weight: f64) -> Option<f64> {
        let (s, lambda, a) = (y.abs(), self.lambda, self.a);
        let near = if weight > 0.0 { (s - lambda / weight).clamp(0.0, lambda) } else { 0.0 };
        let rho = 1.0 / (a - 1.0);
        let middle = (weight * s - a * lambda * rho) / (weight - rho);
        let middle = if weight > rho { middle.clamp(lambda, a * lambda) } else { lambda };
        let places = [0.0, near, lambda, middle, a * lambda, s.max(a * lambda)];
        Some(places.map(|x| value_at::<S>(self, x, s, weight)).into_iter().fold(f64::INFINITY, f64::min))
    }

    /// The slope in closed form: (x − z)/β would lose the digits that x and z share when β is small.
    #[inline(always)]
    fn envelope(&self, x: S, beta: S) -> (S, S) {
        let z = self.prox_psi(x, beta);
        let slope = (x.abs() * (S::ONE / beta)).smaller(self.slope_past(x.abs(), beta));
        (self.psi(z) + S::of(0.5) * beta * slope * slope, slope.copysign(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::laws;

    #[test]
    fn obeys_the_laws() {
        laws::scalar(&Scad::new(0.7, 3.7).unwrap());
        laws::scalar(&Scad::new(1.0, 2.1).unwrap());
    }

    #[test]
    fn known_values() {
        let psi = Scad::new(2.0, 3.0).unwrap();
        assert_eq!(psi.psi(1.0), 2.0);
        assert_eq!(psi.psi(-2.0), 4.0);
        assert_eq!(psi.psi(4.0), (2.0 * 3.0 * 2.0 * 4.0 - 16.0 - 4.0) / 4.0);
        assert_eq!(psi.psi(100.0), 8.0);
        assert_eq!(psi.prox_psi(1.0, 0.5), 0.0);
        assert_eq!(psi.prox_psi(-2.5, 0.5), -1.5);
        assert_eq!(psi.prox_psi(7.0, 0.5), 7.0);
    }

    #[test]
    fn bad_parameters_are_refused() {
        laws::refuses("lambda", Scad::new(0.0, 3.7));
        laws::refuses("lambda", Scad::new(f64::NAN, 3.7));
        laws::refuses("a", Scad::new(1.0, 2.0));
        laws::refuses("a", Scad::new(1.0, f64::INFINITY));
    }
}
