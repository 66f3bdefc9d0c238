//! `melmo rpca`.

mod ranks;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use melmo::real::Real;
use melmo_page::Gallery;
use melmo_tasks::Solved;
use melmo_tasks::rpca::{self, Weights};

use crate::args::{Rpca, Solving};
use crate::checkpoint::Checkpoint;
use crate::command::frames::{self, Shape};
use crate::error::Error;
use crate::input::{Inputs, array, convert};
use crate::job::Job;
use crate::output::{Outputs, expect_array, extension, part};
use crate::render::report::{picture_within, range};
use crate::render::{Summary, progress, short};
use crate::session::{self, Ready, Solve};

/// Runs the command; single precision is plenty for a film, half the memory and half the time.
pub fn run(rpca: &Rpca, job: &Job, begun: Option<Checkpoint>) -> Result<ExitCode, Error> {
    let (mut rpca, mut inputs) = (rpca.clone(), session::inputs(&rpca.solving));
    if rpca.solving.precision.is_none()
        && frames::film(&mut inputs, &rpca.input)?.is_some_and(|size| size > rpca::LARGE)
    {
        rpca.solving.precision = Some("f32".into());
    }
    session::finish(&rpca, job, begun, inputs)?.tell(&rpca.solving)
}

/// What Y was.
pub struct Kept<S> {
    shape: Shape,
    y: Arc<Vec<S>>,
}

impl Solve for Rpca {
    type Kept<S: Real> = Kept<S>;

    fn solving(&self) -> &Solving {
        &self.solving
    }

    fn outputs(&self) -> Result<Vec<PathBuf>, Error> {
        self.output.iter().try_for_each(|path| expect_array(path))?;
        let parts = self.output.iter().flat_map(|path| [part(path, "background"), part(path, "foreground")]);
        Ok(parts.chain(self.images.clone()).collect())
    }

    fn prepare<S: Real>(&self, inputs: &mut Inputs, summary: &mut Summary) -> Result<Ready<S, Kept<S>>, Error> {
        let stack = frames::read(inputs, &self.input)?;
        let (rows, cols) = stack.shape.rows_cols();
        let shape = stack.shape;
        self.check(&shape)?;
        let y: Arc<Vec<S>> = Arc::new(convert(&stack.data));
        drop(stack.data);
        let missing = y.iter().filter(|y| y.f64().is_nan()).count();
        if missing == y.len() {
            return Err(Error::input(&self.input, "every entry is missing"));
        }
        let gaps = if missing > 0 { format!(", {missing} entries missing") } else { String::new() };
        summary.add("shape", shape.0.clone(), "matrix", shape.told() + &gaps);
        summary.silent("missing", missing);
        let open = |penalty: &melmo_tasks::PenaltyChoice| penalty.clone().or("lambda", 1.0) != *penalty;
        let mut level = 1.0;
        if open(&self.low_rank) || open(&self.sparse) {
            // Without weights there is no problem, and nothing to keep.
            let estimate = || progress::nothing_to_keep(|| rpca::noise(&y, rows, cols, &inputs.until));
            level = self.noise.map_or_else(estimate, Ok)?;
            let about = if self.noise.is_some() { "" } else { "about " };
            summary.add("noise", level, "noise", format!("{about}{}", short(level)));
        }
        let weights = Weights::choose(&self.low_rank, &self.sparse, level, rows, cols);
        summary.text("low_rank", "L", format!("{} on the singular values", weights.low_rank));
        summary.text("sparse", "S", format!("{} on the entries", weights.sparse));
        let prepared = rpca::prepare(&y, rows, cols, &weights, &inputs.until)?;
        let resolved = vec![
            ("low-rank", weights.low_rank.to_string()),
            ("sparse", weights.sparse.to_string()),
            ("precision", S::NAME.into()),
        ];
        Ok(Ready { prepared, kept: Kept { shape, y }, resolved })
    }

