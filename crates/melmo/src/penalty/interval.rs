use crate::error::Error;
use crate::penalty::{Psi, Separable, Shape};
use crate::real::Real;

/// ψ(x) = 0 for l ≤ x ≤ u, else ∞.
///
/// ρ = 0, no bound on the slope; the prox is the projection min(max(x, l), u). A bound may be infinite. Even, so that it
/// can be lifted to groups and singular values (balls of radius u), when l = −u.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    lower: f64,
    upper: f64,
}

impl Interval {
    /// Bounds l ≤ u with at least one number between them.
    pub fn new(lower: f64, upper: f64) -> Result<Self, Error> {
        // NaN fails the first comparison.
        if lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY {
            return Ok(Self { lower, upper });
        }
        Err(Error::Unsupported(format!(
            "no number lies between the bounds {lower} and {upper}: lower ≤ upper is needed"
        )))
    }

    #[inline(always)]
    fn project<S: Real>(&self, x: S) -> S {
        S::of(self.upper).smaller(S::of(self.lower).larger(x))
    }
}

impl<S: Real> Separable<S> for Interval {
    /// Inside means that the projection does not move x. Outside, a distance above 0 times ∞, so that NaN stays NaN.
    #[inline(always)]
    fn psi(&self, x: S) -> S {
        let nearest = self.project(x);
        if x == nearest { S::ZERO } else { (x - nearest).abs() * S::of(f64::INFINITY) }
    }

    #[inline(always)]
    fn prox_psi(&self, x: S, _: S) -> S {
        self.project(x)
    }

    #[inline(always)]
    fn derivative(&self, _: S) -> S {
        S::ZERO
    }

    fn rho(&self) -> f64 {
        0.0
    }

    fn form(&self) -> Option<Psi> {
        Some(Shape::Interval { lower: self.lower, upper: self.upper }.into())
    }

    fn slope(&self) -> Option<f64> {
        None
    }

    fn reach(&self) -> Option<f64> {
        let farthest = self.lower.abs().max(self.upper.abs());
        farthest.is_finite().then_some(farthest)
    }

    fn is_even(&self) -> bool {
        self.lower == -self.upper
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::laws;

    #[test]
    fn obeys_the_laws() {
        for (lower, upper) in [(-0.5, 1.25), (-1.0, 1.0), (0.3, f64::INFINITY), (f64::NEG_INFINITY, 0.2), (0.1, 0.1)] {
            laws::scalar(&Interval::new(lower, upper).unwrap());
        }
    }

    #[test]
    fn known_values() {
        let psi = Interval::new(-1.0, 2.0).unwrap();
        assert_eq!(
            [psi.psi(-1.0), psi.psi(2.0), psi.psi(-1.5), psi.psi(9.0)],
            [0.0, 0.0, f64::INFINITY, f64::INFINITY]
        );
        assert_eq!([psi.prox_psi(-7.0, 1.0), psi.prox_psi(0.5, 1.0), psi.prox_psi(7.0, 1.0)], [-1.0, 0.5, 2.0]);
        assert!(!Separable::<f64>::is_even(&psi));
        assert!(Separable::<f64>::is_even(&Interval::new(-2.0, 2.0).unwrap()));
    }

    #[test]
    fn empty_intervals_are_refused() {
        let inf = f64::INFINITY;
        for (lower, upper) in [(1.0, 0.0), (f64::NAN, 0.0), (0.0, f64::NAN), (inf, inf), (-inf, -inf)] {
            assert!(matches!(Interval::new(lower, upper), Err(Error::Unsupported(_))));
        }
    }
}
