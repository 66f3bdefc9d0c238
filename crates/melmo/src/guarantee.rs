//! What the paper proves: which rate, under which conditions, and which of them a problem meets.

use std::fmt;

use crate::schedule::Schedule;

/// What the theorems ask about a problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// ρ of g.
    pub rho: f64,
    /// L_g, when g is Lipschitz.
    pub lipschitz_g: Option<f64>,
    /// L_f, when ∇f is known to be Lipschitz.
    pub lipschitz_f: Option<f64>,
    /// T is known to be surjective.
    pub surjective: bool,
}

/// How fast a quantity shrinks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// min over the first k iterates is O(k^exponent).
    Iterations {
        /// The exponent of k, negative when the quantity shrinks.
        exponent: f64,
    },
    /// An ε-certificate after O(ε^exponent) steps.
    Certificate {
        /// The exponent of ε.
        exponent: f64,
    },
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iterations { exponent } if *exponent >= 0.0 => write!(f, "does not shrink"),
            Self::Iterations { exponent } => write!(f, "O(k^{})", Fraction(*exponent)),
            Self::Certificate { exponent } => write!(f, "an ε-certificate in O(ε^{}) steps", Fraction(*exponent)),
        }
    }
}

/// Writes an exponent as the small fraction it is, where it is one.
struct Fraction(f64);

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let small = (1..=24).find(|&d| (self.0 * d as f64 - (self.0 * d as f64).round()).abs() < 1e-9);
        match small {
            Some(1) => write!(f, "{}", self.0.round()),
            Some(d) => write!(f, "({}/{d})", (self.0 * d as f64).round()),
            None => write!(f, "{:.3}", self.0),
        }
    }
}

/// One condition of a theorem, and whether it is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The condition.
    pub statement: &'static str,
    /// Whether it is known to hold here.
    pub holds: bool,
}

impl Condition {
    /// A condition and whether it is known to hold.
    pub fn new(statement: &'static str, holds: bool) -> Self {
        Self { statement, holds }
    }
}

/// What is proven for a schedule on a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Guarantee {
    /// The regime, with the theorem it comes from.
    pub regime: &'static str,
    /// ‖∇F_β(x)‖_*, when the conditions hold.
    pub smoothed: Rate,
    /// dist(−∇f(x̃), T*∂g(Tx̃)), when the conditions hold and T is surjective.
    pub composite: Rate,
    /// What `smoothed` needs.
    pub conditions: Vec<Condition>,
    /// What `composite` needs besides.
    pub surjective: Condition,
    /// What is known of the problem.
    pub facts: Facts,
}

impl Guarantee {
    /// The conditions of a schedule, completed by those that every theorem shares.
    pub fn new(
        regime: &'static str,
        smoothed: Rate,
        composite: Rate,
        schedule: &dyn Schedule,
        mut conditions: Vec<Condition>,
        facts: &Facts,
    ) -> Self {
        let smooth = schedule.largest_beta() * 2.0 * facts.rho <= 1.0 + 2.0 * f64::EPSILON;
        conditions.push(Condition::new("β ≤ 1/(2ρ)", smooth));
        conditions.push(Condition::new("g is Lipschitz (L_g exists)", facts.lipschitz_g.is_some()));
        conditions.push(Condition::new("∇f is Lipschitz (a global L_f is known)", facts.lipschitz_f.is_some()));
        let surjective = Condition::new("T is surjective", facts.surjective);
        Self { regime, smoothed, composite, conditions, surjective, facts: *facts }
    }

    /// Every condition of the bound on the smoothed gradient is known to hold.
    pub fn applies(&self) -> bool {
        self.conditions.iter().all(|c| c.holds)
    }

    /// Every condition of the bound on the composite measure is known to hold.
    pub fn applies_to_composite(&self) -> bool {
        self.applies() && self.surjective.holds
    }

    /// The conditions that fail, or are not known to hold; surjectivity last, which `composite` alone needs.
    pub fn failing(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.conditions.iter().chain([&self.surjective]).filter(|c| !c.holds).map(|c| c.statement)
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.regime)?;
        writeln!(f, "  smoothed gradient ‖∇F_β(x)‖_*: {}", self.smoothed)?;
        writeln!(f, "  composite measure dist(−∇f(x̃), T*∂g(Tx̃)): {}", self.composite)?;
        let known = |value: Option<f64>| value.map_or("none known".into(), |value| format!("{value:.4}"));
        let Facts { rho, lipschitz_f, lipschitz_g, .. } = self.facts;
        writeln!(f, "  ρ = {rho:.4}, L_g: {}, L_f: {}", known(lipschitz_g), known(lipschitz_f))?;
        for condition in self.conditions.iter().chain([&self.surjective]) {
            let mark = if condition.holds { "holds" } else { "fails, or is not known to hold" };
            writeln!(f, "  {}: {mark}", condition.statement)?;
        }
        let verdict = match (self.applies(), self.applies_to_composite()) {
            (true, true) => "both bounds apply",
            (true, false) => "only the bound on the smoothed gradient applies",
            _ => "the theorem does not apply as it stands; the method runs, without this promise",
        };
        write!(f, "  so: {verdict}")
    }
}
