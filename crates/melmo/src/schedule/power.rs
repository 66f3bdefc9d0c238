//! β_k = βk^{−q}, γ_k = γk^{−p}.

use super::{Schedule, Step, check_base, check_exponents, near};
use crate::error::Error;
use crate::guarantee::{Bound, Condition, Facts, Guarantee, Rate};

/// β_k = βk^{−q}, γ_k = γk^{−p}.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    /// β.
    pub beta: f64,
    /// γ.
    pub gamma: f64,
    /// p: how fast steps shrink.
    pub p: f64,
    /// q: how fast the smoothing shrinks; 0 keeps β and solves the smoothed problem.
    pub q: f64,
}

impl Power {
    /// (p, q) = (7/12, 1/3), γ = 1: both measures shrink as k^{−1/4}.
    pub fn balanced(beta: f64) -> Self {
        Self { beta, gamma: 1.0, p: 7.0 / 12.0, q: 1.0 / 3.0 }
    }

    /// (p, q) = (2/3, 1/4), γ = 1: the smoothed gradient shrinks as k^{−1/3}.
    pub fn favouring(beta: f64) -> Self {
        Self { beta, gamma: 1.0, p: 2.0 / 3.0, q: 1.0 / 4.0 }
    }
}

impl Schedule for Power {
    fn at(&self, k: u64) -> Step {
        let k = k as f64;
        Step { beta: self.beta * k.powf(-self.q), gamma: self.gamma * k.powf(-self.p) }
    }

    fn check(&self) -> Result<(), Error> {
        check_base(self.beta, self.gamma)?;
        check_exponents(self.p, self.q)
    }

    fn guarantee(&self, facts: &Facts) -> Guarantee {
        let (p, q) = (self.p, self.q);
        let regime = match () {
            () if near(p, 7.0 / 12.0) && near(q, 1.0 / 3.0) => "balanced (the paper's Corollary 4; Theorem 1)",
            () if near(p, 2.0 / 3.0) && near(q, 0.25) => {
                "smoothed-gradient-favouring (the paper's Corollary 5; Theorem 1)"
            }
            () if q == 0.0 => "fixed smoothing: solves the smoothed problem (Theorem 1)",
            () => "power schedule (the paper's Theorem 3; Theorem 1)",
        };
        let conditions = vec![Condition::new("0 ≤ q < p < 1", 0.0 <= q && q < p && p < 1.0)];
        Guarantee::new(regime, self.rates(), self.beta, conditions, facts).within(Bound::Power(*self))
    }
}

impl Power {
    /// How fast the smoothed gradient and both numbers shrink, the boundaries p = 1/2, q = 0 and 2p − q = 1 included.
    fn rates(&self) -> [Rate; 2] {
        let (p, q) = (self.p, self.q);
        // K^{p−1} times 1 and times the sums of k^{−2p} and k^{q−2p}, which are logarithms where the exponent is 1.
        let sum = |a: f64| if near(a, 1.0) { (p - 1.0, true) } else { ((p - 1.0).max(p - a), false) };
        let terms = [(p - 1.0, false), sum(2.0 * p), sum(2.0 * p - q)];
        let exponent = terms.iter().map(|term| term.0).fold(f64::NEG_INFINITY, f64::max);
        let log = terms.iter().any(|term| term.1 && near(term.0, exponent));
        let both = Rate::Iterations { exponent: exponent.max(-q), log: log && (exponent > -q || near(exponent, -q)) };
        [Rate::Iterations { exponent, log }, both]
    }
}
