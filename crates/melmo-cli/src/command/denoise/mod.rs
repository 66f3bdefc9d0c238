//! `melmo denoise`: in one piece when it is watched closely or small, else strip by strip.

mod quality;
mod strips;
mod words;

use std::cell::Cell;
use std::path::PathBuf;
use std::process::ExitCode;

use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo_tasks::Solved;
use melmo_tasks::denoise::{Options, Plan, Planes, Strip, strips as cut};

use crate::args::{Denoise, Solving};
use crate::checkpoint::Checkpoint;
use crate::command::denoise::words::Rest;
use crate::error::Error;
use crate::input::Inputs;
use crate::job::Job;
use crate::output::{Outputs, extension};
use crate::picture::Picture;
use crate::render::{Summary, say, short};
use crate::session::{self, Ready, Solve};

/// The picture as it was solved for, and the clean one.
pub struct Kept {
    picture: Picture,
    reference: Option<Picture>,
    /// The image's units for one unit of the problem's.
    scale: f64,
}

/// Runs the command in the way that fits the picture's size and what is asked for.
pub fn run(denoise: &Denoise, job: &Job, begun: Option<Checkpoint>) -> Result<ExitCode, Error> {
    let solving = &denoise.solving;
    let files = [&solving.trace, &solving.checkpoint, &solving.result, &solving.report, &denoise.init];
    let settings = solving.settings();
    let proven = settings.epsilon.is_some() || settings.gap.is_some();
    let watched = files.iter().any(|file| file.is_some()) || proven;
    let mut inputs = session::inputs(solving);
    let (picture, reference) = denoise.pictures(&mut inputs)?;
    let large = cut::strips(picture.rows, picture.cols, picture.planes.len()).len() > 1;
    let idle = denoise.is_idle(&picture)?;
    if idle && watched {
        say::note("melmo: note: nothing is solved, so that no trace, checkpoint, result or report is written");
    }
    if large && !watched || idle {
        return strips::run(denoise, job, picture, reference, &inputs.until);
    }
    session::run_with(&Whole { denoise, read: Cell::new(Some((picture, reference))) }, job, begun, inputs)
}

/// The picture in one piece, as it was read to find out its size: an input that is a pipe can be read once only.
struct Whole<'d> {
    denoise: &'d Denoise,
    read: Cell<Option<(Picture, Option<Picture>)>>,
}

impl Solve for Whole<'_> {
    type Kept = Kept;

    fn solving(&self) -> &Solving {
        &self.denoise.solving
    }

    fn outputs(&self) -> Result<Vec<PathBuf>, Error> {
        self.denoise.outputs()
    }

    fn prepare<S: Real>(&self, inputs: &mut Inputs, summary: &mut Summary) -> Result<Ready<S, Kept>, Error> {
        match self.read.take() {
            Some((picture, reference)) => self.denoise.ready(picture, reference, inputs, summary),
            None => self.denoise.prepare(inputs, summary),
        }
    }

    fn deliver<S: Real>(
        &self,
        ready: &Ready<S, Kept>,
        solved: &Solved<S>,
        outputs: &mut Outputs,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        self.denoise.deliver(ready, solved, outputs, summary)
    }

    fn pictures<S: Real>(&self, ready: &Ready<S, Kept>, solved: &Solved<S>) -> Vec<melmo_page::Item> {
        Solve::pictures(self.denoise, ready, solved)
    }
}

impl Denoise {
    /// Nothing is to be removed.
    fn is_idle(&self, picture: &Picture) -> Result<bool, Error> {
        let data = picture.together::<f64>();
        let image = Planes::new(&data, picture.rows, picture.cols, picture.planes.len())?;
        Ok(Plan::new(image, &self.options(picture))?.strips().is_empty())
    }

