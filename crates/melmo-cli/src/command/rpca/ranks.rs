//! `melmo rpca` on ranks: a video's pixels lie on them, every frame in parts; of a matrix with more rows than columns its rows.

use std::sync::Arc;

use melmo::catalogue::Lift;
use melmo::linalg::{Dense, Mat};
use melmo::real::Real;
use melmo_mpi::{Piece, Shared, Split, Way};
use melmo_tasks::rpca::{self, Start, Weights};
use melmo_tasks::{PenaltyChoice, Solved};

use crate::args::Rpca;
use crate::error::Error;
use crate::input::Inputs;
use crate::output::{Outputs, extension, part};
use crate::ranks::{self, Crew, Ends, OnRanks, Part};
use crate::render::{Summary, short};
use crate::rows::File;

/// What is needed to judge and write this rank's part.
pub struct Held<S> {
    y: Arc<Vec<S>>,
    shape: Vec<usize>,
    piece: Piece,
    split: Split,
}

/// Whether a penalty's λ is to be chosen.
fn is_open(penalty: &PenaltyChoice) -> bool {
    penalty.clone().or("lambda", 1.0) != *penalty
}

impl<S: Real> Held<S> {
    /// Entries of a line that is split.
    fn width(&self) -> usize {
        let (Split::Rows(width) | Split::Columns(width)) = self.split;
        width
    }

    /// Where the entries of this rank stand in the whole.
    fn entries<'a>(&self, own: &'a [S]) -> ranks::Entries<'a, S> {
        let Piece { own: lines, rows, .. } = &self.piece;
        match self.split {
            Split::Rows(cols) => vec![(lines.start * cols, own)],
            Split::Columns(_) if lines.is_empty() => Vec::new(),
            Split::Columns(_) => {
                own.chunks_exact(lines.len()).enumerate().map(|(at, row)| (at * rows + lines.start, row)).collect()
            }
        }
    }

    /// The number of singular values of L above rounding, by the sum of everybody's Gram matrix.
    fn rank(&self, low_rank: &[S], crew: &mut Crew) -> Result<usize, Error> {
        let (own, width) = (self.piece.own.len(), self.width());
        let numbers: Vec<f64> = low_rank.iter().map(|v| v.f64()).collect();
        let lines = match self.split {
            Split::Rows(_) => Mat::new(&numbers, own, width),
            Split::Columns(_) => Mat::new(&numbers, width, own).t(),
        };
        let mut gram = vec![0.0; width * width];
        if own > 0 {
            f64::gram(&mut gram, lines);
        }
        crew.summed(&mut gram)?;
        let (mut values, mut work) = (vec![0.0; width], vec![0.0; f64::eigenvalues_work_len(width)]);
        if !f64::eigenvalues(&mut values, &gram, width, &mut work) {
            return Ok(0);
        }
        let most = values.iter().fold(0.0f64, |most, v| most.max(*v));
        Ok(values.iter().filter(|v| **v > most * 1e-13).count())
    }
}

impl OnRanks for Rpca {
    type Held<S: Real> = Held<S>;

    fn refuse(&self) -> Result<(), Error> {
        let open = is_open(&self.low_rank) || is_open(&self.sparse);
        let refused = [
            (self.images.is_some(), "--images"),
            (self.output.as_ref().is_some_and(|path| extension(path) != "npy"), "an --output other than .npy"),
            (extension(&self.input) != "npy", "an input other than .npy"),
            (open && self.noise.is_none(), "the estimate of the noise (give --noise, or lambda= of both penalties)"),
            (self.noise.is_some_and(|noise| noise <= 0.0), "--noise of 0 or less"),
        ];
        ranks::refuse(refused)
    }

