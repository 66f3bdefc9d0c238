//! Driving a solver: the one place for time, stopping and status.

mod best;
mod judge;
mod leave;
mod record;
mod start;
mod stop;

pub use best::Best;
pub use leave::moment;
pub use record::{Keep, Snapshot};
pub use start::Rose;
pub use stop::{Epsilon, Gap, Stop};

use std::ops::ControlFlow;
use std::time::Duration;

use crate::certificate::Certified;
use crate::clock::Instant;
use crate::drive::judge::Judge;
use crate::drive::leave::Leave;
use crate::drive::record::Recorder;
use crate::real::Real;
use crate::report::Report;
use crate::solver::{Info, Solver, State};
use crate::trace::{Record, Row};

/// Everything about a run that is not the solver's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// When to stop.
    pub stop: Stop,
    /// Which points to record.
    pub record: Option<Record>,
    /// Look at the end: z, F and the certificate. Whoever needs the point alone leaves that out; the end is then unseen.
    pub look: bool,
}

impl Options {
    /// Stop as said; record nothing, and look at the end.
    pub fn new(stop: Stop) -> Self {
        Self { stop, record: None, look: true }
    }
}

/// A step of this length is expected to be followed by one as long. Shorter ones end soon enough, and may be an accident.
const LONG: Duration = Duration::from_millis(500);

/// The look at the end takes about as long as so many steps, where steps are long: it has a decomposition or two as well.
const LOOK_IN_STEPS: u32 = 2;

/// Sees every point and may end the run: a progress bar, Ctrl-C. What it takes is not counted as the method's time.
pub trait Observer<S: Real> {
    /// Called at every evaluated point; `solver` can be asked for its point, F, or its state.
    fn observe(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> ControlFlow<()>;

    /// Called where a row was recorded, before the point is observed.
    fn recorded(&mut self, _row: &Row, _solver: &mut dyn Solver<S>) {}
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
    /// An observer ended the run, or whoever called had enough ([`crate::patience`]).
    Interrupted,
    /// No step of the method leads anywhere.
    Stalled,
    /// All steps were taken.
    Iterations,
    /// Time is up.
    Time,
    /// F rose: the start is returned ([`Report::or_start`]).
    Start,
    /// A number was not finite; the report's point is the last that was.
    NotFinite,
    /// The place where x lives failed, such as a GPU without memory; the report's point is the last that was kept.
    Fault,
}

impl Status {
    /// One word, for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Certified => "certified",
            Self::Settled => "settled",
            Self::Target => "target",
            Self::Interrupted => "interrupted",
            Self::Stalled => "stalled",
            Self::Iterations => "iterations",
            Self::Time => "time",
            Self::Start => "start",
            Self::NotFinite => "not-finite",
            Self::Fault => "fault",
        }
    }
}

/// Runs a solver to the first reason to stop.
///
/// A step that takes long, because it decomposes a large matrix, is given up soon after the time limit or after the caller's
/// patience is over; the run then ends at the point before it.
pub fn run<S: Real>(
    solver: &mut dyn Solver<S>,
    options: &Options,
    observers: &mut [&mut dyn Observer<S>],
) -> Report<S> {
    run_on(solver, options, (Vec::new(), Duration::ZERO), None, observers)
}

