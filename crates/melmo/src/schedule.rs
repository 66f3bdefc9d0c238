//! (β_k, γ_k): how the smoothing and the step shrink, as pure functions of k = 1, 2, ….

use crate::error::Error;
use crate::guarantee::{Bound, Condition, Facts, Guarantee, Rate};

/// The smoothing β_k and the step length γ_k of step k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Smoothing of the Moreau envelope.
    pub beta: f64,
    /// Length of the step, in the geometry's norm.
    pub gamma: f64,
}

/// What an epoch starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Restart {
    /// The point of least F seen, the start included.
    #[default]
    Best,
    /// The start x₁.
    Start,
    /// Where the last epoch ended.
    None,
}

impl std::str::FromStr for Restart {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "best" => Ok(Self::Best),
            "start" => Ok(Self::Start),
            "none" => Ok(Self::None),
            _ => Err(Error::UnknownName {
                kind: "restart",
                name: name.into(),
                known: ["best", "start", "none"].map(String::from).into(),
            }),
        }
    }
}

/// A schedule: a pure function of k, so that nothing has to be reset and a resumed run is the same run.
pub trait Schedule: Send + Sync {
    /// (β_k, γ_k), k ≥ 1.
    fn at(&self, k: u64) -> Step;

    /// The largest β it ever uses: this is what has to stay below 1/ρ.
    fn largest_beta(&self) -> f64 {
        self.at(1).beta
    }

    /// The smoothing with which x_{k+1} is judged after step k of an epoch.
    fn beta_after(&self, k: u64) -> f64 {
        self.at(k + 1).beta
    }

    /// What each epoch starts from, for a solver that runs in epochs.
    fn restart(&self) -> Restart {
        Restart::None
    }

    /// It is made for a solver that runs in epochs.
    fn epochs(&self) -> bool {
        false
    }

    /// Refuses parameters that make no schedule.
    fn check(&self) -> Result<(), Error>;

    /// What is proven for it on a problem with these properties.
    fn guarantee(&self, facts: &Facts) -> Guarantee;
}

/// γ > 0 and β > 0, with the numbers in the message.
fn check_base(beta: f64, gamma: f64) -> Result<(), Error> {
    Error::expect_positive("beta", beta)?;
    Error::expect_positive("gamma", gamma)?;
    Ok(())
}

fn check_exponents(p: f64, q: f64) -> Result<(), Error> {
    Error::expect_parameter("p", p, 0.0 < p && p < 1.0, "between 0 and 1, both excluded")?;
    Error::expect_parameter("q", q, (0.0..1.0).contains(&q), "at least 0 and below 1")?;
    Ok(())
}

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

