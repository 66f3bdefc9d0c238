//! A large picture, strip by strip on all cores. The strips depend on its size alone, so the result does not depend on
//! how many threads there are.

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Mutex;

use indicatif::ProgressBar;
use melmo::drive::Observer;
use melmo::real::Real;
use melmo::solver::{Info, Solver};
use melmo::threads;
use melmo_tasks::denoise::{Plan, Planes, Strip};
use melmo_tasks::{Ended, Error as TaskError, Settings, Until, Watch, solve};

use crate::args::Denoise;
use crate::command::denoise::Kept;
use crate::command::denoise::words::Rest;
use crate::error::Error;
use crate::job::Job;
use crate::output::Outputs;
use crate::picture::Picture;
use crate::render::progress::{self, interrupted};
use crate::render::{Summary, say, seconds, short};
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
pub fn run(
    denoise: &Denoise,
    job: &Job,
    mut picture: Picture,
    reference: Option<Picture>,
    until: &Until,
) -> Result<ExitCode, Error> {
    let solving = &denoise.solving;
    let mut outputs = Outputs::plan(solving.force, &denoise.outputs()?, &[])?;
    if let Some(path) = &solving.save_config {
        outputs.bytes(path, job.to_toml().as_bytes())?;
    }
    let mut summary = Summary::default();
    summary.silent("command", job.command.clone());
    let data = picture.together::<f32>();
    let plan =
        Plan::new(Planes::new(&data, picture.rows, picture.cols, picture.planes.len())?, &denoise.options(&picture))?;
    denoise.tell(&picture, &plan, &mut summary);
    let begun = std::time::Instant::now();
    let Solved { image, steps, ended, worst, rest } = solved(denoise, &plan, until)?;
    let strips = plan.strips().len();
    let (why, done) = match ended {
        Ended::Interrupted => ("; interrupted: the picture so far is kept", false),
        Ended::NotFinite => ("; a number was not finite: the last good points are kept", false),
        Ended::Time => ("; time is up: the picture so far is kept", true),
        _ => ("", true),
    };
    let time = seconds(begun.elapsed().as_secs_f64());
    let text = match strips {
        0 => "none: there is no noise to remove".into(),
        _ => format!("{steps} in {strips} strips, {time}{why}"),
    };
    summary.add("iterations", steps, "steps", text);
    summary.silent("strips", strips);
    summary.silent("status", ended.name());
    if let Some([dual_norm, gap]) = worst {
        let text = format!(
            "every strip by itself is stationary to {}, Tx within {}; blends of two strips are not certified: --epsilon solves \
             the picture in one piece",
            short(dual_norm),
            short(gap)
        );
        summary.add("strip_dual_norm", dual_norm, "certificate", text);
        summary.silent("strip_prox_gap", gap);
    }
    rest.into_iter().for_each(|rest| rest.tell(&mut summary));
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
    outputs.place(|_| Ok(()))?;
    if !solving.quiet || solving.json {
        say::printed(summary.print(solving.json))?;
    }
    Ok(ExitCode::from(u8::from(!done)))
}

/// What came of all strips together.
struct Solved {
    image: Vec<f32>,
    steps: u64,
    /// The worst of their endings.
    ended: Ended,
    /// The largest numbers of their certificates.
    worst: Option<[f64; 2]>,
    /// The same for a pixel.
    rest: Option<Rest>,
}

/// One strip's steps, ending and certificate.
type End = (u64, Ended, Option<[f64; 2]>, Option<Rest>);

fn solved(denoise: &Denoise, plan: &Plan<'_, f32>, until: &Until) -> Result<Solved, Error> {
    let settings = denoise.solving.settings();
    let out = Mutex::new(plan.blank());
    let bar = progress::bar(denoise.solving.quiet, 0);
    let one = |strip: &Strip| -> Result<End, TaskError> {
        let prepared = plan.prepare(strip)?;
        bar.inc_length(melmo_tasks::solve::iterations(&prepared.defaults, &settings));
        let mut steps = Steps(&bar);
        // The time is that of all strips together.
        let settings = Settings { time_limit: until.left(), ..settings.clone() };
        let found = solve(&prepared, &settings, Watch { watcher: Some(&mut steps), ..Watch::default() })?;
        // Where two strips meet their shares are added; the sum of two numbers does not depend on who comes first.
        plan.place(&mut out.lock().unwrap_or_else(std::sync::PoisonError::into_inner), strip, &found.report.x);
        let certificate = found.report.certificate.as_ref();
        let numbers = certificate.map(|c| [c.dual_norm.upper, c.prox_gap]);
        let rest = certificate.and_then(|c| Rest::of(c, found.report.x.len(), plan.scale()));
        Ok((found.report.info.k.saturating_sub(1), found.ended, numbers, rest))
    };
    let ends: Vec<End> = threads::map(plan.strips().iter(), one).into_iter().collect::<Result<_, _>>()?;
    bar.finish_and_clear();
    let image = out.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let any = |wanted: Ended| ends.iter().any(|(_, ended, ..)| *ended == wanted).then_some(wanted);
    let ended = any(Ended::NotFinite).or(any(Ended::Interrupted)).or(any(Ended::Time)).unwrap_or(Ended::Iterations);
    let larger = |a: [f64; 2], b: [f64; 2]| [a[0].max(b[0]), a[1].max(b[1])];
    let worst = ends.iter().map(|(.., numbers, _)| *numbers).reduce(|a, b| Some(larger(a?, b?))).flatten();
    let rest = ends.iter().map(|(.., rest)| *rest).reduce(|a, b| Some(a?.or(b?))).flatten();
    Ok(Solved { image, steps: ends.iter().map(|(steps, ..)| steps).sum(), ended, worst, rest })
}
