//! `melmo factorize`.

use std::path::PathBuf;

use melmo::linalg::{Into, Mat};
use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo_page::{Gallery, ImagePair};
use melmo_tasks::Solved;
use melmo_tasks::factorize::{self, Factors};

use crate::args::{Factorize, Scaling, Solving};
use crate::error::Error;
use crate::input::{Inputs, array, convert};
use crate::output::{Outputs, expect_array, part};
use crate::render::report::heatmap;
use crate::render::{Summary, short};
use crate::session::{Ready, Solve};

/// What is needed to judge and write the factors.
pub struct Kept<S> {
    y: Vec<S>,
    mask: Option<Vec<S>>,
    rows: usize,
    cols: usize,
}

impl Factorize {
    fn factors<'d, S: Real>(&'d self, kept: &'d Kept<S>) -> Factors<'d, S> {
        let Kept { y, mask, rows, cols } = kept;
        let (rank, penalty, ridge) = (self.rank, &self.penalty, self.ridge_h);
        Factors { y, mask: mask.as_deref(), rows: *rows, cols: *cols, rank, penalty, ridge }
    }
}

impl Solve for Factorize {
    type Kept = (Vec<f64>, Option<Vec<f64>>, usize, usize);

    fn solving(&self) -> &Solving {
        &self.solving
    }

    fn outputs(&self) -> Result<Vec<PathBuf>, Error> {
        self.output.iter().try_for_each(|path| expect_array(path))?;
        Ok(self.output.iter().flat_map(|path| [part(path, "W"), part(path, "H")]).collect())
    }

    fn prepare<S: Real>(&self, inputs: &mut Inputs, summary: &mut Summary) -> Result<Ready<S, Self::Kept>, Error> {
        let matrix = inputs.matrix(&self.input)?;
        let (rows, cols) = (matrix.rows, matrix.cols);
        if self.rank == 0 || self.rank > rows.min(cols) {
            let message = format!("{} does not fit a {rows}×{cols} matrix: choose 1 to {}", self.rank, rows.min(cols));
            return Err(Error::option("rank", message));
        }
        let missing = matrix.data.iter().filter(|y| y.is_nan()).count();
        let missing = if missing > 0 { format!(", {missing} entries missing") } else { String::new() };
        summary.add("shape", vec![rows, cols], "matrix", format!("{rows}×{cols}{missing}"));
        let mut data = matrix.data;
        if self.scale == Scaling::Minmax {
            let (scaled, low, high) = factorize::minmax(&data);
            data = scaled;
            let text = format!("from {} … {} to 0 … 1 (--scale none leaves it)", short(low), short(high));
            summary.add("scaled_from", vec![low, high], "scaled", text);
        }
        let mask = self.mask.as_ref().map(|path| inputs.mask(path, rows, cols)).transpose()?;
        summary.add("rank", self.rank, "rank", self.rank.to_string());
        summary.text("penalty", "penalty", format!("{} on W", self.penalty));
        let ridge = match self.ridge_h {
            0.0 => "none: F has no minimiser, (tW, H/t) with t → 0 removes the penalty and keeps the fit".into(),
            ridge => format!("{} on H", short(ridge)),
        };
        summary.add("ridge_h", self.ridge_h, "ridge", ridge);
        let mut seeded = Seeded::new(self.solving.seed);
        let (w, h): (Vec<S>, Vec<S>) = (seeded.normals(rows * self.rank), seeded.normals(self.rank * cols));
        let w = self
            .init_w
            .as_ref()
            .map_or(Ok(w), |path| Ok::<_, Error>(convert(&inputs.matrix_of(path, rows, self.rank)?)))?;
        let h = self
            .init_h
            .as_ref()
            .map_or(Ok(h), |path| Ok::<_, Error>(convert(&inputs.matrix_of(path, self.rank, cols)?)))?;
        let kept = Kept { y: convert::<S>(&data), mask: mask.as_ref().map(|mask| convert(mask)), rows, cols };
        let prepared = self.factors(&kept).prepare(w, h)?;
        Ok(Ready { prepared, kept: (data, mask, rows, cols), resolved: Vec::new() })
    }

    fn deliver<S: Real>(
        &self,
        kept: &Self::Kept,
        solved: &Solved<S>,
        outputs: &mut Outputs,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let (data, mask, rows, cols) = kept;
        let kept =
            Kept { y: convert::<S>(data), mask: mask.as_ref().map(|mask| convert(mask)), rows: *rows, cols: *cols };
        let (w, h) = (&solved.report.z, &solved.report.x[rows * self.rank..]);
        let factors = self.factors(&kept);
        if kept.mask.is_none()
            && let Some(tail) = factorize::eckart_young(&kept.y, *rows, *cols, self.rank)
        {
            let text = format!("{} (Eckart–Young: no factors of this rank fit better)", short(tail));
            summary.add("infimum", tail, "F ≥", text);
        }
        let error = factorize::relative_error(&factors, w, h)?;
        summary.add("relative_error", error, "error", format!("‖Y − WH‖²/‖Y‖² = {}", short(error)));
        let zeros = w.iter().filter(|w| **w == S::ZERO).count();
        let share = zeros as f64 / w.len() as f64;
        summary.add(
            "sparsity",
            share,
            "sparsity",
            format!("{zeros} of {} entries of W are 0 ({:.1} %)", w.len(), 100.0 * share),
        );
        if let Some(path) = &self.output {
            outputs.array(&part(path, "W"), &array(vec![*rows, self.rank], w), None)?;
            outputs.array(&part(path, "H"), &array(vec![self.rank, *cols], h), None)?;
        }
        Ok(())
    }

    fn pictures<S: Real>(&self, kept: &Self::Kept, solved: &Solved<S>) -> Vec<melmo_page::Item> {
        let (data, _, rows, cols) = kept;
        let (w, h) = (&solved.report.z, &solved.report.x[rows * self.rank..]);
        let mut product = vec![S::ZERO; rows * cols];
        S::gemm(&mut product, Into::Replace, S::ONE, Mat::new(w, *rows, self.rank), Mat::new(h, self.rank, *cols));
        let pair = heatmap("Y", &convert::<S>(data), *rows, *cols).zip(heatmap("WH", &product, *rows, *cols));
        let factors = [heatmap("W", w, *rows, self.rank), heatmap("H", h, self.rank, *cols)];
        let mut items: Vec<melmo_page::Item> = Vec::new();
        items.extend(pair.map(|(y, product)| ImagePair::new("Data and product", y, product).into()));
        items.push(Gallery::new(factors.into_iter().flatten()).title("Factors").into());
        items
    }
}
