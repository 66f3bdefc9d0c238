//! The norms of rows and columns: what the geometries `row` and `column` need besides sums.

use melmo::geometry::{BlockNorm, Norm};
use melmo::real::Real;

use crate::device::{Device, Point};
use crate::machine::{Args, Kernel, Machine};

/// Entries of a part of a line: `PART` in `kernels/lines.cu`.
const PART: usize = 256;

/// Where sums over parts and norms are kept, in numbers of 8 bytes.
pub(crate) struct Lines {
    parts: u64,
    /// Of the last oracle call: what a step needs.
    norms: u64,
    /// Of anything else.
    others: u64,
}

/// Lines, and entries of each.
fn shape(norm: &BlockNorm) -> (usize, usize) {
    match norm.norm {
        Norm::Row => (norm.block.rows, norm.block.cols),
        _ => (norm.block.cols, norm.block.rows),
    }
}

impl<S: Real, M: Machine> Device<'_, S, M> {
    pub(crate) fn by_lines(&self) -> bool {
        matches!(self.norms[0].norm, Norm::Row | Norm::Column)
    }

    /// Makes room for the norms of lines, where they are wanted.
    pub(crate) fn make_lines(&mut self) {
        if self.by_lines() {
            let (lines, length) = shape(&self.norms[0]);
            let parts = self.raw(lines * length.div_ceil(PART) * 8);
            self.lines = Some(Lines { parts, norms: self.raw(lines * 8), others: self.raw(lines * 8) });
        }
    }

    /// Σ ‖xₗ‖₂ over the lines l; the norms are kept for a step where x is the gradient that it goes along.
    pub(crate) fn measure_lines(&mut self, x: &Point, for_step: bool) -> f64 {
        let Some(Lines { parts, norms, others }) = self.lines else { return f64::NAN };
        let norms = if for_step { norms } else { others };
        let ((lines, length), block) = (shape(&self.norms[0]), &self.norms[0].block);
        let (rows, cols) = (block.rows as i64, block.cols as i64);
        let count = length.div_ceil(PART);
        let args = Args { x: self.at(x), rows, cols, parts, norms, ..Args::default() };
        let kernel = if self.norms[0].norm == Norm::Row { Kernel::RowParts } else { Kernel::ColumnParts };
        self.run(kernel, lines * count, args);
        self.run(Kernel::LineNorms, lines, Args { first: count as i64, count: lines as i64, ..args });
        self.results()[0]
    }

    /// y ← x − γφ/‖φ‖₂ in every line, by the norms that were measured last.
    pub(crate) fn step_by_lines(&mut self, y: &Point, x: &Point, phi: &Point, gamma: f64) {
        let Some(Lines { norms, .. }) = self.lines else { return };
        let (cols, rows) = (self.norms[0].block.cols as i64, i64::from(self.norms[0].norm == Norm::Row));
        let [y, x, d] = [y, x, phi].map(|point| self.at(point));
        let args = Args { y, x, d, a: gamma, cols, first: rows, norms, ..Args::default() };
        self.entries(Kernel::LineStep, self.plan.size(), args);
    }

    /// Roundings of a term of that sum: in its part, over parts, the root, and over lines.
    pub(crate) fn roundings_of_lines(&self) -> f64 {
        let (lines, length) = shape(&self.norms[0]);
        (PART + length.div_ceil(PART) + lines.div_ceil(256 * 256) + 40) as f64
    }
}
