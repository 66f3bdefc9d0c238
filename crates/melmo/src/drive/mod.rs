//! Driving a solver: the one place for time, stopping and status.

mod judge;
mod start;
mod stop;

pub use start::Rose;
pub use stop::{Epsilon, Gap, Stalled, Stop};

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::certificate::Certified;
use crate::drive::judge::Judge;
use crate::real::Real;
use crate::report::{Best, Report};
use crate::solver::{Info, Solver};
use crate::trace::{Record, Row};

/// Everything about a run that is not the solver's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// When to stop.
    pub stop: Stop,
    /// Which points to record.
    pub record: Option<Record>,
    /// Keep the point of least F.
    pub track_best: bool,
}

impl Options {
    /// Stop as said; record nothing, track nothing.
    pub fn new(stop: Stop) -> Self {
        Self { stop, record: None, track_best: false }
    }
}

/// A step of this length is expected to be followed by one as long. Shorter ones end soon enough, and may be an accident.
const LONG: Duration = Duration::from_millis(500);

/// Sees every point and may end the run: a progress bar, Ctrl-C, a checkpoint.
pub trait Observer<S: Real> {
    /// Called at every evaluated point; `solver` can be asked for its point, F, or its state.
    fn observe(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> ControlFlow<()>;
}

impl<S: Real, F: FnMut(&Info, &mut dyn Solver<S>) -> ControlFlow<()>> Observer<S> for F {
    fn observe(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> ControlFlow<()> {
        self(info, solver)
    }
}

/// Why a run ended. There is no "optimal": only what was certified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// What was asked for is proven: both certificate numbers are at most ε, or F(x) − F* is small enough.
    Certified,
    /// There is nothing more to do, to the tolerance that was asked for.
    Settled,
    /// F reached its target.
    Target,
    /// An observer ended the run.
    Stopped,
    /// F no longer falls, or no step of the method lowers it any more.
    Stalled,
    /// All steps were taken.
    Iterations,
    /// Time is up.
    Time,
    /// F rose: the start is returned ([`Report::or_start`]).
    Start,
    /// An evaluation was not finite; the report's point is the last that was.
    NotFinite,
}

/// Runs a solver to the first reason to stop.
pub fn run<S: Real>(
    solver: &mut dyn Solver<S>,
    options: &Options,
    observers: &mut [&mut dyn Observer<S>],
) -> Report<S> {
    let mut drive = Drive::new(options, solver);
    let status = loop {
        if options.stop.iterations == 0 && solver.steps_first() {
            break Status::Iterations;
        }
        let Some(info) = solver.next() else { break Status::Stalled };
        if !info.finite {
            break Status::NotFinite;
        }
        if let Some(status) = drive.take(info, solver, observers) {
            break status;
        }
    };
    drive.finish(status, solver)
}

/// What a run remembers between points. Everything is allocated before the first.
struct Drive<'o, S> {
    options: &'o Options,
    start: Instant,
    /// When the last point was there.
    last_seen: Instant,
    trace: Vec<Row>,
    best: Option<Best<S>>,
    judge: Judge,
    last: Option<Info>,
    /// The least F seen, and where it last fell by enough to count as progress.
    progress: Option<(u64, f64)>,
}

impl<'o, S: Real> Drive<'o, S> {
    fn new(options: &'o Options, solver: &mut dyn Solver<S>) -> Self {
        let begin = |solver: &mut dyn Solver<S>| {
            // A solver that steps first never shows where it began.
            let objective = if solver.steps_first() { solver.look(false).objective() } else { f64::INFINITY };
            Best { k: 1, objective, x: solver.x() }
        };
        Self {
            options,
            start: Instant::now(),
            last_seen: Instant::now(),
            trace: Vec::with_capacity(options.record.map_or(0, |r| r.capacity)),
            best: options.track_best.then(|| begin(solver)),
            judge: Judge::new(options.stop, solver),
            last: None,
            progress: None,
        }
    }

