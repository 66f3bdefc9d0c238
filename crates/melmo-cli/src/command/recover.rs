//! `melmo recover`.

use std::path::PathBuf;

use melmo::real::Real;
use melmo_page::Gallery;
use melmo_tasks::{Solved, recover};

use crate::args::{Recover, Solving};
use crate::error::Error;
use crate::input::{Inputs, array, convert};
use crate::output::{Outputs, expect_array};
use crate::render::Summary;
use crate::render::report::heatmap;
use crate::session::{Ready, Solve};

impl Solve for Recover {
    /// Rows and columns.
    type Kept<S: Real> = (usize, usize);

    fn solving(&self) -> &Solving {
        &self.solving
    }

    fn outputs(&self) -> Result<Vec<PathBuf>, Error> {
        self.output.iter().try_for_each(|path| expect_array(path))?;
        Ok(self.output.iter().cloned().collect())
    }

    fn prepare<S: Real>(&self, inputs: &mut Inputs, summary: &mut Summary) -> Result<Ready<S, Self::Kept<S>>, Error> {
        let y = inputs.matrix(&self.input)?;
        let (rows, cols) = (y.rows, y.cols);
        let mask = self.mask.as_ref().map(|path| inputs.mask(path, rows, cols)).transpose()?.map(|mask| convert(&mask));
        let mut prepared = recover::prepare::<S>(&y.entries(), mask.as_deref(), rows, cols, &self.penalty)?;
        if let Some(path) = &self.init {
            prepared.start = convert(&inputs.matrix_of(path, rows, cols)?);
        }
        let observed = recover::observed(&y.entries::<S>(), mask.as_deref())?.iter().filter(|m| m.f64() > 0.0).count();
        let text = format!("{rows}×{cols}, {observed} of {} entries observed", rows * cols);
        summary.add("shape", vec![rows, cols], "matrix", text);
        summary.silent("observed", observed);
        summary.text("penalty", "penalty", self.penalty.to_string());
        Ok(Ready { prepared, kept: (rows, cols), resolved: Vec::new() })
    }

    fn deliver<S: Real>(
        &self,
        kept: &Self::Kept<S>,
        solved: &Solved<S>,
        outputs: &mut Outputs,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let z = &solved.report.z;
        let zeros = z.iter().filter(|z| **z == S::ZERO).count();
        summary.add("zeros", zeros, "zeros", format!("{zeros} of {} entries", z.len()));
        match &self.output {
            Some(path) => outputs.array(path, &array(vec![kept.0, kept.1], z), None),
            None => Ok(()),
        }
    }

    fn pictures<S: Real>(&self, kept: &Self::Kept<S>, solved: &Solved<S>) -> Vec<melmo_page::Item> {
        let &(rows, cols) = kept;
        heatmap("X", &solved.report.z, rows, cols).map(|image| Gallery::new([image]).into()).into_iter().collect()
    }
}