    fn part<S: Real>(
        &self,
        inputs: &mut Inputs,
        (crew, ends): (&mut Crew, Ends<'_>),
        summary: &mut Summary,
    ) -> Result<Part<S, Held<S>>, Error> {
        let file = crew.agree(File::stack_of_ranks(&self.input))?;
        crew.agree(inputs.remember_file(&self.input))?;
        let shape = file.axes();
        let (rows, cols) = file.shape();
        if !matches!(shape.len(), 2 | 3) || rows < 2 || cols < 2 {
            let found = format!("{}: found an array of shape {shape:?}", self.input.display());
            return Err(Error::Ranks(format!(
                "{found}; ranks take a matrix, or frames × rows × columns, of 2 × 2 at least"
            )));
        }
        let (rank, size) = (crew.rank(), crew.size());
        let (split, piece) = match cols >= rows {
            true => (Split::Columns(rows), Piece::of(cols, 0, rank, size).in_stretches(rows)),
            false => (Split::Rows(cols), Piece::of(rows, 0, rank, size)),
        };
        let mut y: Vec<S> = Vec::new();
        let read = file.read_part(&piece.held, split == Split::Columns(rows), |numbers| {
            y.extend(numbers.iter().map(|&v| S::of(v)));
        });
        crew.agree(read.map_err(Error::from))?;
        self.tell_on_ranks(&shape, &y, &piece, crew, summary)?;
        let weights = Weights::choose(&self.low_rank, &self.sparse, self.noise.unwrap_or(1.0), rows, cols);
        if let Some(noise) = self.noise {
            summary.add("noise", noise, "noise", format!("{} (given)", short(noise)));
        }
        summary.text("low_rank", "L", format!("{} on the singular values", weights.low_rank));
        summary.text("sparse", "S", format!("{} on the entries", weights.sparse));
        let of = |layout: &melmo::block::Layout| weights.low_rank.build(&Lift::SingularValues, layout);
        let shared: Result<Shared<S>, melmo_tasks::Error> = Shared::new(of, &piece, split, ends());
        let sides = match split {
            Split::Columns(rows) => [rows, piece.held.len()],
            Split::Rows(cols) => [piece.held.len(), cols],
        };
        let start = if split == Split::Columns(rows) { Start::Medians } else { Start::Zero };
        let y = Arc::new(y);
        let prepared = rpca::part(&y, sides, &weights, Box::new(shared?), start)?;
        let pieces = vec![Some(piece.clone()); 2];
        Ok(Part { prepared, pieces, way: Way::Shared, kept: Held { y, shape, piece, split } })
    }

    fn deliver_part<S: Real>(
        &self,
        held: &Held<S>,
        solved: &Solved<S>,
        crew: &mut Crew,
        outputs: &mut Option<Outputs>,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let z = &solved.report.z;
        let (low_rank, sparse) = z.split_at(z.len() / 2);
        let rank = held.rank(low_rank, crew)?;
        summary.add("rank", rank, "rank of L", rank.to_string());
        let nonzeros = sparse.iter().filter(|s| **s != S::ZERO).count();
        let own = if z.is_empty() { [0.0; 2] } else { rpca::squares(&held.y, low_rank, sparse) };
        let [nonzeros, entries, error, total] = crew.sums([nonzeros as f64, sparse.len() as f64, own[0], own[1]])?;
        let share = nonzeros / entries;
        let text = format!("{nonzeros} of {entries} entries of S are not 0 ({:.2} %)", 100.0 * share);
        summary.add("nonzeros", share, "sparsity", text);
        let error = if total > 0.0 { (error / total).sqrt() } else { error.sqrt() };
        summary.add("relative_error", error, "error", format!("‖Y − L − S‖/‖Y‖ = {}", short(error)));
        for (name, values) in [("background", low_rank), ("foreground", sparse)] {
            if let Some(path) = &self.output {
                let file = part(path, name);
                ranks::array(crew, outputs, (&file, ranks::is_single::<S>()), &held.shape, &held.entries(values))?;
            }
        }
        Ok(())
    }
}

impl Rpca {
    /// What was read; refuses a matrix of which nothing is known.
    fn tell_on_ranks<S: Real>(
        &self,
        shape: &[usize],
        y: &[S],
        piece: &Piece,
        crew: &mut Crew,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let missing = if piece.is_idle() { 0 } else { y.iter().filter(|y| y.f64().is_nan()).count() };
        let [missing] = crew.sums([missing as f64])?;
        if missing == shape.iter().product::<usize>() as f64 {
            return Err(Error::Ranks(format!("{}: every entry is missing", self.input.display())));
        }
        let text = match shape {
            [frames, rows, cols] => format!("{frames} frames of {rows}×{cols}"),
            _ => format!("{}×{}", shape[0], shape[1]),
        };
        let gaps = if missing > 0.0 { format!(", {missing} entries missing") } else { String::new() };
        summary.add("shape", shape.to_vec(), "matrix", format!("{text}{gaps}, on {} ranks", crew.size()));
        summary.silent("missing", missing as usize);
        Ok(())
    }
}
