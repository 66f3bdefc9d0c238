//! Solvers: plain iterators over small infos. A solver never prints, reads the clock or stops itself.

mod adaptive;
mod admm;
mod balance;
mod convexified;
mod coordinate;
mod dca;
mod epoch;
mod factors;
mod guard;
mod inner;
mod iterate;
mod lbfgs;
mod measure;
mod melmo;
mod memory;
mod momentum;
mod pair;
mod polished;
mod primal_dual;
mod proximal_gradient;
mod reweighted;
mod rule;
mod smoothing;
mod splitting;
mod subgradient;
mod tilted;
mod unsmoothed;
mod variable_smoothing;

pub use adaptive::Adaptive;
pub use admm::Admm;
pub use coordinate::{Columns, CoordinateDescent, LambdaPath, PathPoint, geometric};
pub use dca::Dca;
pub use epoch::Epoch;
pub use factors::{Alternating, Explored, HANDOVER, Palm};
pub(crate) use guard::EVERY as CHECKED_EVERY;
pub use lbfgs::Lbfgs;
pub use melmo::Melmo;
pub use polished::Polished;
pub use primal_dual::PrimalDual;
pub use proximal_gradient::ProximalGradient;
pub use reweighted::Reweighted;
pub use smoothing::Smoothing;
pub use subgradient::Subgradient;
pub use tilted::{Path, Tilted};
pub use variable_smoothing::VariableSmoothing;

use serde::{Deserialize, Serialize};

use crate::certificate::Evidence;
use crate::error::Error;
use crate::geometry::{BlockNorm, Bracket};
use crate::problem::Problem;
use crate::real::Real;

/// The scalars at a solver's point: with w ∈ ∂g(z), ‖∇f(x) + T*w‖_* lies in `dual_norm` and ‖Tx − z‖₂ = `prox_gap`. A method that
/// smooths has z = prox_{βg}(Tx) and w = ∇g_β(Tx), so that the former is ‖∇F_β(x)‖_*.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info {
    /// Which point: x_k, k = 1 for the start. k − 1 steps were taken to it.
    pub k: u64,
    /// The epoch that evaluated it, for solvers that run in epochs.
    pub epoch: Option<u32>,
    /// The smoothing of this evaluation; 0 for a method without smoothing.
    pub beta: f64,
    /// The length of the step from here; for epochs, of the step to here.
    pub gamma: f64,
    /// Bounds on ‖∇F_β(x)‖_*.
    pub dual_norm: Bracket,
    /// The largest η that the bracket allows: ⟨φ, d⟩ ≤ −(1 − η)‖φ‖_* for the oracle's direction d.
    pub eta: f64,
    /// ν: ‖d‖ ≤ 1 + ν.
    pub excess: f64,
    /// ‖Tx − z‖₂.
    pub prox_gap: f64,
    /// F(x), where the solver needed it anyway; [`Solver::objective`] computes it on request.
    pub objective: Option<f64>,
    /// Every number of this evaluation is finite.
    pub finite: bool,
    /// The point may be tested against ε: always, except in epochs, where it has to be the epoch's best so far.
    pub candidate: bool,
}

impl Info {
    /// Before anything could be evaluated.
    pub(crate) fn unknown() -> Self {
        let dual_norm = Bracket { lower: 0.0, upper: f64::INFINITY };
        let (prox_gap, eta, excess) = (f64::NAN, 1.0, 0.0);
        Self {
            k: 0,
            epoch: None,
            beta: 0.0,
            gamma: 0.0,
            dual_norm,
            eta,
            excess,
            prox_gap,
            objective: None,
            finite: false,
            candidate: false,
        }
    }
}

/// An endless sequence of points. After `next()` returned the info of x_k, `x()` is x_k.
///
/// When an evaluation is not finite, that info is returned once, `x()` goes back to the last point where everything was
/// finite, and the sequence ends. A solver can be handed from thread to thread: an iterator that a Python program holds is.
pub trait Solver<S: Real>: Iterator<Item = Info> + Send {
    /// The problem it works on.
    fn problem(&self) -> &Problem<S>;

    /// The current point.
    fn x(&self) -> &[S];