    fn deliver<S: Real>(
        &self,
        kept: &Kept<S>,
        solved: &Solved<S>,
        outputs: &mut Outputs,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let (rows, cols) = kept.shape.rows_cols();
        let (low_rank, sparse) = solved.report.z.split_at(rows * cols);
        let rank = rpca::rank(low_rank, rows, cols);
        summary.add("rank", rank, "rank of L", rank.map_or("unknown".into(), |rank| rank.to_string()));
        let nonzeros = sparse.iter().filter(|s| **s != S::ZERO).count();
        let share = nonzeros as f64 / sparse.len() as f64;
        let text = format!("{nonzeros} of {} entries of S are not 0 ({:.2} %)", sparse.len(), 100.0 * share);
        summary.add("nonzeros", share, "sparsity", text);
        let error = rpca::relative_error(&kept.y, low_rank, sparse);
        summary.add("relative_error", error, "error", format!("‖Y − L − S‖/‖Y‖ = {}", short(error)));
        for (name, values) in [("background", low_rank), ("foreground", sparse)] {
            if let Some(path) = &self.output {
                outputs.array(&part(path, name), &array(kept.shape.0.clone(), values), None)?;
            }
        }
        match &self.images {
            Some(folder) => outputs.folder(folder, &[], |part| write_images(part, kept, low_rank, sparse)),
            None => Ok(()),
        }
    }

    fn pictures<S: Real>(&self, kept: &Kept<S>, solved: &Solved<S>) -> Vec<melmo_page::Item> {
        // Of a film the frame in the middle.
        let middle = kept.shape.0[0] / 2;
        let (names, from, shape) = match kept.shape.frame() {
            Some(frame) => (
                ["frame", "background", "foreground"].map(|name| format!("{name} {}", middle + 1)),
                middle * frame.iter().product::<usize>(),
                frame,
            ),
            None => (["Y", "L", "S"].map(String::from), 0, [kept.shape.0[0], kept.shape.0[1], 1]),
        };
        let (low_rank, sparse) = solved.report.z.split_at(kept.y.len());
        let here = from..from + shape.iter().product::<usize>();
        // Y and L as bright as one another, S with 0 as middle grey.
        let (shades, most) = (range(&kept.y), sparse.iter().fold(0.0, |most: f64, s| most.max(s.f64().abs())));
        let images = [
            picture_within(&names[0], &kept.y[here.clone()], shape, shades),
            picture_within(&names[1], &low_rank[here.clone()], shape, shades),
            picture_within(&names[2], &sparse[here], shape, (-most, most)),
        ];
        vec![Gallery::new(images.into_iter().flatten()).title("What stays and what moves").into()]
    }
}

impl Rpca {
    /// Refuses a noise that is none, and outputs that a shape does not have.
    fn check(&self, shape: &Shape) -> Result<(), Error> {
        if self.noise.is_some_and(|level| level <= 0.0) {
            return Err(Error::option("noise", "expected a number above 0"));
        }
        let frames = shape.frame().is_some();
        match &self.output {
            Some(path) if frames && extension(path) != "npy" => {
                Err(Error::input(path, "a stack of frames has more than two axes: choose a name that ends in .npy"))
            }
            _ if self.images.is_some() && !frames => {
                Err(Error::option("images", "Y is a matrix; images are written of a stack of frames"))
            }
            _ => Ok(()),
        }?;
        let Some(folder) = self.images.as_ref().filter(|_| self.solving.force) else { return Ok(()) };
        frames::expect_folder(folder, &PARTS.map(|part| names(part, shape.0[0])).concat())
    }
}

/// The two parts of a video.
const PARTS: [&str; 2] = ["background", "foreground"];

/// The names of the frames of one of them.
fn names(part: &str, frames: usize) -> Vec<String> {
    (1..=frames).map(|at| format!("{part}-{at:04}.png")).collect()
}

/// The background with Y's range as black to white, the foreground with 0 as middle grey.
fn write_images<S: Real>(folder: &Path, kept: &Kept<S>, low_rank: &[S], sparse: &[S]) -> Result<(), Error> {
    let Some(frame) = kept.shape.frame() else { return Ok(()) };
    let known = || kept.y.iter().map(|y| y.f64()).filter(|y| !y.is_nan());
    let (low, high) = known().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), y| (l.min(y), h.max(y)));
    // Images stay as bright as they are.
    let (low, high) = if low >= 0.0 && high <= 1.0 { (0.0, 1.0) } else { (low, high.max(low + f64::MIN_POSITIVE)) };
    let most = sparse.iter().fold(f64::MIN_POSITIVE, |most, s| most.max(s.f64().abs()));
    let write = |part: &str, values: &[S], (black, white): (f64, f64)| {
        let shade = |value: &S| (value.f64() - black) / (white - black);
        let frames_of = values.chunks(frame.iter().product());
        let mut named = names(part, kept.shape.0[0]).into_iter().zip(frames_of);
        named.try_for_each(|(name, values)| frames::write(folder, &name, frame, values.iter().map(shade).collect()))
    };
    let [background, foreground] = PARTS;
    write(background, low_rank, (low, high))?;
    write(foreground, sparse, (-most, most))
}
