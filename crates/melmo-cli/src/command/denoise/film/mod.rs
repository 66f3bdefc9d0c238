//! Films: frames in, frames out, from a file or a pipe as YUV4MPEG2, or from a folder of pictures into another.

mod source;
mod target;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo_tasks::denoise::film::{Cleaned, Film, Part, is_cut};
use melmo_tasks::{Settings, Until};

use self::source::{Given, Next, Source};
use self::target::Target;
use crate::args::Denoise;
use crate::command::pages::Pictured;
use crate::error::Error;
use crate::input::is_standard;
use crate::job::Job;
use crate::render::{Summary, progress, say, short};
use crate::session::Done;

/// Whether IN is a film: a folder of frames, a name that says so, or a pipe that begins like one.
pub fn is_one(denoise: &Denoise) -> bool {
    let asked = denoise.format_name.as_deref() == Some(source::NAME);
    let solving = &denoise.solving;
    let waits = || {
        let until = progress::until(solving.quiet, solving.time_limit);
        progress::while_reading(&denoise.input, &until, source::waits)
    };
    denoise.input.is_dir() || source::is_film(&denoise.input) || is_standard(&denoise.input) && (asked || waits())
}

/// Denoises every frame. Status 0 when all are done, 1 when the time or Ctrl-C ended it early, 2 when the film is broken: what was done is
/// kept.
pub fn run(denoise: &Denoise, job: &Job) -> Result<ExitCode, Error> {
    expect_no_single(denoise)?;
    let solving = &denoise.solving;
    let until = progress::until(solving.quiet, solving.time_limit);
    let output = output(denoise);
    let source = Source::open(denoise, &until)?;
    if let Some(range) = source.range {
        denoise.expect_noise_within(range, &format!("samples of this film are from 0 to {range}"))?;
    }
    let target = Target::plan(denoise, &output, &source)?;
    let sized = denoise.for_shape(Some(source.shape));
    let flown = match sized.solving.precision() {
        "f32" => flow::<f32>(&sized, source, target, &until)?,
        _ => flow::<f64>(&sized, source, target, &until)?,
    };
    flown.told(denoise, job, &output)
}

/// Where the frames go.
fn output(denoise: &Denoise) -> PathBuf {
    denoise.output.clone().unwrap_or_else(|| {
        let input = &denoise.input;
        let name = |path: Option<&std::ffi::OsStr>| {
            path.map_or_else(|| "film".to_string(), |name| name.to_string_lossy().into_owned())
        };
        match is_standard(input) {
            true => input.clone(),
            false if input.is_dir() => format!("{}-denoised", name(input.file_name())).into(),
            false => format!("{}-denoised.{}", name(input.file_stem()), source::NAME).into(),
        }
    })
}

/// Refuses options that speak of one picture.
fn expect_no_single(denoise: &Denoise) -> Result<(), Error> {
    let solving = &denoise.solving;
    let given = [
        (&denoise.init, "init"),
        (&denoise.reference, "reference"),
        (&denoise.noisy_output, "noisy-output"),
        (&solving.trace, "trace"),
        (&solving.report, "report"),
        (&solving.result, "result"),
        (&solving.checkpoint, "checkpoint"),
        (&solving.save_config, "save-config"),
    ];
    let Some((_, option)) = given.into_iter().find(|(file, _)| file.is_some()) else { return Ok(()) };
    let message = format!("{} is a film, and this is for one picture", denoise.input.display());
    Err(Error::option(option, message))
}

/// A film that went through.
#[derive(Default)]
struct Flown {
    about: String,
    frames: usize,
    /// How strong the noise of the first part of each frame was.
    noise: Vec<f64>,
    penalty: String,
    /// The largest of (F − F*)/F.
    gap: Option<f64>,
    /// The time or Ctrl-C ended it.
    cut: bool,
    /// What was wrong with the film.
    failed: Option<Error>,
}

