//! Solving a prepared problem: settings become a solver, and the run is watched, recorded and can be taken up again.

use std::time::Duration;

use melmo::catalogue::{self, Arguments, Entry, Value};
use melmo::drive::{self, Keep, Observer, Options, Snapshot, Stop, run_on};
use melmo::geometry::{BlockNorm, Geometry, euclidean, for_layout};
use melmo::patience::Patience;
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::report::Report;
use melmo::solver::Solver;
use melmo::trace::{Record, Row};

use crate::device::{self, DeviceChoice, ON_A_GPU};
use crate::error::Error;
use crate::prepared::{Defaults, Prepared, Tuned};
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
    /// Look at the end, for z and a certificate.
    pub look: bool,
}

impl<S: Real> Default for Watch<'_, S> {
    fn default() -> Self {
        Self { watcher: None, trace_every: 0, exact: true, keep: None, resume: None, look: true }
    }
}

/// A problem solved, as far as it was.
pub struct Solved<S: Real> {
    /// The end of the run, with its rows and its time: those before a resumption included.
    pub report: Report<S>,
    /// The method that ran.
    pub method: String,
    /// Why it was chosen, where it was.
    pub reason: Option<String>,
    /// The device and, where it was chosen, why; none where nothing was asked.
    pub device: Option<String>,
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
pub(crate) fn method<S: Real>(
    problem: &Problem<S>,
    defaults: &Defaults,
    settings: &Settings,
) -> (String, Vec<(&'static str, f64)>, Option<String>) {
    match (settings.method.as_str(), &defaults.tuned) {
        ("auto", tuned)
            if matches!(settings.device, DeviceChoice::Cuda(_))
                && tuned.as_ref().is_none_or(|tuned| !catalogue::ANYWHERE.contains(&tuned.method)) =>
        {
            let (method, reason) = ON_A_GPU;
            (method.into(), Vec::new(), Some(reason.into()))
        }
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

/// A solver, the name of its method, why it was chosen where it was, and the device as [`Solved::device`] tells it.
pub type Chosen<'p, S> = (Box<dyn Solver<S> + 'p>, String, Option<String>, Option<String>);

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
    let given = given(&row.entry, tuned, defaults, settings);
    let (device, mut chosen) = device::resolve(settings.device, problem, &name);
    if let DeviceChoice::Cuda(ordinal) = device {
        let norms = geometry(problem, defaults, settings, row.uses_geometry)?.norms();
        match device::solver(ordinal, problem, (&name, &given), norms, settings.oracle, start) {
            Ok((solver, told)) => return Ok((solver, name, reason, Some(chosen.unwrap_or(told)))),
            // What was left to choose goes where it can: a norm may need a library that is not there, points may not fit.
            Err(refused) if settings.device == DeviceChoice::Auto => chosen = Some(format!("cpu: {refused}")),
            Err(refused) => return Err(refused),
        }
    }
    let geometry = geometry(problem, defaults, settings, row.uses_geometry)?;
    let solver = (row.build)(&Arguments::new(&row.entry, &given)?, problem, geometry, start)?;
    Ok((solver, name, reason, chosen))
}

/// A method's parameters: those that come with it, and what was asked for.
pub(crate) fn given<'a>(
    entry: &Entry,
    tuned: Vec<(&'static str, f64)>,
    defaults: &Defaults,
    settings: &'a Settings,
) -> Vec<(&'a str, Value)> {
    let mut given: Vec<(&str, Value)> = tuned.into_iter().map(|(name, value)| (name, value.into())).collect();
    given.extend(settings.arguments.iter().map(|(name, value)| (name.as_str(), value.clone())));
    if entry.parameters.iter().any(|p| p.name == "steps") && settings.argument("steps").is_none() {
        given.push(("steps", Value::Number(iterations(defaults, settings) as f64))); // a horizon is the number of steps
    }
    given
}

pub(crate) fn geometry<S: Real>(
    problem: &Problem<S>,
    defaults: &Defaults,
    settings: &Settings,
    used: bool,
) -> Result<Box<dyn Geometry<S>>, Error> {
    let (layout, norm) = (problem.layout(), defaults.norm);
    match &settings.geometry {
        Some(choice) => choice.build(layout, norm, settings.oracle),
        None if !used => Ok(euclidean(layout)),
        None => Ok(for_layout(norm, layout, settings.oracle)?),
    }
}

/// The norms that a certificate of a method's run speaks of.
pub(crate) fn norms<S: Real>(
    prepared: &Prepared<S>,
    settings: &Settings,
    method: &str,
) -> Result<Vec<BlockNorm>, Error> {
    let rows = catalogue::methods::<S>();
    let used = catalogue::find("method", &rows, method)?.uses_geometry;
    Ok(geometry(&prepared.problem, &prepared.defaults, settings, used)?.norms())
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
    expect_bound(problem, settings)?;
    let (mut solver, method, reason, device) = solver(problem, start, defaults, settings)?;
    let (mut report, stop) = driven(&mut *solver, defaults, settings, watch)?;
    if let Some(fault) = solver.fault() {
        // Nothing more can be asked there: F of the point that was kept is found here.
        report.objective = problem.objective(&report.x);
        report.z = problem.image(&report.x);
        let device = Some(format!("{}: {fault}", device.unwrap_or_default()));
        return Ok(Solved { report, method, reason, device });
    }
    let norms = solver.norms();
    // What it remembers may be several times as large as the point.
    drop(solver);
    let report = ended(report, problem, start, (norms, &stop), reason.is_some());
    Ok(Solved { report, method, reason, device })
}

/// The end of a run next to its start. Whoever names a method gets its last point, and is told; what was `chosen` for them ends no
/// higher than it began.
pub(crate) fn ended<S: Real>(
    report: Report<S>,
    problem: &Problem<S>,
    start: &[S],
    (norms, stop): (Vec<BlockNorm>, &Stop),
    chosen: bool,
) -> Report<S> {
    let patience = if report.had_to_end() { drive::moment() } else { Patience::current() };
    let report = patience.run(|| match chosen {
        true => report.or_start(start, problem, norms, stop),
        false => Report { rose: report.rise(start, problem), ..report },
    });
    report.if_finite()
}

/// Refuses a gap where no bound on F − F* is known.
fn expect_bound<S: Real>(problem: &Problem<S>, settings: &Settings) -> Result<(), Error> {
    if settings.gap.is_some() {
        let refused =
            |reason| Error::input("gap", format!("F − F* has no bound here: {reason}"), "another stop, as --epsilon");
        melmo::certificate::can_bound(problem, settings.radius).map_err(refused)?;
    }
    Ok(())
}

/// Runs a solver to its end, from where it stood where it is taken up again; says also what could end it.
pub(crate) fn driven<S: Real>(
    solver: &mut dyn Solver<S>,
    defaults: &Defaults,
    settings: &Settings,
    watch: Watch<'_, S>,
) -> Result<(Report<S>, Stop), Error> {
    let mut past = (Vec::new(), Duration::ZERO);
    let mut watch = watch;
    if let Some(snapshot) = watch.resume.take() {
        solver.restore(&snapshot.state)?;
        past = (snapshot.rows, snapshot.elapsed);
    }
    Ok(driven_on(solver, defaults, settings, watch, past))
}

/// The same from where the solver stands, with the rows and the time that led there.
pub(crate) fn driven_on<S: Real>(
    solver: &mut dyn Solver<S>,
    defaults: &Defaults,
    settings: &Settings,
    watch: Watch<'_, S>,
    past: (Vec<Row>, Duration),
) -> (Report<S>, Stop) {
    let stop = Stop {
        time: settings.time_limit.map(|limit| limit.saturating_sub(past.1)),
        epsilon: settings.epsilon,
        gap: settings.gap,
        radius: settings.radius,
        tolerance: tolerance::<S>(defaults, settings),
        target: settings.target,
        ..Stop::after(iterations(defaults, settings))
    };
    let record = Record { exact_dual_norms: watch.exact, ..Record::every(watch.trace_every, 0) };
    let options = Options { stop, record: (watch.trace_every > 0).then_some(record), look: watch.look };
    let report = match watch.watcher {
        Some(watcher) => run_on(solver, &options, past, watch.keep, &mut [watcher]),
        None => run_on(solver, &options, past, watch.keep, &mut []),
    };
    (report, stop)
}
