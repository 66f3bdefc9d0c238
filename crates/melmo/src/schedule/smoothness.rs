//! Steps as long as the smoothness allows.

use super::{Schedule, Step};
use crate::error::Error;
use crate::guarantee::{Bound, Condition, Facts, Guarantee, Rate};

/// γ_k = 1/(L_f + ‖T‖²/β_k), β_k = βk^{−1/3}: the steps of variable smoothing (Böhm & Wright 2021).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smoothness {
    /// β.
    pub beta: f64,
    /// L_f.
    pub lipschitz: f64,
    /// ‖T‖².
    pub operator_squared: f64,
    /// The steps go along normalised blocks: the paper's experiments did that, no theorem covers it.
    pub normalized: bool,
}

impl Schedule for Smoothness {
    fn at(&self, k: u64) -> Step {
        let beta = self.beta * (k as f64).powf(-1.0 / 3.0);
        Step { beta, gamma: 1.0 / (self.lipschitz + self.operator_squared / beta) }
    }

    fn check(&self) -> Result<(), Error> {
        Error::expect_positive("beta", self.beta)?;
        Error::expect_positive("operator norm", self.operator_squared)?;
        let lipschitz = self.lipschitz;
        Error::expect_parameter(
            "lipschitz",
            lipschitz,
            lipschitz >= 0.0 && lipschitz.is_finite(),
            "finite, at least 0",
        )?;
        Ok(())
    }

    fn guarantee(&self, facts: &Facts) -> Guarantee {
        let rate = Rate::Iterations { exponent: -1.0 / 3.0, log: false };
        let conditions = vec![
            Condition::new("steps along −φ itself, not along normalised blocks", !self.normalized),
            Condition::new("L_f is not set too small", facts.lipschitz_f.is_none_or(|own| own <= self.lipschitz)),
        ];
        let regime = "variable smoothing (Böhm & Wright 2021; section 2 of docs/theory.md), in ‖·‖₂";
        Guarantee::new(regime, [rate; 2], self.beta, conditions, facts).within(Bound::Smoothness(*self))
    }
}