fn flow<S: Real>(denoise: &Denoise, source: Source, target: Target, until: &Until) -> Result<Flown, Error> {
    let options = melmo_tasks::denoise::Options { range: source.range, ..denoise.asked(source.shape) };
    let mut flown = Flown { about: source.about.clone(), ..Flown::default() };
    let settings = denoise.solving.settings();
    target.run(|sink| {
        let mut pass =
            Pass { film: Film::<S>::new(options), given: VecDeque::new(), settings, until, flown: &mut flown };
        let mut added = denoise.add_noise.map(|level| (level, Seeded::new(denoise.solving.seed)));
        loop {
            match source.next(until) {
                Next::Frame(frame) => {
                    pass.film.push(parts(&frame, added.as_mut()))?;
                    pass.given.push_back(*frame);
                    pass.on(false, sink)?;
                }
                Next::Over => pass.flown.cut = true,
                Next::Failed(error) => pass.flown.failed = Some(error),
                Next::End => {}
            }
            if pass.flown.cut {
                return Ok(());
            }
            if source.has_ended() {
                return pass.on(true, sink);
            }
        }
    })?;
    Ok(flown)
}

/// A frame's parts, with the noise that was asked for.
fn parts<S: Real>(frame: &Given, mut added: Option<&mut (f64, Seeded)>) -> Vec<Part<S>> {
    let mut sample = |v: f64| match &mut added {
        Some((level, seeded)) => S::of(v + *level * seeded.normal()),
        None => S::of(v),
    };
    let of = |(shape, data): ([usize; 3], Vec<f64>)| Part { shape, data: data.into_iter().map(&mut sample).collect() };
    frame.parts().into_iter().map(of).collect()
}

/// Frames on their way.
struct Pass<'a, S> {
    film: Film<S>,
    /// Those that wait, as they came.
    given: VecDeque<Given>,
    settings: Settings,
    until: &'a Until,
    flown: &'a mut Flown,
}

impl<S: Real> Pass<'_, S> {
    /// Writes the frames that can be done now: `all` that wait, where no more will come.
    fn on(&mut self, all: bool, sink: &mut target::Sink<'_>) -> Result<(), Error> {
        while !self.flown.cut {
            let _ = self.until.asked(&format!("frame {}", self.flown.frames + 1));
            let Some(cleaned) = self.film.next(all, &self.settings, self.until)? else { return Ok(()) };
            self.flown.cut = is_cut(cleaned.status);
            let Some(given) = self.given.pop_front().filter(|_| !self.flown.cut) else { return Ok(()) };
            self.flown.take(&cleaned);
            // A reader that went away early has seen enough.
            self.flown.cut = !sink.write(given.with(cleaned.parts))?;
        }
        Ok(())
    }
}

impl Flown {
    fn take<S>(&mut self, cleaned: &Cleaned<S>) {
        self.frames += 1;
        self.noise.extend(cleaned.noise.first());
        self.gap = [self.gap, cleaned.gap].into_iter().flatten().reduce(f64::max);
        if cleaned.penalty != "none" || self.penalty.is_empty() {
            self.penalty.clone_from(&cleaned.penalty);
        }
    }

    fn told(self, denoise: &Denoise, job: &Job, output: &Path) -> Result<ExitCode, Error> {
        let mut summary = Summary::default();
        summary.silent("command", job.command.clone());
        summary.text("film", "film", self.about);
        summary.add("frames", self.frames, "frames", format!("{} denoised, each by itself", self.frames));
        let ends = self.noise.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &v| (a.min(v), b.max(v)));
        if self.frames > 0 {
            let how = if denoise.noise.is_some() { "given" } else { "estimated, from frames around each" };
            let text = match ends.0 == ends.1 {
                true => format!("{} ({how})", short(ends.0)),
                false => format!("{} to {} ({how})", short(ends.0), short(ends.1)),
            };
            summary.add("noise", self.noise, "noise", text);
            summary.text("penalty", "penalty", self.penalty);
        }
        if let Some(gap) = self.gap.filter(|gap| gap.is_finite()) {
            let text = format!("every frame's energy is within {} % of its global minimum", short(100.0 * gap));
            summary.add("relative_gap", gap, "in words", text);
        }
        if self.cut || self.failed.is_some() {
            let text = format!("the film that is written ends after frame {}", self.frames);
            summary.add("unfinished", true, "unfinished", text);
        }
        let named = if is_standard(output) { "standard output".into() } else { output.display().to_string() };
        summary.add("written", vec![named.clone()], "written", named);
        if let Some(error) = &self.failed {
            say::note(&format!("melmo: error: {error}"));
        }
        let code = ExitCode::from(if self.failed.is_some() { 2 } else { u8::from(self.cut) });
        Done { summary, aside: is_standard(output), code, cut_short: self.cut }.tell(&denoise.solving)
    }
}
