//! A solving command from beginning to end: read, prepare, solve, deliver, tell.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use melmo::certificate::Certificate;
use melmo::drive::{Rose, Status};
use melmo::guarantee::Facts;
use melmo::real::Real;
use melmo_tasks::{Prepared, Settings, Solved, Until, Watch, solve};

use crate::args::Solving;
use crate::checkpoint::{self, Checkpoint, Header};
use crate::error::Error;
use crate::input::{Inputs, is_standard};
use crate::job::Job;
use crate::output::Outputs;
use crate::render::progress::{self, Progress, interrupted};
use crate::render::{Summary, report, say, seconds, short, trace};
use crate::result::{self, Kept, Saved};
use crate::statement::Statement;

/// A command that solves one problem.
pub trait Solve {
    /// What `deliver` needs of what `prepare` read.
    type Kept<S: Real>;

    /// The options that all solving commands share.
    fn solving(&self) -> &Solving;

    /// The files it will write.
    fn outputs(&self) -> Result<Vec<PathBuf>, Error>;

    /// Reads the inputs and builds the problem; what it read and chose goes to the summary.
    fn prepare<S: Real>(&self, inputs: &mut Inputs, summary: &mut Summary) -> Result<Ready<S, Self::Kept<S>>, Error>;

    /// Solves what is solved in parts; none where it is solved in one piece. What became of the parts goes to the summary. What is kept for
    /// that alone may be let go.
    fn in_parts<S: Real>(
        &self,
        _ready: &mut Ready<S, Self::Kept<S>>,
        _settings: &Settings,
        _until: &Until,
        _summary: &mut Summary,
    ) -> Option<Result<Solved<S>, Error>> {
        None
    }

    /// Writes what came out, and says how good it is.
    fn deliver<S: Real>(
        &self,
        kept: &Self::Kept<S>,
        solved: &Solved<S>,
        outputs: &mut Outputs,
        summary: &mut Summary,
    ) -> Result<(), Error>;

    /// The result as pictures, for a report.
    fn pictures<S: Real>(&self, _kept: &Self::Kept<S>, _solved: &Solved<S>) -> Vec<melmo_page::Item> {
        Vec::new()
    }
}