    /// Records one finite point and decides whether it is the last.
    fn take(
        &mut self,
        mut info: Info,
        solver: &mut dyn Solver<S>,
        observers: &mut [&mut dyn Observer<S>],
    ) -> Option<Status> {
        let stop = &self.options.stop;
        let step = self.long_step();
        let steps_taken = info.k - 1;
        let finished = steps_taken >= stop.iterations;
        // A row describes a point before its step, or one that an epoch has judged.
        let is_row = !finished || info.epoch.is_some();
        let last_row = info.epoch.is_none() && steps_taken + 1 == stop.iterations;
        let is_end = self.trace.is_empty() || last_row;
        let recorded = is_row && self.options.record.is_some_and(|r| r.wants(info.k) || is_end);
        if info.objective.is_none() && (recorded || stop.needs_objective() || self.best.is_some()) {
            info.objective = Some(solver.objective());
        }
        self.keep_best(&info, solver);
        let stalled = self.has_stalled(&info);
        let certified = self.judge.is_certified(&info, solver);
        let settled = !certified && self.judge.has_settled(&info, solver);
        let mut halted = false;
        for observer in observers.iter_mut() {
            halted |= observer.observe(&info, solver).is_break();
        }
        let reached = |target: f64| info.objective.is_some_and(|objective| objective <= target);
        let status = if certified {
            Some(Status::Certified)
        } else if stop.target.is_some_and(reached) {
            Some(Status::Target)
        } else if halted {
            Some(Status::Stopped)
        } else if settled {
            Some(Status::Settled)
        } else if stalled {
            Some(Status::Stalled)
        } else if finished {
            Some(Status::Iterations)
        } else if stop.time.is_some_and(|limit| self.start.elapsed() + step >= limit) {
            Some(Status::Time)
        } else {
            None
        };
        self.last = Some(info);
        if recorded || (is_row && status.is_some() && self.options.record.is_some()) {
            self.record(&info, solver);
        }
        status
    }

    /// How long the step to this point took, where it was long: one that would end after the time limit is not begun.
    fn long_step(&mut self) -> Duration {
        let step = self.last_seen.elapsed();
        self.last_seen = Instant::now();
        if step >= LONG { step } else { Duration::ZERO }
    }

    fn record(&mut self, info: &Info, solver: &mut dyn Solver<S>) {
        let exact = self.options.record.is_some_and(|r| r.exact_dual_norms);
        self.trace.push(Row::at(info, solver, exact, self.start.elapsed().as_secs_f64()));
    }

    fn keep_best(&mut self, info: &Info, solver: &mut dyn Solver<S>) {
        if let (Some(best), Some(objective)) = (&mut self.best, info.objective)
            && objective < best.objective
        {
            (best.k, best.objective) = (info.k, objective);
            solver.read(&mut best.x);
        }
    }

    fn has_stalled(&mut self, info: &Info) -> bool {
        let (Some(rule), Some(objective)) = (self.options.stop.stalled, info.objective) else { return false };
        match self.progress {
            // Anything is progress from ∞.
            Some((_, least))
                if objective < least - rule.relative * least.abs() || objective < least && least.is_infinite() =>
            {
                self.progress = Some((info.k, objective));
                false
            }
            Some((since, _)) => info.k - since >= rule.steps,
            None => {
                self.progress = Some((info.k, objective));
                false
            }
        }
    }

    fn finish(self, status: Status, solver: &mut dyn Solver<S>) -> Report<S> {
        let elapsed = self.start.elapsed();
        let last = self.last.filter(|_| status != Status::NotFinite);
        let Certified { z, objective, of_pair, certificate } =
            self.judge.end(last.as_ref(), status == Status::Certified, solver);
        let (x, certificate) = (solver.x(), certificate.ok());
        // A constraint that Tx keeps to the tolerance, not to the last bit: z keeps it wholly.
        let kept = matches!(status, Status::Certified | Status::Settled) && objective == f64::INFINITY;
        let objective = if kept { of_pair } else { objective };
        let info = self.last.unwrap_or(Info::unknown());
        Report { status, x, z, objective, info, best: self.best, certificate, trace: self.trace, elapsed, rose: None }
    }
}