    /// OUT, or IN-denoised in the format of IN.
    fn target(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| {
            let stem = self.input.file_stem().map_or("image".into(), |stem| stem.to_string_lossy());
            let known = Picture::expect_format(&self.input).is_ok();
            let extension = if known { extension(&self.input) } else { "png".into() };
            PathBuf::from(format!("{stem}-denoised.{extension}"))
        })
    }

    /// The picture with the noise that was asked for, and the clean one.
    fn pictures(&self, inputs: &mut Inputs) -> Result<(Picture, Option<Picture>), Error> {
        let mut picture = Picture::read(inputs, &self.input)?;
        picture.expect_to_fit(&self.target())?;
        let read = |inputs: &mut Inputs, path: &PathBuf| picture.read_like(inputs, path);
        let reference = self.reference.as_ref().map(|path| read(inputs, path)).transpose()?;
        if let Some(sigma) = self.add_noise {
            if !(sigma >= 0.0 && sigma.is_finite()) {
                return Err(Error::option("add-noise", format!("{sigma}: expected a number, at least 0")));
            }
            let mut seeded = Seeded::new(self.solving.seed);
            picture.planes.iter_mut().flatten().for_each(|value| *value += sigma * seeded.normal());
        }
        Ok((picture, reference))
    }

    /// The problem of pictures that were read.
    fn ready<S: Real>(
        &self,
        picture: Picture,
        reference: Option<Picture>,
        inputs: &mut Inputs,
        summary: &mut Summary,
    ) -> Result<Ready<S, Kept>, Error> {
        let data = picture.together::<S>();
        let image = Planes::new(&data, picture.rows, picture.cols, picture.planes.len())?;
        let plan = Plan::new(image, &self.options(&picture))?;
        self.tell(&picture, &plan, summary);
        let whole = Strip { seen: 0..picture.rows, own: 0..picture.rows };
        let mut prepared = plan.prepare(&whole)?;
        if let Some(path) = &self.init {
            let start = picture.read_like(inputs, path)?;
            let scaled = start.together::<f64>().into_iter().map(|value| S::of(value / plan.scale()));
            prepared.start = scaled.collect();
        }
        let resolved = vec![("noise", plan.noise().to_string())];
        let scale = plan.scale();
        Ok(Ready { prepared, kept: Kept { picture, reference, scale }, resolved })
    }

    fn options(&self, picture: &Picture) -> Options {
        Options {
            penalty: self.penalty.clone(),
            prior: self.prior,
            range: Some(picture.range()),
            strength: self.strength,
            isotropic: self.isotropic,
            noise: self.noise,
        }
    }

    /// What was read and chosen.
    fn tell<S: Real>(&self, picture: &Picture, plan: &Plan<'_, S>, summary: &mut Summary) {
        summary.add("shape", vec![picture.rows, picture.cols, picture.planes.len()], "image", picture.about());
        let noise = plan.noise();
        let how = if self.noise.is_some() { "given" } else { "estimated" };
        let range = picture.range();
        let share = if range == 1.0 { String::new() } else { format!(", {:.2} % of the range", 100.0 * noise / range) };
        summary.add("noise", noise, "noise", format!("σ = {} ({how}{share})", short(noise)));
        summary.text("penalty", "penalty", plan.penalty());
    }

    /// Writes the picture, and says how near it comes to the clean one.
    fn hand_over(
        &self,
        kept: &Kept,
        denoised: &Picture,
        outputs: &mut Outputs,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        if let Some(clean) = &kept.reference {
            quality::tell(clean, &kept.picture, denoised, summary)?;
        }
        if let Some(path) = &self.noisy_output {
            kept.picture.write(outputs, path)?;
        }
        denoised.write(outputs, &self.target())
    }
}

impl Solve for Denoise {
    type Kept = Kept;

    fn solving(&self) -> &Solving {
        &self.solving
    }

    fn outputs(&self) -> Result<Vec<PathBuf>, Error> {
        let all: Vec<PathBuf> = std::iter::once(self.target()).chain(self.noisy_output.clone()).collect();
        all.iter().try_for_each(|path: &PathBuf| Picture::expect_format(path))?;
        Ok(all)
    }

    fn prepare<S: Real>(&self, inputs: &mut Inputs, summary: &mut Summary) -> Result<Ready<S, Self::Kept>, Error> {
        let (picture, reference) = self.pictures(inputs)?;
        self.ready(picture, reference, inputs, summary)
    }

    fn deliver<S: Real>(
        &self,
        ready: &Ready<S, Self::Kept>,
        solved: &Solved<S>,
        outputs: &mut Outputs,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let kept = &ready.kept;
        let rest = solved.report.certificate.as_ref().and_then(|c| Rest::of(c, solved.report.x.len(), kept.scale));
        rest.into_iter().for_each(|rest| rest.tell(summary));
        self.hand_over(kept, &kept.picture.with(&solved.report.x, kept.scale), outputs, summary)
    }

    fn pictures<S: Real>(&self, ready: &Ready<S, Self::Kept>, solved: &Solved<S>) -> Vec<melmo_page::Item> {
        let kept = &ready.kept;
        let after = kept.picture.with(&solved.report.x, kept.scale);
        let pair = kept.picture.preview("before").zip(after.preview("after"));
        pair.map(|(before, after)| melmo_page::ImagePair::new("Before and after", before, after).into())
            .into_iter()
            .collect()
    }
}