    /// F(x) at the current point.
    fn objective(&mut self) -> f64;

    /// F_β(x) = f(x) + g_β(Tx) at the current point, with the β of its evaluation.
    fn smoothed(&mut self) -> f64;

    /// ‖∇F_β(x)‖_* at the current point, to rounding: more work than the oracle's bracket.
    fn exact_dual_norm(&mut self) -> f64;

    /// The norm it measures in, as data.
    fn norms(&self) -> Vec<BlockNorm>;

    /// The dual side of the certificate at x: u is written where it is not Tx, and β says the rest. A method that does not smooth
    /// knows some w ∈ ∂g(z) and shows u = z + βw.
    fn evidence<'u>(&self, u: &'u mut [S]) -> Evidence<'u, S>;

    /// ‖∇F_{β₁}(x₁)‖_* (an upper bound) and ‖Tx₁ − z₁‖₂ at the very start, once it has been evaluated: what relative
    /// thresholds are relative to, also in a run that was resumed.
    fn start_measure(&self) -> Option<[f64; 2]>;

    /// The first `next()` takes a step before it evaluates: epochs judge the point that a step led to.
    fn steps_first(&self) -> bool {
        false
    }

    /// Everything that the rest of the run depends on. Taken before the first `next()` it is the start itself.
    fn save(&self) -> State<S>;

    /// Goes back to a saved state, of the same solver with the same problem, geometry and schedule: the points that
    /// follow are the same bits.
    fn restore(&mut self, state: &State<S>) -> Result<(), Error>;
}

/// A solver's memory, as plain data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct State<S: Real> {
    /// Which solver wrote it.
    pub solver: String,
    /// Where the solver stands: the k of its point (0 before the first), for epochs of its next step.
    pub k: u64,
    /// Scalars, in the solver's own order.
    pub numbers: Vec<f64>,
    /// Buffers, in the solver's own order; the current point first.
    pub vectors: Vec<Vec<S>>,
    /// What the geometry started its last oracle call from.
    pub warm_start: Vec<S>,
}

impl<S: Real> State<S> {
    /// The state of a solver that another is made of, from the parts that the other's state holds.
    fn part(solver: &str, k: f64, numbers: &[f64], vectors: &[Vec<S>]) -> Result<Self, Error> {
        let (numbers, vectors) = (numbers.to_vec(), vectors.to_vec());
        Ok(Self { solver: solver.into(), k: count(k)?, numbers, vectors, warm_start: vec![] })
    }

    /// Refuses a state of another solver, or one whose numbers or buffers do not fit; returns the numbers.
    fn check<const N: usize>(&self, solver: &str, vectors: usize, size: usize) -> Result<[f64; N], Error> {
        self.check_each(solver, &vec![size; vectors])
    }

    /// The same for buffers of several sizes.
    fn check_each<const N: usize>(&self, solver: &str, sizes: &[usize]) -> Result<[f64; N], Error> {
        if self.solver != solver {
            return Err(Error::Unsupported(format!("a state of `{}` cannot resume `{solver}`", self.solver)));
        }
        count(self.k as f64)?;
        Error::expect_finite("numbers of a saved state", &self.numbers)?;
        Error::expect_len("buffers of a saved state", sizes.len(), self.vectors.len())?;
        for (vector, &size) in self.vectors.iter().zip(sizes) {
            Error::expect_len("a buffer of a saved state", size, vector.len())?;
            Error::expect_finite("a buffer of a saved state", vector)?;
        }
        let wrong = |_| Error::Shape { what: "numbers of a saved state", expected: N, got: self.numbers.len() };
        self.numbers[..].try_into().map_err(wrong)
    }
}

/// A number of a saved state that counts something: up to 2⁵³, so that counting on never overflows.
fn count(value: f64) -> Result<u64, Error> {
    let holds = (0.0..=MOST).contains(&value) && value.fract() == 0.0;
    let must = "a whole number from 0 to 2⁵³ in a saved state";
    Error::expect_parameter("a count", value, holds, must).map(|value| value as u64)
}

/// 2⁵³: beyond it f64 skips whole numbers.
const MOST: f64 = 9_007_199_254_740_992.0;
