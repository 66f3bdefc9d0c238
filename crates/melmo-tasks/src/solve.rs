//! Solving a prepared problem: settings become a solver, and the run is watched, recorded and can be taken up again.

use std::time::{Duration, Instant};

use melmo::catalogue::{self, Arguments};
use melmo::drive::{Observer, Options, Status, Stop, run};
use melmo::geometry::{Geometry, euclidean, for_layout};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::report::Report;
use melmo::solver::Solver;
use melmo::trace::Row;

use crate::error::Error;
use crate::prepared::{Defaults, Prepared, Tuned};
use crate::record::{Keep, Recorder, Snapshot};
use crate::settings::Settings;

/// Who watches a run, what is recorded, and where it starts if it is taken up again.
pub struct Watch<'w, S: Real> {
    /// Sees every point and may end the run.
    pub watcher: Option<&'w mut dyn Observer<S>>,
    /// Keep a row every so many points; 0 keeps none.
    pub trace_every: u64,
    /// Rows have exact dual norms, not only the oracle's bounds.
    pub exact: bool,
    /// Hand out a snapshot this often, and once more when the watcher ends the run.
    pub keep: Option<(Duration, Keep<'w, S>)>,
    /// Go on from here.
    pub resume: Option<Snapshot<S>>,
}

impl<S: Real> Default for Watch<'_, S> {
    fn default() -> Self {
        Self { watcher: None, trace_every: 0, exact: true, keep: None, resume: None }
    }
}

/// A problem solved, as far as it was.
pub struct Solved<S: Real> {
    /// The end of the run; its trace is empty, the rows are here.
    pub report: Report<S>,
    /// The rows, those before a resumption included.
    pub rows: Vec<Row>,
    /// The method that ran.
    pub method: String,
    /// Why it was chosen, where it was.
    pub reason: Option<String>,
    /// Why the run ended.
    pub ended: Ended,
    /// Time spent, before a resumption included; without the rows, which are not the method's work.
    pub elapsed: Duration,
}

/// Why a run ended, in words people expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With the certificate that was asked for.
    Certified,
    /// All steps were taken.
    Iterations,
    /// There is nothing more to do, to the tolerance.
    Settled,
    /// The last point lay above the start, which is returned.
    Start,
    /// Time is up.
    Time,
    /// Whoever watched ended it.
    Interrupted,
    /// A number was not finite; the point is the last that was.
    NotFinite,
}

impl Ended {
    /// One word, for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Certified => "certified",
            Self::Iterations => "iterations",
            Self::Settled => "settled",
            Self::Start => "start",
            Self::Time => "time",
            Self::Interrupted => "interrupted",
            Self::NotFinite => "not-finite",
        }
    }
}

/// The tolerance at which nothing is left to do, unless another is given: of ‖∇f(x)‖ + ‖T*w‖ and of ‖Tx‖.
pub fn default_tolerance<S: Real>() -> f64 {
    if S::EPSILON > 1e-10 { 1e-4 } else { 1e-6 }
}

/// The tolerance of a run: what was asked for, none where something else was (a certificate, a gap), or the default.
fn tolerance<S: Real>(defaults: &Defaults, settings: &Settings) -> Option<f64> {
    let otherwise = settings.epsilon.is_some() || settings.gap.is_some() || !defaults.settles;
    let default = (!otherwise).then(default_tolerance::<S>);
    settings.tolerance.or(default).filter(|&tolerance| tolerance > 0.0)
}

/// The method that settings ask for, the parameters that come with it, and the reason where it was chosen for them.
fn method<S: Real>(
    problem: &Problem<S>,
    defaults: &Defaults,
    settings: &Settings,
) -> (String, Vec<(&'static str, f64)>, Option<String>) {
    match (settings.method.as_str(), &defaults.tuned) {
        ("auto", Some(Tuned { method, arguments, reason })) => {
            let mut arguments = arguments.clone();
            if settings.certifies() {
                arguments.retain(|(name, _)| *name != "floor"); // it is for a fixed number of steps
            }
            ((*method).into(), arguments, Some((*reason).into()))
        }
        ("auto", None) => {
            let choice = catalogue::choose(problem);
            (choice.method.into(), Vec::new(), Some(choice.reason))
        }
        (name, _) => (name.into(), Vec::new(), None),
    }
}

/// Steps at most: what was asked for, what the epochs come to, or the task's own.
pub fn iterations(defaults: &Defaults, settings: &Settings) -> u64 {
    let epochs = settings.max_epochs.map(|epochs| (1u64 << epochs.min(62)) - 1);
    match (settings.iterations, epochs) {
        (Some(iterations), Some(epochs)) => iterations.min(epochs),
        (Some(limit), None) | (None, Some(limit)) => limit,
        // A number of steps that is a part of the method is none of a certificate's.
        (None, None) if settings.certifies() => defaults.iterations.max(5000),
        (None, None) => defaults.iterations,
    }
}

/// A solver, the name of its method, and why it was chosen where it was.
pub type Chosen<'p, S> = (Box<dyn Solver<S> + 'p>, String, Option<String>);

