//! Whether terms are what they say: ∇f the gradient of f, T* the adjoint of T, prox_{βg} the minimiser that defines it,
//! and every stated constant large enough.
//!
//! A run trusts its terms. With a doubled adjoint or a forgotten ρ it goes on and ends somewhere else. [`check`] evaluates
//! them at points from a seed and compares; it proves nothing where it holds, and where it does not the points show it to
//! anyone. Rounding is allowed for, relative to the sizes involved.
//!
//! ```
//! use melmo::check::{Options, check};
//! use melmo::prelude::*;
//!
//! # fn main() -> Result<(), Error> {
//! let layout = Layout::vector(3)?;
//! let loss = MaskedLeastSquares::new(layout.clone(), vec![3.0, 0.1, -4.0], None)?;
//! let problem = Problem::new(loss, Entrywise::new(Mcp::new(0.5, 2.0)?, 3), Identity::new(layout))?;
//! let checked = check(&problem, &[0.0; 3], &Options::default());
//! assert!(checked.passed(), "{checked}");
//! # Ok(())
//! # }
//! ```

mod convexity;
mod law;
mod loss;
mod operator;
mod penalty;
mod points;
mod show;

pub use loss::loss;
pub use operator::operator;
pub use penalty::penalty;

use crate::problem::Problem;
use crate::real::Real;

/// How much is tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Random points for each term; each costs some fifty evaluations. With 0 the start alone is looked at, and no norm
    /// is followed to its largest direction: a first look.
    pub probes: usize,
    /// Where the points come from.
    pub seed: u64,
    /// What counts as rounding, relative to the sizes involved; 10⁻⁸ in `f64` and 2·10⁻⁴ in `f32` unless given.
    pub tolerance: Option<f64>,
    /// Whether g's subgradients are checked too: few methods need them, and a user's own penalty may have none.
    pub subgradients: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { probes: 12, seed: 1, tolerance: None, subgradients: true }
    }
}

impl Options {
    /// Fewer points where each is expensive: a variable of a million entries says as much about its term at four.
    pub fn for_size(size: usize) -> Self {
        let probes = match size {
            0..=100_000 => 12,
            100_001..=1_000_000 => 4,
            _ => 2,
        };
        Self { probes, ..Self::default() }
    }

    fn tolerance<S: Real>(&self) -> f64 {
        self.tolerance.unwrap_or(if S::EPSILON > 1e-10 { 2e-4 } else { 1e-8 })
    }
}

/// Whose law it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// The smooth loss.
    F,
    /// The penalty.
    G,
    /// The operator.
    T,
}

impl Term {
    /// `f`, `g` or `T`.
    pub fn name(self) -> &'static str {
        match self {
            Self::F => "f",
            Self::G => "g",
            Self::T => "T",
        }
    }
}

/// A law, and the comparison that came nearest to breaking it or broke it by most.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding<S> {
    /// Whose law it is.
    pub term: Term,
    /// Its name, such as `adjoint`.
    pub law: &'static str,
    /// What was compared, as a formula.
    pub formula: &'static str,
    /// How many comparisons were made; a law without any says nothing.
    pub tests: usize,
    /// The left side of the formula.
    pub left: f64,
    /// The right side of the formula.
    pub right: f64,
    /// How far rounding may have moved them.
    pub slack: f64,
    /// Whether every comparison held.
    pub holds: bool,
    /// Where it fails: what more is known, in words.
    pub advice: String,
    /// Where it fails: the points that show it, by their names in the formula.
    pub witness: Vec<(&'static str, Vec<S>)>,
}

/// What was found, law by law.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked<S> {
    /// The laws.
    pub findings: Vec<Finding<S>>,
}

impl<S> Checked<S> {
    /// Every law held.
    pub fn passed(&self) -> bool {
        self.findings.iter().all(|finding| finding.holds)
    }

    /// The laws that did not.
    pub fn failures(&self) -> impl Iterator<Item = &Finding<S>> {
        self.findings.iter().filter(|finding| !finding.holds)
    }
}

/// Checks the three terms of a problem at and around `near`, which may be a start. Allocates, and takes the time of some
/// hundreds of evaluations.
pub fn check<S: Real>(problem: &Problem<S>, near: &[S], options: &Options) -> Checked<S> {
    let mut findings = loss(problem.f(), near, options);
    findings.extend(operator(problem.t(), options));
    findings.extend(penalty(problem.g(), &problem.image(near), options));
    Checked { findings }
}
