use crate::error::Error;
use crate::penalty::{Psi, Separable, Shape};
use crate::real::Real;

/// ψ(x) = λ·log(1 + |x|/θ).
///
/// ρ = λ/θ², slope λ/θ. Candès, Wakin and Boyd, "Enhancing sparsity by reweighted ℓ1 minimization" (2008).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogSum {
    lambda: f64,
    theta: f64,
}

impl LogSum {
    /// Weight λ > 0 and scale θ > 0: the smaller θ, the nearer to counting nonzeros.
    pub fn new(lambda: f64, theta: f64) -> Result<Self, Error> {
        Ok(Self { lambda: Error::expect_positive("lambda", lambda)?, theta: Error::expect_positive("theta", theta)? })
    }

    /// (s − βλ/θ)₊ and √D with D = (s+θ)² − 4βλ, for s above the threshold βλ/θ.
    ///
    /// Written as D = (s−θ)² + 4θ(s − βλ/θ), a sum of terms ≥ 0: rounding cannot make it negative, and the digits that
    /// (s+θ)² and 4βλ share when βρ is near 1 are not lost. Below the threshold √D = |s−θ|. Where squares overflow, √D = s+θ:
    /// it is never more, and less by nothing that shows.
    #[inline(always)]
    fn root<S: Real>(&self, s: S, beta: S) -> (S, S) {
        let theta = S::of(self.theta);
        let past = S::ZERO.larger(s - beta * S::of(self.lambda) / theta);
        let root = ((s - theta) * (s - theta) + S::of(4.0) * theta * past).sqrt();
        (past, root.smaller(s + theta))
    }
}

impl<S: Real> Separable<S> for LogSum {
    #[inline(always)]
    fn psi(&self, x: S) -> S {
        S::of(self.lambda) * (x.abs() / S::of(self.theta)).ln_1p()
    }

    /// (s − θ + √D)/2. Where s < θ those terms cancel, so the same number as 2θ(s − βλ/θ)₊/(θ − s + √D): exactly 0 up
    /// to the threshold, which lies below θ because βρ < 1.
    #[inline(always)]
    fn prox_psi(&self, x: S, beta: S) -> S {
        let (s, theta) = (x.abs(), S::of(self.theta));
        let (past, root) = self.root(s, beta);
        let near = S::of(2.0) * theta * past / (theta - s + root);
        let far = S::of(0.5) * (s - theta) + S::of(0.5) * root;
        (if s < theta { near } else { far }).copysign(x)
    }

    #[inline(always)]
    fn derivative(&self, x: S) -> S {
        S::of(self.lambda) / (S::of(self.theta) + x.abs()) * x.sign()
    }

    fn rho(&self) -> f64 {
        self.lambda / (self.theta * self.theta)
    }

    fn form(&self) -> Option<Psi> {
        Some(Shape::LogSum { lambda: self.lambda, theta: self.theta }.into())
    }

    fn slope(&self) -> Option<f64> {
        Some(self.lambda / self.theta)
    }

    #[inline(always)]
    fn envelope(&self, x: S, beta: S) -> (S, S) {
        let (z, slope) = (self.prox_psi(x, beta), self.envelope_slope(x, beta));
        (self.psi(z) + S::of(0.5) * beta * slope * slope, slope)
    }

    /// (s − z)/β = (s + θ − √D)/(2β) without its cancellation: min(s/β, 2λ/(s + θ + √D)). No logarithm.
    #[inline(always)]
    fn envelope_slope(&self, x: S, beta: S) -> S {
        let s = x.abs();
        let (_, root) = self.root(s, beta);
        let curved = S::of(2.0) * S::of(self.lambda) / (s + S::of(self.theta) + root);
        (s * (S::ONE / beta)).smaller(curved).copysign(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::laws;

    #[test]
    fn obeys_the_laws() {
        laws::scalar(&LogSum::new(0.7, 1.1).unwrap());
        laws::scalar(&LogSum::new(0.05, 0.3).unwrap());
    }

    #[test]
    fn known_values() {
        let psi = LogSum::new(2.0, 4.0).unwrap();
        assert_eq!(psi.psi(-4.0), 2.0 * 2f64.ln());
        assert_eq!(psi.prox_psi(0.5, 1.0), 0.0); // βλ/θ = 1/2
        assert_eq!(psi.prox_psi(-5.0, 4.0), -(1.0 + 49f64.sqrt()) / 2.0);
    }

    #[test]
    fn numbers_without_squares_are_not_shrunk() {
        let psi = LogSum::new(1.0, 0.5).unwrap();
        for s in [1e20f32, 1e37, f32::MAX] {
            assert_eq!(psi.prox_psi(-s, 0.1), -s);
            assert!(psi.envelope_slope(s, 0.1) <= 2.0 / s);
        }
        assert_eq!(psi.prox_psi(1e200f64, 0.1), 1e200);
    }

    #[test]
    fn keeps_its_digits_when_beta_rho_is_almost_one() {
        // λ = θ = 1, s = 1 + t: z = (t + √(t² + 4(1 + t − β)))/2, here with t = 0 and 1 − β = 2⁻⁴⁰, so z = 2⁻²⁰.
        let psi = LogSum::new(1.0, 1.0).unwrap();
        assert_eq!(psi.prox_psi(1.0, 1.0 - 2f64.powi(-40)), 2f64.powi(-20));
    }

    #[test]
    fn keeps_its_digits_just_above_the_threshold() {
        // λ = θ = 1 and s = β + t: z = t·(1 + O(β)).
        let (beta, t) = (2f64.powi(-50), 2f64.powi(-80));
        let z = LogSum::new(1.0, 1.0).unwrap().prox_psi(beta + t, beta);
        assert!((z / t - 1.0).abs() < 1e-12);
    }

    #[test]
    fn bad_parameters_are_refused() {
        laws::refuses("lambda", LogSum::new(0.0, 1.0));
        laws::refuses("theta", LogSum::new(1.0, -1.0));
        laws::refuses("theta", LogSum::new(1.0, f64::NAN));
    }
}
