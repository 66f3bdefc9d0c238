//! `melmo denoise` on ranks: rows of a grey picture lie on them, and one row of each neighbour.

use melmo::real::Real;
use melmo_data::Kind;
use melmo_mpi::Piece;
use melmo_tasks::denoise::{completed, rows};
use melmo_tasks::{PenaltyChoice, Solved};

use super::words;
use crate::args::{Denoise, Solving};
use crate::command::pages::Pictured;
use crate::error::Error;
use crate::input::Inputs;
use crate::output::{Outputs, extension};
use crate::ranks::{self, Crew, OnRanks, Part, refusal};
use crate::render::Summary;
use crate::rows::File;

/// What is needed to write this rank's rows.
pub struct Held {
    piece: Piece,
    cols: usize,
    /// The file has single numbers: what is written has them too.
    single: bool,
}

impl Denoise {
    /// A penalty of differences: what else is known of a picture takes all of it.
    fn penalty_on_ranks(&self) -> Result<PenaltyChoice, Error> {
        let needed = |what: &str| Error::Ranks(format!("{what}: on several ranks nobody sees the whole picture"));
        let penalty = self.penalty.as_ref().ok_or_else(|| needed("give --penalty, as in l1:lambda=0.1"))?;
        completed(penalty, self.noise, self.strength)
            .ok_or_else(|| needed("give --noise, or all parameters of --penalty, as in l1:lambda=0.1"))
    }
}

impl OnRanks for Denoise {
    type Held<S: Real> = Held;

    fn refuse(&self) -> Result<(), Error> {
        let Solving { report, .. } = &self.solving;
        let refused = [
            (self.out_dir.is_some(), "--out-dir"),
            (self.init.is_some(), "--init"),
            (self.reference.is_some(), "--reference"),
            (self.add_noise.is_some(), "--add-noise"),
            (report.is_some(), "--report of a picture"),
            (extension(&self.target().path) != "npy", "an --output other than .npy"),
        ];
        match refused.into_iter().find(|(asked, _)| *asked) {
            Some((_, what)) => Err(refusal(what)),
            None => self.penalty_on_ranks().map(drop),
        }
    }

    fn part<S: Real>(
        &self,
        inputs: &mut Inputs,
        crew: &mut Crew,
        summary: &mut Summary,
    ) -> Result<Part<S, Held>, Error> {
        let penalty = self.penalty_on_ranks()?;
        let file = crew.agree(File::of_ranks(&self.input))?;
        let (height, cols) = file.shape();
        let single = match file.kind() {
            Kind::F32 | Kind::F64 if height > 0 && cols > 0 => file.kind() == Kind::F32,
            kind => {
                let found = format!("{}: found {height}×{cols} numbers of kind {kind:?}", self.input.display());
                return Err(Error::Ranks(format!("{found}; ranks take pictures of F32 or F64")));
            }
        };
        crew.agree(inputs.remember_file(&self.input))?;
        let piece = Piece::of(height, 1, crew.rank(), crew.size());
        let mut y: Vec<S> = Vec::with_capacity(piece.held.len() * cols);
        let read = file.read(piece.held.start, piece.held.len(), |numbers| y.extend(numbers.iter().map(|&v| S::of(v))));
        crew.agree(read.map_err(Error::from))?;
        summary.add("shape", vec![height, cols, 1], "image", format!("{height}×{cols}, rows on {} ranks", crew.size()));
        summary.text("penalty", "penalty", penalty.to_string());
        let prepared = rows(y, cols, &penalty, self.isotropic, piece.within())?;
        Ok(Part { prepared, pieces: vec![Some(piece.clone())], kept: Held { piece, cols, single } })
    }

    fn deliver_part<S: Real>(
        &self,
        held: &Held,
        solved: &Solved<S>,
        crew: &mut Crew,
        outputs: &mut Option<Outputs>,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        if let Some(text) = solved.report.certificate.as_ref().and_then(words::to_the_least) {
            summary.text("in_words", "in words", text);
        }
        let entries = vec![(held.piece.own.start * held.cols, &solved.report.x[..])];
        ranks::array(crew, outputs, (&self.target().path, held.single), &[held.piece.rows, held.cols], &entries)
    }
}
