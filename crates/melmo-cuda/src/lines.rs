//! The norms of rows and columns: what the geometries `row` and `column` need besides sums.

use melmo::geometry::{BlockNorm, Norm};
use melmo::real::Real;

use crate::device::{Device, Point};
use crate::machine::{Address, Args, Kernel, Machine};

/// Entries of a part of a line: `PART` in `kernels/lines.cu`.
const PART: usize = 256;

/// Where sums over parts and norms are kept, in numbers of 8 bytes.
pub(crate) struct Lines {
    parts: u64,
    /// Of the last oracle call: what a step needs.
    pub(crate) norms: u64,
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
        self.parts.is_empty() && matches!(self.norms[0].norm, Norm::Row | Norm::Column)
    }

    /// Room for the norms of a block's lines.
    pub(crate) fn room_for_lines(&mut self, norm: &BlockNorm) -> Lines {
        let (lines, length) = shape(norm);
        let parts = self.raw(lines * length.div_ceil(PART) * 8);
        Lines { parts, norms: self.raw(lines * 8), others: self.raw(lines * 8) }
    }

    /// Σ ‖xₗ‖₂ over the lines l; the norms are kept for a step where x is the gradient that it goes along.
    pub(crate) fn measure_lines(&mut self, x: &Point, for_step: bool) -> f64 {
        let Some(lines) = self.lines.take() else { return f64::NAN };
        let norm = self.norms[0].clone();
        let sum = self.measure_lines_at(&norm, &lines, self.at(x), for_step);
        self.lines = Some(lines);
        sum
    }

    /// The same in a block that starts at an address.
    pub(crate) fn measure_lines_at(&mut self, norm: &BlockNorm, at: &Lines, x: Address, for_step: bool) -> f64 {
        let parts = at.parts;
        let norms = if for_step { at.norms } else { at.others };
        let (lines, length) = shape(norm);
        let (rows, cols) = (norm.block.rows as i64, norm.block.cols as i64);
        let count = length.div_ceil(PART);
        let args = Args { x, rows, cols, parts, norms, ..Args::default() };
        let kernel = if norm.norm == Norm::Row { Kernel::RowParts } else { Kernel::ColumnParts };
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
        roundings(&self.norms[0])
    }
}

/// The same of a block.
pub(crate) fn roundings(norm: &BlockNorm) -> f64 {
    let (lines, length) = shape(norm);
    (PART + length.div_ceil(PART) + lines.div_ceil(256 * 256) + 40) as f64
}
