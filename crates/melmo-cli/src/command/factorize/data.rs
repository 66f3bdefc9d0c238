//! Y, read as it is stored, and the units of what is written.

use melmo::real::Real;
use melmo::smooth::Factorization;
use melmo::sparse::Csr;
use melmo_tasks::factorize::{self, Factors};

use super::fit::Fit;
use super::topics::Names;
use crate::args::{Factorize, Loss, Scaling};
use crate::command::ratings;
use crate::error::Error;
use crate::input::{Inputs, Matrix, convert};
use crate::render::{Summary, short};

/// A file whose entries fill this share of the matrix is taken as a whole matrix.
const FULL: f64 = 0.3;

/// Y = low + width·(what was factorised).
#[derive(Clone, Copy, Debug)]
pub struct Units {
    pub low: f64,
    pub width: f64,
}

impl Units {
    pub const SAME: Self = Self { low: 0.0, width: 1.0 };

    /// Those in which the least is 0 and the largest 1.
    pub fn between(low: f64, high: f64) -> Self {
        Self { low, width: if high > low { high - low } else { 1.0 } }
    }

    /// H so that WH is in Y's units, but for `low`.
    pub fn back<S: Real>(self, h: &[S]) -> Vec<S> {
        h.iter().map(|h| S::of(self.width * h.f64())).collect()
    }

    /// How Y is put together from what is written.
    pub fn tell(self, summary: &mut Summary) {
        if self.low == 0.0 {
            return summary.add("offset", self.low, "units", "Y's own: Y ≈ WH for the W and H that are written");
        }
        let text = format!("Y's own: Y ≈ {} + WH for the W and H that are written", short(self.low));
        summary.add("offset", self.low, "units", text);
    }
}

impl Factorize {
    /// The loss of Y, wherever and however it is stored.
    pub(super) fn fit<S: Real>(
        &self,
        inputs: &mut Inputs,
        names: &mut Names,
        summary: &mut Summary,
    ) -> Result<(Fit<S>, Units), Error> {
        if self.loss == Loss::Squares {
            let (loss, units) = self.squares(inputs, names, summary)?;
            return Ok((Fit::Squares(loss), units));
        }
        if self.mask.is_some() || self.memory.is_some() {
            return Err(Error::option(
                "loss",
                "counts, and yes and no, go without --mask and --memory: leave entries out of Y",
            ));
        }
        let y = match self.entries(inputs, names, summary)? {
            Some(y) => y,
            None => stored(&inputs.matrix(&self.input)?, self.loss == Loss::Logistic),
        };
        let (rows, cols, known) = (y.rows(), y.cols(), y.len());
        self.expect_rank(rows, cols)?;
        let others = if self.loss == Loss::Poisson { "the others 0" } else { "the others unknown" };
        summary.add("shape", vec![rows, cols], "matrix", format!("{rows}×{cols}: {known} entries, {others}"));
        summary.silent("entries", known);
        let loss = match self.loss {
            Loss::Logistic => factorize::logistic_loss(y.map(S::of), self.rank, self.ridge_h)?,
            _ => factorize::poisson_loss(y.map(S::of), self.rank, self.ridge_h)?,
        };
        Ok((Fit::Entries(loss), Units::SAME))
    }

    /// The entries of a file that stores entries alone, or of a list.
    fn entries(
        &self,
        inputs: &mut Inputs,
        names: &mut Names,
        summary: &mut Summary,
    ) -> Result<Option<Csr<f64>>, Error> {
        if !self.list {
            return inputs.sparse(&self.input);
        }
        let list = inputs.list(&self.input, &self.fields, self.duplicates.into())?;
        summary.text("list", "list", list.fields.told());
        ratings::tell_repeated(list.repeated, summary);
        *names = Names { rows: Some(list.rows), columns: Some(list.columns) };
        Ok(Some(list.matrix))
    }

    fn squares<S: Real>(
        &self,
        inputs: &mut Inputs,
        names: &mut Names,
        summary: &mut Summary,
    ) -> Result<(Factorization<S>, Units), Error> {
        if let Some(found) = self.on_disk(inputs, summary)? {
            return Ok(found);
        }
        if self.mask.is_none()
            && let Some(y) = self.entries(inputs, names, summary)?
        {
            if (y.len() as f64) < FULL * y.rows() as f64 * y.cols() as f64 {
                return self.sparse(y, summary);
            }
            return self.dense(whole(&y), inputs, summary);
        }
        let matrix = inputs.matrix(&self.input)?;
        self.dense(matrix, inputs, summary)
    }

