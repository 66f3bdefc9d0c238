//! Where both methods stand: x = (W, H), the point before it, and ∇ there.

use crate::error::Error;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::factors::Factors;
use crate::space::Host;

/// W is held by `factors` between sweeps.
pub(super) struct Place<'p, S> {
    pub host: Host<'p, S>,
    pub factors: Factors<'p, S>,
    pub x: Vec<S>,
    /// The point before x.
    pub previous: Vec<S>,
    /// ∇F_β(x), or ∇f(x) where nothing is smoothed.
    pub phi: Vec<S>,
    /// β of the last evaluation; 0 before the first.
    pub beta: f64,
    /// ∇f(x) + T*w, where it is asked for.
    pub sum: Vec<S>,
}

impl<'p, S: Real> Place<'p, S> {
    pub(super) fn new(problem: &'p Problem<S>, x0: &[S]) -> Result<Self, Error> {
        let zeros = || vec![S::ZERO; x0.len()];
        Ok(Self {
            factors: Factors::new(problem)?,
            host: Host::euclidean(problem)?,
            x: x0.to_vec(),
            previous: x0.to_vec(),
            phi: zeros(),
            beta: 0.0,
            sum: zeros(),
        })
    }

    /// Stands at x alone: there is no point before it.
    pub(super) fn put(&mut self, x: &[S]) {
        self.x.copy_from_slice(x);
        self.previous.copy_from_slice(x);
    }

    /// Holds the W of x.
    pub(super) fn hold_w(&mut self) {
        self.factors.look_at_w(&self.x[..self.factors.split()]);
    }

    /// `phi` ← ∇f(x), where W is held; H is looked at.
    pub(super) fn gradient(&mut self) {
        let Self { factors, x, phi, .. } = self;
        let (w, h) = x.split_at(factors.split());
        let (phi_w, phi_h) = phi.split_at_mut(w.len());
        factors.look_at_h(h);
        factors.gradient_w(phi_w, w, false);
        factors.gradient_h(phi_h, h);
    }

    /// f(x).
    pub(super) fn loss(&mut self) -> f64 {
        let (w, h) = self.x.split_at(self.factors.split());
        if let Some(value) = self.factors.value(w, h) {
            return value;
        }
        let (problem, work) = self.host.parts();
        problem.f().value_grad(&mut self.sum, &self.x, work)
    }

    /// F(x).
    pub(super) fn objective(&mut self) -> f64 {
        let loss = self.loss();
        let (problem, work) = self.host.parts();
        loss + problem.penalty(&self.x, work)
    }
}
