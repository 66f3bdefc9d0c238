//! Room for looks at points of a problem on this machine.

use crate::certificate::bound::{self, At};
use crate::certificate::look::Look;
use crate::certificate::rounding::Allowance;
use crate::certificate::{Evidence, Seen, Shown, Stationarity, Witness};
use crate::geometry::{BlockNorm, Bracket, product_dual};
use crate::guarantee::Facts;
use crate::problem::Problem;
use crate::real::Real;

/// A problem, what the last look found, and u.
pub struct Room<'p, S> {
    problem: &'p Problem<S>,
    facts: Facts,
    pub(super) look: Look<S>,
    u: Vec<S>,
}

impl<'p, S: Real> Room<'p, S> {
    pub(crate) fn new(problem: &'p Problem<S>) -> Self {
        Self { problem, facts: problem.facts(), look: Look::new(problem), u: vec![S::ZERO; problem.t().range().size()] }
    }

    /// Takes up what a certificate stores.
    pub fn take_up(&mut self, evidence: Evidence<'_, S>) -> Shown {
        if let Some(u) = evidence.u {
            self.u.copy_from_slice(u);
        }
        Shown { beta: evidence.beta, stored: evidence.u.is_some() }
    }

    /// u ← z + βw for w = scaled/step ∈ ∂g(z).
    pub(crate) fn show(&mut self, z: &[S], scaled: &[S], step: f64) -> Shown {
        let beta = Evidence::of_pair(self.problem, &mut self.u, z, scaled, step).beta;
        Shown { beta, stored: true }
    }
}

impl<S: Real> Witness for Room<'_, S> {
    type Real = S;
    type Point = [S];

    fn facts(&self) -> Facts {
        self.facts
    }

    fn look(&mut self, x: &[S], shown: Shown) -> Seen {
        let evidence = Evidence { u: shown.stored.then_some(&self.u[..]), beta: shown.beta };
        self.look.take(self.problem, x, evidence)
    }

    fn strengthen(&mut self) -> Shown {
        let Self { problem, look, u, .. } = self;
        let beta = Evidence::of_pair(problem, u, &look.z, &look.w, 1.0).beta;
        Shown { beta, stored: true }
    }

    fn residual(&mut self, norms: &[BlockNorm]) -> Option<Bracket> {
        product_dual(norms, &self.look.v)
    }

    fn lower_bound(&mut self, x: &[S], seen: &Seen, allowance: &Allowance, radius: Option<f64>) -> Result<f64, String> {
        bound::lower_bound(&At { problem: self.problem, x, v: &self.look.v, seen, allowance }, radius)
    }

    fn near(&mut self, x: &[S]) -> Option<Stationarity<S>> {
        self.look.near(self.problem, x)
    }

    fn image(&mut self, x: &[S], to: &mut Vec<S>) {
        let Look { z, work, .. } = &mut self.look;
        self.problem.t().apply(z, x, work);
        self.z(to);
    }

    fn u(&mut self, to: &mut Vec<S>) {
        to.clear();
        to.extend_from_slice(&self.u);
    }

    fn z(&mut self, to: &mut Vec<S>) {
        to.clear();
        to.extend_from_slice(&self.look.z);
    }
}