    pub(super) fn expect_rank(&self, rows: usize, cols: usize) -> Result<(), Error> {
        if (1..=rows.min(cols)).contains(&self.rank) {
            return Ok(());
        }
        let message = format!("{} does not fit a {rows}×{cols} matrix: choose 1 to {}", self.rank, rows.min(cols));
        Err(Error::option("rank", message))
    }

    fn sparse<S: Real>(&self, mut y: Csr<f64>, summary: &mut Summary) -> Result<(Factorization<S>, Units), Error> {
        let (rows, cols, stored) = (y.rows(), y.cols(), y.len());
        self.expect_rank(rows, cols)?;
        let text = format!("{rows}×{cols}, sparse: {stored} entries, the others 0");
        summary.add("shape", vec![rows, cols], "matrix", text);
        summary.silent("entries", stored);
        let mut units = Units::SAME;
        if self.scale == Scaling::Minmax {
            let (low, high) = y.values().iter().fold((0.0f64, 0.0f64), |(low, high), &v| (low.min(v), high.max(v)));
            if low < 0.0 {
                let message = "minmax would make other numbers of the zeros of a sparse matrix with negative entries: \
                               use --scale none";
                return Err(Error::option("scale", message));
            }
            units = Units::between(0.0, high);
            y.values_mut().iter_mut().for_each(|v| *v /= units.width);
            scaled(summary, 0.0, high);
        }
        Ok((factorize::sparse_loss(y.map(S::of), self.rank, self.ridge_h)?, units))
    }

    fn dense<S: Real>(
        &self,
        matrix: Matrix,
        inputs: &mut Inputs,
        summary: &mut Summary,
    ) -> Result<(Factorization<S>, Units), Error> {
        let Matrix { rows, cols, mut data, .. } = matrix;
        self.expect_rank(rows, cols)?;
        let missing = data.iter().filter(|y| y.is_nan()).count();
        let missing = if missing > 0 { format!(", {missing} entries missing") } else { String::new() };
        summary.add("shape", vec![rows, cols], "matrix", format!("{rows}×{cols}{missing}"));
        let mut units = Units::SAME;
        if self.scale == Scaling::Minmax {
            let (mapped, low, high) = factorize::minmax(&data);
            data = mapped;
            units = Units::between(low, high);
            scaled(summary, low, high);
        }
        let mask = self.mask.as_ref().map(|path| inputs.mask(path, rows, cols)).transpose()?;
        let (y, mask) = (convert::<S>(&data), mask.map(|mask| convert::<S>(&mask)));
        let (rank, penalty, ridge) = (self.rank, &self.penalty, self.ridge_h);
        let loss = Factors { y: &y, mask: mask.as_deref(), rows, cols, rank, penalty, ridge }.loss()?;
        Ok((loss, units))
    }
}

pub(super) fn scaled(summary: &mut Summary, low: f64, high: f64) {
    let text = format!("from {} … {} to 0 … 1 (--scale none leaves it)", short(low), short(high));
    summary.add("scaled_from", vec![low, high], "scaled", text);
}

/// Every entry of a matrix that is nearly full.
fn whole(y: &Csr<f64>) -> Matrix {
    let (rows, cols) = (y.rows(), y.cols());
    let mut data = vec![0.0; rows * cols];
    y.iter().for_each(|(i, j, v)| data[i * cols + j] = v);
    Matrix { rows, cols, data, names: None }
}

/// The entries of a whole matrix that are there: all that are not NaN, or of counts those that are not 0.
fn stored(matrix: &Matrix, zeros: bool) -> Csr<f64> {
    let Matrix { rows, cols, data, .. } = matrix;
    let known = data.iter().enumerate().filter(|(_, y)| !y.is_nan() && (zeros || **y != 0.0));
    let known = known.map(|(at, &y)| ((at / cols) as u32, (at % cols) as u32, y));
    let none = |_, _, _: &[f64]| Err(melmo::sparse::Misfit("an entry twice".into()));
    Csr::from_entries(*rows, *cols, known, none).expect("places of a matrix")
}
