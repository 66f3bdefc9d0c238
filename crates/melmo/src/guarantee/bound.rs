//! N(ε): how many points there are, at most, before an ε-certificate.

use super::Facts;
use crate::geometry::Inexactness;
use crate::schedule::{EpochConstant, EpochPower, Horizon, Power, Schedule, Smoothness};

/// A theorem's count of points, by what the method adds to the facts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Theorem 1 for a power schedule.
    Power(Power),
    /// Theorem 1 for a horizon, which is chosen to be N(ε) itself.
    Horizon(Horizon),
    /// Theorem 1 in epochs.
    EpochPower(EpochPower),
    /// Theorem 1 in epochs of constant β and γ.
    EpochConstant(EpochConstant),
    /// Variable smoothing.
    Smoothness(Smoothness),
    /// Theorems 2 and 3: the κ-rule.
    Rule {
        /// κ.
        kappa: f64,
        /// β₁.
        beta: f64,
        /// The floor of β.
        floor: f64,
        /// The first L of steps by trial.
        trial: Option<f64>,
        /// m, the points between two checks of the momentum; 1 without momentum.
        every: f64,
    },
    /// C/ε^order and a few more.
    Closed {
        /// C.
        constant: f64,
        /// 1 or 2.
        order: i32,
        /// The few.
        more: f64,
    },
}

/// What the bounds are made of.
struct Known {
    l_g: f64,
    /// L and c²‖T‖².
    curvature: [f64; 2],
    oracle: Inexactness,
    /// F(x₁) − inf F.
    fall: f64,
}

impl Known {
    /// L_β.
    fn lipschitz(&self, beta: f64) -> f64 {
        self.curvature[0] + self.curvature[1] / beta
    }

    /// Δ.
    fn budget(&self, beta: f64) -> f64 {
        self.fall + 0.5 * beta * self.l_g * self.l_g
    }

    /// (Δ + ½(1+ξ)²·Σγ²L_β)/((1−η)·Σγ), both sums given.
    fn least(&self, beta: f64, squares: f64, lengths: f64) -> f64 {
        let Inexactness { eta, excess, .. } = self.oracle;
        (self.budget(beta) + 0.5 * (1.0 + excess).powi(2) * squares) / ((1.0 - eta) * lengths)
    }

    /// R(K) of Theorem 1.
    fn power(&self, Power { beta, gamma, p, q }: Power, k: f64) -> f64 {
        let [own, smoothing] = self.curvature;
        let squares = gamma * gamma * (own * sum(2.0 * p, k) + smoothing / beta * sum(2.0 * p - q, k));
        self.least(beta, squares, 0.5 * gamma * k.powf(1.0 - p))
    }
}

/// A bound on Σ_{k≤K} k^{−a}.
fn sum(a: f64, k: f64) -> f64 {
    match a - 1.0 {
        d if d.abs() < 1e-9 => 1.0 + k.ln(),
        d if d > 0.0 => a / d,
        _ if a >= 0.0 => k.powf(1.0 - a) / (1.0 - a),
        _ => k.powf(1.0 - a),
    }
}

/// A K from which on `holds` does, least among those that doubling and halving find; `None` beyond any count.
fn first(holds: impl Fn(f64) -> bool) -> Option<f64> {
    let mut high = 2.0;
    while !holds(high) {
        high *= 2.0;
        if high > 1e60 {
            return None;
        }
    }
    let mut low = 0.5 * high;
    while high - low > 1.0 && high / low > 1.0 + 1e-9 {
        let middle = (0.5 * (low + high)).ceil();
        if middle >= high {
            break;
        }
        *(if holds(middle) { &mut high } else { &mut low }) = middle;
    }
    Some(high)
}

impl Bound {
    /// N(ε), where every constant is known and the theorem reaches ε.
    pub fn steps(&self, facts: &Facts, epsilon: f64) -> Option<f64> {
        if let Self::Closed { constant, order, more } = self {
            return Some((constant / epsilon.powi(*order)).ceil() + more);
        }
        let known = Known {
            l_g: facts.lipschitz_g?,
            curvature: [facts.lipschitz_f?, facts.operator_squared],
            oracle: facts.oracle?,
            fall: facts.start? - facts.infimum?,
        };
        match *self {
            Self::Power(power) => first(|k| {
                known.power(power, k) <= epsilon && power.beta * known.l_g * (0.5 * k).powf(-power.q) <= epsilon
            }),
            Self::Horizon(Horizon { beta, gamma, .. }) => first(|k| {
                let (beta, gamma) = (beta * k.powf(-1.0 / 3.0), gamma * k.powf(-2.0 / 3.0));
                let squares = k * gamma * gamma * known.lipschitz(beta);
                known.least(beta, squares, k * gamma) <= epsilon && beta * known.l_g <= epsilon
            }),
            Self::EpochPower(EpochPower { power }) => epochs(|l| {
                let reached = known.power(power, 2f64.powf(l + 1.0)) <= epsilon;
                reached && power.beta * known.l_g * 2f64.powf(-l * power.q) <= epsilon
            }),
            Self::EpochConstant(schedule) => epochs(|l| {
                let (k, step) = (l.exp2(), schedule.at(l.exp2() as u64));
                let squares = k * step.gamma.powi(2) * known.lipschitz(step.beta);
                let reached = known.least(step.beta, squares, 0.5 * k * step.gamma) <= epsilon;
                reached && step.beta * known.l_g <= epsilon
            }),
            Self::Smoothness(Smoothness { beta, .. }) => {
                let lambda = beta * known.lipschitz(beta);
                let gradient = (4.0 * lambda * known.budget(beta) / beta).powf(1.5);
                Some((gradient.max(2.0 * (beta * known.l_g).powi(3)) / epsilon.powi(3)).ceil())
            }
            Self::Rule { .. } => self.rule(&known, facts.rho, epsilon),
            Self::Closed { .. } => None,
        }
    }

    /// Theorem 2, and Theorem 3 where points are checked in blocks.
    fn rule(&self, known: &Known, rho: f64, epsilon: f64) -> Option<f64> {
        let &Self::Rule { kappa, beta, floor, trial, every } = self else { return None };
        let known_lambda = beta * known.lipschitz(beta);
        let lambda = trial.map_or(known_lambda, |first| (beta * first).max(2.0 * known_lambda));
        let theta = known.oracle.theta();
        let shrinks_above = (theta * beta / lambda.sqrt()).min(1.0) * epsilon / known.l_g;
        let least = beta.min(shrinks_above / 32.0);
        if floor >= least {
            return None;
        }
        let by_gap = kappa.min(1.0) * (1.0 - beta * rho) * least.max(epsilon / known.l_g) / (beta * beta);
        let gain = 0.5 * epsilon * epsilon * (theta * theta * least / lambda).min(by_gap);
        let halvings = (beta / shrinks_above).max(1.0).log2().floor();
        let raised = if every > 1.0 { 1.0 } else { 0.5 };
        let budget = known.fall + (raised + 0.5) * beta * known.l_g * known.l_g;
        Some(match every {
            1.0 => (budget / gain).ceil() + halvings + 2.0,
            _ => every * ((budget / gain).ceil() + 2.0 * halvings + 3.0) + 1.0,
        })
    }
}

/// The end of the first epoch l ≥ 1 that `holds`.
fn epochs(holds: impl Fn(f64) -> bool) -> Option<f64> {
    (1..=62).map(f64::from).find(|&l| holds(l)).map(|l| (l + 1.0).exp2())
}
