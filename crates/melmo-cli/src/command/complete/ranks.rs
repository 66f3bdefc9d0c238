//! `melmo complete` on ranks: rows of the known entries and of W lie on them, H is everywhere.

use melmo::real::Real;
use melmo_data::Csr;
use melmo_mpi::{Piece, Way};
use melmo_tasks::Solved;
use melmo_tasks::complete::{Offsets, Plan, Rows, Score, given};

use super::{describe_model, scored};
use crate::args::{Complete, OffsetSteps};
use crate::error::Error;
use crate::input::Inputs;
use crate::output::{Outputs, extension};
use crate::ranks::{self, Crew, Ends, Lines, OnRanks, Part, is_lines};
use crate::render::{Summary, progress, short};
use crate::rows::File;

/// What is needed to judge and write this rank's rows.
pub struct Held {
    /// The entries of its own rows.
    known: Csr<f64>,
    cols: usize,
    piece: Piece,
    offsets: Offsets,
    plan: Plan,
}

impl Complete {
    /// The known entries of this rank's rows, and the sides of the whole.
    fn entries_of_rows(&self, inputs: &Inputs, crew: &mut Crew) -> Result<(Csr<f64>, [usize; 2]), Error> {
        let size = crew.size();
        let share = |rows: usize, rank: usize| melmo_mpi::share(rows, rank, size);
        if is_lines(&self.input) {
            let Lines { shape: (rows, cols), matrix, .. } = Lines::read(&self.input, &inputs.limits(), share, crew)?;
            return Ok((matrix, [rows, cols]));
        }
        let file = crew.agree(File::of_ranks(&self.input))?;
        let (rows, cols) = file.shape();
        let own = share(rows, crew.rank());
        let (mut at, mut known) = (0, Vec::new());
        let read = file.read(own.start, own.len(), |numbers| {
            for &value in numbers {
                if !value.is_nan() {
                    known.push(((at / cols) as u32, (at % cols) as u32, value));
                }
                at += 1;
            }
        });
        crew.agree(read.map_err(Error::from))?;
        let once = |_: usize, _: usize, values: &[f64]| Ok::<_, melmo::sparse::Misfit>(values[0]);
        let made = Csr::from_entries(own.len(), cols, known.into_iter(), once);
        let matrix = crew.agree(made.map_err(|misfit| Error::input(&self.input, misfit.to_string())))?;
        Ok((matrix, [rows, cols]))
    }

    /// Refuses entries that are not finite, and a matrix of which too little or too much is known.
    fn expect_entries(&self, known: &Csr<f64>, [rows, cols]: [usize; 2], crew: &mut Crew) -> Result<f64, Error> {
        let finite = match known.iter().find(|(.., y)| !y.is_finite()) {
            Some((_, j, y)) => Err(Error::input(&self.input, format!("{y} in column {}; expected a number", j + 1))),
            None => Ok(()),
        };
        crew.agree(finite)?;
        let [count] = crew.sums([known.len() as f64])?;
        let refused = |message: String| Err(Error::Ranks(format!("{}: {message}", self.input.display())));
        if count < 2.0 {
            return refused(format!("{count} known entries; expected at least two"));
        }
        if count == rows as f64 * cols as f64 && !self.smooth_observed {
            return refused(format!("no entry of the {rows}×{cols} matrix is missing: leave cells blank or NaN"));
        }
        Ok(count)
    }

    /// The filled matrix holds all places: refuses more than a rank may have.
    fn expect_places(&self, rows: usize, cols: usize, inputs: &Inputs) -> Result<(), Error> {
        let most = inputs.limits().of(usize::MAX);
        match self.output.is_some() && rows.saturating_mul(cols) > most {
            false => Ok(()),
            true => {
                let message = format!(
                    "{rows}×{cols} numbers are written by this rank, more than {most}: take more ranks, leave --output \
                     out, or allow more with --max-entries"
                );
                Err(Error::input(&self.input, message))
            }
        }
    }
}

impl OnRanks for Complete {
    type Held<S: Real> = Held;

    fn refuse(&self) -> Result<(), Error> {
        let chosen = self.rank.is_none() || self.ridge.is_none();
        let open = self.wanted().offsets && self.offset_weight.is_none();
        let refused = [
            (self.ratings, "--ratings"),
            (self.mask.is_some(), "--mask"),
            (self.penalty.is_some(), "a --penalty of singular values, which all rows have together,"),
            (self.holdout.is_some(), "--holdout"),
            (self.recommend.is_some(), "--recommend"),
            (self.offset_steps == OffsetSteps::Turns, "--offset-steps turns"),
            (self.output.as_ref().is_some_and(|path| extension(path) != "npy"), "an --output other than .npy"),
            (self.implicit.is_none() && chosen, "the choice of a model by held-out entries (give --rank and --ridge)"),
            (open, "the choice of --offset-weight (give it, or --offsets no)"),
        ];
        ranks::refuse(refused)?;
        self.check()
    }

