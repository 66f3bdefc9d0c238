//! What is proven: which rate, under which conditions, how many steps, and which of the conditions a problem meets.
//!
//! The theorems are those of the paper and of `docs/theory.md`, by the names that page gives them.

mod bound;
mod show;
mod solution;

pub use bound::Bound;
pub use solution::Solutions;
pub(crate) use solution::above_a_norm;

use crate::error::Error;
use crate::geometry::Inexactness;

/// What the theorems ask about a problem, in the norm of the steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// ρ of g.
    pub rho: f64,
    /// L_g, when g is Lipschitz.
    pub lipschitz_g: Option<f64>,
    /// L = c²L_f, when ∇f is known to be Lipschitz: in the norm of the steps, ‖·‖₂ ≤ c‖·‖.
    pub lipschitz_f: Option<f64>,
    /// c²‖T‖².
    pub operator_squared: f64,
    /// T is known to be surjective.
    pub surjective: bool,
    /// A lower bound on F: that of f, since penalties are nowhere negative.
    pub infimum: Option<f64>,
    /// F at the start, once there is one.
    pub start: Option<f64>,
    /// What the oracle never exceeds on blocks of this shape, when that is known.
    pub oracle: Option<Inexactness>,
    /// Sizes and rounding, for certificates.
    pub numerics: Numerics,
}

impl Facts {
    /// The β that solvers start from unless told otherwise: min(1, 1/(2ρ)).
    pub fn default_beta(&self) -> f64 {
        beta_limit(self.rho).min(1.0)
    }

    /// Refuses β ≤ 0 and β > 1/(2ρ).
    pub fn check_beta(&self, beta: f64) -> Result<(), Error> {
        check_beta(beta, self.rho)
    }
}

/// The largest β for which g_β is 1/β-smooth: 1/(2ρ), ∞ for convex g.
pub(crate) fn beta_limit(rho: f64) -> f64 {
    if rho > 0.0 { 0.5 / rho } else { f64::INFINITY }
}

/// Refuses β ≤ 0 and β > 1/(2ρ).
pub(crate) fn check_beta(beta: f64, rho: f64) -> Result<(), Error> {
    Error::expect_positive("beta", beta)?;
    let limit = beta_limit(rho);
    // One unit in the last place of grace: 1/(2ρ) itself may have been rounded up on its way here.
    if beta <= limit * (1.0 + f64::EPSILON) { Ok(()) } else { Err(Error::Beta { beta, limit, rho }) }
}

/// How large a problem is, and what rounding does in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Numerics {
    /// ‖T‖, or a bound on it.
    pub operator_norm: f64,
    /// ϑ: Tx is computed to ϑ‖x‖₂.
    pub of_operator: f64,
    /// c: prox_{βg}(u) is computed to c‖u‖₂/(1 − βρ).
    pub of_prox: f64,
    /// Entries of x.
    pub size: usize,
    /// Entries of Tx.
    pub range: usize,
}

/// How fast a quantity shrinks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// min over the first k iterates is O(k^exponent).
    Iterations {
        /// The exponent of k, negative when the quantity shrinks.
        exponent: f64,
        /// Times log k.
        log: bool,
    },
    /// An ε-certificate after O(ε^exponent) steps.
    Certificate {
        /// The exponent of ε.
        exponent: f64,
    },
    /// ‖∇f(x) + T*w‖₂ and ‖Tx − z‖₂, w ∈ ∂g(z), are O(k^exponent).
    Residuals {
        /// The exponent of k.
        exponent: f64,
    },
    /// Nothing is said.
    Unknown,
}

impl Rate {
    /// Whether it is one of two: of the smoothed gradient, and of the composite measure.
    fn is_of_gradients(self) -> bool {
        matches!(self, Self::Iterations { .. } | Self::Certificate { .. })
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

/// What N(ε) is made of, where a theorem about a method without smoothing gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct Count {
    /// The formula, up to a few steps.
    pub formula: &'static str,
    /// What it counts.
    pub of: &'static str,
    /// The names in it that stand for numbers of this problem; `None` where a number is not known.
    pub constants: Vec<(&'static str, Option<f64>)>,
}

impl Count {
    /// Of steps.
    pub fn steps(formula: &'static str, constants: Vec<(&'static str, Option<f64>)>) -> Self {
        Self { formula, of: "steps", constants }
    }

    /// The names of what is not known.
    pub fn unknown(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.constants.iter().filter(|(_, value)| value.is_none()).map(|(name, _)| *name)
    }
}

/// What is proven for a method on a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Guarantee {
    /// The regime, with the theorem it comes from.
    pub regime: &'static str,
    /// ‖∇F_β(x)‖_*, when the conditions hold; or, for a method without smoothing, what is said instead.
    pub smoothed: Rate,
    /// dist(−∇f(x̃), T*∂g(Tx̃)), when the conditions hold and T is surjective.
    pub composite: Rate,
    /// What `smoothed` needs.
    pub conditions: Vec<Condition>,
    /// What `composite` needs besides.
    pub surjective: Condition,
    /// What is known of the problem.
    pub facts: Facts,
    /// How many points there are before an ε-certificate.
    pub bound: Option<Bound>,
    /// The formula of that, where it is the method's own.
    pub count: Option<Count>,
    /// What the theorem leaves open even where its conditions hold; where there is none, why.
    pub open: Vec<&'static str>,
}

