//! Constant steps for a number of steps that is known.

use super::{Schedule, Step, check_base};
use crate::error::Error;
use crate::guarantee::{Bound, Facts, Guarantee, Rate};

/// β_k = βK^{−1/3}, γ_k = γK^{−2/3}, for a number K of steps known in advance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Horizon {
    /// β.
    pub beta: f64,
    /// γ.
    pub gamma: f64,
    /// K.
    pub steps: u64,
}

impl Schedule for Horizon {
    fn at(&self, _: u64) -> Step {
        let steps = self.steps as f64;
        Step { beta: self.beta * steps.powf(-1.0 / 3.0), gamma: self.gamma * steps.powf(-2.0 / 3.0) }
    }

    fn largest_beta(&self) -> f64 {
        self.beta
    }

    fn check(&self) -> Result<(), Error> {
        check_base(self.beta, self.gamma)?;
        Error::expect_parameter("steps", self.steps as f64, self.steps > 0, "at least 1")?;
        Ok(())
    }

    fn guarantee(&self, facts: &Facts) -> Guarantee {
        let rate = Rate::Iterations { exponent: -1.0 / 3.0, log: false };
        let regime = "horizon (the paper's Theorem 7; Theorem 1): over exactly K steps";
        Guarantee::new(regime, [rate; 2], self.beta, vec![], facts).within(Bound::Horizon(*self))
    }
}
