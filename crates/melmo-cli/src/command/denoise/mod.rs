//! `melmo denoise`: in one piece when it is watched closely or small, else strip by strip.

mod film;
mod many;
mod ranks;
mod strips;
mod volume;
mod words;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo_tasks::denoise::noise::Noise;
use melmo_tasks::denoise::{Options, Plan, Planes, Prior, View, pieces};
use melmo_tasks::{DeviceChoice, Settings, Solved, Until};

use crate::args::{Denoise, Solving};
use crate::checkpoint::Checkpoint;
use crate::command::denoise::words::Rest;
use crate::command::pages::{self, Pictured};
use crate::command::quality;
use crate::error::Error;
use crate::input::Inputs;
use crate::job::Job;
use crate::output::Outputs;
use crate::picture::Picture;
use crate::render::{Summary, progress, short};
use crate::session::{Ready, Solve};
use crate::target::Target;

/// What was solved for.
pub enum Kept<S> {
    Picture(Box<Clean<S>>),
    Volume(volume::Given),
}

/// The picture as it was solved for, and the clean one.
pub struct Clean<S> {
    picture: Picture,
    /// All planes of it, where the picture itself has let them go: in strips memory is what counts.
    given: Option<Vec<S>>,
    reference: Option<Picture>,
    /// What is known of the noise.
    noise: Noise,
    /// How the problem's numbers become samples.
    view: View,
    in_strips: bool,
    /// How long it took to prepare the problem.
    preparing: Duration,
}

impl<S: Real> Clean<S> {
    /// The picture that x is.
    fn denoised(&self, x: &[S]) -> Picture {
        let samples = self.view.image(x, &self.picture.together::<S>());
        self.picture.with(&samples, 1.0)
    }
}

/// Samples up to which double precision costs a second or two, and says more: bounds in single precision are wide.
const DOUBLE: usize = 1 << 19;

/// What a sample takes with the learned prior on one slow thread. Its first picture is not cut short: another time would be another problem.
const LEARNED_SAMPLE: Duration = Duration::from_micros(12);

/// Runs the command; single precision is plenty for a large picture, and half the memory.
pub fn run(denoise: &Denoise, job: &Job, begun: Option<Checkpoint>) -> Result<ExitCode, Error> {
    if let Some(folder) = &denoise.out_dir {
        return many::run(denoise, job, folder);
    }
    if begun.is_none() && film::is_one(denoise) {
        return film::run(denoise, job);
    }
    if denoise.format_name.as_deref() == Some("y4m") {
        return Err(Error::option("format", "`y4m` is for films: IN is none"));
    }
    pages::finish(denoise, job, begun)?.tell(&denoise.solving)
}

impl Pictured for Denoise {
    fn input(&self) -> &Path {
        &self.input
    }

    fn target(&self) -> Target {
        self.target_of()
    }

    fn is_one_problem(&self) -> bool {
        self.volume
    }

    fn for_shape(&self, shape: Option<[usize; 3]>) -> Self {
        let mut denoise = self.clone();
        if shape.is_some_and(|shape| {
            denoise.in_strips(shape) || denoise.is_large(shape) || denoise.on_gpu() && !denoise.has_goal()
        }) {
            denoise.solving.precision.get_or_insert_with(|| "f32".into());
        }
        denoise
    }

    fn speaks_of_one(&self) -> Option<&'static str> {
        let given = [(self.init.is_some(), "init"), (self.noisy_output.is_some(), "noisy-output")];
        given.into_iter().find(|(given, _)| *given).map(|(_, option)| option)
    }
}

impl Denoise {
    fn target_of(&self) -> Target {
        let name = self.format_name.as_deref();
        Target::new(&self.input, self.output.as_ref(), self.format(), name, "denoised")
    }

    /// Steps are taken on a GPU.
    fn on_gpu(&self) -> bool {
        matches!(self.solving.device, DeviceChoice::Cuda(_))
    }

    /// The run is to end at a number.
    fn has_goal(&self) -> bool {
        let Settings { epsilon, gap, target, .. } = self.solving.settings();
        epsilon.is_some() || gap.is_some() || target.is_some()
    }

    /// A picture of this shape is one for single precision with the learned prior, unless there is a goal.
    fn is_large(&self, shape: [usize; 3]) -> bool {
        let learned = self.penalty.is_none() && pieces(&self.asked(shape), shape).0 == Prior::Learned;
        learned && !self.has_goal() && shape.iter().fold(1, |n: usize, side| n.saturating_mul(*side)) > DOUBLE
    }

