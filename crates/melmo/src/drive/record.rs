//! The rows of a run and its snapshots: a run that is taken up again goes on as if it had never stopped. The time that looking
//! takes (rows, snapshots, observers) is not the method's, and is not counted as such.

use std::ops::ControlFlow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::Instant;
use crate::drive::{Observer, Options};
use crate::real::Real;
use crate::solver::{Info, Solver, State};
use crate::trace::{Record, Row};

/// Where a run stood: enough to go on bit for bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Snapshot<S: Real> {
    /// The solver's memory.
    pub state: State<S>,
    /// The rows so far.
    pub rows: Vec<Row>,
    /// Time spent so far.
    pub elapsed: Duration,
}

/// What is done with a snapshot; it may refuse, which ends the run.
pub type Keep<'w, S> = Box<dyn FnMut(&Snapshot<S>) -> ControlFlow<()> + 'w>;

/// Records rows and hands out snapshots. Everything is allocated before the first point.
pub(super) struct Recorder<'w, S: Real> {
    record: Option<Record>,
    /// Steps the run may take: the last point before the limit is always a row.
    iterations: u64,
    rows: Vec<Row>,
    /// Time spent before this run.
    before: Duration,
    start: Instant,
    /// Time spent looking.
    aside: Duration,
    /// How often to hand out a snapshot, and what is done with it.
    keep: Option<(Duration, Keep<'w, S>)>,
    kept: Instant,
    /// A state that is handed out when another point follows: from the last point of a run nothing can be gone on with.
    pending: Option<(State<S>, Duration)>,
}

impl<'w, S: Real> Recorder<'w, S> {
    pub fn new(
        options: &Options,
        (mut rows, before): (Vec<Row>, Duration),
        keep: Option<(Duration, Keep<'w, S>)>,
    ) -> Self {
        rows.reserve(options.record.map_or(0, |record| record.capacity));
        let (record, iterations, now) = (options.record, options.stop.iterations, Instant::now());
        Self { record, iterations, rows, before, start: now, aside: Duration::ZERO, keep, kept: now, pending: None }
    }

    /// Since this run began, whatever the time was spent on.
    pub fn since_start(&self) -> Duration {
        self.start.elapsed()
    }

    /// The method's time, before a resumption included.
    pub fn elapsed(&self) -> Duration {
        self.before + self.since_start().saturating_sub(self.aside)
    }

    /// Does something whose time is not the method's.
    pub fn aside<R>(&mut self, act: impl FnOnce(&mut Self) -> R) -> R {
        let begun = Instant::now();
        let found = act(self);
        self.aside += begun.elapsed();
        found
    }

    /// Whether a point is one to keep.
    pub fn wants(&self, info: &Info) -> bool {
        let last = self.rows.last().map(|row| row.k);
        self.record.is_some_and(|record| record.wants(info, last, self.iterations))
    }

    /// Adds the row of the solver's point, shows it around, and returns F there.
    pub fn push(
        &mut self,
        info: &Info,
        solver: &mut dyn Solver<S>,
        observers: &mut [&mut dyn Observer<S>],
    ) -> Option<f64> {
        let (exact, seconds) = (self.record?.exact_dual_norms, self.elapsed().as_secs_f64());
        self.aside(|log| {
            let row = Row::at(info, solver, exact, seconds)?;
            log.rows.push(row);
            observers.iter_mut().for_each(|observer| observer.recorded(&row, solver));
            Some(row.objective)
        })
    }

    /// The row of the point where the run ended, if it is one and is missing.
    pub fn end(&mut self, info: &Info, solver: &mut dyn Solver<S>, observers: &mut [&mut dyn Observer<S>]) {
        let missing = self.rows.last().is_none_or(|row| row.k != info.k);
        if missing && self.record.is_some_and(|record| record.knows(info, self.iterations)) {
            self.push(info, solver, observers);
        }
    }

    /// Remembers the solver's point where a snapshot is due.
    pub fn remember(&mut self, solver: &mut dyn Solver<S>) {
        if self.keep.as_ref().is_some_and(|(every, _)| self.kept.elapsed() >= *every) {
            self.pending = Some((solver.save(), self.elapsed()));
        }
    }

    /// Hands out what is remembered.
    pub fn hand_out(&mut self) -> ControlFlow<()> {
        let Some((state, elapsed)) = self.pending.take() else { return ControlFlow::Continue(()) };
        let Some((_, keep)) = &mut self.keep else { return ControlFlow::Continue(()) };
        let snapshot = Snapshot { state, rows: std::mem::take(&mut self.rows), elapsed };
        let flow = keep(&snapshot);
        self.rows = snapshot.rows;
        self.kept = Instant::now();
        flow
    }

    /// Hands out a snapshot of the point where an observer ended the run.
    pub fn hand_out_last(&mut self, solver: &mut dyn Solver<S>) {
        if self.keep.is_some() {
            self.hand_out_state(solver.save());
        }
    }

    /// Hands out a snapshot of the state that a run ends in.
    pub fn hand_out_state(&mut self, state: State<S>) {
        self.pending = Some((state, self.elapsed()));
        let _ = self.hand_out(); // the run ends anyway
    }

    pub fn into_rows(self) -> Vec<Row> {
        self.rows
    }
}
