//! Epoch-wise MELMO (Algorithm 2).

use crate::certificate::Evidence;
use crate::error::Error;
use crate::geometry::{BlockNorm, Geometry};
use crate::problem::Problem;
use crate::real::Real;
use crate::schedule::{Restart, Schedule};
use crate::solver::iterate::{Iterate, forward_to_iterate};
use crate::solver::{Info, Solver, State};

/// Epochs l = 0, 1, …; inside, k = 2^l … 2^{l+1} − 1: the step of [`Melmo`](crate::solver::Melmo) to x_{k+1}, which is then
/// judged; a point whose ‖∇F(x_{k+1})‖_* is the epoch's least so far is a candidate for a certificate.
pub struct Epoch<'p, S> {
    iterate: Iterate<'p, S>,
    schedule: Box<dyn Schedule>,
    /// The next step to take, from x_k to x_{k+1}.
    k: u64,
    /// S_l: the least dual norm of the current epoch.
    least: f64,
    /// What epochs restart from, and its F (unused without restarts).
    anchor: Vec<S>,
    anchor_objective: f64,
    ended: bool,
}

impl<'p, S: Real> Epoch<'p, S> {
    /// Starts at x₀, which is copied. Refuses sizes that do not fit, a start that is not finite, β > 1/(2ρ).
    pub fn new(
        problem: &'p Problem<S>,
        geometry: Box<dyn Geometry<S>>,
        schedule: impl Schedule + 'static,
        x0: &[S],
    ) -> Result<Self, Error> {
        if !schedule.epochs() {
            let message = "this schedule has no epochs: use the solver `Melmo`, or an epoch schedule";
            return Err(Error::Unsupported(message.into()));
        }
        schedule.check()?;
        let iterate = Iterate::new(problem, geometry, schedule.largest_beta(), x0)?;
        let anchor = x0.to_vec();
        let schedule = Box::new(schedule);
        Ok(Self { iterate, schedule, k: 1, least: f64::MAX, anchor, anchor_objective: f64::MAX, ended: false })
    }

    fn first_beta(&self) -> f64 {
        self.schedule.at(1).beta
    }

    fn step(&mut self) -> Info {
        let (k, epoch) = (self.k, self.k.ilog2());
        let step = self.schedule.at(k);
        if k.is_power_of_two()
            && let Some(failed) = self.begin_epoch(step.beta)
        {
            return failed;
        }
        let last_beta = self.iterate.beta;
        self.iterate.advance(step.gamma); // x_{k+1} = x_k + γ_k·lmo(φ_k)
        let beta = self.schedule.beta_after(k);
        let point = self.iterate.evaluate(beta); // ‖∇F_{k+1}(x_{k+1})‖_*
        self.k = k + 1;
        let mut info = Info { epoch: Some(epoch), ..point.info(k + 1, beta, step.gamma) };
        if !point.is_finite() {
            self.ended = true;
            self.iterate.retreat(last_beta);
            return info;
        }
        info.candidate = info.dual_norm.upper <= self.least;
        self.least = self.least.min(info.dual_norm.upper); // S_l
        info.objective = self.remember_best();
        info
    }

    /// S_l ← ∞ and x ← the restart point; evaluates ∇F_{β_k}(x_k) unless the last evaluation was just that.
    fn begin_epoch(&mut self, beta: f64) -> Option<Info> {
        self.least = f64::MAX;
        let moved = self.k > 1 && self.schedule.restart() != Restart::None;
        if moved {
            self.iterate.x.copy_from_slice(&self.anchor);
        }
        if moved || beta != self.iterate.beta {
            let point = self.iterate.evaluate(beta);
            if !point.is_finite() {
                self.ended = true;
                return Some(point.info(self.k, beta, 0.0));
            }
        }
        if self.k == 1 {
            self.remember_best();
        }
        None
    }

    /// Keeps the point of least F when epochs restart from it; returns F(x) then.
    fn remember_best(&mut self) -> Option<f64> {
        if self.schedule.restart() != Restart::Best {
            return None;
        }
        let objective = self.iterate.objective();
        if objective < self.anchor_objective {
            self.anchor_objective = objective;
            self.anchor.copy_from_slice(&self.iterate.x);
        }
        Some(objective)
    }
}

impl<S: Real> Iterator for Epoch<'_, S> {
    type Item = Info;

    fn next(&mut self) -> Option<Info> {
        if self.ended { None } else { Some(self.step()) }
    }
}

impl<S: Real> Solver<S> for Epoch<'_, S> {
    forward_to_iterate!();

    fn steps_first(&self) -> bool {
        true
    }

    fn save(&self) -> State<S> {
        State {
            solver: "epoch".into(),
            k: self.k,
            numbers: [&[self.least, self.anchor_objective][..], &self.iterate.numbers()].concat(),
            vectors: vec![self.iterate.x.clone(), self.anchor.clone()],
            warm_start: self.iterate.warm_start(),
        }
    }

    fn restore(&mut self, state: &State<S>) -> Result<(), Error> {
        let [least, anchor_objective, beta, dual_norm, prox_gap] = state.check("epoch", 2, self.anchor.len())?;
        self.iterate.restore(&state.vectors[0], [beta, dual_norm, prox_gap], &state.warm_start)?;
        (self.k, self.ended) = (state.k.max(1), false);
        (self.least, self.anchor_objective) = (least, anchor_objective);
        self.anchor.copy_from_slice(&state.vectors[1]);
        Ok(())
    }
}
