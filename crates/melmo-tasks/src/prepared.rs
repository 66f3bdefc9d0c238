//! A problem ready to solve: what a task makes of data.

use melmo::catalogue::choose;
use melmo::geometry::Norm;
use melmo::problem::Problem;
use melmo::real::Real;

use crate::settings::Settings;

/// The terms, a start, and what it is solved with unless told otherwise.
pub struct Prepared<S: Real> {
    /// f(x) + g(Tx).
    pub problem: Problem<S>,
    /// x₁.
    pub start: Vec<S>,
    /// What settings leave open.
    pub defaults: Defaults,
    /// F*, where it is known in closed form.
    pub optimum: Option<f64>,
}

/// What settings leave open.
#[derive(Clone, Debug, PartialEq)]
pub struct Defaults {
    /// The norm of every block that no geometry was given for.
    pub norm: Norm,
    /// Steps at most.
    pub iterations: u64,
    /// A run may end before its steps are used up, where nothing is left to do. Not where their number is a part of the method.
    pub settles: bool,
    /// What `auto` means here, where the task knows better than the problem's structure says.
    pub tuned: Option<Tuned>,
}

/// A method with its parameters, and why it was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    /// A method of the catalogue.
    pub method: &'static str,
    /// Its parameters.
    pub arguments: Vec<(&'static str, f64)>,
    /// Why.
    pub reason: &'static str,
}

/// Steps of `auto` at most, where a step is short: as many as go with so many entries of x and Tx.
const ENTRIES: u64 = 500_000_000;
const MOST: u64 = 50_000;

impl Defaults {
    /// Those of a problem of one's own, which nobody watches where the method is left to `auto`. Where that is a splitting or FISTA, every
    /// step costs the same, next to nothing for a small problem: more are allowed there, up to 50 000. Elsewhere there are 5000.
    pub fn of<S: Real>(problem: &Problem<S>, settings: &Settings) -> Self {
        let plain = Self::default();
        let short = ["admm", "primal-dual", "reweighted", "dca", "fista", "fista-graduated"];
        if settings.method != "auto" || !short.contains(&choose(problem).method) {
            return plain;
        }
        let entries = (problem.layout().size() + problem.t().range().size()) as u64;
        Self { iterations: (ENTRIES / entries.max(1)).clamp(plain.iterations, MOST), ..plain }
    }
}

impl Default for Defaults {
    fn default() -> Self {
        Self { norm: Norm::L2, iterations: 5000, settles: true, tuned: None }
    }
}
