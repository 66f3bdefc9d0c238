//! Sparse low-rank factors: ‖M⊙(Y − WH)‖² + Σ ψ(Wᵢⱼ) + ν/2·‖H‖².

mod entries;
mod nonnegative;
mod rows;
mod topics;

pub use entries::{independent, logistic_loss, of_entries, poisson_loss, told_right};
pub use nonnegative::nonnegative;
pub use rows::{Rows, row_penalty};
pub use topics::{coherence, strongest};

use std::sync::Arc;

use melmo::catalogue::Lift;
use melmo::geometry::Norm;
use melmo::linalg::Mat;
use melmo::operator::{LinOp, Select};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::{self, Factorization, Smooth};
use melmo::sparse::Csr;

use crate::choice::PenaltyChoice;
use crate::error::Error;
use crate::prepared::{Defaults, Prepared};

/// The penalty of the paper's experiments.
pub const PENALTY: &str = "mcp:lambda=1,mu=3";

/// What is factorised, and how.
pub struct Factors<'d, S> {
    /// Y, rows×cols; NaN where it has no entry.
    pub y: &'d [S],
    /// Which entries are observed (1) or not (0).
    pub mask: Option<&'d [S]>,
    /// Rows of Y.
    pub rows: usize,
    /// Columns of Y.
    pub cols: usize,
    /// Columns of W.
    pub rank: usize,
    /// ψ.
    pub penalty: &'d PenaltyChoice,
    /// ν.
    pub ridge: f64,
}

impl<S: Real> Factors<'_, S> {
    /// ‖M⊙(Y − WH)‖² + ν/2·‖H‖².
    pub fn loss(&self) -> Result<Factorization<S>, Error> {
        dense_loss(self.y.to_vec(), self.mask, [self.rows, self.cols, self.rank], self.ridge)
    }

    /// The problem, from a start W, H.
    pub fn prepare(&self, w: Vec<S>, h: Vec<S>) -> Result<Prepared<S>, Error> {
        penalised(self.loss()?, self.penalty, w, h)
    }
}

/// ‖M⊙(Y − WH)‖² + ν/2·‖H‖² of a Y that is given away: rows, columns and the rank of its factors.
pub fn dense_loss<S: Real>(
    y: Vec<S>,
    mask: Option<&[S]>,
    [rows, cols, rank]: [usize; 3],
    ridge: f64,
) -> Result<Factorization<S>, Error> {
    crate::magnitude::check_known("Y", &y)?;
    let f = if mask.is_none() && !y.iter().any(|y| y.f64().is_nan()) {
        Factorization::new(y, rows, cols, rank)?
    } else {
        let mask = crate::recover::observed(&y, mask)?;
        Factorization::masked(y, mask, rows, cols, rank)?
    };
    Ok(f.ridge(ridge)?)
}

/// ‖Y − WH‖² + ν/2·‖H‖² of a sparse Y, which is 0 where it has no entry.
pub fn sparse_loss<S: Real>(y: Csr<S>, rank: usize, ridge: f64) -> Result<Factorization<S>, Error> {
    crate::magnitude::check_known("Y", y.values())?;
    Ok(Factorization::sparse(y, rank)?.ridge(ridge)?)
}

/// The same of a Y whose rows are read when they are needed.
pub fn loss_of_rows<S: Real>(y: Arc<dyn smooth::Rows<S>>, rank: usize, ridge: f64) -> Result<Factorization<S>, Error> {
    let loss = Factorization::of_rows(y, rank)?.ridge(ridge)?;
    crate::magnitude::check::<S>("Y", loss.data_squared().sqrt())?;
    Ok(loss)
}

/// The problem of any Y with a penalty on W, from a start W, H.
pub fn penalised<S: Real>(
    f: Factorization<S>,
    penalty: &PenaltyChoice,
    w: Vec<S>,
    h: Vec<S>,
) -> Result<Prepared<S>, Error> {
    let start = start(&f, w, h)?;
    let t = Select::new(f.layout(), &["W"])?;
    let g = penalty.build(&Lift::Entries, LinOp::<S>::range(&t))?;
    let problem = Problem::from_boxes(Box::new(f), g, Box::new(t))?;
    let defaults = Defaults { norm: Norm::Spectral, ..Defaults::default() };
    Ok(Prepared { problem, start, defaults, optimum: None })
}

