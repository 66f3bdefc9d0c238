//! The two models of what offsets leave: factors with a ridge, and a matrix whose singular values are penalised.

use melmo::block::Layout;
use melmo::catalogue::Lift;
use melmo::known::Feedback;
use melmo::operator::{Identity, LinOp, Select};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::{KnownFactors, MaskedLeastSquares, Smooth};
use melmo::sparse::Csr;

use crate::choice::PenaltyChoice;
use crate::complete::alternate::{Alternating, Pair};
use crate::complete::completed::Completed;
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
    /// The weight of the offsets; `None` without offsets.
    pub offset_weight: Option<f64>,
    /// What is fitted to the rest.
    pub model: Model,
    /// What an entry says, to factors.
    pub feedback: Feedback,
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
    /// ½‖M⊙(R − X)‖² + Σ ψ(σᵢ(X)).
    SingularValues(PenaltyChoice),
}

/// Steps that only lower F: smoothing would leave a start that is nearly stationary first.
const TUNED: Tuned = Tuned {
    method: "als",
    arguments: Vec::new(),
    reason: "W and H by turns, each exactly: a small least squares problem a row and a column",
};

/// Sweeps of the run: as many as go with so many entries, from the fewest after which predictions hardly change to the most.
const WORK: u64 = 40_000_000;
const FEWEST: u64 = 12;
const MOST: u64 = 50;
/// Up to so many entries times the rank a start is looked for along a path of weights, which takes hundreds of sweeps.
const PATH: usize = 10_000_000;

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

    /// What a point of the problem says of every place, z = prox(Tx).
    pub fn completed<S: Real>(&self, offsets: &Offsets, x: &[S], z: &[S]) -> Completed<S> {
        Completed::new(&self.model, offsets.clone(), x, z)
    }

    /// The problem for entries without their offsets. It starts where larger weights, each from the last, lead to.
    ///
    /// What is over before that start is found begins from where it got to.
    pub fn prepare<S: Real>(&self, rest: Entries, seed: u64, until: &Until) -> Result<Prepared<S>, Error> {
        match &self.model {
            Model::Factors { rank, ridge } => factors(rest, self, (*rank, *ridge), seed, until),
            Model::SingularValues(penalty) => singular_values(&rest, penalty, seed, until),
        }
    }
}

/// The size of a factor's entries when WH has the norm `norm` and about the shape of the entries.
pub(super) fn size(norm: f64, entries: &Entries) -> f64 {
    size_of(norm, [entries.rows(), entries.cols()])
}

/// The same of a matrix with these sides.
pub(super) fn size_of(norm: f64, [rows, cols]: [usize; 2]) -> f64 {
    (norm / (rows as f64 * cols as f64).sqrt()).sqrt()
}

/// Whether a start is looked for along a path of weights.
pub(super) fn has_path(count: usize, rank: usize) -> bool {
    count.saturating_mul(rank) <= PATH
}

/// Sweeps that go with so many entries, towards a start or in a run.
pub(super) fn sweeps(count: usize, rank: usize) -> usize {
    if has_path(count, rank) { START_SWEEPS } else { sweeps_of_run(count) as usize }
}

fn sweeps_of_run(count: usize) -> u64 {
    (WORK / count.max(1) as u64).clamp(FEWEST, MOST)
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

/// Where factors start from: of a few entries where larger weights, each from the last, lead to; of many, W = 0 and a random H.
fn start<S: Real>(rest: &Entries, plan: &Plan, rank: usize, ridge: f64, seed: u64, until: &Until) -> Vec<S> {
    if plan.feedback == Feedback::Implicit || !has_path(rest.count(), rank) {
        let mean_square = rest.matrix().values().iter().map(|y| y * y).sum::<f64>() / rest.count() as f64;
        let pair = Pair::random(rest, rank, (mean_square / rank as f64).powf(0.25), seed);
        return [convert(&pair.w), convert(&pair.h())].concat();
    }
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
    [convert(&pair.w), convert(&pair.h())].concat()
}

fn factors<S: Real>(
    rest: Entries,
    plan: &Plan,
    (rank, ridge): (usize, f64),
    seed: u64,
    until: &Until,
) -> Result<Prepared<S>, Error> {
    let start = start(&rest, plan, rank, ridge, seed, until);
    let (entries, iterations) = (rest.matrix().map(S::of), sweeps_of_run(rest.count()));
    drop(rest);
    let mut prepared = of_factors(entries, plan.feedback, rank, [ridge; 2], start)?;
    prepared.defaults.iterations = iterations;
    Ok(prepared)
}

/// The problem of known entries, with a ridge on W and one on H.
pub(super) fn of_factors<S: Real>(
    entries: Csr<S>,
    feedback: Feedback,
    rank: usize,
    [ridge, of_h]: [f64; 2],
    start: Vec<S>,
) -> Result<Prepared<S>, Error> {
    let f = KnownFactors::new(entries, feedback, rank, of_h)?;
    let t = Select::new(f.layout(), &["W"])?;
    let penalty = PenaltyChoice::new("ridge", &[("nu", ridge)])?;
    let g = penalty.build(&Lift::Entries, LinOp::<S>::range(&t))?;
    let problem = Problem::from_boxes(Box::new(f), g, Box::new(t))?;
    let defaults = Defaults { tuned: Some(TUNED), ..Defaults::default() };
    Ok(Prepared { problem, start, defaults, optimum: None })
}

fn penalised<S: Real>(rest: &Entries, penalty: &PenaltyChoice, start: Vec<S>) -> Result<Prepared<S>, Error> {
    let layout = Layout::matrix(rest.rows(), rest.cols())?;
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
    let mut start = vec![S::ZERO; rest.rows() * rest.cols()];
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