/// The solver that settings ask for, at a start.
pub fn solver<'p, S: Real>(
    problem: &'p Problem<S>,
    start: &[S],
    defaults: &Defaults,
    settings: &Settings,
) -> Result<Chosen<'p, S>, Error> {
    let (name, tuned, reason) = method(problem, defaults, settings);
    let rows = catalogue::methods::<S>();
    let row = catalogue::find("method", &rows, &name)?;
    let mut given: Vec<(&str, f64)> = tuned;
    given.extend(settings.arguments.iter().map(|(name, value)| (name.as_str(), *value)));
    if row.entry.parameters.iter().any(|p| p.name == "steps") && settings.argument("steps").is_none() {
        given.push(("steps", iterations(defaults, settings) as f64)); // a horizon is the number of steps
    }
    let geometry = match &settings.geometry {
        None if !row.uses_geometry => euclidean(problem.layout()),
        _ => geometry(problem, defaults, settings)?,
    };
    let solver = (row.build)(&Arguments::new(&row.entry, &given)?, problem, geometry, start)?;
    Ok((solver, name, reason))
}

fn geometry<S: Real>(
    problem: &Problem<S>,
    defaults: &Defaults,
    settings: &Settings,
) -> Result<Box<dyn Geometry<S>>, Error> {
    let (layout, norm) = (problem.layout(), defaults.norm);
    match &settings.geometry {
        Some(choice) => choice.build(layout, norm, settings.oracle),
        None => Ok(for_layout(norm, layout, settings.oracle)?),
    }
}

/// Solves it.
pub fn solve<S: Real>(prepared: &Prepared<S>, settings: &Settings, watch: Watch<'_, S>) -> Result<Solved<S>, Error> {
    solve_from(&prepared.problem, &prepared.start, &prepared.defaults, settings, watch)
}

/// Solves a problem from a start.
pub fn solve_from<S: Real>(
    problem: &Problem<S>,
    start: &[S],
    defaults: &Defaults,
    settings: &Settings,
    watch: Watch<'_, S>,
) -> Result<Solved<S>, Error> {
    if settings.gap.is_some() {
        let refused =
            |reason| Error::input("gap", format!("F − F* has no bound here: {reason}"), "another stop, as --epsilon");
        melmo::certificate::can_bound(problem, settings.radius).map_err(refused)?;
    }
    let (mut solver, method, reason) = solver(problem, start, defaults, settings)?;
    let iterations = iterations(defaults, settings);
    let (mut rows, mut before) = (Vec::new(), Duration::ZERO);
    if let Some(snapshot) = watch.resume {
        solver.restore(&snapshot.state)?;
        (rows, before) = (snapshot.rows, snapshot.elapsed);
    }
    let stop = Stop {
        time: settings.time_limit.map(|limit| limit.saturating_sub(before)),
        epsilon: settings.epsilon,
        gap: settings.gap,
        radius: settings.radius,
        tolerance: tolerance::<S>(defaults, settings),
        ..Stop::after(iterations)
    };
    let mut recorder = Recorder {
        every: watch.trace_every,
        exact: watch.exact,
        iterations,
        rows,
        before,
        start: Instant::now(),
        aside: Duration::ZERO,
        watcher: watch.watcher,
        keep: watch.keep,
        kept: Instant::now(),
        pending: None,
    };
    let report = run(&mut *solver, &Options::new(stop), &mut [&mut recorder]);
    recorder.finish(&report.info, &mut *solver);
    // Whoever names a method gets its last point, and is told; what was chosen for them ends no higher than it began.
    let mut report = match reason {
        Some(_) => report.or_start(start, problem, solver.norms(), &stop),
        None => Report { rose: report.rise(start, problem), ..report },
    };
    // Finite gradients do not make F finite: the squares of a sum overflow first. Nothing is certain about such a point.
    let finite = report.objective.is_finite() && report.x.iter().chain(&report.z).all(|v| v.is_finite());
    if !finite {
        report.certificate = None;
    }
    let ended = match report.status {
        _ if !finite => Ended::NotFinite,
        Status::Certified => Ended::Certified,
        Status::Iterations | Status::Target => Ended::Iterations,
        Status::Settled | Status::Stalled => Ended::Settled,
        Status::Start => Ended::Start,
        Status::Time => Ended::Time,
        Status::Stopped => Ended::Interrupted,
        Status::NotFinite => Ended::NotFinite,
    };
    let (rows, elapsed) = (std::mem::take(&mut recorder.rows), before + report.elapsed.saturating_sub(recorder.aside));
    Ok(Solved { report, rows, method, reason, ended, elapsed })
}
