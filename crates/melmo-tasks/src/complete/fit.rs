//! The two models of what offsets leave: factors with a ridge, and a matrix whose singular values are penalised.

use melmo::block::Layout;
use melmo::catalogue::Lift;
use melmo::linalg::{Into, Mat};
use melmo::operator::{Identity, LinOp, Select};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::{Factorization, MaskedLeastSquares, Smooth};

use crate::choice::PenaltyChoice;
use crate::complete::alternate::{Alternating, Pair};
use crate::complete::entries::Entries;
use crate::complete::offsets::Offsets;
use crate::error::Error;
use crate::number;
use crate::prepared::{Defaults, Prepared, Tuned};
use crate::settings::Settings;
use crate::solve::{Watch, solve};
use crate::until::Until;

/// The penalty of singular values that is tried unless another is asked for.
pub const PENALTY: &str = "mcp:mu=3";

/// A completion with nothing left open.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// κ of the offsets; `None` without offsets.
    pub offset_weight: Option<f64>,
    /// What is fitted to the rest.
    pub model: Model,
}

/// What is fitted to R, the entries without their offsets.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// ½‖M⊙(R − WH)‖² + ν/2·(‖W‖² + ‖H‖²).
    Factors {
        /// Columns of W.
        rank: usize,
        /// ν.
        ridge: f64,
    },
    /// ½‖M⊙(R − X)‖² + Σ φ(σᵢ(X)).
    SingularValues(PenaltyChoice),
}

/// Steps that only lower F, from a start that is nearly stationary: smoothing would leave it first.
const TUNED: Tuned = Tuned {
    method: "palm",
    arguments: Vec::new(),
    reason: "proximal steps in W and H by turns, from where alternating least squares ended",
};

/// Sweeps of a trial.
pub(super) const SWEEPS: usize = 12;
/// A trial ends when a sweep gains less than this share.
pub(super) const TOLERANCE: f64 = 1e-3;
/// Sweeps towards the start: from there a certificate is a few steps away.
const START_SWEEPS: usize = 300;
/// Steps of a trial with singular values.
const TRIAL_STEPS: u64 = 40;

impl Plan {
    /// The offsets of these entries.
    pub fn offsets(&self, entries: &Entries) -> Offsets {
        self.offset_weight
            .map_or_else(|| Offsets::none(entries), |weight| Offsets::fit(entries, weight, &Until::done()))
    }

    /// The problem for entries without their offsets. It starts where larger weights, each from the last, lead to.
    ///
    /// What is over before that start is found begins from where it got to.
    pub fn prepare<S: Real>(&self, rest: &Entries, seed: u64, until: &Until) -> Result<Prepared<S>, Error> {
        match &self.model {
            Model::Factors { rank, ridge } => factors(rest, *rank, *ridge, seed, until),
            Model::SingularValues(penalty) => singular_values(rest, penalty, seed, until),
        }
    }

    /// The matrix that a point of the problem stands for, z = prox(Tx): offsets, and WH or X.
    pub fn matrix<S: Real>(&self, offsets: &Offsets, x: &[S], z: &[S]) -> Vec<f64> {
        let (rows, cols) = (offsets.row.len(), offsets.column.len());
        let mut product = vec![S::ZERO; rows * cols];
        match self.model {
            Model::Factors { rank, .. } => {
                let (w, h) = (Mat::new(z, rows, rank), Mat::new(&x[rows * rank..], rank, cols));
                S::gemm(&mut product, Into::Replace, S::ONE, w, h);
            }
            Model::SingularValues(_) => product.copy_from_slice(z),
        }
        product.iter().enumerate().map(|(at, rest)| offsets.at(at / cols, at % cols) + rest.f64()).collect()
    }
}

/// The size of a factor's entries when WH has the norm `norm` and about the shape of the entries.
pub(super) fn size(norm: f64, entries: &Entries) -> f64 {
    (norm / ((entries.rows * entries.cols) as f64).sqrt()).sqrt()
}

/// Weights downwards from ¾ of `norm`, where hardly anything is left of X; to `end`, which comes last, where it is given.
///
/// Each is a start for the next. Begun at a small weight a weakly convex penalty leaves what is missing at 0: X = M⊙R has
/// singular values so large that it does not see them, and fits.
pub(super) fn path(norm: f64, end: Option<f64>) -> Vec<f64> {
    const RATIO: f64 = 0.7;
    const STEPS: i32 = 40;
    let all = (0..STEPS).map(|k| number::tidy(0.75 * norm * RATIO.powi(k)));
    let before = all.filter(|weight| end.is_none_or(|end| *weight > end));
    before.chain(end).collect()
}

