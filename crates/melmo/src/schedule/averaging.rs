//! (β_k, γ_k, α_k) of stochastic steps.

use super::{Step, check_base, check_exponents};
use crate::error::Error;
use crate::schedule::Power;

/// β_k = βt^{−q}, γ_k = γt^{−p} and α_k = max(αt^{−a}, 1/k), where t is k, or the number K of steps where that is known.
///
/// 1/k makes the first averages plain means: the very first gradient does not linger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Averaging {
    /// β, γ, q and p.
    pub power: Power,
    /// α in (0, 1].
    pub alpha: f64,
    /// a in [0, 1).
    pub a: f64,
    /// K: constants for a run of so many steps.
    pub horizon: Option<u64>,
}

impl Averaging {
    /// (β_k, γ_k) and α_k, k ≥ 1.
    pub fn at(&self, k: u64) -> (Step, f64) {
        let t = self.horizon.unwrap_or(k) as f64;
        let Power { beta, gamma, p, q } = self.power;
        let alpha = (self.alpha * t.powf(-self.a)).max(1.0 / k as f64);
        (Step { beta: beta * t.powf(-q), gamma: gamma * t.powf(-p) }, alpha)
    }

    /// Refuses parameters that make no schedule.
    pub fn check(&self) -> Result<(), Error> {
        check_base(self.power.beta, self.power.gamma)?;
        check_exponents(self.power.p, self.power.q)?;
        Error::expect_parameter("alpha", self.alpha, 0.0 < self.alpha && self.alpha <= 1.0, "above 0 and at most 1")?;
        Error::expect_parameter("a", self.a, (0.0..1.0).contains(&self.a), "at least 0 and below 1")?;
        let steps = self.horizon.unwrap_or(1);
        Error::expect_parameter("steps", steps as f64, steps > 0, "at least 1")?;
        Ok(())
    }
}
