//! A law under test: it remembers the comparison that broke it by most, or came nearest to it.

use crate::check::{Finding, Term};
use crate::real::Real;

/// The points of a comparison, by name.
pub(super) type Witness<S> = Vec<(&'static str, Vec<S>)>;

pub(super) struct Law<S> {
    finding: Finding<S>,
    /// The largest excess so far, as a multiple of its slack; above 1 the law is broken.
    worst: f64,
    /// The least and the largest left/right among equalities whose sides are well above rounding.
    ratios: (f64, f64),
}

impl<S: Real> Law<S> {
    pub fn new(term: Term, law: &'static str, formula: &'static str) -> Self {
        let finding = Finding {
            term,
            law,
            formula,
            tests: 0,
            left: f64::NAN,
            right: f64::NAN,
            slack: f64::NAN,
            holds: true,
            advice: String::new(),
            witness: Vec::new(),
        };
        Self { finding, worst: f64::NEG_INFINITY, ratios: (f64::INFINITY, f64::NEG_INFINITY) }
    }

    /// left ≤ right, but for `slack`. NaN breaks it.
    pub fn at_most(&mut self, left: f64, right: f64, slack: f64, witness: impl FnOnce() -> Witness<S>) {
        self.compare(left - right, [left, right, slack], witness);
    }

    /// left = right, but for `slack`. NaN breaks it.
    pub fn equal(&mut self, left: f64, right: f64, slack: f64, witness: impl FnOnce() -> Witness<S>) {
        if left.abs().min(right.abs()) > 10.0 * slack {
            let ratio = left / right;
            self.ratios = (self.ratios.0.min(ratio), self.ratios.1.max(ratio));
        }
        let apart = if left == right { 0.0 } else { (left - right).abs() };
        self.compare(apart, [left, right, slack], witness);
    }

    fn compare(&mut self, excess: f64, [left, right, slack]: [f64; 3], witness: impl FnOnce() -> Witness<S>) {
        let finding = &mut self.finding;
        finding.tests += 1;
        let share = excess / slack.max(f64::MIN_POSITIVE);
        let share = if share.is_nan() { f64::INFINITY } else { share };
        if share <= self.worst {
            return;
        }
        self.worst = share;
        (finding.left, finding.right, finding.slack) = (left, right, slack);
        if share > 1.0 {
            finding.holds = false;
            finding.witness = witness();
        }
    }

    pub fn holds(&self) -> bool {
        self.finding.holds
    }

    /// What else to say if it was broken.
    pub fn advise(&mut self, advice: String) {
        self.finding.advice = advice;
    }

    pub fn done(mut self) -> Finding<S> {
        let (least, largest) = self.ratios;
        let constant = least.is_finite() && largest - least <= 1e-2 * largest.abs();
        if !self.finding.holds && self.finding.advice.is_empty() && constant {
            self.finding.advice = format!("the left side is {largest:.4} times the right one throughout");
        }
        self.finding
    }
}
