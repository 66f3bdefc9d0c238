//! MELMO (Algorithm 1).

use crate::certificate::Evidence;
use crate::error::Error;
use crate::geometry::{BlockNorm, Geometry};
use crate::problem::Problem;
use crate::real::Real;
use crate::schedule::Schedule;
use crate::solver::iterate::{Iterate, forward_to_iterate};
use crate::solver::{Info, Solver, State};

/// x_{k+1} = x_k + γ_k·lmo(∇F_{β_k}(x_k)).
pub struct Melmo<'p, S> {
    iterate: Iterate<'p, S>,
    schedule: Box<dyn Schedule>,
    length: Length,
    /// k of the current point; 0 before the first evaluation.
    k: u64,
    /// Length of the step from the current point.
    pending: f64,
    ended: bool,
}

/// How far a step goes along the oracle's direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// γ_k.
    Gamma,
    /// γ_k‖φ_k‖_*: a gradient step in ℓ2.
    GammaTimesDualNorm,
}

impl<'p, S: Real> Melmo<'p, S> {
    /// Starts at x₀, which is copied. Refuses sizes that do not fit, a start that is not finite, β > 1/(2ρ).
    pub fn new(
        problem: &'p Problem<S>,
        geometry: Box<dyn Geometry<S>>,
        schedule: impl Schedule + 'static,
        x0: &[S],
    ) -> Result<Self, Error> {
        Self::with_length(problem, geometry, Box::new(schedule), Length::Gamma, x0)
    }

    pub(super) fn with_length(
        problem: &'p Problem<S>,
        geometry: Box<dyn Geometry<S>>,
        schedule: Box<dyn Schedule>,
        length: Length,
        x0: &[S],
    ) -> Result<Self, Error> {
        if schedule.epochs() {
            return Err(Error::Unsupported("a schedule of epochs needs the solver `Epoch`".into()));
        }
        schedule.check()?;
        let iterate = Iterate::new(problem, geometry, schedule.largest_beta(), x0)?;
        Ok(Self { iterate, schedule, length, k: 0, pending: 0.0, ended: false })
    }

    fn first_beta(&self) -> f64 {
        self.schedule.at(1).beta
    }

    fn step(&mut self) -> Info {
        if self.k > 0 {
            self.iterate.advance(self.pending); // x_{k+1} = x_k + γ_k·lmo(φ_k)
        }
        self.k += 1;
        let step = self.schedule.at(self.k);
        let last_beta = self.iterate.beta;
        let point = self.iterate.evaluate(step.beta); // φ_k = ∇F_{β_k}(x_k)
        let info = point.info(self.k, step.beta, step.gamma);
        if !point.is_finite() {
            self.ended = true;
            if last_beta > 0.0 {
                self.iterate.retreat(last_beta);
                self.k -= 1;
            }
            return info;
        }
        self.pending = match self.length {
            Length::Gamma => step.gamma,
            Length::GammaTimesDualNorm => step.gamma * point.answer.dual_norm.lower,
        };
        info
    }
}

impl<S: Real> Iterator for Melmo<'_, S> {
    type Item = Info;

    fn next(&mut self) -> Option<Info> {
        if self.ended { None } else { Some(self.step()) }
    }
}

impl<S: Real> Solver<S> for Melmo<'_, S> {
    forward_to_iterate!();

    fn save(&self) -> State<S> {
        State {
            solver: "melmo".into(),
            k: self.k,
            numbers: [&[self.pending][..], &self.iterate.numbers()].concat(),
            vectors: vec![self.iterate.x.clone()],
            warm_start: self.iterate.warm_start(),
        }
    }

    fn restore(&mut self, state: &State<S>) -> Result<(), Error> {
        let [pending, beta, dual_norm, prox_gap] = state.check("melmo", 1, self.iterate.x.len())?;
        self.iterate.restore(&state.vectors[0], [beta, dual_norm, prox_gap], &state.warm_start)?;
        (self.k, self.pending, self.ended) = (state.k, pending, false);
        Ok(())
    }
}
