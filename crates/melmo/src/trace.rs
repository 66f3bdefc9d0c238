//! The rows of a run, as data.

use serde::{Deserialize, Serialize};

use crate::geometry::Bracket;
use crate::patience;
use crate::real::Real;
use crate::solver::{Info, Solver};

/// One recorded point of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The epoch that evaluated the point, for solvers that run in epochs.
    pub epoch: Option<u32>,
    /// Which point: x_k.
    pub k: u64,
    /// F(x).
    pub objective: f64,
    /// F_β(x).
    pub smoothed: f64,
    /// ‖∇F_β(x)‖_* to rounding, when exact dual norms were asked for.
    pub dual_norm: Option<f64>,
    /// What the oracle knew about ‖∇F_β(x)‖_*.
    pub bracket: Bracket,
    /// η and ξ of the oracle's direction: ⟨φ, d⟩ ≤ −(1 − η)‖φ‖_*, ‖d‖ ≤ 1 + ξ.
    pub eta: f64,
    /// See `eta`.
    pub excess: f64,
    /// ‖Tx − z‖₂.
    pub prox_gap: f64,
    /// β.
    pub beta: f64,
    /// γ.
    pub gamma: f64,
    /// Seconds since the run began.
    pub seconds: f64,
}

impl Row {
    /// The row of the solver's current point, whose info this is; `exact` asks for the exact dual norm. `None` where it takes
    /// longer than there is time ([`crate::patience`]).
    pub fn at<S: Real>(info: &Info, solver: &mut dyn Solver<S>, exact: bool, seconds: f64) -> Option<Self> {
        let row = Self {
            epoch: info.epoch,
            k: info.k,
            objective: info.objective.unwrap_or_else(|| solver.objective()),
            smoothed: solver.smoothed(),
            dual_norm: exact.then(|| solver.exact_dual_norm()),
            bracket: info.dual_norm,
            eta: info.eta,
            excess: info.excess,
            prox_gap: info.prox_gap,
            beta: info.beta,
            gamma: info.gamma,
            seconds,
        };
        let whole = ![row.objective, row.smoothed, row.dual_norm.unwrap_or(0.0)].iter().any(|number| number.is_nan());
        (whole || !patience::is_over()).then_some(row)
    }

    /// The exact dual norm, or the oracle's upper bound; ∞ where a method has not looked yet.
    pub fn dual_norm_known(&self) -> f64 {
        let upper = self.dual_norm.unwrap_or(self.bracket.upper);
        if upper < f64::MAX { upper } else { f64::INFINITY }
    }
}

/// Which points are recorded, and how exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Which points.
    pub points: Points,
    /// Compute the exact dual norm of recorded points (a decomposition for spectral norms).
    pub exact_dual_norms: bool,
    /// Rows to make room for at the start, so that recording allocates nothing.
    pub capacity: usize,
}

/// Which points of a run are rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Points {
    /// Every so many, the first and the last before the limit of steps. A row describes a point before its step, or one that an epoch
    /// has judged: the point after the last step is none.
    Every(u64),
    /// So many to each doubling of k, and the point after the last step.
    PerDoubling(u32),
}

impl Record {
    /// Every `every`-th point with exact dual norms, with room for `capacity` rows.
    pub fn every(every: u64, capacity: usize) -> Self {
        Self { points: Points::Every(every.max(1)), exact_dual_norms: true, capacity }
    }

    /// Whether a point is one to keep, after a row at `last`, in a run of at most so many steps.
    pub(crate) fn wants(&self, info: &Info, last: Option<u64>, iterations: u64) -> bool {
        let Some(last) = last.filter(|_| self.knows(info, iterations)) else { return self.knows(info, iterations) };
        match self.points {
            Points::Every(every) => (info.k - 1).is_multiple_of(every) || info.epoch.is_none() && info.k == iterations,
            Points::PerDoubling(points) => {
                let next = (last as f64 * (1.0 / f64::from(points)).exp2()).round() as u64;
                info.k >= next.max(last + 1) || info.k > iterations
            }
        }
    }

    /// Whether a point can be a row at all.
    pub(crate) fn knows(&self, info: &Info, iterations: u64) -> bool {
        info.k <= iterations || info.epoch.is_some() || matches!(self.points, Points::PerDoubling(_))
    }
}
