use crate::error::Error;
use crate::penalty::{Psi, Separable, Shape};
use crate::real::Real;

/// ψ(x) = λ|x| + νx²/2.
///
/// ρ = 0, no bound on the slope unless ν = 0. Zou and Hastie, "Regularization and variable selection via the elastic net"
/// (2005).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElasticNet {
    lambda: f64,
    nu: f64,
}

impl ElasticNet {
    /// Weight λ > 0 of |x| and ν ≥ 0 of x²/2.
    pub fn new(lambda: f64, nu: f64) -> Result<Self, Error> {
        let lambda = Error::expect_positive("lambda", lambda)?;
        let nu = Error::expect_parameter("nu", nu, nu >= 0.0 && nu.is_finite(), "a finite number, at least 0")?;
        Ok(Self { lambda, nu })
    }
}

impl<S: Real> Separable<S> for ElasticNet {
    #[inline(always)]
    fn psi(&self, x: S) -> S {
        let s = x.abs();
        s * (S::of(self.lambda) + S::of(0.5 * self.nu) * s)
    }

    #[inline(always)]
    fn prox_psi(&self, x: S, beta: S) -> S {
        let soft = S::ZERO.larger(x.abs() - beta * S::of(self.lambda));
        (soft * (S::ONE / (S::ONE + beta * S::of(self.nu)))).copysign(x)
    }

    #[inline(always)]
    fn derivative(&self, x: S) -> S {
        S::of(self.lambda) * x.sign() + S::of(self.nu) * x
    }

    fn rho(&self) -> f64 {
        0.0
    }

    fn form(&self) -> Option<Psi> {
        Some(Shape::ElasticNet { lambda: self.lambda, nu: self.nu }.into())
    }

    fn slope(&self) -> Option<f64> {
        (self.nu == 0.0).then_some(self.lambda)
    }

    fn strong_convexity(&self) -> f64 {
        self.nu
    }

    fn growth(&self) -> Option<f64> {
        Some(self.lambda)
    }

    /// The slope in closed form, min(s/β, (λ + νs)/(1 + βν)): (x − z)/β would lose the digits that x and z share.
    #[inline(always)]
    fn envelope(&self, x: S, beta: S) -> (S, S) {
        let (s, nu) = (x.abs(), S::of(self.nu));
        let z = self.prox_psi(x, beta);
        let slope = (s * (S::ONE / beta)).smaller((S::of(self.lambda) + nu * s) * (S::ONE / (S::ONE + beta * nu)));
        (self.psi(z) + S::of(0.5) * beta * slope * slope, slope.copysign(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::{L1, laws};

    #[test]
    fn obeys_the_laws() {
        laws::scalar(&ElasticNet::new(0.7, 0.4).unwrap());
        laws::scalar(&ElasticNet::new(0.7, 0.0).unwrap());
    }

    #[test]
    fn known_values() {
        let psi = ElasticNet::new(1.0, 2.0).unwrap();
        assert_eq!(psi.psi(-3.0), 12.0);
        assert_eq!(psi.prox_psi(-3.0, 0.5), -1.25);
        assert_eq!(psi.prox_psi(0.5, 0.5), 0.0);
        assert_eq!(Separable::<f64>::slope(&psi), None);
    }

    #[test]
    fn without_the_square_it_is_l1() {
        let (psi, l1) = (ElasticNet::new(0.8, 0.0).unwrap(), L1::new(0.8).unwrap());
        assert_eq!(Separable::<f64>::slope(&psi), Some(0.8));
        for x in [-2.0, 0.1, 5.0] {
            assert_eq!(psi.prox_psi(x, 0.3), l1.prox_psi(x, 0.3));
        }
    }

    #[test]
    fn bad_parameters_are_refused() {
        laws::refuses("lambda", ElasticNet::new(f64::INFINITY, 1.0));
        laws::refuses("nu", ElasticNet::new(1.0, -0.1));
        laws::refuses("nu", ElasticNet::new(1.0, f64::NAN));
    }
}