/// [W | H], if they fit.
fn start<S: Real>(f: &Factorization<S>, w: Vec<S>, h: Vec<S>) -> Result<Vec<S>, Error> {
    let (rows, cols, rank) = f.shape();
    joined([rows * rank, rank * cols], w, h)
}

/// The same for factors of so many entries.
fn joined<S: Real>(sizes: [usize; 2], w: Vec<S>, h: Vec<S>) -> Result<Vec<S>, Error> {
    melmo::error::Error::expect_len("the start of W", sizes[0], w.len())?;
    melmo::error::Error::expect_len("the start of H", sizes[1], h.len())?;
    Ok([w, h].concat())
}

/// Σ_{i>r} σᵢ(Y)²: no W, H of that rank come closer to Y (Eckart and Young 1936), so F ≥ this whatever is penalised, and
/// without a ridge on H it is the infimum of F. `None` when Y has entries that are missing.
pub fn eckart_young<S: Real>(y: &[S], rows: usize, cols: usize, rank: usize) -> Option<f64> {
    let size = rows.min(cols);
    let (mut values, mut work) = (vec![S::ZERO; size], vec![S::ZERO; S::singular_values_work_len(rows, cols)]);
    let found = S::singular_values(&mut values, Mat::new(y, rows, cols), &mut work);
    found.then(|| values.iter().skip(rank).map(|value| value.f64().powi(2)).sum())
}

/// ‖M⊙(Y − WH)‖²/‖M⊙Y‖², over the entries that are observed; with one pass over Y.
pub fn relative_error<S: Real>(f: &Factorization<S>, w: &[S], h: &[S]) -> Result<f64, Error> {
    let (x, (c, ridge)) = (start(f, w.to_vec(), h.to_vec())?, f.weights());
    let value = f.value_grad(&mut vec![S::ZERO; x.len()], &x, &mut vec![S::ZERO; f.work_len()]);
    let error = ((value - 0.5 * ridge * melmo::vector::norm2_squared(h)) / c).max(0.0);
    Ok(if f.data_squared() > 0.0 { error / f.data_squared() } else { error })
}

/// Y mapped to [0, 1], with its least and largest entry; NaN stays. A constant matrix becomes 0.
pub fn minmax(y: &[f64]) -> (Vec<f64>, f64, f64) {
    let seen = y.iter().filter(|y| !y.is_nan());
    let (low, high) = seen.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &y| (low.min(y), high.max(y)));
    let width = if high > low { high - low } else { 1.0 };
    (y.iter().map(|y| (y - low) / width).collect(), low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_distance_to_lower_rank() {
        // diag(3, 2, 1) with a column of zeros.
        let y = [3.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
        assert!((eckart_young::<f64>(&y, 3, 4, 1).unwrap() - 5.0).abs() < 1e-12);
        assert_eq!(eckart_young(&[1.0, f64::NAN], 1, 2, 1), None);
        let f = Factorization::new(y.to_vec(), 3, 4, 1).unwrap().ridge(0.5).unwrap();
        let error = relative_error(&f, &[1.0, 0.0, 0.0], &[3.0, 0.0, 0.0, 0.0]).unwrap();
        assert!((error - 5.0 / 14.0).abs() < 1e-15);
    }

    #[test]
    fn scaling_keeps_what_is_missing() {
        let (scaled, low, high) = minmax(&[2.0, f64::NAN, 4.0, 3.0]);
        assert_eq!((scaled[0], scaled[2], scaled[3], low, high), (0.0, 1.0, 0.5, 2.0, 4.0));
        assert!(scaled[1].is_nan());
        assert_eq!(minmax(&[7.0, 7.0]).0, [0.0, 0.0]);
    }
}
