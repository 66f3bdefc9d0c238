//! Some rows of a picture that lies in parts, as on ranks.

use std::ops::Range;

use melmo::problem::Problem;
use melmo::real::Real;

use super::{Grid, model, plan};
use crate::choice::PenaltyChoice;
use crate::error::Error;
use crate::prepared::{Defaults, Prepared};

/// The penalty with what was left open, as for a whole picture; none where that takes a noise that is not given: nobody sees the whole.
pub fn completed(penalty: &PenaltyChoice, noise: Option<f64>, strength: f64) -> Option<PenaltyChoice> {
    let of = |noise: f64| model::complete(penalty, noise, strength);
    match noise {
        Some(noise) => Some(of(noise)),
        None => Some(of(1.0)).filter(|found| *found == of(2.0)),
    }
}

/// ½‖X − Y‖² + Σ ψ of the differences of these rows (slices of a volume), of which those `within` are its own; from Y.
pub fn rows<S: Real>(
    y: Vec<S>,
    grid: Grid,
    penalty: &PenaltyChoice,
    isotropic: bool,
    within: Range<usize>,
) -> Result<Prepared<S>, Error> {
    plan::expect_moderate(&y)?;
    let start = y.clone();
    let mut problem: Problem<S> = model::chosen(y, grid, penalty, isotropic)?;
    if matches!(grid, Grid::Image(_)) && problem.g().streamed().is_some() {
        problem = problem.within(within)?; // in one pass over memory
    }
    Ok(Prepared { problem, start, defaults: Defaults::default(), optimum: None })
}