/// Runs a solver that was restored from a snapshot: its rows and its time go on. Snapshots are handed out now and then, and once more
/// when an observer or the caller ends the run.
pub fn run_on<S: Real>(
    solver: &mut dyn Solver<S>,
    options: &Options,
    past: (Vec<Row>, Duration),
    keep: Option<(Duration, Keep<'_, S>)>,
    observers: &mut [&mut dyn Observer<S>],
) -> Report<S> {
    let leave = Leave::new(options.stop.time);
    let patience = leave.for_steps();
    let mut drive = Drive {
        stop: &options.stop,
        look: options.look,
        leave,
        judge: Judge::new(options.stop, solver),
        recorder: Recorder::new(options, past, keep),
        last: None,
        last_seen: Instant::now(),
        long: Duration::ZERO,
        before: None,
    };
    let status = patience.run(|| drive.steps(solver, observers));
    drive.finish(status, solver, observers)
}

/// What a run remembers between points.
struct Drive<'o, 'w, S: Real> {
    stop: &'o Stop,
    look: bool,
    leave: Leave,
    judge: Judge,
    recorder: Recorder<'w, S>,
    last: Option<Info>,
    /// When the last point was there.
    last_seen: Instant,
    /// How long the step to it took, where that was long.
    long: Duration,
    /// The state there, where the next step may have to be given up.
    before: Option<State<S>>,
}

impl<S: Real> Drive<'_, '_, S> {
    fn steps(&mut self, solver: &mut dyn Solver<S>, observers: &mut [&mut dyn Observer<S>]) -> Status {
        if self.stop.iterations == 0 && solver.steps_first() {
            return Status::Iterations;
        }
        loop {
            let otherwise = match solver.next() {
                Some(info) if info.finite => match self.take(info, solver, observers) {
                    Some(status) => return status,
                    None => continue,
                },
                _ if solver.fault().is_some() => return Status::Fault,
                Some(_) => Status::NotFinite,
                None => Status::Stalled,
            };
            // Where the run should end, a step that leads nowhere is one that was given up.
            return self.leave.reason().map_or(otherwise, |reason| self.give_up(reason, solver));
        }
    }

    /// Back to the last point, from which the run can go on: a step that was given up leaves its own traces in a solver.
    fn give_up(&mut self, reason: Status, solver: &mut dyn Solver<S>) -> Status {
        if let Some(state) = self.before.take() {
            // It is this solver's own; where its evaluation is given up as well, the look at the end says so.
            let _ = self.leave.for_the_value().run(|| solver.restore(&state));
            self.recorder.hand_out_state(state);
        } else if self.long > Duration::ZERO {
            self.recorder.hand_out_last(solver);
        }
        reason
    }

    /// Records one finite point and decides whether it is the last.
    fn take(
        &mut self,
        mut info: Info,
        solver: &mut dyn Solver<S>,
        observers: &mut [&mut dyn Observer<S>],
    ) -> Option<Status> {
        let stop = self.stop;
        self.time_step();
        let refused = self.recorder.hand_out().is_break();
        if self.recorder.wants(&info) {
            info.objective = self.recorder.push(&info, solver, observers);
        } else if info.objective.is_none() && stop.target.is_some() {
            info.objective = Some(solver.objective());
        }
        let certified = self.judge.is_certified(&info, solver);
        let settled = !certified && self.judge.has_settled(&info, solver);
        let halted = self.is_halted(&info, solver, observers) || self.leave.is_asked_for();
        let reached = |target: f64| info.objective.is_some_and(|objective| objective <= target);
        self.last = Some(info);
        let status = if certified {
            Status::Certified
        } else if stop.target.is_some_and(reached) {
            Status::Target
        } else if halted || refused {
            Status::Interrupted
        } else if settled {
            Status::Settled
        } else if info.k > stop.iterations {
            Status::Iterations
        } else if stop.time.is_some_and(|limit| self.recorder.since_start() + self.long * (1 + LOOK_IN_STEPS) >= limit)
        {
            Status::Time
        } else {
            self.recorder.remember(solver);
            self.before = (self.long > Duration::ZERO && !solver.whole_steps()).then(|| solver.save());
            return None;
        };
        Some(status)
    }

    /// How long the step to this point took, where it was long: one that would end after the time limit, or leave no time for
    /// the look at the end, is not begun.
    fn time_step(&mut self) {
        let step = self.last_seen.elapsed();
        self.last_seen = Instant::now();
        self.long = if step >= LONG { step } else { Duration::ZERO };
    }

    /// Asks everybody who watches; whoever ends the run gets a snapshot of its last point.
    fn is_halted(&mut self, info: &Info, solver: &mut dyn Solver<S>, observers: &mut [&mut dyn Observer<S>]) -> bool {
        if observers.is_empty() {
            return false;
        }
        let ask =
            |halted: bool, observer: &mut &mut dyn Observer<S>| observer.observe(info, solver).is_break() || halted;
        let halted = self.recorder.aside(|_| observers.iter_mut().fold(false, ask));
        if halted {
            self.recorder.hand_out_last(solver);
        }
        halted
    }

    fn finish(
        mut self,
        status: Status,
        solver: &mut dyn Solver<S>,
        observers: &mut [&mut dyn Observer<S>],
    ) -> Report<S> {
        let (x, certified) = (solver.x(), status == Status::Certified);
        let last = self.last.filter(|_| !matches!(status, Status::NotFinite | Status::Fault));
        let patience = self.leave.for_the_look(certified);
        if let Some(last) = &last {
            patience.run(|| self.recorder.end(last, solver, observers));
        }
        let elapsed = self.recorder.elapsed();
        // Where not even the start could be evaluated in time, there is none for a look either.
        let untried = self.last.is_none() && matches!(status, Status::Time | Status::Interrupted);
        let untried = untried || status == Status::Fault;
        let looked = (self.look && !untried).then(|| patience.run(|| self.judge.end(last.as_ref(), certified, solver)));
        let whole = |looked: &Certified<S>| looked.certificate.is_ok() && !looked.objective.is_nan();
        let seen = looked.filter(|looked| whole(looked) || !patience.is_over());
        let (info, unseen) = (self.last.unwrap_or(Info::unknown()), seen.is_none());
        let (z, objective, certificate) = match seen {
            Some(Certified { z, objective, of_pair, certificate }) => {
                // A constraint that Tx keeps to the tolerance, not to the last bit: z keeps it wholly.
                let kept = matches!(status, Status::Certified | Status::Settled) && objective == f64::INFINITY;
                (z, if kept { of_pair } else { objective }, certificate.ok())
            }
            None => {
                let mut tx = Vec::new();
                solver.image(&mut tx);
                let value = || info.objective.unwrap_or_else(|| solver.objective());
                (tx, self.leave.for_the_value().run(value), None)
            }
        };
        // What was proven is proven, but nobody can be shown it.
        let status = if certified && self.look && unseen { Status::Interrupted } else { status };
        Report {
            status,
            x,
            z,
            objective,
            info,
            certificate,
            trace: self.recorder.into_rows(),
            elapsed,
            rose: None,
            unseen,
        }
    }
}
