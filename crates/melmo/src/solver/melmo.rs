//! MELMO (Algorithm 1).

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::geometry::Geometry;
use crate::problem::Problem;
use crate::real::Real;
use crate::schedule::Schedule;
use crate::solver::iterate::{Iterate, Place};
use crate::solver::state::{self, finite};
use crate::solver::{Info, Method, Run, Standing};
use crate::space::{Host, Space};

/// x_{k+1} = x_k + γ_k·lmo(∇F_{β_k}(x_k)).
pub struct Melmo<X: Space> {
    iterate: Iterate<X>,
    schedule: Box<dyn Schedule>,
    length: Length,
    /// Length of the step from the current point.
    pending: f64,
}

/// How far a step goes along the oracle's direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// γ_k.
    Gamma,
    /// γ_k‖φ_k‖_*: a gradient step in ℓ2.
    GammaTimesDualNorm,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    pub(super) place: Place<S>,
    pending: f64,
}

impl<'p, S: Real> Melmo<Host<'p, S>> {
    /// Starts at x₀, which is copied. Refuses sizes that do not fit, a start that is not finite, β > 1/(2ρ).
    pub fn new(
        problem: &'p Problem<S>,
        geometry: Box<dyn Geometry<S>>,
        schedule: impl Schedule + 'static,
        x0: &[S],
    ) -> Result<Run<Self>, Error> {
        Self::on(Host::new(problem, geometry)?, schedule, x0)
    }
}

impl<X: Space> Melmo<X> {
    /// The same wherever x lives.
    pub fn on(space: X, schedule: impl Schedule + 'static, x0: &[X::Real]) -> Result<Run<Self>, Error> {
        Self::with_length(space, Box::new(schedule), Length::Gamma, x0)
    }

    pub(super) fn with_length(
        space: X,
        schedule: Box<dyn Schedule>,
        length: Length,
        x0: &[X::Real],
    ) -> Result<Run<Self>, Error> {
        if schedule.epochs() {
            return Err(Error::Unsupported("a schedule of epochs needs the solver `Epoch`".into()));
        }
        schedule.check()?;
        let iterate = Iterate::new(space, [schedule.at(1).beta, schedule.largest_beta()], x0)?;
        Ok(Run::new(Self { iterate, schedule, length, pending: 0.0 }))
    }
}

impl<X: Space> Method for Melmo<X> {
    type Space = X;

    fn step(&mut self, k: u64) -> Option<Info> {
        let step = self.schedule.at(k + 1);
        let point = match k {
            0 => self.iterate.evaluate(step.beta),              // φ₁ = ∇F_{β₁}(x₁)
            _ => self.iterate.advance(self.pending, step.beta), // x_{k+1} = x_k + γ_k·lmo(φ_k), and φ_{k+1} there
        };
        if point.is_finite() {
            self.pending = match self.length {
                Length::Gamma => step.gamma,
                Length::GammaTimesDualNorm => step.gamma * point.answer.dual_norm.lower,
            };
        }
        Some(point.info(k + 1, step.beta, step.gamma))
    }

    fn retreat(&mut self) {
        self.iterate.retreat();
    }

    fn standing(&mut self, _: u64) -> impl Standing<X> {
        &mut self.iterate
    }

    fn save(&mut self, _: u64) -> state::Memo<X::Real> {
        state::Memo::Melmo(Memo { place: self.iterate.save(), pending: self.pending })
    }

    fn restore(&mut self, _: u64, memo: &state::Memo<X::Real>) -> Result<(), Error> {
        let state::Memo::Melmo(Memo { place, pending }) = memo else { return memo.is_none_of("melmo") };
        finite([*pending])?;
        self.iterate.restore(place)?;
        self.pending = *pending;
        Ok(())
    }
}