    /// The picture with the noise that was asked for, and the clean one.
    fn pictures(&self, inputs: &mut Inputs) -> Result<(Picture, Option<Picture>), Error> {
        let mut picture = Picture::read(inputs, &self.input)?;
        picture.expect_to_fit(&self.target())?;
        let read = |inputs: &mut Inputs, path: &PathBuf| picture.read_like(inputs, path);
        let reference = self.reference.as_ref().map(|path| read(inputs, path)).transpose()?;
        if let Some(level) = self.add_noise {
            if !(level >= 0.0 && level.is_finite()) {
                return Err(Error::option("add-noise", format!("{level}: expected a number, at least 0")));
            }
            let mut seeded = Seeded::new(self.solving.seed);
            picture.planes.iter_mut().flatten().for_each(|value| *value += level * seeded.normal());
        }
        Ok((picture, reference))
    }

    /// The problem of pictures that were read.
    fn ready<S: Real>(
        &self,
        mut picture: Picture,
        reference: Option<Picture>,
        inputs: &mut Inputs,
        summary: &mut Summary,
    ) -> Result<Ready<S, Kept<S>>, Error> {
        let data = picture.together::<S>();
        let image = Planes::new(&data, picture.rows, picture.cols, picture.planes.len())?;
        // Until there is a problem there is nothing to keep.
        let range = picture.range();
        self.expect_noise_within(range, &format!("samples of this picture spread over {range}"))?;
        if self.on_gpu() && self.prior == Some(Prior::Learned) {
            let told = "the learned prior has no kernels on a GPU: take --prior differences, or --device cpu";
            return Err(Error::option("device", told));
        }
        let plan = progress::nothing_to_keep(|| Plan::new(image, &self.options(&picture)))?;
        self.tell(&picture, &plan, summary);
        let (begun, until) = (Instant::now(), progress::until(self.solving.quiet, None));
        let in_strips = plan.strips().len() > 1 && self.in_strips([picture.rows, picture.cols, picture.planes.len()]);
        let certified = !in_strips || self.certifies(&picture);
        // Whoever asks for the constants of the problem asks for all of it.
        let in_parts_alone = !certified && plan.sums_in_strips() && !self.solving.verbose;
        let mut prepared = progress::nothing_to_keep(|| match in_parts_alone {
            true => plan.prepare(&plan.strips()[0], &until),
            false => plan.whole(&until),
        })?;
        let preparing = begun.elapsed();
        if let Some(path) = &self.init {
            let start = picture.read_like(inputs, path)?;
            prepared.start = plan.view().of_image(&start.together::<S>());
        }
        let (noise, view, strips) = (plan.found().clone(), plan.view().clone(), plan.strips().len());
        let mut resolved = Vec::new();
        if self.penalty.is_none() {
            resolved.push(("prior", plan.prior().name().into()));
        }
        if noise.is_white() {
            resolved.push(("noise", noise.level.to_string()));
        }
        if !certified {
            summary.text("uncertified", "certificate", "none: it takes memory for so large a picture; --result has it");
        }
        if in_strips {
            summary.add("strips", strips, "strips", format!("{strips}, solved one by one and faded into one another"));
        }
        if in_strips || self.on_gpu() {
            resolved.push(("precision", S::NAME.into()));
        }
        let shown = reference.is_some() || self.noisy_output.is_some() || self.solving.report.is_some();
        let given = (in_parts_alone && !shown && picture.full_range().is_some()).then(|| {
            picture.let_go();
            data
        });
        let kept = Clean { picture, given, reference, noise, view, in_strips, preparing };
        Ok(Ready { prepared, kept: Kept::Picture(Box::new(kept)), resolved })
    }

    /// The time is too short for the learned prior.
    fn is_hurried(&self, shape: [usize; 3]) -> bool {
        let samples = shape.iter().fold(1u32, |n, &side| n.saturating_mul(side.try_into().unwrap_or(u32::MAX)));
        self.solving.time_limit.is_some_and(|limit| limit < LEARNED_SAMPLE * samples)
    }

    /// What was asked for of a picture of this shape.
    fn asked(&self, shape: [usize; 3]) -> Options {
        let hurried = self.penalty.is_none() && self.is_hurried(shape);
        Options {
            penalty: self.penalty.clone(),
            prior: self.prior.or((hurried || self.on_gpu()).then_some(Prior::Differences)),
            strength: self.strength,
            isotropic: self.isotropic,
            noise: self.noise,
            ..Options::default()
        }
    }

    fn options(&self, picture: &Picture) -> Options {
        let shape = [picture.rows, picture.cols, picture.planes.len()];
        Options { range: picture.full_range(), ..self.asked(shape) }
    }

    /// Noise above all that samples can be was meant in other units: 15 for 15/255. `samples` says what they are.
    fn expect_noise_within(&self, range: f64, samples: &str) -> Result<(), Error> {
        match self.noise.filter(|noise| *noise > range) {
            None => Ok(()),
            Some(noise) => Err(Error::option("noise", format!("{noise}: {samples}; perhaps {noise}/255 is meant"))),
        }
    }

