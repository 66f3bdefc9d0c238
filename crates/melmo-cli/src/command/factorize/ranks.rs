//! `melmo factorize` on ranks: rows of Y and of W lie on them, H is everywhere.

use std::ops::Range;

use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo::smooth::Factorization;
use melmo_mpi::{Piece, Way};
use melmo_tasks::{Solved, factorize};

use super::data::{Units, scaled};
use crate::args::{Factorize, Loss, Scaling};
use crate::error::Error;
use crate::input::{Inputs, array, convert};
use crate::output::{Outputs, extension, part};
use crate::ranks::{self, Crew, Ends, OnRanks, Part};
use crate::render::{Summary, short};
use crate::rows::File;

/// What is needed to judge and write this rank's rows.
pub struct Held<S: Real> {
    fit: Factorization<S>,
    units: Units,
    piece: Piece,
}

impl Factorize {
    /// This rank's rows of Y in the units of the run, and those units.
    fn rows_of_y<S: Real>(
        &self,
        file: &File,
        held: Range<usize>,
        crew: &mut Crew,
        summary: &mut Summary,
    ) -> Result<(Vec<S>, Units), Error> {
        let (rows, cols) = file.shape();
        let (mut low, mut high, mut missing) = (f64::INFINITY, f64::NEG_INFINITY, 0usize);
        let counted = |numbers: &[f64]| {
            (low, high) = numbers.iter().fold((low, high), |(low, high), &y| (low.min(y), high.max(y)));
            missing += numbers.iter().filter(|y| y.is_nan()).count();
        };
        crew.agree(file.read(held.start, held.len(), counted).map_err(Error::from))?;
        let ((low, high), [missing]) = (crew.range(low, high)?, crew.sums([missing as f64])?);
        let missing = if missing > 0.0 { format!(", {missing} entries missing") } else { String::new() };
        summary.add("shape", vec![rows, cols], "matrix", format!("{rows}×{cols}{missing}"));
        let mut units = Units::SAME;
        if self.scale == Scaling::Minmax {
            units = Units::between(low, high);
            scaled(summary, low, high);
        }
        let mut y = Vec::with_capacity(held.len() * cols);
        file.read(held.start, held.len(), |numbers| {
            y.extend(numbers.iter().map(|y| S::of((y - units.low) / units.width)));
        })?;
        Ok((y, units))
    }

    /// The rows of W that are held here, and H: what one machine starts from.
    fn part_of_start<S: Real>(
        &self,
        inputs: &mut Inputs,
        (rows, cols): (usize, usize),
        held: Range<usize>,
    ) -> Result<[Vec<S>; 2], Error> {
        let (mut seeded, rank) = (Seeded::new(self.solving.seed), self.rank);
        let skip = |rows: usize, seeded: &mut Seeded| (0..rows * rank).map(|_| seeded.normal()).for_each(|_| ());
        skip(held.start, &mut seeded);
        let mut w: Vec<S> = seeded.normals(held.len() * rank);
        skip(rows - held.end, &mut seeded);
        let mut h: Vec<S> = seeded.normals(rank * cols);
        if let Some(path) = &self.init_w {
            let file = File::of_ranks(path)?;
            if file.shape() != (rows, rank) {
                let (found_rows, found) = file.shape();
                let message = format!("found a {found_rows}×{found} matrix; expected {rows}×{rank}");
                return Err(Error::input(path, message));
            }
            inputs.remember_file(path)?;
            w.clear();
            file.read(held.start, held.len(), |numbers| w.extend(numbers.iter().map(|&v| S::of(v))))?;
        }
        if let Some(path) = &self.init_h {
            h = convert(&inputs.matrix_of(path, rank, cols)?);
        }
        Ok([w, h])
    }
}

impl OnRanks for Factorize {
    type Held<S: Real> = Held<S>;

    fn refuse(&self) -> Result<(), Error> {
        let refused = [
            (self.list, "--list"),
            (self.mask.is_some(), "--mask"),
            (self.memory.is_some(), "--memory"),
            // Methods that run anywhere smooth a constraint, and end beside it.
            (self.nonnegative, "--nonnegative"),
            (self.loss != Loss::Squares, "--loss poisson and logistic"),
            (self.names_rows.is_some() || self.names_columns.is_some(), "--names-rows and --names-columns"),
            (self.output.as_ref().is_some_and(|path| extension(path) != "npy"), "an --output other than .npy"),
        ];
        ranks::refuse(refused)
    }

    fn part<S: Real>(
        &self,
        inputs: &mut Inputs,
        (crew, _): (&mut Crew, Ends<'_>),
        summary: &mut Summary,
    ) -> Result<Part<S, Held<S>>, Error> {
        let file = crew.agree(File::of_ranks(&self.input))?;
        let (rows, cols) = file.shape();
        crew.agree(self.expect_rank(rows, cols))?;
        crew.agree(inputs.remember_file(&self.input))?;
        let piece = Piece::of(rows, 0, crew.rank(), crew.size());
        let held = piece.held.clone();
        let (y, units) = self.rows_of_y::<S>(&file, held.clone(), crew, summary)?;
        self.tell(summary);
        // What every rank has is one rank's summand.
        let ridge = if crew.is_first() { self.ridge_h } else { 0.0 };
        let loss = factorize::dense_loss(y, None, [held.len(), cols, self.rank], ridge);
        let loss = crew.agree(loss.map_err(Error::from))?;
        let start = self.part_of_start(inputs, (rows, cols), held);
        let [w, h] = crew.agree(start)?;
        let fit = loss.clone();
        let prepared = factorize::penalised(loss, &self.penalty, w, h)?;
        Ok(Part {
            prepared,
            pieces: vec![Some(piece.clone()), None],
            way: Way::Plain,
            kept: Held { fit, units, piece },
        })
    }

    fn deliver_part<S: Real>(
        &self,
        held: &Held<S>,
        solved: &Solved<S>,
        crew: &mut Crew,
        outputs: &mut Option<Outputs>,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let Held { fit, units, piece } = held;
        let (rank, (_, cols, _)) = (self.rank, fit.shape());
        let split = piece.own.len() * rank;
        let (w, h) = (&solved.report.z[..], &solved.report.x[split..]);
        let (error, squared) = match piece.is_idle() {
            true => (Ok(0.0), 0.0),
            false => {
                let (error, squared) = (factorize::relative_error(fit, w, h), fit.data_squared());
                (error.map(|error| if squared > 0.0 { error * squared } else { error }), squared)
            }
        };
        let error = crew.agree(error.map_err(Error::from))?;
        let zeros = w.iter().filter(|w| **w == S::ZERO).count();
        let [error, squared, zeros, entries] = crew.sums([error, squared, zeros as f64, w.len() as f64])?;
        let error = if squared > 0.0 { error / squared } else { error };
        summary.add("relative_error", error, "error", format!("‖Y − WH‖²/‖Y‖² = {}", short(error)));
        let share = zeros / entries;
        let text = format!("{zeros} of {entries} entries of W are 0 ({:.1} %)", 100.0 * share);
        summary.add("sparsity", share, "sparsity", text);
        if let Some(path) = &self.output {
            units.tell(summary);
            let entries = vec![(piece.own.start * rank, w)];
            ranks::array(crew, outputs, (&part(path, "W"), ranks::is_single::<S>()), &[piece.rows, rank], &entries)?;
            let alone = outputs.as_mut().map_or(Ok(()), |outputs| {
                outputs.array(&part(path, "H"), &array(vec![rank, cols], &units.back(h)), None)
            });
            crew.agree(alone)?;
        }
        Ok(())
    }
}