fn convert<S: Real>(values: &[f64]) -> Vec<S> {
    values.iter().map(|&value| S::of(value)).collect()
}

fn factors<S: Real>(rest: &Entries, rank: usize, ridge: f64, seed: u64, until: &Until) -> Result<Prepared<S>, Error> {
    let alternating = Alternating::new(rest);
    let norm = alternating.norm(seed).max(f64::MIN_POSITIVE.sqrt());
    // From the norm on, which is found from below, W = H = 0 is the minimiser.
    let size = if ridge > 1.05 * norm { 0.0 } else { size(norm, rest) };
    let mut pair = Pair::random(rest, rank, size, seed);
    for larger in path(norm, Some(ridge)) {
        pair.stir(0.05 * size, seed);
        alternating.lower(&mut pair, larger, SWEEPS, TOLERANCE, until);
    }
    alternating.lower(&mut pair, ridge, START_SWEEPS, 1e-8, until);
    let (y, mask) = rest.dense();
    let f = Factorization::<S>::masked(convert(&y), convert(&mask), rest.rows, rest.cols, rank)?;
    let f = f.coefficient(0.5)?.ridge(ridge)?;
    let t = Select::new(f.layout(), &["W"])?;
    let penalty = PenaltyChoice::new("ridge", &[("nu", ridge)])?;
    let g = penalty.build(&Lift::Entries, LinOp::<S>::range(&t))?;
    let problem = Problem::from_boxes(Box::new(f), g, Box::new(t))?;
    let defaults = Defaults { iterations: 50, tuned: Some(TUNED), ..Defaults::default() };
    Ok(Prepared { problem, start: [convert(&pair.w), convert(&pair.h())].concat(), defaults, optimum: None })
}

fn penalised<S: Real>(rest: &Entries, penalty: &PenaltyChoice, start: Vec<S>) -> Result<Prepared<S>, Error> {
    let layout = Layout::matrix(rest.rows, rest.cols)?;
    let (y, mask) = rest.dense();
    let f = MaskedLeastSquares::<S>::new(layout.clone(), convert(&y), Some(convert(&mask)))?;
    let g = penalty.build(&Lift::SingularValues, &layout)?;
    let problem = Problem::from_boxes(Box::new(f), g, Box::new(Identity::new(layout)))?;
    let defaults = Defaults { iterations: 500, ..Defaults::default() };
    Ok(Prepared { problem, start, defaults, optimum: None })
}

fn singular_values<S: Real>(
    rest: &Entries,
    penalty: &PenaltyChoice,
    seed: u64,
    until: &Until,
) -> Result<Prepared<S>, Error> {
    let mut start = vec![S::ZERO; rest.rows * rest.cols];
    if let Some(lambda) = penalty.get("lambda") {
        let norm = Alternating::new(rest).norm(seed).max(f64::MIN_POSITIVE.sqrt());
        for larger in path(norm, Some(lambda)).into_iter().filter(|larger| *larger != lambda) {
            if until.is_over("a start from larger weights") {
                break;
            }
            let run = short_run(rest, &penalty.clone().with("lambda", larger), start, until)?;
            start = run.x;
            if run.cut_short {
                break; // what time is left is the solver's own
            }
        }
    }
    penalised(rest, penalty, start)
}

/// Where some steps led.
pub(super) struct Short<S> {
    pub x: Vec<S>,
    /// prox(x).
    pub z: Vec<S>,
    /// There was no time for all of them.
    pub cut_short: bool,
}

/// Some steps from `start`.
pub(super) fn short_run<S: Real>(
    rest: &Entries,
    penalty: &PenaltyChoice,
    start: Vec<S>,
    until: &Until,
) -> Result<Short<S>, Error> {
    let prepared = penalised(rest, penalty, start)?;
    let settings = Settings { iterations: Some(TRIAL_STEPS), time_limit: until.left(), ..Settings::default() };
    let mut enough = until.watcher("trial steps");
    let watch = Watch { watcher: Some(&mut enough), ..Watch::default() };
    let report = until.run("trial steps", || solve(&prepared, &settings, watch))?.report;
    Ok(Short { cut_short: report.had_to_end(), x: report.x, z: report.z })
}