/// Exponents that a person typed as fractions and a machine stored as floats.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Inexactness;

    #[test]
    fn epochs_are_constant_between_powers_of_two() {
        let schedule = EpochConstant::new(1.0);
        assert_eq!(schedule.at(4), schedule.at(7));
        assert!(schedule.at(8).beta < schedule.at(7).beta);
        assert_eq!(schedule.beta_after(7), schedule.at(7).beta);
        assert!((schedule.at(1).beta - 0.5f64.powf(1.0 / 3.0)).abs() < 1e-15);
    }

    #[test]
    fn exponents_outside_their_range_are_refused() {
        for (p, q) in [(0.0, 0.1), (1.0, 0.1), (0.5, -0.1), (0.5, 1.0), (f64::NAN, 0.1)] {
            let schedule = Power { p, q, ..Power::balanced(1.0) };
            assert!(matches!(schedule.check(), Err(Error::Parameter { .. })), "{p} {q}");
        }
        assert!(Power { q: 0.0, ..Power::balanced(1.0) }.check().is_ok());
        assert!(Power { gamma: 0.0, ..Power::balanced(1.0) }.check().is_err());
        assert!(Horizon { beta: 1.0, gamma: 1.0, steps: 0 }.check().is_err());
    }

    const TAME: Facts = Facts {
        rho: 0.5,
        lipschitz_g: Some(2.0),
        lipschitz_f: Some(1.0),
        operator_squared: 1.0,
        surjective: true,
        infimum: Some(0.0),
        start: Some(10.0),
        oracle: Some(Inexactness { eta: 0.0, excess: 0.0 }),
    };

    #[track_caller]
    fn promises(guarantee: &Guarantee, smoothed: f64, composite: f64) {
        let close = |rate: Rate, wanted: f64| match rate {
            Rate::Iterations { exponent, .. } | Rate::Certificate { exponent } => (exponent - wanted).abs() < 1e-12,
            Rate::Unknown => false,
        };
        assert!(close(guarantee.smoothed, smoothed) && close(guarantee.composite, composite), "{guarantee}");
    }

    #[test]
    fn the_paper_is_quoted_correctly() {
        promises(&Power::balanced(1.0).guarantee(&TAME), -0.25, -0.25);
        promises(&Power::favouring(1.0).guarantee(&TAME), -1.0 / 3.0, -0.25);
        promises(&Horizon { beta: 1.0, gamma: 1.0, steps: 10 }.guarantee(&TAME), -1.0 / 3.0, -1.0 / 3.0);
        promises(&EpochPower::new(1.0).guarantee(&TAME), -4.0, -4.0);
        promises(&EpochConstant::new(1.0).guarantee(&TAME), -3.0, -3.0);
        for schedule in [&Power::balanced(1.0) as &dyn Schedule, &EpochPower::new(1.0), &EpochConstant::new(1.0)] {
            let guarantee = schedule.guarantee(&TAME);
            assert!(guarantee.applies_to_composite() && guarantee.failing().count() == 0, "{guarantee}");
        }
    }

    /// p = 1/2, q = 0 and 2p − q = 1: what they give, logarithms included.
    #[test]
    fn boundaries_are_proven() {
        let rates = |p: f64, q: f64| {
            let guarantee = Power { p, q, ..Power::balanced(1.0) }.guarantee(&TAME);
            assert!(guarantee.applies(), "{guarantee}");
            [guarantee.smoothed, guarantee.composite].map(|rate| match rate {
                Rate::Iterations { exponent, log } => ((exponent * 1e9).round() / 1e9, log),
                _ => unreachable!("a rate in k"),
            })
        };
        assert_eq!(rates(0.5, 0.25), [(-0.25, false), (-0.25, false)]);
        assert_eq!(rates(0.5, 0.0), [(-0.5, true), (0.0, false)]);
        assert_eq!(rates(0.75, 0.0), [(-0.25, false), (0.0, false)]);
        let third = (-1e9f64 / 3.0).round() / 1e9;
        assert_eq!(rates(2.0 / 3.0, 1.0 / 3.0), [(third, true), (third, true)]);
        assert_eq!(rates(0.6, 0.2), [(-0.4, true), (-0.2, false)]);
        let text = Power { p: 2.0 / 3.0, q: 1.0 / 3.0, ..Power::balanced(1.0) }.guarantee(&TAME).to_string();
        assert!(text.contains("O(log k · k^(-1/3))") && text.ends_with("proven"), "{text}");
    }

    /// The formulas of docs/theory.md, worked out by hand (and by a second program).
    #[test]
    fn numbers_of_steps_are_known() {
        let steps = |schedule: &dyn Schedule, epsilon: f64| schedule.guarantee(&TAME).steps(epsilon);
        // Δ = 10 + ½·4 = 12, Λ = 1 + 1 = 2: (4·2·12)^{3/2} = 940.6…, at ε = 0.1 a thousand times that.
        let smoothness = Smoothness { beta: 1.0, lipschitz: 1.0, operator_squared: 1.0, normalized: false };
        assert_eq!(steps(&smoothness, 0.1), Some((96f64.powf(1.5) * 1e3).ceil()));
        // 2^l·γ_(l) = 2^{(l−2)/3}: 2(10 + 2β_(l) + ½·2^l·γ²(1 + 1/β_(l)))/2^{(l−2)/3} ≤ 1 for the first time at l = 16.
        assert_eq!(steps(&EpochConstant::new(1.0), 1.0), Some(131_072.0));
        let known = |schedule: &dyn Schedule, epsilon: f64, wanted: f64| {
            let found = steps(schedule, epsilon).unwrap();
            assert!((found / wanted - 1.0).abs() < 1e-6, "{found} instead of {wanted}");
        };
        known(&Power::balanced(1.0), 0.5, 170_650.0);
        known(&Power::balanced(1.0), 0.05, 414_709_277.0);
        known(&EpochPower::new(1.0), 0.5, 1_048_576.0);
        known(&EpochPower::new(1.0), 0.05, 1_073_741_824.0);
        known(&Horizon { beta: 1.0, gamma: 1.0, steps: 10 }, 1e-2, 1_158_412_501.0);
        assert_eq!(steps(&Power { q: 0.0, ..Power::balanced(1.0) }, 0.1), None);
    }

    #[test]
    fn conditions_that_fail_are_named() {
        let failing = |schedule: &dyn Schedule, facts: &Facts| schedule.guarantee(facts).failing().collect::<Vec<_>>();
        assert_eq!(failing(&Power { p: 0.3, q: 0.4, ..Power::balanced(1.0) }, &TAME), ["0 ≤ q < p < 1"]);
        assert_eq!(failing(&Power::balanced(2.0), &TAME), ["β < 1/ρ"]);
        assert!(failing(&Power::balanced(1.9), &TAME).is_empty());
        let wild =
            Facts { lipschitz_g: None, lipschitz_f: None, infimum: None, oracle: None, surjective: false, ..TAME };
        assert_eq!(failing(&Power::balanced(1.0), &wild).len(), 5);
        assert!(!Power::balanced(1.0).guarantee(&wild).applies());
        let none = EpochConstant { restart: Restart::None, ..EpochConstant::new(1.0) };
        assert_eq!(failing(&none, &TAME).len(), 1);
        let smoothed = Power { q: 0.0, ..Power::balanced(1.0) }.guarantee(&TAME).to_string();
        assert!(smoothed.contains("does not shrink"), "{smoothed}");
    }
}
