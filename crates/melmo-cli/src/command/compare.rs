//! `melmo compare`: one problem, one start, several methods.

use std::process::ExitCode;
use std::time::Duration;

use melmo::real::Real;
use melmo_tasks::compare::{Contender, Line, contest};
use melmo_tasks::{Error as TaskError, Settings, Watch};

use crate::args::{Compare, Solving};
use crate::error::Error;
use crate::input::Inputs;
use crate::job::Job;
use crate::output::{Outputs, extension};
use crate::render::progress::{self, Progress, interrupted};
use crate::render::{Summary, race, report, say, trace};
use crate::session::Solve;

/// What a method may take unless told otherwise: some are the wrong tool for a problem, and would go on for hours.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Status 0 when every method had its turn, 1 when it was interrupted.
pub fn run(compare: &Compare, job: &Job) -> Result<ExitCode, Error> {
    solving!(&compare.problem, problem => match problem.solving.precision() {
        "f32" => run_in::<f32, _>(compare, problem, job),
        _ => run_in::<f64, _>(compare, problem, job),
    })
}

fn run_in<S: Real, C: Solve>(compare: &Compare, problem: &C, job: &Job) -> Result<ExitCode, Error> {
    let solving = problem.solving();
    let mut outputs = plan(compare, solving, job)?;
    let contenders = Contender::list(&compare.methods).map_err(|error| Error::option("methods", error.to_string()))?;
    // The time is each method's; preparing, which they share, has as much.
    let until = progress::until(solving.quiet, solving.time_limit);
    let (mut inputs, mut summary) = (Inputs::new(solving, false, &until), Summary::default());
    summary.silent("command", "compare");
    summary.silent("problem", job.command.clone());
    let ready = problem.prepare::<S>(&mut inputs, &mut summary)?;
    let mut settings = solving.settings();
    settings.time_limit.get_or_insert(TIME_LIMIT);
    let mut lines = Vec::new();
    for (i, contender) in contenders.iter().enumerate().take_while(|_| !interrupted()) {
        if !solving.quiet {
            say::note(&format!("{} of {}: {contender}", i + 1, contenders.len()));
        }
        lines.push(one(&ready.prepared, contender, &settings, solving));
    }
    let none = lines.iter().all(|line| line.solved.is_err());
    if none && interrupted() {
        say::note("melmo: interrupted before a method had its turn");
        return Ok(ExitCode::from(130));
    }
    if none {
        let reasons: Vec<String> = lines.iter().map(|line| format!("{}: {}", line.contender, reason(line))).collect();
        return Err(Error::option("methods", format!("none of them fits this problem. {}", reasons.join("; "))));
    }
    race::tell(&lines, &mut summary);
    let again = format!(
        "melmo compare {} --methods '{}'",
        job.line().trim_start_matches("melmo "),
        compare.methods.replace('\'', "")
    );
    if let Some(path) = &solving.trace {
        outputs.bytes(path, trace::of_all(path, &race::traces(&lines)).as_bytes())?;
    }
    if let Some(path) = &compare.chart {
        let chart = race::chart(&lines).shown(1);
        let bytes = if extension(path) == "png" { chart.png(2.0) } else { chart.svg().into_bytes() };
        outputs.bytes(path, &bytes)?;
    }
    if let Some(path) = &solving.report {
        outputs.bytes(path, race::page(&job.command, &again, &summary, &lines).as_bytes())?;
    }
    let files: Vec<String> = outputs.written.iter().map(|path| path.display().to_string()).collect();
    if !files.is_empty() {
        summary.add("written", files.clone(), "written", files.join(", "));
    }
    outputs.place()?;
    if !solving.quiet || solving.json {
        say::printed(if solving.json { summary.print(true, false) } else { race::print(&lines, &summary) })?;
    }
    Ok(ExitCode::from(u8::from(interrupted())))
}

/// The files it will write, checked; options that mean nothing here are refused.
fn plan(compare: &Compare, solving: &Solving, job: &Job) -> Result<Outputs, Error> {
    let meaningless = ["output", "out-dir", "noisy-output", "result", "checkpoint", "resume", "method", "save-config"];
    job.refuse(&meaningless, |option| match option {
        "method" => "`compare` only compares: name the methods with --methods",
        _ => "`compare` only compares: solve with the best method then",
    })?;
    if let Some(path) = &solving.trace {
        trace::expect_format(path)?;
    }
    if let Some(path) = compare.chart.as_ref().filter(|path| !["svg", "png"].contains(&extension(path).as_str())) {
        return Err(Error::option("chart", format!("`{}` ends in neither .svg nor .png", path.display())));
    }
    let planned: Vec<_> = [&solving.trace, &solving.report, &compare.chart].into_iter().flatten().cloned().collect();
    Outputs::plan(solving.force, &planned, &[])
}

fn one<S: Real>(
    prepared: &melmo_tasks::Prepared<S>,
    contender: &Contender,
    settings: &Settings,
    solving: &Solving,
) -> Line<S> {
    let limit = melmo_tasks::solve::iterations(&prepared.defaults, settings);
    let mut progress = Progress::new(solving.quiet, limit, None);
    // Charts need fewer rows than a trace, and no decomposition for each of them.
    let (trace_every, exact) = match &solving.trace {
        Some(_) => (solving.trace_every, true),
        None => (limit.div_ceil(report::ROWS).max(1), false),
    };
    let watch = Watch { watcher: Some(&mut progress), trace_every, exact, ..Watch::default() };
    let line = contest(prepared, contender, settings, watch);
    progress.finish();
    line
}

/// Why a method did not run.
pub fn reason<S: Real>(line: &Line<S>) -> String {
    line.solved.as_ref().err().map(TaskError::to_string).unwrap_or_default()
}
