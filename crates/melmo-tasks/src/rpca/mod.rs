//! Low rank plus sparse: ½‖M⊙(Y − L − S)‖² + Σ ψ_L(σᵢ(L)) + Σ ψ_S(Sᵢⱼ), robust principal component analysis.
//!
//! A video is a matrix with a frame a row: what stays is of low rank (the background L), what moves is sparse (the
//! foreground S).

mod apart;
mod parts;
mod weights;

pub use parts::{Start, part};
pub use weights::{Weights, noise};

use std::sync::Arc;

use melmo::block::Layout;
use melmo::catalogue::Lift;
use melmo::linalg::Mat;
use melmo::low_rank;
use melmo::operator::Identity;
use melmo::penalty::{Blocks, Prox};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::{RobustPca, Smooth};
use melmo::solver::Turns;

use crate::choice::PenaltyChoice;
use crate::error::Error;
use crate::prepared::{Defaults, Prepared, Tuned};
use crate::rpca::apart::{ABOVE_NOISE, Apart, apart};
use crate::until::Until;

/// Both penalties unless others are asked for: MCP leaves what is far above the noise unshrunk.
pub const PENALTY: &str = "mcp:mu=3";

/// Numbers of a film up to which memory is no matter: there steps have momentum, and double precision costs next to nothing.
pub const LARGE: usize = 1 << 20;

/// From L and S that are nearly right steps that only lower F suffice; weakly convex penalties would not pull a wrong part back. These
/// hold the fewest arrays.
const BY_TURNS: Tuned = Tuned {
    method: "turns",
    arguments: Vec::new(),
    reason: "L and S by turns, from where they came apart while the level of the noise fell",
};

/// In fewer steps, and for penalties that one turn would bend too much.
const WITH_MOMENTUM: Tuned = Tuned {
    method: "fista",
    arguments: Vec::new(),
    reason: "proximal steps from where L and S came apart, while the level of the noise fell",
};

/// The problem for rows×cols data Y, NaN where it has no entry, from parts that are nearly right, or the columns' medians where it
/// is over before. Y may be read by others meanwhile.
pub fn prepare<S: Real>(
    y: &Arc<Vec<S>>,
    rows: usize,
    cols: usize,
    weights: &Weights,
    until: &Until,
) -> Result<Prepared<S>, Error> {
    let missing = y.iter().filter(|y| y.f64().is_nan()).count();
    if missing == y.len() {
        return Err(Error::input("Y", "no entry: every one is missing", "some numbers"));
    }
    crate::magnitude::check_known("Y", y)?;
    let low_rank = weights.low_rank.build(&Lift::SingularValues, &Layout::matrix(rows, cols)?)?;
    let mut prepared = problem(y, rows, cols, low_rank, &weights.sparse)?;
    let given = weights.sparse.get("lambda").map(|lambda| lambda / ABOVE_NOISE);
    let Apart { low_rank: mut start, sparse, .. } =
        apart(y, rows, cols, given, until).unwrap_or_else(|| Apart::first(y, rows, cols, given));
    start.extend(sparse);
    prepared.start = start;
    let by_turns = rows * cols > LARGE && Turns::fits(&prepared.problem).is_ok();
    prepared.defaults.tuned = Some(if by_turns { BY_TURNS } else { WITH_MOMENTUM });
    Ok(prepared)
}

/// The problem with this penalty of L; where it starts is for others to say.
fn problem<S: Real>(
    y: &Arc<Vec<S>>,
    rows: usize,
    cols: usize,
    low_rank: Box<dyn Prox<S>>,
    sparse: &PenaltyChoice,
) -> Result<Prepared<S>, Error> {
    let is_known = |y: &S| !y.f64().is_nan();
    let mask =
        (!y.iter().all(is_known)).then(|| y.iter().map(|y| if is_known(y) { S::ONE } else { S::ZERO }).collect());
    let f = RobustPca::shared(y.clone(), rows, cols, mask)?;
    let layout = f.layout().clone();
    let sparse = sparse.build(&Lift::Entries, &Layout::matrix(rows, cols)?)?;
    let g = Blocks::new(&layout, vec![("L", 1.0, low_rank), ("S", 1.0, sparse)])?;
    let problem = Problem::from_boxes(Box::new(f), Box::new(g), Box::new(Identity::new(layout)))?;
    let defaults = Defaults { iterations: 500, ..Defaults::default() };
    Ok(Prepared { problem, start: Vec::new(), defaults, optimum: None })
}

/// The number of singular values of L above rounding; `None` when it is not finite.
pub fn rank<S: Real>(l: &[S], rows: usize, cols: usize) -> Option<usize> {
    let size = rows.min(cols);
    let (mut values, mut work) =
        (vec![S::ZERO; size], vec![S::ZERO; low_rank::singular_values_work_len::<S>(rows, cols)]);
    let found = low_rank::singular_values(&mut values, Mat::new(l, rows, cols), &mut work);
    let floor = values.first().map_or(0.0, |largest| largest.f64()) * S::EPSILON * rows.max(cols) as f64;
    found.then(|| values.iter().filter(|value| value.f64() > floor).count())
}

/// ‖M⊙(Y − L − S)‖/‖M⊙Y‖.
pub fn relative_error<S: Real>(y: &[S], low_rank: &[S], sparse: &[S]) -> f64 {
    let [error, total] = squares(y, low_rank, sparse);
    if total > 0.0 { (error / total).sqrt() } else { error.sqrt() }
}

/// ‖M⊙(Y − L − S)‖² and ‖M⊙Y‖².
pub fn squares<S: Real>(y: &[S], low_rank: &[S], sparse: &[S]) -> [f64; 2] {
    let (mut error, mut total) = (0.0, 0.0);
    for ((y, l), s) in y.iter().zip(low_rank).zip(sparse).filter(|((y, _), _)| !y.f64().is_nan()) {
        error += (y.f64() - l.f64() - s.f64()).powi(2);
        total += y.f64().powi(2);
    }
    [error, total]
}

#[cfg(test)]
mod tests;