/// A problem, what is kept for its delivery, and the options that were chosen along the way.
pub struct Ready<S: Real, K> {
    pub prepared: Prepared<S>,
    pub kept: K,
    pub resolved: Vec<(&'static str, String)>,
}

/// Runs a command in the precision it asks for, from where it stood where it has `begun`.
pub fn run<C: Solve>(command: &C, job: &Job, begun: Option<Checkpoint>) -> Result<ExitCode, Error> {
    finish(command, job, begun, inputs(command.solving()))?.tell(command.solving())
}

/// A run whose files are in place, and what is to be said of it.
pub struct Done {
    pub summary: Summary,
    /// Standard output was taken for a picture: the summary goes aside.
    pub aside: bool,
    pub code: ExitCode,
    /// Ctrl-C, or the end of its time, cut it short.
    pub cut_short: bool,
}

impl Done {
    /// Prints the summary, unless nobody wants one.
    pub fn tell(self, solving: &Solving) -> Result<ExitCode, Error> {
        if !solving.quiet || solving.json {
            say::printed(self.summary.print(solving.json, self.aside))?;
        }
        Ok(self.code)
    }
}

/// Runs a command, with inputs of which some may have been read, and prints no summary: that is for whoever called.
pub fn finish<C: Solve>(command: &C, job: &Job, begun: Option<Checkpoint>, inputs: Inputs) -> Result<Done, Error> {
    let mut outputs = plan(command, begun.as_ref())?;
    finish_into(command, job, begun, inputs, &mut outputs)
}

/// The same, with outputs that were planned and perhaps have parts of what they will be.
pub fn finish_into<C: Solve>(
    command: &C,
    job: &Job,
    begun: Option<Checkpoint>,
    inputs: Inputs,
    outputs: &mut Outputs,
) -> Result<Done, Error> {
    match command.solving().precision() {
        "f32" => run_in::<f32, C>(command, job, begun, inputs, outputs),
        _ => run_in::<f64, C>(command, job, begun, inputs, outputs),
    }
}

/// What a run reads with: until Ctrl-C or the end of its time, which begins now.
pub fn inputs(solving: &Solving) -> Inputs {
    let known_again = solving.checkpoint.is_some() || solving.result.is_some();
    Inputs::new(solving, known_again, &progress::until(solving.quiet, solving.time_limit))
}

fn run_in<S: Real, C: Solve>(
    command: &C,
    job: &Job,
    begun: Option<Checkpoint>,
    mut inputs: Inputs,
    outputs: &mut Outputs,
) -> Result<Done, Error> {
    let solving = command.solving();
    if let Some(path) = &solving.save_config {
        outputs.bytes(path, job.to_toml().as_bytes())?;
    }
    let mut summary = Summary::default();
    summary.silent("command", job.command.clone());
    if let Some(caveat) = begun.as_ref().and_then(Checkpoint::caveat) {
        say::note(&format!("melmo: note: {caveat}"));
        summary.text("resumed", "resumed", caveat);
    }
    let mut ready = command.prepare::<S>(&mut inputs, &mut summary)?;
    inputs.tell(&mut summary);
    // What reading and preparing took is no longer there for the solver.
    let settings = Settings { time_limit: inputs.until.left(), ..solving.settings() };
    // What an earlier run was about to put in place may be there until this one has ended.
    let placed = begun.as_ref().map_or_else(Vec::new, |begun| begun.header.placed.clone());
    let header = Header { placed, ..Header::new::<S>(job, &ready.resolved, inputs.sources) };
    let solved = match command.in_parts(&mut ready, &settings, &inputs.until, &mut summary) {
        Some(solved) => solved?,
        None => watched(&ready.prepared, &settings, solving, &header, begun)?,
    };
    let Ready { prepared, kept, resolved } = ready;
    told(prepared.optimum, prepared.problem.facts(), &solved, solving, &mut summary);
    // The problem of a large picture is larger than the picture: what is written needs the room.
    drop(prepared);
    // A rank or a bound that takes a decomposition is not waited for where the run had to end.
    solved.report.patience().run(|| command.deliver(&kept, &solved, outputs, &mut summary))?;
    if let Some(path) = &solving.trace {
        outputs.bytes(path, trace::render(path, &solved.report.trace).as_bytes())?;
    }
    if let Some(path) = &solving.report {
        let pictures = command.pictures(&kept, &solved);
        outputs.bytes(path, report::page(job, &summary, &solved, pictures).as_bytes())?;
    }
    let named = |path: &PathBuf| if is_standard(path) { "standard output".into() } else { path.display().to_string() };
    let files: Vec<String> = outputs.written.iter().map(named).collect();
    if !files.is_empty() {
        summary.add("written", files.clone(), "written", files.join(", "));
    }
    if let (Some(folder), None) = (&solving.result, &solved.report.certificate) {
        say::note(&format!("melmo: warning: {} was not written: a result needs a certificate", folder.display()));
    }
    if let (Some(folder), Some(certificate)) = (&solving.result, solved.report.certificate.clone()) {
        let (version, sources) = (header.version.clone(), header.sources.clone());
        let job = job.clone().with(&resolved).problem();
        let saved = Saved { version, job, sources, summary: summary.json(), certificate };
        outputs.folder(folder, &result::FILES, |part| result::fill(part, saved, &solved))?;
        summary.text("result", "result", format!("{}", folder.display()));
    }
    if let Some(path) = &solving.checkpoint {
        checkpoint::note(path, &header, outputs.coming())?;
    }
    outputs.place()?;
    let status = solved.report.status;
    let cut_short = matches!(status, Status::Interrupted | Status::Time);
    let aside = outputs.written.iter().any(|path| is_standard(path));
    Ok(Done { summary, aside, code: exit(&settings, status), cut_short })
}

/// All files that will be written, checked.
pub fn plan<C: Solve>(command: &C, begun: Option<&Checkpoint>) -> Result<Outputs, Error> {
    let solving = command.solving();
    if let Some(path) = &solving.trace {
        trace::expect_format(path)?;
    }
    if let Some(folder) = solving.result.as_ref().filter(|folder| solving.force && folder.symlink_metadata().is_ok()) {
        result::replaceable(folder)?;
    }
    let mut planned = command.outputs()?;
    planned.extend(
        [&solving.trace, &solving.report, &solving.result, &solving.save_config].into_iter().flatten().cloned(),
    );
    let outputs = Outputs::plan(solving.force, &planned, begun.map_or(&[], |begun| &begun.header.placed))?;
    if let Some(path) = &solving.checkpoint {
        Outputs::plan(solving.force || solving.resume, std::slice::from_ref(path), &[])?;
    }
    Ok(outputs)
}

/// Solves with progress, Ctrl-C, rows and checkpoints.
fn watched<S: Real>(
    prepared: &Prepared<S>,
    settings: &Settings,
    solving: &Solving,
    header: &Header,
    begun: Option<Checkpoint>,
) -> Result<Solved<S>, Error> {
    let limit = melmo_tasks::solve::iterations(&prepared.defaults, settings);
    let mut progress = Progress::new(solving.quiet, limit, settings.time_limit);
    let mut resume = None;
    if let Some(begun) = begun {
        begun.check_sources(&header.sources)?;
        resume = Some(begun.snapshot()?);
    }
    let mut failed = None;
    let keep = solving.checkpoint.as_ref().map(|path| {
        let write = |snapshot: &_| match checkpoint::write::<S>(path, header, snapshot) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        };
        (solving.every, Box::new(write) as melmo::drive::Keep<'_, S>)
    });
    let (trace_every, exact) = recorded(solving, limit);
    let watch = Watch { watcher: Some(&mut progress), trace_every, exact, keep, resume, look: true };
    let solved = solve(prepared, settings, watch);
    progress.finish();
    if let Some(error) = failed {
        unkept(&error);
    }
    Ok(solved?)
}

/// Why a run has ended that could not be gone on with later.
pub fn unkept(error: &Error) {
    say::note(&format!("melmo: warning: the run was ended because its checkpoint could not be written: {error}"));
}

/// How often a row is recorded in so many steps, and whether its dual norm is exact: a report's charts need fewer rows than a trace, and no
/// decomposition for each of them.
pub fn recorded(solving: &Solving, steps: u64) -> (u64, bool) {
    match (&solving.trace, &solving.report) {
        (Some(_), _) => (solving.trace_every, true),
        (None, Some(_)) => (steps.div_ceil(report::ROWS).max(1), false),
        (None, None) => (0, false),
    }
}

/// What every run has to say.
pub fn told<S: Real>(optimum: Option<f64>, facts: Facts, solved: &Solved<S>, solving: &Solving, summary: &mut Summary) {
    let report = &solved.report;
    match &solved.reason {
        Some(reason) => summary.add("method", solved.method.clone(), "method", format!("{}: {reason}", solved.method)),
        None => summary.text("method", "method", solved.method.clone()),
    }
    summary.silent("reason", solved.reason.clone());
    if let Some(device) = &solved.device {
        summary.text("device", "device", device.clone());
    }
    match report.unseen && report.objective.is_nan() {
        true => summary.add("F", None::<f64>, "F", "not known: there was no time to compute it"),
        false => summary.number("F", "F", report.objective),
    }
    if let Some(optimum) = optimum {
        let excess = Some(report.objective - optimum).filter(|excess| !excess.is_nan());
        let above = excess.map_or(String::new(), |excess| format!(" (F − F* = {})", short(excess)));
        summary.add("optimum", optimum, "F*", short(optimum) + &above);
        summary.silent("excess", excess);
    }
    let steps = report.info.k.saturating_sub(1);
    let why = match report.status {
        Status::Certified => "certified",
        Status::Iterations => "all steps taken",
        Status::Settled => "settled",
        Status::Target => "F is as low as was asked for",
        Status::Stalled => "no step leads any further",
        Status::Start => "the end lay above the start, which is returned",
        Status::Time => "time is up",
        Status::Interrupted if interrupted() => "interrupted; the point so far is kept",
        Status::Interrupted => "ended early; the point so far is kept",
        Status::NotFinite => "a number was not finite; the last good point is kept",
        Status::Fault => "the device failed; the last point that was copied from it is kept",
    };
    if let Some(Rose { start, end, returned }) = report.rose {
        let text = match returned {
            true => format!("F was {} at the end: this is the start, which lies lower", short(end)),
            false => format!("F was {} there, lower than at the end", short(start)),
        };
        summary.add("F_at_start", start, "start", text);
        summary.silent("F_at_end", end);
    }
    let time = report.elapsed.as_secs_f64();
    summary.add("iterations", steps, "steps", format!("{steps} in {}: {why}", seconds(time)));
    summary.silent("status", report.status.name());
    summary.silent("seconds", time);
    match &report.certificate {
        Some(certificate) => certified(certificate, solving, summary),
        None if report.unseen => summary.text("no_certificate", "certificate", "none: there was no time for one"),
        None => {}
    }
    if solving.verbose {
        let known = |value: Option<f64>| value.map_or("none known".into(), short);
        let text = format!(
            "ρ = {}, L_g: {}, L_f: {}, T {}",
            short(facts.rho),
            known(facts.lipschitz_g),
            known(facts.lipschitz_f),
            if facts.surjective { "surjective" } else { "not known to be surjective" }
        );
        summary.text("problem", "problem", text);
    }
}

/// What is certain about the point, in words; the numbers are in JSON.
fn certified<S: Real>(certificate: &Certificate<S>, solving: &Solving, summary: &mut Summary) {
    let (dual_norm, gap) = (certificate.dual_norm.upper, certificate.prox_gap);
    let text =
        format!("stationary to {}, and Tx within {} of a point that has such slopes", short(dual_norm), short(gap));
    summary.add("dual_norm", dual_norm, "certificate", text);
    summary.silent("prox_gap", gap);
    summary.silent("beta", certificate.beta);
    summary.silent("certified", certificate.claim.is_some());
    match (&certificate.optimality, &certificate.no_gap) {
        (Some(found), _) => {
            let part = 100.0 * found.gap / found.objective.abs();
            let part = if part.is_finite() { format!(" ({} %)", short(part)) } else { String::new() };
            let text = format!("F is within {}{part} of the least there is", short(found.gap));
            summary.add("gap", found.gap, "optimality", text);
            summary.silent("lower_bound", found.bound);
        }
        (None, Some(reason)) if solving.verbose => {
            summary.text("no_gap", "optimality", format!("no bound on F − F*: {reason}"));
        }
        (None, reason) => summary.silent("no_gap", reason.clone()),
    }
}

/// 0 when it did what was asked, 1 when it stopped without what had to be reached, or was interrupted.
pub fn exit(settings: &Settings, status: Status) -> ExitCode {
    let done = match status {
        Status::Certified | Status::Target => true,
        Status::Interrupted | Status::NotFinite | Status::Fault => false,
        _ => settings.epsilon.is_none() && settings.gap.is_none() && settings.target.is_none(),
    };
    ExitCode::from(u8::from(!done))
}

/// Re-checks a saved result of this command: the problem is built again from the job and its inputs, then everything that a
/// reader takes away is compared with it.
pub fn verify<S: Real, C: Solve>(command: &C, kept: &Kept<S>, tolerance: Option<f64>) -> Result<Statement, Error> {
    let (mut inputs, mut summary) = (Inputs::new(command.solving(), true, &Until::done()), Summary::default());
    let ready = command.prepare::<S>(&mut inputs, &mut summary)?;
    if let Some(changed) = kept.saved.sources.iter().find(|source| !inputs.sources.contains(source)) {
        return Err(Error::input(&changed.path, "is not the file that the result was computed from"));
    }
    let solving = command.solving();
    Statement::check(&ready.prepared, &solving.settings(), solving.precision(), &inputs.sources, kept, tolerance)
}
