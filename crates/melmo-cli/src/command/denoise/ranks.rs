//! `melmo denoise` on ranks: rows of a picture, or slices of a volume, lie on them, and one of each neighbour.

use melmo::real::Real;
use melmo_data::Kind;
use melmo_mpi::{Piece, Way};
use melmo_tasks::denoise::{Grid, completed, rows};
use melmo_tasks::{PenaltyChoice, Solved};

use super::words;
use crate::args::{Denoise, Solving};
use crate::command::pages::Pictured;
use crate::error::Error;
use crate::input::Inputs;
use crate::output::{Outputs, extension};
use crate::ranks::{self, Crew, Ends, OnRanks, Part};
use crate::render::Summary;
use crate::rows::File;

/// What is needed to write this rank's rows.
pub struct Held {
    piece: Piece,
    shape: Shape,
    /// The file has single numbers: what is written has them too.
    single: bool,
}

/// A picture or a volume, as its file has it: the channels of a pixel beside one another.
#[derive(Clone)]
struct Shape {
    /// Rows, or slices, first.
    axes: Vec<usize>,
    channels: usize,
}

impl Shape {
    /// Of a file of these axes, three of which are a volume where the last is not that of colours; none where they are neither.
    fn of(axes: Vec<usize>) -> Option<Self> {
        let channels = match axes[..] {
            [_, _] | [_, _, 1] => 1,
            [_, _, 3] => 3,
            [_, _, _] => 1,
            _ => return None,
        };
        (!axes.contains(&0)).then_some(Self { axes, channels })
    }

    /// Numbers of a row, or of a slice.
    fn width(&self) -> usize {
        self.axes[1..].iter().product()
    }

    /// So many of its rows or slices.
    fn grid(&self, held: usize) -> Grid {
        match self.axes[..] {
            [_, rows, cols @ (2 | 4..)] => Grid::Volume([held, rows, cols]),
            _ => Grid::of_picture([held, self.axes[1], self.channels]),
        }
    }

    /// For people.
    fn about(&self) -> String {
        match (&self.axes[..], self.grid(1)) {
            ([slices, rows, cols], Grid::Volume(_)) => format!("{slices} slices of {rows}×{cols}"),
            _ => format!("{}×{}{}", self.axes[0], self.axes[1], if self.channels == 3 { ", colour" } else { "" }),
        }
    }

    /// Channel after channel, of rows as the file has them.
    fn planes<S: Real>(&self, samples: &[S]) -> Vec<S> {
        (0..self.channels).flat_map(|channel| samples.iter().skip(channel).step_by(self.channels)).copied().collect()
    }

    /// As the file has them, of channel after channel.
    fn samples<S: Real>(&self, planes: &[S]) -> Vec<S> {
        let pixels = planes.len() / self.channels;
        (0..planes.len()).map(|at| planes[at % self.channels * pixels + at / self.channels]).collect()
    }
}

impl Denoise {
    /// A penalty of differences of so many channels: what else is known of a picture takes all of it.
    fn penalty_on_ranks(&self, channels: usize) -> Result<PenaltyChoice, Error> {
        let needed = |what: &str| Error::Ranks(format!("{what}: on several ranks nobody sees the whole picture"));
        let penalty = self.penalty.as_ref().ok_or_else(|| needed("give --penalty, as in l1:lambda=0.1"))?;
        // Norms over channels are as much larger.
        let noise = self.noise.map(|noise| if self.isotropic { noise * (channels as f64).sqrt() } else { noise });
        completed(penalty, noise, self.strength)
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
        ranks::refuse(refused)?;
        self.penalty_on_ranks(1).map(drop)
    }

    fn part<S: Real>(
        &self,
        inputs: &mut Inputs,
        (crew, _): (&mut Crew, Ends<'_>),
        summary: &mut Summary,
    ) -> Result<Part<S, Held>, Error> {
        let file = crew.agree(File::stack_of_ranks(&self.input))?;
        let (axes, kind) = (file.axes(), file.kind());
        let shape = Shape::of(axes.clone()).filter(|_| matches!(kind, Kind::F32 | Kind::F64)).ok_or_else(|| {
            let found = format!("{}: found an array of shape {axes:?} of kind {kind:?}", self.input.display());
            let taken = "ranks take pictures, rows × columns or × 3 colours, and volumes, slices × rows × columns, of F32 or F64";
            Error::Ranks(format!("{found}; {taken}"))
        })?;
        let penalty = self.penalty_on_ranks(shape.channels)?;
        crew.agree(inputs.remember_file(&self.input))?;
        let piece = Piece::of(shape.axes[0], 1, crew.rank(), crew.size());
        let mut y: Vec<S> = Vec::with_capacity(piece.held.len() * shape.width());
        let read = file.read(piece.held.start, piece.held.len(), |numbers| y.extend(numbers.iter().map(|&v| S::of(v))));
        crew.agree(read.map_err(Error::from))?;
        let about = format!("{}, in parts on {} ranks", shape.about(), crew.size());
        let sides = if shape.axes.len() == 2 { [&shape.axes[..], &[1]].concat() } else { shape.axes.clone() };
        summary.add("shape", sides, "image", about);
        summary.text("penalty", "penalty", penalty.to_string());
        let y = if shape.channels > 1 { shape.planes(&y) } else { y };
        let prepared = rows(y, shape.grid(piece.held.len()), &penalty, self.isotropic, piece.within())?;
        let single = kind == Kind::F32;
        Ok(Part { prepared, pieces: vec![Some(piece.clone())], way: Way::Plain, kept: Held { piece, shape, single } })
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
        let (x, own) = (&solved.report.x, held.piece.own.start * held.shape.width());
        let mixed = if held.shape.channels > 1 { held.shape.samples(x) } else { Vec::new() };
        let own_rows = if mixed.is_empty() { &x[..] } else { &mixed[..] };
        ranks::array(crew, outputs, (&self.target().path, held.single), &held.shape.axes, &vec![(own, own_rows)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_of_a_pixel_lie_together_in_a_file() {
        let shape = Shape::of(vec![2, 2, 3]).unwrap();
        let samples: Vec<f64> = (0..12).map(f64::from).collect();
        let planes = shape.planes(&samples);
        assert_eq!(planes[..4], [0.0, 3.0, 6.0, 9.0]);
        assert_eq!(shape.samples(&planes), samples);
        assert!(Shape::of(vec![3]).is_none() && Shape::of(vec![0, 2]).is_none());
        let grid = |axes: &[usize]| Shape::of(axes.to_vec()).map(|shape| shape.grid(2));
        assert_eq!(grid(&[9, 4, 3]), Some(Grid::Channels([3, 2, 4])));
        assert_eq!((grid(&[9, 4]), grid(&[9, 4, 1])), (Some(Grid::Image([2, 4])), Some(Grid::Image([2, 4]))));
        assert_eq!(grid(&[9, 4, 5]), Some(Grid::Volume([2, 4, 5])));
    }
}
