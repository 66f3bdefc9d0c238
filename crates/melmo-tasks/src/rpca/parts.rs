//! Some columns, or some rows, of a matrix that lies in parts, as on ranks.

use std::sync::Arc;

use melmo::penalty::Prox;
use melmo::real::Real;

use super::apart::{ABOVE_NOISE, Apart};
use super::{Weights, problem};
use crate::error::Error;
use crate::prepared::Prepared;

/// Where a part starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// L = the columns' medians, which whole columns have.
    Medians,
    /// Nothing.
    Zero,
}

/// The problem of this part of Y, NaN where it has no entry: `low_rank` is the penalty of L, which knows of the other parts.
pub fn part<S: Real>(
    y: &Arc<Vec<S>>,
    [rows, cols]: [usize; 2],
    weights: &Weights,
    low_rank: Box<dyn Prox<S>>,
    start: Start,
) -> Result<Prepared<S>, Error> {
    crate::magnitude::check_known("Y", y)?;
    let mut prepared = problem(y, rows, cols, low_rank, &weights.sparse)?;
    prepared.start = vec![S::ZERO; prepared.problem.layout().size()];
    if start == Start::Medians {
        let noise = weights.sparse.get("lambda").map(|lambda| lambda / ABOVE_NOISE);
        let Apart { low_rank: mut first, sparse, .. } = Apart::first(y, rows, cols, Some(noise.unwrap_or(0.0)));
        first.extend(sparse);
        // What is missing is in no part.
        first.iter_mut().filter(|v| !v.is_finite()).for_each(|v| *v = S::ZERO);
        prepared.start = first;
    }
    Ok(prepared)
}
