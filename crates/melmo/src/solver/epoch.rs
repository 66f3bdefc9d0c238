//! Epoch-wise MELMO (Algorithm 2).

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::geometry::Geometry;
use crate::problem::Problem;
use crate::real::Real;
use crate::schedule::{Restart, Schedule};
use crate::solver::iterate::{Iterate, Place};
use crate::solver::state::{self, finite, fits};
use crate::solver::{Info, Method, Run, Standing};
use crate::space::{self, Host, Space};

/// Epochs l = 0, 1, …; inside, k = 2^l … 2^{l+1} − 1: the step of [`Melmo`](crate::solver::Melmo) to x_{k+1}, which is then
/// judged; a point whose ‖∇F(x_{k+1})‖_* is the epoch's least so far is a candidate for a certificate.
pub struct Epoch<X: Space> {
    iterate: Iterate<X>,
    schedule: Box<dyn Schedule>,
    /// S_l: the least dual norm of the current epoch.
    least: f64,
    /// What epochs restart from, and its F (unused without restarts).
    anchor: X::Point,
    anchor_objective: f64,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    pub(super) place: Place<S>,
    least: f64,
    pub(super) anchor: Vec<S>,
    anchor_objective: f64,
}

impl<'p, S: Real> Epoch<Host<'p, S>> {
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

impl<X: Space> Epoch<X> {
    /// The same wherever x lives.
    pub fn on(mut space: X, schedule: impl Schedule + 'static, x0: &[X::Real]) -> Result<Run<Self>, Error> {
        if !schedule.epochs() {
            let message = "this schedule has no epochs: use the solver `Melmo`, or an epoch schedule";
            return Err(Error::Unsupported(message.into()));
        }
        schedule.check()?;
        let anchor = space::start(&mut space, x0)?;
        let iterate = Iterate::new(space, [schedule.at(1).beta, schedule.largest_beta()], x0)?;
        let schedule = Box::new(schedule);
        Ok(Run::new(Self { iterate, schedule, least: f64::MAX, anchor, anchor_objective: f64::MAX }))
    }

    /// S_l ← ∞ and x ← the restart point; evaluates ∇F_{β_k}(x_k) unless the last evaluation was just that.
    fn begin_epoch(&mut self, k: u64, beta: f64) -> Option<Info> {
        self.least = f64::MAX;
        let moved = k > 1 && self.schedule.restart() != Restart::None;
        if moved {
            let anchor = &self.anchor;
            self.iterate.replace(|space, x, _| space.copy(x, anchor));
        }
        if moved || beta != self.iterate.beta {
            let point = self.iterate.evaluate(beta);
            if !point.is_finite() {
                return Some(point.info(k, beta, 0.0));
            }
        }
        if k == 1 {
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
            self.iterate.space.copy(&mut self.anchor, &self.iterate.x);
        }
        Some(objective)
    }
}

impl<X: Space> Method for Epoch<X> {
    type Space = X;

    const STEPS_FIRST: bool = true;

    fn step(&mut self, k: u64) -> Option<Info> {
        let k = k.max(1); // the start is x₁
        let step = self.schedule.at(k);
        if k.is_power_of_two()
            && let Some(failed) = self.begin_epoch(k, step.beta)
        {
            return Some(failed);
        }
        let beta = self.schedule.beta_after(k);
        let point = self.iterate.advance(step.gamma, beta); // x_{k+1} = x_k + γ_k·lmo(φ_k), ‖∇F_{k+1}(x_{k+1})‖_*
        let mut info = Info { epoch: Some(k.ilog2()), ..point.info(k + 1, beta, step.gamma) };
        if info.finite {
            info.candidate = info.dual_norm.upper <= self.least;
            self.least = self.least.min(info.dual_norm.upper); // S_l
            info.objective = self.remember_best();
        } else if k == 1 {
            self.iterate.retreat(); // nothing was shown yet, but the start is finite
        }
        Some(info)
    }

    fn retreat(&mut self) {
        self.iterate.retreat();
    }

    fn standing(&mut self, _: u64) -> impl Standing<X> {
        &mut self.iterate
    }

    fn start_measure(&self) -> Option<[f64; 2]> {
        self.iterate.start_measure
    }

    fn save(&mut self, _: u64) -> state::Memo<X::Real> {
        let Self { iterate, least, anchor, anchor_objective, .. } = self;
        let place = iterate.save();
        let mut saved = vec![X::Real::ZERO; iterate.space.size()];
        iterate.space.read(anchor, 0, &mut saved);
        let (least, anchor_objective) = (*least, *anchor_objective);
        state::Memo::Epoch(Memo { place, least, anchor: saved, anchor_objective })
    }

    fn restore(&mut self, _: u64, memo: &state::Memo<X::Real>) -> Result<(), Error> {
        let state::Memo::Epoch(Memo { place, least, anchor, anchor_objective }) = memo else {
            return memo.is_none_of("epoch");
        };
        finite([*least, *anchor_objective])?;
        fits(anchor, self.iterate.space.size())?;
        self.iterate.restore(place)?;
        (self.least, self.anchor_objective) = (*least, *anchor_objective);
        self.iterate.space.write(&mut self.anchor, 0, anchor);
        Ok(())
    }
}
