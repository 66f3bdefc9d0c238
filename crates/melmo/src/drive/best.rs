//! The point of least F of a run.

use std::ops::ControlFlow;

use crate::drive::Observer;
use crate::real::Real;
use crate::solver::{Info, Solver};

/// Keeps the point of least F among those it is shown, with what the solver can show there. An observer of every point; F is
/// computed for each.
#[derive(Clone, Debug, PartialEq)]
pub struct Best<S> {
    /// Which point it is.
    pub k: u64,
    /// F there; ∞ before any point was seen.
    pub objective: f64,
    /// The point.
    pub x: Vec<S>,
    /// The dual side of a certificate there: u, where it is not Tx.
    pub u: Option<Vec<S>>,
    /// β.
    pub beta: f64,
}

impl<S: Real> Best<S> {
    /// Where the solver stands. A solver that steps first never shows where it began: that is a candidate too.
    pub fn new(solver: &mut dyn Solver<S>) -> Self {
        let objective = if solver.steps_first() { solver.look(false).objective() } else { f64::INFINITY };
        Self { k: 1, objective, x: solver.x(), u: None, beta: f64::NAN }
    }

    /// Takes the solver's point where F is lower there.
    pub fn consider(&mut self, info: &Info, objective: f64, solver: &mut dyn Solver<S>) {
        if objective >= self.objective || objective.is_nan() {
            return;
        }
        (self.k, self.objective) = (info.k, objective);
        solver.read(&mut self.x);
        let mut u = self.u.take().unwrap_or_default();
        let evidence = solver.evidence(&mut u);
        let (stored, beta) = (evidence.u.is_some(), evidence.beta);
        (self.u, self.beta) = (stored.then_some(u), beta);
    }
}

impl<S: Real> Observer<S> for Best<S> {
    fn observe(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> ControlFlow<()> {
        let objective = info.objective.unwrap_or_else(|| solver.objective());
        self.consider(info, objective, solver);
        ControlFlow::Continue(())
    }
}
