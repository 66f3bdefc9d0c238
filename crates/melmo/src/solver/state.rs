//! A solver's memory, as plain data with names.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::real::Real;
use crate::solver::{
    adaptive, admm, als, coordinate, dca, epoch, factors, interior, lbfgs, melmo, polished, primal_dual,
    proximal_gradient, reweighted, stochastic, subgradient, tilted, turns,
};

/// Everything that the rest of a run depends on. It means something to the version of this library that wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct State<S: Real> {
    /// The k of the point it stands at; 0 before the first.
    pub k: u64,
    /// What relative thresholds are relative to: see [`Solver::start_measure`](crate::solver::Solver::start_measure).
    pub start: Option<[f64; 2]>,
    /// What the solver itself remembers.
    pub memo: Memo<S>,
}

impl<S: Real> State<S> {
    /// The vectors in it that are as long as x, of the methods that run anywhere: where x is in parts, so are they. What an oracle starts
    /// from is not among them. Empty for other methods.
    pub fn points_mut(&mut self) -> Vec<&mut Vec<S>> {
        match &mut self.memo {
            Memo::Melmo(memo) => vec![&mut memo.place.x],
            Memo::Epoch(memo) => vec![&mut memo.place.x, &mut memo.anchor],
            Memo::Subgradient(memo) => vec![&mut memo.x],
            Memo::Adaptive(memo) => vec![&mut memo.place.x, &mut memo.landed, &mut memo.anchor],
            _ => Vec::new(),
        }
    }
}

/// What a solver remembers, by the solver that wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", rename_all = "kebab-case")]
pub enum Memo<S: Real> {
    /// Of [`Melmo`](crate::solver::Melmo).
    Melmo(melmo::Memo<S>),
    /// Of [`Epoch`](crate::solver::Epoch).
    Epoch(epoch::Memo<S>),
    /// Of [`Subgradient`](crate::solver::Subgradient).
    Subgradient(subgradient::Memo<S>),
    /// Of [`Stochastic`](crate::solver::Stochastic).
    Stochastic(stochastic::Memo<S>),
    /// Of [`Adaptive`](crate::solver::Adaptive).
    Adaptive(adaptive::Memo<S>),
    /// Of [`Tilted`](crate::solver::Tilted).
    Tilted(tilted::Memo<S>),
    /// Of [`Polished`](crate::solver::Polished).
    Polished(polished::Memo<S>),
    /// Of [`ProximalGradient`](crate::solver::ProximalGradient).
    ProximalGradient(proximal_gradient::Memo<S>),
    /// Of [`Admm`](crate::solver::Admm).
    Admm(admm::Memo<S>),
    /// Of [`Als`](crate::solver::Als).
    Als(als::Memo<S>),
    /// Of [`Reweighted`](crate::solver::Reweighted).
    Reweighted(reweighted::Memo<S>),
    /// Of [`PrimalDual`](crate::solver::PrimalDual).
    PrimalDual(primal_dual::Memo<S>),
    /// Of [`Lbfgs`](crate::solver::Lbfgs).
    Lbfgs(lbfgs::Memo<S>),
    /// Of [`Dca`](crate::solver::Dca).
    Dca(dca::Memo<S>),
    /// Of [`Interior`](crate::solver::Interior).
    Interior(interior::Memo),
    /// Of [`Alternating`](crate::solver::Alternating).
    Alternating(factors::alternating::Memo<S>),
    /// Of [`Explored`](crate::solver::Explored).
    Explored(factors::explore::Memo<S>),
    /// Of [`Palm`](crate::solver::Palm).
    Palm(factors::palm::Memo<S>),
    /// Of [`Hals`](crate::solver::Hals).
    Hals(factors::hals::Memo<S>),
    /// Of [`Majorised`](crate::solver::Majorised).
    Majorised(factors::majorised::Memo<S>),
    /// Of [`CoordinateDescent`](crate::solver::CoordinateDescent).
    CoordinateDescent(coordinate::Memo<S>),
    /// Of [`Turns`](crate::solver::Turns).
    Turns(turns::Memo<S>),
}

impl<S: Real> Memo<S> {
    /// The name of the solver that wrote it.
    pub fn solver(&self) -> &'static str {
        match self {
            Self::Melmo(_) => "melmo",
            Self::Epoch(_) => "epoch",
            Self::Subgradient(_) => "subgradient",
            Self::Stochastic(_) => "stochastic",
            Self::Adaptive(_) => "adaptive",
            Self::Tilted(_) => "tilted",
            Self::Polished(_) => "polished",
            Self::ProximalGradient(_) => "proximal-gradient",
            Self::Admm(_) => "admm",
            Self::Als(_) => "als",
            Self::Reweighted(_) => "reweighted",
            Self::PrimalDual(_) => "primal-dual",
            Self::Lbfgs(_) => "lbfgs",
            Self::Dca(_) => "dca",
            Self::Interior(_) => "interior-point",
            Self::Alternating(_) => "alternating",
            Self::Explored(_) => "explored",
            Self::Palm(_) => "palm",
            Self::Hals(_) => "hals",
            Self::Majorised(_) => "majorised",
            Self::CoordinateDescent(_) => "coordinate-descent",
            Self::Turns(_) => "turns",
        }
    }

    /// The refusal of a state that another solver wrote.
    pub(super) fn is_none_of<T>(&self, solver: &str) -> Result<T, Error> {
        Err(Error::Unsupported(format!("a state of `{}` cannot resume `{solver}`", self.solver())))
    }
}

/// A number of a saved state that counts something: up to 2⁵³, so that counting on never overflows.
pub(super) fn count(value: u64) -> Result<u64, Error> {
    let must = "a whole number from 0 to 2⁵³ in a saved state";
    Error::expect_parameter("a count", value as f64, value <= MOST, must).map(|_| value)
}

/// 2⁵³: beyond it f64 skips whole numbers.
const MOST: u64 = 1 << 53;

/// Refuses numbers that are none.
pub(super) fn finite<const N: usize>(numbers: [f64; N]) -> Result<(), Error> {
    Error::expect_finite("numbers of a saved state", &numbers)
}

/// A positive number of a saved state.
pub(super) fn positive(name: &'static str, value: f64) -> Result<f64, Error> {
    Error::expect_positive(name, value)
}

/// Refuses a buffer of another length, or with NaN or ∞ in it.
pub(super) fn fits<S: Real>(buffer: &[S], size: usize) -> Result<(), Error> {
    Error::expect_len("a buffer of a saved state", size, buffer.len())?;
    Error::expect_finite("a buffer of a saved state", buffer)
}

/// own ← a buffer of a saved state, if it fits.
pub(super) fn take<S: Real>(own: &mut [S], buffer: &[S]) -> Result<(), Error> {
    fits(buffer, own.len())?;
    own.copy_from_slice(buffer);
    Ok(())
}
