//! Where a solve starts: at the data smoothed, not at the data. Weakly convex penalties keep what a start holds.

use melmo::operator::Difference2d;
use melmo::penalty::{Entrywise, L1};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::MaskedLeastSquares;
use melmo::start::tikhonov;

use crate::error::Error;

/// argmin ½‖X − Y‖² + ‖∇X‖² for each channel: what is left of white noise is a quarter of its standard deviation.
pub(super) fn smooth<S: Real>(y: &[S], [rows, cols, _]: [usize; 3]) -> Result<Vec<S>, Error> {
    let mut start = Vec::with_capacity(y.len());
    for plane in y.chunks_exact(rows * cols) {
        let t = Difference2d::new(rows, cols)?;
        let layout = melmo::block::Layout::matrix(rows, cols)?;
        let f = MaskedLeastSquares::new(layout, plane.to_vec(), None)?;
        // Tikhonov's problem has no use for the penalty; any will do.
        let problem = Problem::new(f, Entrywise::new(L1::new(1.0)?, 2 * plane.len()), t)?;
        start.extend(tikhonov(&problem, 0.5)?);
    }
    Ok(start)
}
