//! Epochs of 2^l steps.

use super::{Power, Restart, Schedule, Step, check_base, near};
use crate::error::Error;
use crate::guarantee::{Bound, Condition, Facts, Guarantee, Rate};

/// A power schedule run in epochs: β_k = βk^{−q}, γ_k = γk^{−p}, (p, q) = (2/3, 1/4) in the theorem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpochPower {
    /// The schedule itself.
    pub power: Power,
}

impl EpochPower {
    /// γ = 1, (p, q) = (2/3, 1/4).
    pub fn new(beta: f64) -> Self {
        Self { power: Power::favouring(beta) }
    }
}

impl Schedule for EpochPower {
    fn at(&self, k: u64) -> Step {
        self.power.at(k)
    }

    fn epochs(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), Error> {
        self.power.check()
    }

    fn guarantee(&self, facts: &Facts) -> Guarantee {
        let conditions =
            vec![Condition::new("(p, q) = (2/3, 1/4)", near(self.power.p, 2.0 / 3.0) && near(self.power.q, 0.25))];
        let rate = Rate::Certificate { exponent: -4.0 };
        let regime = "epoch-wise, power schedule (the paper's Theorem 8; Theorem 1)";
        Guarantee::new(regime, [rate; 2], self.power.beta, conditions, facts).within(Bound::EpochPower(*self))
    }
}

/// Constant within epoch l = ⌊log₂k⌋: β_(l) = β2^{−(l+1)/3}, γ_(l) = γ2^{−2(l+1)/3}, with a restart at each epoch's start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpochConstant {
    /// β.
    pub beta: f64,
    /// γ.
    pub gamma: f64,
    /// What an epoch starts from.
    pub restart: Restart,
}

impl EpochConstant {
    /// γ = 1, each epoch starting from the best point so far.
    pub fn new(beta: f64) -> Self {
        Self { beta, gamma: 1.0, restart: Restart::Best }
    }
}

impl Schedule for EpochConstant {
    fn at(&self, k: u64) -> Step {
        let third = f64::from(k.max(1).ilog2() + 1) / 3.0;
        Step { beta: self.beta * (-third).exp2(), gamma: self.gamma * (-2.0 * third).exp2() }
    }

    fn largest_beta(&self) -> f64 {
        self.beta
    }

    fn beta_after(&self, k: u64) -> f64 {
        self.at(k).beta
    }

    fn restart(&self) -> Restart {
        self.restart
    }

    fn epochs(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), Error> {
        check_base(self.beta, self.gamma)
    }

    fn guarantee(&self, facts: &Facts) -> Guarantee {
        let conditions =
            vec![Condition::new("each epoch starts at a point with F ≤ F(x₁)", self.restart != Restart::None)];
        let rate = Rate::Certificate { exponent: -3.0 };
        let regime = "epoch-wise, constant within epochs (the paper's Proposition 9; Theorem 1)";
        Guarantee::new(regime, [rate; 2], self.beta, conditions, facts).within(Bound::EpochConstant(*self))
    }
}
