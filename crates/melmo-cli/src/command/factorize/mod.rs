//! `melmo factorize`.

mod data;
mod disk;
mod fit;
mod ranks;
mod topics;

use std::path::PathBuf;

use melmo::linalg::{Into, Mat};
use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo_page::{Gallery, ImagePair};
use melmo_tasks::Solved;

use crate::args::{Factorize, Loss, Solving};
use crate::command::ratings;
use crate::error::Error;
use crate::input::{Inputs, array, convert};
use crate::output::{Outputs, expect_array, part};
use crate::render::report::heatmap;
use crate::render::{Summary, short};
use crate::session::{Ready, Solve};
use data::Units;
use fit::Fit;
use topics::Names;

/// What is needed to judge and write the factors.
pub struct Kept<S: Real> {
    fit: Fit<S>,
    units: Units,
    names: Names,
}

impl Factorize {
    fn start<S: Real>(&self, inputs: &mut Inputs, rows: usize, cols: usize) -> Result<[Vec<S>; 2], Error> {
        let mut seeded = Seeded::new(self.solving.seed);
        let mut factor = |given: &Option<PathBuf>, rows: usize, cols: usize| {
            let drawn: Vec<S> = seeded.normals(rows * cols);
            match given {
                Some(path) => Ok::<_, Error>(convert(&inputs.matrix_of(path, rows, cols)?)),
                None => Ok(drawn),
            }
        };
        Ok([factor(&self.init_w, rows, self.rank)?, factor(&self.init_h, self.rank, cols)?])
    }

    /// W ≥ 0 and H ≥ 0, as asked, or because Y holds counts.
    fn signs(&self) -> bool {
        self.nonnegative || self.loss == Loss::Poisson
    }

    fn tell(&self, summary: &mut Summary) {
        summary.add("rank", self.rank, "rank", self.rank.to_string());
        let signs = if self.signs() { ", W ≥ 0 and H ≥ 0" } else { "" };
        summary.text("penalty", "penalty", format!("{} on W{signs}", self.penalty));
        let ridge = match self.ridge_h {
            0.0 => "none: F has no minimiser, (tW, H/t) with t → 0 removes the penalty and keeps the fit".into(),
            ridge => format!("{} on H", short(ridge)),
        };
        summary.add("ridge_h", self.ridge_h, "ridge", ridge);
    }

    /// W, of which z has the zeros, and H. Entry by entry x has them too, and is nearer to the data.
    fn parts<'a, S: Real>(&self, fit: &Fit<S>, solved: &'a Solved<S>) -> (&'a [S], &'a [S]) {
        let (report, split) = (&solved.report, fit.shape().0 * self.rank);
        let (w, h) = match fit {
            Fit::Entries(_) => (&report.x, &report.x),
            Fit::Squares(_) if self.signs() => (&report.z, &report.z),
            Fit::Squares(_) => (&report.z, &report.x),
        };
        (&w[..split], &h[split..])
    }
}

impl Solve for Factorize {
    type Kept<S: Real> = Kept<S>;

    fn solving(&self) -> &Solving {
        &self.solving
    }

    fn outputs(&self) -> Result<Vec<PathBuf>, Error> {
        self.output.iter().try_for_each(|path| expect_array(path))?;
        let mut files: Vec<PathBuf> = self.output.iter().flat_map(|path| [part(path, "W"), part(path, "H")]).collect();
        files.extend(self.output.iter().filter(|_| self.list).flat_map(|path| ratings::names_files(path)));
        Ok(files)
    }

    fn prepare<S: Real>(&self, inputs: &mut Inputs, summary: &mut Summary) -> Result<Ready<S, Kept<S>>, Error> {
        let mut names = Names::default();
        let (fit, units) = self.fit(inputs, &mut names, summary)?;
        let (rows, cols, _) = fit.shape();
        let names = names.read(self, inputs, rows, cols)?;
        self.tell(summary);
        let start = self.start(inputs, rows, cols)?;
        let prepared = fit.clone().problem(self, start, inputs)?;
        Ok(Ready { prepared, kept: Kept { fit, units, names }, resolved: Vec::new() })
    }

    fn deliver<S: Real>(
        &self,
        kept: &Kept<S>,
        solved: &Solved<S>,
        outputs: &mut Outputs,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let Kept { fit, units, names } = kept;
        let ((rows, cols, rank), (w, h)) = (fit.shape(), self.parts(fit, solved));
        fit.tell(self, w, h, summary)?;
        let zeros = w.iter().filter(|w| **w == S::ZERO).count();
        let share = zeros as f64 / w.len() as f64;
        let text = format!("{zeros} of {} entries of W are 0 ({:.1} %)", w.len(), 100.0 * share);
        summary.add("sparsity", share, "sparsity", text);
        names.tell(fit, w, h, self.top, summary);
        if let Some(path) = &self.output {
            units.tell(summary);
            outputs.array(&part(path, "W"), &array(vec![rows, rank], w), None)?;
            outputs.array(&part(path, "H"), &array(vec![rank, cols], &units.back(h)), names.columns.as_deref())?;
            if let (true, Some(rows), Some(columns)) = (self.list, &names.rows, &names.columns) {
                ratings::write_names(outputs, path, [rows, columns])?;
            }
        }
        Ok(())
    }

    fn pictures<S: Real>(&self, kept: &Kept<S>, solved: &Solved<S>) -> Vec<melmo_page::Item> {
        let fit = &kept.fit;
        let ((rows, cols, rank), (w, h)) = (fit.shape(), self.parts(fit, solved));
        let mut items: Vec<melmo_page::Item> = Vec::new();
        if let Some(y) = fit.dense() {
            let mut product = vec![S::ZERO; rows * cols];
            S::gemm(&mut product, Into::Replace, S::ONE, Mat::new(w, rows, rank), Mat::new(h, rank, cols));
            let pair = heatmap("Y", y, rows, cols).zip(heatmap("WH", &product, rows, cols));
            items.extend(pair.map(|(y, product)| ImagePair::new("Data and product", y, product).into()));
        }
        let factors = [heatmap("W", w, rows, rank), heatmap("H", h, rank, cols)];
        items.push(Gallery::new(factors.into_iter().flatten()).title("Factors").into());
        items
    }
}