    fn part<S: Real>(
        &self,
        inputs: &mut Inputs,
        (crew, _): (&mut Crew, Ends<'_>),
        summary: &mut Summary,
    ) -> Result<Part<S, Held>, Error> {
        let (known, [rows, cols]) = self.entries_of_rows(inputs, crew)?;
        crew.agree(inputs.remember_file(&self.input))?;
        let piece = Piece::of(rows, 0, crew.rank(), crew.size());
        crew.agree(self.expect_places(known.rows(), cols, inputs))?;
        let count = self.expect_entries(&known, [rows, cols], crew)?;
        let none = || Error::Ranks("the model is not given in full".into());
        let plan = given(&self.wanted(), [rows, cols])?.ok_or_else(none)?;
        let share = short((10000.0 * count / (rows as f64 * cols as f64)).round() / 100.0);
        let told = format!("{rows}×{cols}, {count} entries known ({share} %), rows on {} ranks", crew.size());
        summary.add("shape", vec![rows, cols], "matrix", told);
        summary.silent("observed", count as usize);
        describe_model(&plan, summary);
        let until = inputs.until.clone();
        let mut sum = |own: &mut [f64]| {
            let over = progress::interrupted() || crew.is_first() && until.is_over("offsets and a start");
            let mut told = [&own[..], &[f64::from(u8::from(over))]].concat();
            crew.summed(&mut told)?;
            own.copy_from_slice(&told[..own.len()]);
            Ok::<_, Error>(told[own.len()] > 0.0)
        };
        let offsets = match plan.offset_weight {
            Some(weight) => Offsets::fit_part(&known, weight, &mut sum)?,
            None => Offsets { mean: 0.0, row: vec![0.0; known.rows()], column: vec![0.0; cols] },
        };
        let rest = self.rest(&known, &offsets);
        let mut squares = [rest.values().iter().map(|y| y * y).sum()];
        sum(&mut squares)?;
        let [squares] = squares;
        let of_part = Rows { entries: &rest, rows, count: count as usize, squares };
        let start = of_part.start::<S, Error>(&plan, self.solving.seed, &mut sum)?;
        let prepared = of_part.prepare(&plan, start, crew.is_first())?;
        let held = Held { known, cols, piece: piece.clone(), offsets, plan };
        Ok(Part { prepared, pieces: vec![Some(piece), None], way: Way::Plain, kept: held })
    }

    fn deliver_part<S: Real>(
        &self,
        held: &Held,
        solved: &Solved<S>,
        crew: &mut Crew,
        outputs: &mut Option<Outputs>,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let Held { known, cols, piece, offsets, plan } = held;
        let filled = plan.completed(offsets, &solved.report.x, &solved.report.z);
        let errors = || known.iter().map(|(i, j, y)| filled.at(i, j) - y);
        let (squares, sizes) = (errors().map(|e| e * e).sum::<f64>(), errors().map(f64::abs).sum::<f64>());
        let [squares, sizes, count] = crew.sums([squares, sizes, known.len() as f64])?;
        if self.implicit.is_none() {
            let score = Score { rmse: (squares / count).sqrt(), mae: sizes / count };
            scored(summary, ["rmse_known", "mae_known"], "known", score, " where it was fitted");
        }
        if let Some(path) = &self.output {
            let mut matrix = if piece.is_idle() { Vec::new() } else { filled.matrix() };
            if !self.smooth_observed {
                known.iter().for_each(|(i, j, y)| matrix[i * cols + j] = y);
            }
            let entries = vec![(piece.own.start * cols, &matrix[..])];
            ranks::array(crew, outputs, (path, false), &[piece.rows, *cols], &entries)?;
        }
        Ok(())
    }
}

impl Complete {
    /// What is fitted to: the entries without their offsets, or confidences. A rank without rows has an empty one, which counts for
    /// nothing.
    fn rest(&self, known: &Csr<f64>, offsets: &Offsets) -> Csr<f64> {
        if known.rows() == 0 {
            return Csr::new(1, known.cols(), vec![0, 0], Vec::new(), Vec::new()).expect("it has no entry");
        }
        let mut rest = known.clone();
        let values = known.iter().map(|(i, j, y)| match self.implicit {
            Some(alpha) => alpha * y,
            None => y - offsets.at(i, j),
        });
        rest.values_mut().iter_mut().zip(values).for_each(|(rest, value)| *rest = value);
        rest
    }
}