    /// What was read and chosen.
    fn tell<S: Real>(&self, picture: &Picture, plan: &Plan<'_, S>, summary: &mut Summary) {
        let shape = [picture.rows, picture.cols, picture.planes.len()];
        summary.add("shape", shape.to_vec(), "image", picture.about());
        let noise = plan.noise();
        let how = if self.noise.is_some() { "given" } else { "estimated" };
        let range = picture.range();
        let share = if range == 1.0 { String::new() } else { format!(", {:.2} % of the range", 100.0 * noise / range) };
        summary.add("noise", noise, "noise", format!("{} ({how}{share})", plan.found().words(short)));
        summary.text("penalty", "penalty", plan.penalty());
        if self.prior.is_none() && self.penalty.is_none() && plan.prior() == Prior::Differences {
            let why = match shape[2] {
                1 | 3 if self.on_gpu() => "the GPU has no kernels for the learned prior",
                1 | 3 if self.is_hurried(shape) => "the time is short",
                1 | 3 => "the picture is large",
                _ => "the learned prior is for one channel or three",
            };
            let other = match shape[2] {
                1 | 3 if self.on_gpu() => ": --device cpu has it",
                1 | 3 => ": --prior learned comes nearer to the original and takes longer",
                _ => "",
            };
            summary.text("prior", "prior", format!("differences, as {why}{other}"));
        }
    }
}

impl Solve for Denoise {
    type Kept<S: Real> = Kept<S>;

    fn solving(&self) -> &Solving {
        &self.solving
    }

    fn outputs(&self) -> Result<Vec<PathBuf>, Error> {
        let noisy = self.noisy_output.as_deref().map(Target::file);
        let all: Vec<Target> = std::iter::once(self.target()).chain(noisy).collect();
        all.iter().try_for_each(Target::expect_format)?;
        Ok(all.into_iter().map(|target| target.path).collect())
    }

    fn prepare<S: Real>(&self, inputs: &mut Inputs, summary: &mut Summary) -> Result<Ready<S, Self::Kept<S>>, Error> {
        if volume::is_one(self, inputs.look_ahead(&self.input)?) {
            return self.ready_volume(inputs, summary);
        }
        let (picture, reference) = self.pictures(inputs)?;
        self.ready(picture, reference, inputs, summary)
    }

    fn in_parts<S: Real>(
        &self,
        ready: &mut Ready<S, Self::Kept<S>>,
        settings: &Settings,
        until: &Until,
        summary: &mut Summary,
    ) -> Option<Result<Solved<S>, Error>> {
        match &mut ready.kept {
            Kept::Picture(kept) if kept.in_strips => {
                Some(self.joined((&ready.prepared, kept), settings, until, summary))
            }
            _ => None,
        }
    }

    fn deliver<S: Real>(
        &self,
        kept: &Self::Kept<S>,
        solved: &Solved<S>,
        outputs: &mut Outputs,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let certificate = solved.report.certificate.as_ref();
        let scale = match kept {
            Kept::Picture(kept) => kept.view.scale(),
            Kept::Volume(given) => given.scale(),
        };
        match certificate.and_then(words::to_the_least) {
            Some(text) => summary.text("in_words", "in words", text),
            None => {
                let rest = certificate.and_then(|c| Rest::of(c, solved.report.x.len(), scale));
                rest.into_iter().for_each(|rest| rest.tell(summary));
            }
        }
        let kept = match kept {
            Kept::Picture(kept) => kept,
            Kept::Volume(given) => return given.deliver(self, &solved.report.x, outputs, summary),
        };
        if let Some(given) = &kept.given {
            let samples = kept.view.image(&solved.report.x, given);
            return kept.picture.write_with(samples, outputs, &self.target());
        }
        let denoised = kept.denoised(&solved.report.x);
        if let Some(clean) = &kept.reference {
            quality::tell(clean, &kept.picture, &denoised, summary)?;
        }
        if let Some(path) = &self.noisy_output {
            kept.picture.write(outputs, &Target::file(path))?;
        }
        denoised.write(outputs, &self.target())
    }

    fn pictures<S: Real>(&self, kept: &Self::Kept<S>, solved: &Solved<S>) -> Vec<melmo_page::Item> {
        let Kept::Picture(kept) = kept else { return Vec::new() };
        let after = kept.denoised(&solved.report.x);
        let pair = kept.picture.preview("before").zip(after.preview("after"));
        pair.map(|(before, after)| melmo_page::ImagePair::new("Before and after", before, after).into())
            .into_iter()
            .collect()
    }
}
