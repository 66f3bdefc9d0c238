//! Room for looks at points of a problem on this machine.

use crate::certificate::bound::{self, At};
use crate::certificate::look::{Look, is_identity};
use crate::certificate::rounding::Allowance;
use crate::certificate::{Evidence, Seen, Shown, Stationarity, Witness};
use crate::geometry::{BlockNorm, Bracket, product_dual};
use crate::guarantee::Facts;
use crate::problem::Problem;
use crate::real::Real;
use crate::vector;

/// A problem, what the last look found, and u.
pub struct Room<'p, S> {
    problem: &'p Problem<S>,
    facts: Facts,
    pub(super) look: Look<S>,
    /// What was shown last.
    u: Vec<S>,
    /// x of a look for which nothing was shown, where it is u and no image of it is kept: T is the identity.
    at: Vec<S>,
    /// Whether the last look was at what had been shown.
    stored: bool,
}

impl<'p, S: Real> Room<'p, S> {
    pub(crate) fn new(problem: &'p Problem<S>) -> Self {
        let m = problem.t().range().size();
        let at = vec![S::ZERO; if is_identity(problem) { m } else { 0 }];
        Self { problem, facts: problem.facts(), look: Look::new(problem), u: vec![S::ZERO; m], at, stored: true }
    }

    /// Takes up what a certificate stores.
    pub fn take_up(&mut self, evidence: Evidence<'_, S>) -> Shown {
        if let Some(u) = evidence.u {
            self.u.clear();
            self.u.extend_from_slice(u);
        }
        Shown { beta: evidence.beta, stored: evidence.u.is_some() }
    }

    /// u ← z + βw for w = scaled/step ∈ ∂g(z).
    pub(crate) fn show(&mut self, z: &[S], scaled: &[S], step: f64) -> Shown {
        self.u.resize(z.len(), S::ZERO);
        let beta = Evidence::of_pair(self.problem, &mut self.u, z, scaled, step).beta;
        Shown { beta, stored: true }
    }

    /// The z and the w of the last look; v is used up where T is the identity.
    pub(super) fn pair(&mut self) -> [&[S]; 2] {
        let Self { look, u, at, stored, .. } = self;
        look.pair(if *stored { u } else { at })
    }
}

impl<S: Real> Witness for Room<'_, S> {
    type Real = S;
    type Point = [S];

    fn facts(&self) -> Facts {
        self.facts
    }

    fn look(&mut self, x: &[S], shown: Shown) -> Seen {
        self.stored = shown.stored;
        if !shown.stored && is_identity(self.problem) {
            self.at.clear();
            self.at.extend_from_slice(x);
        }
        let evidence = Evidence { u: shown.stored.then_some(&self.u[..]), beta: shown.beta };
        self.look.take(self.problem, x, evidence)
    }

    fn strengthen(&mut self) -> Shown {
        if !self.stored && is_identity(self.problem) {
            std::mem::swap(&mut self.u, &mut self.at);
        }
        let mut u = std::mem::take(&mut self.u);
        u.resize(self.look.z.len(), S::ZERO);
        let [z, w] = self.look.pair(&u);
        let beta = Shown::of_pair([vector::norm_inf(z), vector::norm_inf(w)], self.problem.beta_limit()).beta;
        for ((u, &z), &w) in u.iter_mut().zip(z).zip(w) {
            *u = S::of(z.f64() + beta * w.f64());
        }
        self.u = u;
        Shown { beta, stored: true }
    }

    fn residual(&mut self, norms: &[BlockNorm]) -> Option<Bracket> {
        product_dual(norms, &self.look.v)
    }

    fn lower_bound(&mut self, x: &[S], seen: &Seen, allowance: &Allowance, radius: Option<f64>) -> Result<f64, String> {
        bound::lower_bound(&At { problem: self.problem, x, v: &self.look.v, seen, allowance }, radius)
    }

    fn near(&mut self, x: &[S]) -> Option<Stationarity<S>> {
        self.look.near(self.problem, x, if self.stored { &self.u } else { &self.at })
    }

    fn image(&mut self, x: &[S], to: &mut Vec<S>) {
        to.resize(self.problem.t().range().size(), S::ZERO);
        self.problem.t().apply(to, x, &mut self.look.work);
    }

    fn u(&mut self, to: &mut Vec<S>) {
        to.clear();
        to.extend_from_slice(&self.u);
    }

    fn z(&mut self, to: &mut Vec<S>) {
        to.clear();
        to.extend_from_slice(&self.look.z);
    }

    fn give_u(&mut self) -> Vec<S> {
        std::mem::take(&mut self.u)
    }

    fn give_z(&mut self) -> Vec<S> {
        std::mem::take(&mut self.look.z)
    }
}
