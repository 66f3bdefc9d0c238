//! Y on disk: its rows are read in blocks, in every pass, where it would not fit into the memory that was allowed.

use std::path::Path;
use std::sync::Arc;

use melmo::real::Real;
use melmo::smooth::{Factorization, Rows};
use melmo_tasks::factorize;

use super::data::{Units, scaled};
use crate::args::{Factorize, Scaling};
use crate::error::Error;
use crate::input::Inputs;
use crate::render::{Summary, bytes, say};
use crate::rows::File;

/// Vectors of the size of (W, H) that a run holds at a time, its certificate included; a generous count.
const VECTORS: usize = 28;
/// What else the program needs, in bytes.
const PROGRAM: usize = 48 << 20;
/// Blocks of rows that are there at a time: one for the solver's products, and two each, rows and their residual, for its loss, its
/// certificate and the error at the end; and one to spare.
const BLOCKS: usize = 8;
/// Larger blocks are not faster.
const BLOCK: usize = 24 << 20;

/// The rows of a file in the units of the run.
#[derive(Debug)]
struct OnDisk {
    file: File,
    height: usize,
    units: Units,
}

impl<S: Real> Rows<S> for OnDisk {
    fn shape(&self) -> (usize, usize) {
        self.file.shape()
    }

    fn height(&self) -> usize {
        self.height
    }

    fn read(&self, first: usize, to: &mut [S]) -> bool {
        let (mut at, cols) = (0, self.file.shape().1);
        let read = self.file.read(first, to.len() / cols, |numbers| {
            let part = &mut to[at..at + numbers.len()];
            part.iter_mut().zip(numbers).for_each(|(to, &y)| *to = S::of((y - self.units.low) / self.units.width));
            at += numbers.len();
        });
        if let Err(error) = &read {
            say::note(&format!("melmo: error: {error}"));
        }
        read.is_ok()
    }
}

impl Factorize {
    /// The rows of a block where Y has to stay on disk; none where all of it fits into the memory that was allowed, or where
    /// nothing was said about memory.
    fn height<S: Real>(&self, path: &Path, file: &File) -> Result<Option<usize>, Error> {
        let Some(allowed) = self.memory else { return Ok(None) };
        let ((rows, cols), number) = (file.shape(), size_of::<S>());
        let fixed = PROGRAM + VECTORS * (rows + cols) * self.rank * number;
        // Read as it is, converted, scaled, and kept.
        let whole = rows.saturating_mul(cols).saturating_mul(2 * size_of::<f64>() + 2 * number);
        if fixed.saturating_add(whole) <= allowed {
            return Ok(None);
        }
        let (row, fixed) = (cols * number, fixed.saturating_add(file.memory()));
        let height = allowed.saturating_sub(fixed).min(BLOCKS * BLOCK) / (BLOCKS * row);
        if height == 0 {
            let least = bytes(fixed + BLOCKS * row);
            let message = format!(
                "{} is less than factors of rank {} of a {rows}×{cols} matrix need, even with one row of {} at a time: {least}; \
                 allow more, or ask for a lower rank or --precision f32{}",
                bytes(allowed),
                self.rank,
                path.display(),
                match file.memory() {
                    0 => String::new(),
                    groups => format!("; {} of it are for one group of rows: write smaller ones", bytes(groups)),
                }
            );
            return Err(Error::option("memory", message));
        }
        Ok(Some(height.min(rows)))
    }

    /// The loss of a Y that stays on disk; none where it need not.
    pub(super) fn on_disk<S: Real>(
        &self,
        inputs: &mut Inputs,
        summary: &mut Summary,
    ) -> Result<Option<(Factorization<S>, Units)>, Error> {
        let path = &self.input;
        let Some(file) = self.memory.map(|_| File::open(path)).transpose()?.flatten() else { return Ok(None) };
        let (rows, cols) = file.shape();
        self.expect_rank(rows, cols)?;
        let Some(height) = self.height::<S>(path, &file)? else { return Ok(None) };
        if self.mask.is_some() {
            return Err(Error::option("mask", "does not go with a Y that is read in blocks: allow more --memory"));
        }
        inputs.remember_file(path)?;
        let text = format!("{rows}×{cols}, on disk: {height} rows at a time");
        summary.add("shape", vec![rows, cols], "matrix", text);
        summary.silent("rows_at_a_time", height);
        let mut units = Units::SAME;
        if self.scale == Scaling::Minmax {
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            file.read(0, rows, |numbers| {
                (low, high) = numbers.iter().fold((low, high), |(low, high), &y| (low.min(y), high.max(y)));
            })?;
            units = Units::between(low, high);
            scaled(summary, low, high);
        }
        let source = Arc::new(OnDisk { file, height, units });
        Ok(Some((factorize::loss_of_rows(source, self.rank, self.ridge_h)?, units)))
    }
}
