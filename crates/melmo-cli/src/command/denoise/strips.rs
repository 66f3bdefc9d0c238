//! A large picture, strip by strip on all cores. The strips depend on its size alone, so the result does not depend on
//! how many threads there are.

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Mutex;

use indicatif::ProgressBar;
use melmo::drive::Observer;
use melmo::real::Real;
use melmo::solver::{Info, Solver};
use melmo_tasks::denoise::{Plan, Planes, Strip};
use melmo_tasks::{Ended, Error as TaskError, Watch, solve};
use rayon::prelude::*;

use crate::args::Denoise;
use crate::command::denoise::Kept;
use crate::error::Error;
use crate::job::Job;
use crate::output::Outputs;
use crate::picture::Picture;
use crate::render::progress::{self, interrupted};
use crate::render::{Summary, seconds};
use crate::session::Solve;

/// Counts the steps of all strips on one bar.
struct Steps<'b>(&'b ProgressBar);

impl<S: Real> Observer<S> for Steps<'_> {
    fn observe(&mut self, _: &Info, _: &mut dyn Solver<S>) -> ControlFlow<()> {
        self.0.inc(1);
        if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Runs the command; single precision is plenty for a picture, and half the memory.
pub fn run(denoise: &Denoise, job: &Job, mut picture: Picture, reference: Option<Picture>) -> Result<ExitCode, Error> {
    let solving = &denoise.solving;
    let mut outputs = Outputs::plan(solving.force, &denoise.outputs()?)?;
    if let Some(path) = &solving.save_config {
        outputs.bytes(path, job.to_toml().as_bytes())?;
    }
    let mut summary = Summary::default();
    summary.silent("command", job.command.clone());
    let data = picture.together::<f32>();
    let plan = Plan::new(Planes::new(&data, picture.rows, picture.cols, picture.planes.len())?, &denoise.options())?;
    denoise.tell(&picture, &plan, &mut summary);
    let begun = std::time::Instant::now();
    let (image, steps, all_ended) = solved(denoise, &plan)?;
    let strips = plan.strips().len();
    let why = if all_ended { "" } else { "; interrupted: the picture so far is kept" };
    let time = seconds(begun.elapsed().as_secs_f64());
    let text = match strips {
        0 => "none: there is no noise to remove".into(),
        _ => format!("{steps} in {strips} strips, {time}{why}"),
    };
    summary.add("iterations", steps, "steps", text);
    summary.silent("strips", strips);
    summary.silent("status", if all_ended { "iterations" } else { "interrupted" });
    summary.silent("seconds", begun.elapsed().as_secs_f64());
    if reference.is_some() || denoise.noisy_output.is_some() {
        let denoised = picture.with(&image, 1.0);
        denoise.hand_over(&Kept { picture, reference, scale: 1.0 }, &denoised, &mut outputs, &mut summary)?;
    } else {
        // Nobody asks for the noisy picture again.
        picture.fill(&image, 1.0);
        picture.write(&mut outputs, &denoise.target())?;
    }
    let files: Vec<String> = outputs.written.iter().map(|path| path.display().to_string()).collect();
    summary.add("written", files.clone(), "written", files.join(", "));
    if !solving.quiet || solving.json {
        // A reader that went away early has seen enough.
        let _ = summary.print(solving.json);
    }
    Ok(ExitCode::from(u8::from(!all_ended)))
}

/// The image, the steps of all strips, and whether all of them came to their end.
fn solved(denoise: &Denoise, plan: &Plan<'_, f32>) -> Result<(Vec<f32>, u64, bool), Error> {
    let settings = denoise.solving.settings();
    let out = Mutex::new(plan.blank());
    let bar = progress::bar(denoise.solving.quiet, 0);
    let one = |strip: &Strip| -> Result<(u64, Ended), TaskError> {
        let prepared = plan.prepare(strip)?;
        bar.inc_length(melmo_tasks::solve::iterations(&prepared.defaults, &settings));
        let mut steps = Steps(&bar);
        let found = solve(&prepared, &settings, Watch { watcher: Some(&mut steps), ..Watch::default() })?;
        // Where two strips meet their shares are added; the sum of two numbers does not depend on who comes first.
        plan.place(&mut out.lock().unwrap_or_else(std::sync::PoisonError::into_inner), strip, &found.report.x);
        Ok((found.report.info.k.saturating_sub(1), found.ended))
    };
    let ends: Vec<(u64, Ended)> = plan.strips().par_iter().map(one).collect::<Result<_, _>>()?;
    bar.finish_and_clear();
    let image = out.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let all_ended = ends.iter().all(|(_, ended)| *ended != Ended::Interrupted);
    Ok((image, ends.iter().map(|(steps, _)| steps).sum(), all_ended))
}