/// What a guarantee comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every condition is known to hold.
    Proven,
    /// These conditions fail or are not known to hold, or something is left open.
    UpTo(Vec<&'static str>),
    /// There is no theorem, for this reason.
    NoProof(&'static str),
}

impl Guarantee {
    /// The conditions that a theorem has of its own, completed by those that all about smoothing share, with the largest β that
    /// is used.
    pub fn new(
        regime: &'static str,
        [smoothed, composite]: [Rate; 2],
        beta: f64,
        mut conditions: Vec<Condition>,
        facts: &Facts,
    ) -> Self {
        conditions.push(Condition::new("β < 1/ρ", beta * facts.rho < 1.0));
        conditions.push(Condition::new("g is Lipschitz (L_g exists)", facts.lipschitz_g.is_some()));
        conditions.push(Condition::new("∇f is Lipschitz (a global L_f is known)", facts.lipschitz_f.is_some()));
        Self::unsmoothed(regime, [smoothed, composite], conditions, facts).with_oracle()
    }

    /// The same for a method without smoothing, that needs neither L_g nor a bound on β.
    pub fn unsmoothed(
        regime: &'static str,
        [smoothed, composite]: [Rate; 2],
        mut conditions: Vec<Condition>,
        facts: &Facts,
    ) -> Self {
        conditions.push(Condition::new("inf F > −∞ (f has a known lower bound, g ≥ 0)", facts.infimum.is_some()));
        let surjective = Condition::new("T is surjective", facts.surjective);
        Self {
            regime,
            smoothed,
            composite,
            conditions,
            surjective,
            facts: *facts,
            bound: None,
            count: None,
            open: vec![],
        }
    }

    /// No theorem, for a reason.
    pub fn none(reason: &'static str, facts: &Facts) -> Self {
        let rates = [Rate::Unknown; 2];
        Self { open: vec![reason], conditions: vec![], ..Self::unsmoothed("no theorem", rates, vec![], facts) }
    }

    fn with_oracle(mut self) -> Self {
        let uniform = self.facts.oracle.is_some_and(|oracle| oracle.eta < 1.0);
        self.conditions.push(Condition::new("the oracle's η is below 1 on every φ of this shape", uniform));
        if uniform && self.facts.oracle.is_some_and(|oracle| !oracle.proven) {
            self.open
                .push("rounding in the oracle, of which the usual size is known and not the worst (docs/brackets.md)");
        }
        self
    }

    /// The same with a number of steps.
    pub fn within(self, bound: Bound) -> Self {
        Self { bound: Some(bound), ..self }
    }

    /// The same with the formula of that number; and with the number, constant/ε^order + more, where the constant is known.
    pub fn counted(self, count: Count, constant: Option<f64>, order: i32, more: f64) -> Self {
        let bound = constant.map(|constant| Bound::Closed { constant, order, more });
        Self { count: Some(count), bound, ..self }
    }

    /// The same, but for something that the theorem leaves open.
    pub fn up_to(mut self, open: &'static str) -> Self {
        self.open.push(open);
        self
    }

    /// How many points there are, at most, before an ε-certificate; `None` where the constants are not all known, or where there
    /// need not be one.
    pub fn steps(&self, epsilon: f64) -> Option<f64> {
        self.applies().then(|| self.bound?.steps(&self.facts, epsilon)).flatten()
    }

    /// Every condition of the bound on the smoothed gradient is known to hold.
    pub fn applies(&self) -> bool {
        self.smoothed != Rate::Unknown && self.conditions.iter().all(|c| c.holds)
    }

    /// Every condition of the bound on the composite measure is known to hold.
    pub fn applies_to_composite(&self) -> bool {
        self.applies() && self.composite != Rate::Unknown && self.surjective.holds
    }

    /// The conditions that fail, or are not known to hold; surjectivity last, which `composite` alone needs.
    pub fn failing(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.conditions.iter().chain([&self.surjective]).filter(|c| !c.holds).map(|c| c.statement)
    }

    /// What it comes to: surjectivity, which `composite` alone needs, left aside.
    pub fn verdict(&self) -> Verdict {
        let failing = self.conditions.iter().filter(|c| !c.holds).map(|c| c.statement);
        if self.smoothed == Rate::Unknown {
            return Verdict::NoProof(self.open.first().unwrap_or(&"no theorem is known"));
        }
        let left: Vec<_> = failing.chain(self.open.iter().copied()).collect();
        if left.is_empty() { Verdict::Proven } else { Verdict::UpTo(left) }
    }
}
