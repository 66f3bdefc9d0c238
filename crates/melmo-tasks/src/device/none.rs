//! A browser, which lends no GPU to CUDA.

use melmo::catalogue::Value;
use melmo::geometry::{BlockNorm, Oracle};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::solver::Solver;

use crate::error::Error;

const REASON: &str = "a browser lends no GPU to CUDA";

/// None.
pub(crate) fn first<S: Real>(_: &Problem<S>, _: &str) -> Result<String, String> {
    Err(REASON.into())
}

/// Refused.
pub(crate) fn solver<'p, S: Real>(
    _: usize,
    _: &'p Problem<S>,
    _: (&str, &[(&str, Value)]),
    _: Vec<BlockNorm>,
    _: Oracle,
    _: &[S],
) -> Result<(Box<dyn Solver<S> + 'p>, String), Error> {
    Err(Error::Library(melmo::error::Error::Unsupported(format!("{REASON}; device cpu needs none"))))
}
