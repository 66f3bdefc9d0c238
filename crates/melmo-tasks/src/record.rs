//! The rows of a run and its checkpoints: a run that is taken up again goes on as if it had never stopped.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use melmo::drive::Observer;
use melmo::real::Real;
use melmo::solver::{Info, Solver, State};
use melmo::trace::Row;
use serde::{Deserialize, Serialize};

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

/// Records rows, passes every point on to a watcher, and hands out snapshots.
pub(crate) struct Recorder<'w, S: Real> {
    /// Every how many points a row is kept; 0 for none.
    pub every: u64,
    /// Rows have exact dual norms.
    pub exact: bool,
    /// Steps the run may take: the last point before the limit is always a row.
    pub iterations: u64,
    pub rows: Vec<Row>,
    /// Time spent before this run.
    pub before: Duration,
    pub start: Instant,
    /// Time that rows took: it is not the method's.
    pub aside: Duration,
    /// Whoever watches.
    pub watcher: Option<&'w mut dyn Observer<S>>,
    /// How often to hand out a snapshot, and what is done with it.
    pub keep: Option<(Duration, Keep<'w, S>)>,
    pub kept: Instant,
    /// A state that is handed out when another point follows: from the last point of a run nothing can be gone on with.
    pub pending: Option<(State<S>, Duration)>,
}

impl<S: Real> Recorder<'_, S> {
    pub fn elapsed(&self) -> Duration {
        self.before + self.start.elapsed().saturating_sub(self.aside)
    }

    /// A row describes a point before its step, or one that an epoch has judged: the point after the last step is none.
    fn is_row(&self, info: &Info) -> bool {
        info.k <= self.iterations || info.epoch.is_some()
    }

    fn wants(&self, info: &Info) -> bool {
        let end = info.epoch.is_none() && info.k == self.iterations;
        self.every > 0 && self.is_row(info) && ((info.k - 1).is_multiple_of(self.every) || self.rows.is_empty() || end)
    }

    fn push(&mut self, info: &Info, solver: &mut dyn Solver<S>) {
        let (seconds, begun) = (self.elapsed().as_secs_f64(), Instant::now());
        let mut info = *info;
        info.objective = Some(info.objective.unwrap_or_else(|| solver.objective()));
        self.rows.push(Row::at(&info, solver, self.exact, seconds));
        self.aside += begun.elapsed();
    }

    /// The row of the point where the run ended, if it is one and is missing.
    pub fn finish(&mut self, info: &Info, solver: &mut dyn Solver<S>) {
        let missing = self.rows.last().is_none_or(|row| row.k != info.k);
        if self.every > 0 && info.finite && missing && self.is_row(info) {
            self.push(info, solver);
        }
    }

    /// Hands out a snapshot of a state, with the rows up to it.
    fn hand_out(&mut self, state: State<S>, elapsed: Duration) -> ControlFlow<()> {
        let Some((_, keep)) = &mut self.keep else { return ControlFlow::Continue(()) };
        let snapshot = Snapshot { state, rows: std::mem::take(&mut self.rows), elapsed };
        let flow = keep(&snapshot);
        self.rows = snapshot.rows;
        self.kept = Instant::now();
        flow
    }
}

impl<S: Real> Observer<S> for Recorder<'_, S> {
    fn observe(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> ControlFlow<()> {
        if let Some((state, elapsed)) = self.pending.take() {
            self.hand_out(state, elapsed)?;
        }
        let mut info = *info;
        if self.wants(&info) {
            self.push(&info, solver);
            info.objective = self.rows.last().map(|row| row.objective);
        }
        let flow = self.watcher.as_mut().map_or(ControlFlow::Continue(()), |watcher| watcher.observe(&info, solver));
        let due = self.keep.as_ref().is_some_and(|(every, _)| self.kept.elapsed() >= *every);
        if flow.is_break() {
            self.hand_out(solver.save(), self.elapsed())?;
        } else if due {
            self.pending = Some((solver.save(), self.elapsed()));
        }
        flow
    }
}
