//! The rows of a run, as data.

use serde::{Deserialize, Serialize};

use crate::geometry::Bracket;
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
    /// η and ν of the oracle's direction: ⟨φ, d⟩ ≤ −(1 − η)‖φ‖_*, ‖d‖ ≤ 1 + ν.
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
    /// The row of the solver's current point, whose info this is; `exact` asks for the exact dual norm.
    pub fn at<S: Real>(info: &Info, solver: &mut dyn Solver<S>, exact: bool, seconds: f64) -> Self {
        Self {
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
        }
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
    /// Every how many points; the first and the last row of a run are always kept.
    pub every: u64,
    /// Compute the exact dual norm of recorded points (a decomposition for spectral norms).
    pub exact_dual_norms: bool,
    /// Rows to make room for at the start, so that recording allocates nothing.
    pub capacity: usize,
}

impl Record {
    /// Every `every`-th point with exact dual norms, with room for `capacity` rows.
    pub fn every(every: u64, capacity: usize) -> Self {
        Self { every: every.max(1), exact_dual_norms: true, capacity }
    }

    /// Whether x_k is one of the points to keep.
    pub(crate) fn wants(&self, k: u64) -> bool {
        (k.saturating_sub(1)).is_multiple_of(self.every)
    }
}
