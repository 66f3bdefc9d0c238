use crate::error::Error;
use crate::penalty::{Psi, Separable, Shape};
use crate::real::Real;

/// ψ(x) = νx²/2.
///
/// ρ = 0, no bound on the slope. Hoerl and Kennard, "Ridge regression" (1970). On both factors of X = WH it is the nuclear
/// norm of X: ν‖X‖_* = min ν/2·(‖W‖² + ‖H‖²).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ridge {
    nu: f64,
}

impl Ridge {
    /// Weight ν > 0 of x²/2.
    pub fn new(nu: f64) -> Result<Self, Error> {
        Ok(Self { nu: Error::expect_positive("nu", nu)? })
    }
}

impl<S: Real> Separable<S> for Ridge {
    #[inline(always)]
    fn psi(&self, x: S) -> S {
        S::of(0.5 * self.nu) * x * x
    }

    #[inline(always)]
    fn prox_psi(&self, x: S, beta: S) -> S {
        x * (S::ONE / (S::ONE + beta * S::of(self.nu)))
    }

    #[inline(always)]
    fn derivative(&self, x: S) -> S {
        S::of(self.nu) * x
    }

    fn rho(&self) -> f64 {
        0.0
    }

    fn form(&self) -> Option<Psi> {
        Some(Shape::Ridge { nu: self.nu }.into())
    }

    fn slope(&self) -> Option<f64> {
        None
    }

    fn strong_convexity(&self) -> f64 {
        self.nu
    }

    /// A ridge again, of weight ν/(1 + βν).
    #[inline(always)]
    fn envelope(&self, x: S, beta: S) -> (S, S) {
        let slope = x * (S::of(self.nu) / (S::ONE + beta * S::of(self.nu)));
        (S::of(0.5) * slope * x, slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::laws;

    #[test]
    fn obeys_the_laws() {
        laws::scalar(&Ridge::new(0.7).unwrap());
        laws::scalar(&Ridge::new(3.0).unwrap());
    }

    #[test]
    fn known_values() {
        let psi = Ridge::new(2.0).unwrap();
        assert_eq!(psi.psi(-3.0), 9.0);
        assert_eq!(psi.prox_psi(4.0, 0.5), 2.0);
    }

    #[test]
    fn bad_parameters_are_refused() {
        laws::refuses("nu", Ridge::new(0.0));
        laws::refuses("nu", Ridge::new(f64::NAN));
    }
}
