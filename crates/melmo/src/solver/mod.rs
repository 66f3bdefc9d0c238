//! Solvers: plain iterators over small infos. A solver never prints, reads the clock or stops itself.

mod adaptive;
mod admm;
mod als;
mod balance;
mod convexified;
mod coordinate;
mod dca;
mod epoch;
mod extrapolated;
mod factors;
mod guard;
mod interior;
mod iterate;
mod lbfgs;
mod melmo;
mod memory;
mod momentum;
mod pair;
mod polished;
mod primal_dual;
mod proximal_gradient;
mod reweighted;
mod rule;
mod run;
mod smoothing;
mod splitting;
mod state;
mod stochastic;
mod subgradient;
mod tilted;
mod turns;
mod unsmoothed;
mod variable_smoothing;

pub use adaptive::Adaptive;
pub use admm::Admm;
pub use als::Als;
pub(crate) use convexified::RELAXATION;
pub use coordinate::{Columns, CoordinateDescent, LambdaPath, PathPoint, geometric};
pub use dca::Dca;
pub use epoch::Epoch;
pub use factors::{Alternating, Explored, HANDOVER, Hals, Majorised, Palm};
pub(crate) use guard::EVERY as CHECKED_EVERY;
pub use interior::Interior;
pub use lbfgs::Lbfgs;
pub use melmo::Melmo;
pub use polished::Polished;
pub(crate) use primal_dual::INSIDE;
pub use primal_dual::PrimalDual;
pub use proximal_gradient::ProximalGradient;
pub use reweighted::Reweighted;
pub use run::{Measured, Method, Run, Standing};
pub use smoothing::Smoothing;
pub use state::{Memo, State};
pub use stochastic::{Estimate, Momentum, Rule, Stochastic};
pub use subgradient::Subgradient;
pub use tilted::{Path, Tilted};
pub use turns::Turns;
pub use variable_smoothing::VariableSmoothing;

use crate::certificate::{Asked, Certificate, Certified, Evidence, Optimality, Proven, Seen};
use crate::error::Error;
use crate::geometry::{Between, BlockNorm, Bracket};
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
    /// ξ: ‖d‖ ≤ 1 + ξ.
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
    /// Of a point x_k of a method that does not smooth: β = 0, since ‖∇f(x) + T*w‖_* speaks of f + g∘T itself.
    /// `lower` and `upper` are bounds on its ℓ2 norm.
    pub(crate) fn unsmoothed(k: u64, gamma: f64, between: Between, [lower, upper]: [f64; 2], prox_gap: f64) -> Self {
        let finite = upper.is_finite() && prox_gap.is_finite();
        let dual_norm = between.bracket(lower, upper);
        Self { k, gamma, dual_norm, eta: 0.0, prox_gap, finite, candidate: true, ..Self::unknown() }
    }

    /// Before anything could be evaluated.
    pub fn unknown() -> Self {
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

/// An endless sequence of points. After `next()` returned the info of x_k, the solver stands at x_k.
///
/// When an evaluation is not finite, that info is returned once, the solver goes back to the last point where everything was
/// finite, and the sequence ends. A solver can be handed from thread to thread: an iterator that a Python program holds is.
///
/// x need not lie in this machine's memory, so it is read, not lent. Numbers are those of the whole; vectors are the part that is held
/// here.
pub trait Solver<S: Real>: Iterator<Item = Info> + Send {
    /// Entries of x that are held here.
    fn size(&mut self) -> usize;

    /// `to` ← the current point; `to` has the length [`Solver::size`].
    fn read(&mut self, to: &mut [S]);

    /// The current point. Allocates: for use outside iterations.
    fn x(&mut self) -> Vec<S> {
        let mut x = vec![S::ZERO; self.size()];
        self.read(&mut x);
        x
    }

    /// `to` ← Tx at the current point, as far as it is held here.
    fn image(&mut self, to: &mut Vec<S>);

    /// Why the place where x lives can compute no more, where it cannot; [`Solver::read`] then gives the last point that was kept.
    fn fault(&mut self) -> Option<String>;

    /// F(x) at the current point.
    fn objective(&mut self) -> f64;

    /// F_β(x) = f(x) + g_β(Tx) at the current point, with the β of its evaluation.
    fn smoothed(&mut self) -> f64;

    /// ‖∇F_β(x)‖_* at the current point, to rounding: more work than the oracle's bracket.
    fn exact_dual_norm(&mut self) -> f64;

    /// The norm it measures in, as data.
    fn norms(&mut self) -> Vec<BlockNorm>;

    /// ‖∇F_{β₁}(x₁)‖_* (an upper bound) and ‖Tx₁ − z₁‖₂ at the very start, once it has been evaluated: what relative
    /// thresholds are relative to, also in a run that was resumed.
    fn start_measure(&self) -> Option<[f64; 2]>;

    /// The first `next()` takes a step before it evaluates: epochs judge the point that a step led to.
    fn steps_first(&self) -> bool;

    /// A step that leads nowhere leaves everything as it was, so that the run can go on from there.
    fn whole_steps(&self) -> bool;

    /// Makes room for looks at the point: what follows allocates nothing but what it returns.
    fn make_room(&mut self);

    /// What a certificate of the current point would be made of; `strong`: where rounding would show, the same z and w with a larger β.
    fn look(&mut self, strong: bool) -> Seen;

    /// How far from optimal the point is, by what was just seen there; the reason where that cannot be told.
    fn optimality(&mut self, seen: &Seen, radius: Option<f64>) -> Result<Optimality, String>;

    /// Whether what was just seen there can be: no where w is no subgradient of g.
    fn keeps_promise(&mut self, seen: &Seen) -> bool;

    /// What is proven at the current point: every number recomputed, with its rounding.
    fn proven(&mut self, norms: &[BlockNorm]) -> Proven;

    /// The certificate of the current point, with z and F there. Allocates.
    fn certify(&mut self, asked: Asked) -> Certified<S>;

    /// The certificate alone: z, which may be several times as large as x, is left where it is.
    fn certificate(&mut self, asked: Asked) -> Result<Certificate<S>, Error>;

    /// The dual side of a certificate at x: u is written where it is not Tx, and β says the rest. A method that does not smooth
    /// knows some w ∈ ∂g(z) and shows u = z + βw.
    fn evidence<'u>(&mut self, u: &'u mut Vec<S>) -> Evidence<'u, S>;

    /// Everything that the rest of the run depends on. Taken before the first `next()` it is the start itself. Allocates.
    fn save(&mut self) -> State<S>;

    /// Goes back to a saved state, of the same solver with the same problem, geometry and schedule: the points that
    /// follow are the same bits.
    fn restore(&mut self, state: &State<S>) -> Result<(), Error>;
}
