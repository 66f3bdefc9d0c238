//! Who watches a run on ranks: all decide together when it ends, when it is shown, and when a checkpoint is written.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use melmo::drive::Observer;
use melmo::real::Real;
use melmo::solver::{Info, Solver, State};
use melmo::trace::Row;
use melmo_mpi::Rhythm;

use crate::error::Error;
use crate::ranks::Crew;
use crate::ranks::set::Keeper;
use crate::render::progress::{Progress, interrupted, last_checkpoint};

/// Why all ended before the solver had a reason to.
#[derive(Debug)]
pub enum Ended {
    Asked,
    Late,
    /// Its checkpoint could not be written: what was found is delivered all the same, as on one machine.
    Unkept(Error),
    Failed(Error),
}

/// Asks everybody now and then; what rank 0's clock says goes for all.
pub struct Overseer<'a, S: Real> {
    pub crew: Crew,
    pub keeper: Option<(Duration, Keeper<'a>)>,
    /// Where rank 0 shows the run.
    pub progress: Option<Progress>,
    /// The time that is left, of which rank 0's counts.
    pub limit: Option<Duration>,
    pub rows: Vec<Row>,
    pub before: Duration,
    pub ended: Option<Ended>,
    begun: Instant,
    kept: Instant,
    rhythm: Rhythm,
    /// A state, and how many rows were recorded up to it. It is written when another point follows: from the last point of a run nothing can
    /// be gone on with.
    pending: Option<(State<S>, usize)>,
}

impl<'a, S: Real> Overseer<'a, S> {
    /// Of a run that begins now, after the rows and the time of an earlier part.
    pub fn new(crew: Crew, keeper: Option<(Duration, Keeper<'a>)>, progress: Option<Progress>) -> Self {
        let now = Instant::now();
        Self {
            crew,
            keeper,
            progress,
            limit: None,
            rows: Vec::new(),
            before: Duration::ZERO,
            ended: None,
            begun: now,
            kept: now,
            rhythm: Rhythm::default(),
            pending: None,
        }
    }

    /// Writes a state with the rows up to it: later ones are recorded again by whoever goes on from there.
    fn keep(&mut self, state: &State<S>, rows: usize) -> Result<(), Error> {
        let Some((_, keeper)) = &mut self.keeper else { return Ok(()) };
        keeper.write(&mut self.crew, state, (&self.rows[..rows], self.before + self.begun.elapsed()))?;
        self.kept = Instant::now();
        if self.crew.is_first() {
            last_checkpoint(keeper.path());
        }
        Ok(())
    }

    /// Asks everybody; what rank 0's clock says goes for all.
    fn ask(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> Result<Option<Ended>, Error> {
        let late = self.limit.is_some_and(|limit| self.begun.elapsed() >= limit);
        let due = self.keeper.as_ref().is_some_and(|(every, _)| self.kept.elapsed() >= *every);
        let shown = self.progress.as_ref().is_some_and(Progress::is_due);
        let flag = |said: bool| f64::from(u8::from(said));
        let own = [flag(interrupted()), flag(late), flag(due), flag(shown), self.rhythm.seconds()];
        let all = self.crew.each(own)?;
        let [_, late, due, shown, took] = all[0];
        self.rhythm.heard(took);
        if all.iter().any(|rank| rank[0] > 0.0) || late > 0.0 {
            if let Err(error) = self.keep(&solver.save(), self.rows.len()) {
                return Ok(Some(Ended::Unkept(error)));
            }
            return Ok(Some(if late > 0.0 { Ended::Late } else { Ended::Asked }));
        }
        if due > 0.0 {
            self.pending = Some((solver.save(), self.rows.len()));
        }
        if shown > 0.0 {
            let objective = info.objective.unwrap_or_else(|| solver.objective());
            self.progress.iter_mut().for_each(|progress| progress.show(info, objective));
        }
        Ok(None)
    }

    fn decide(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> Result<Option<Ended>, Error> {
        if let Some((state, rows)) = self.pending.take()
            && let Err(error) = self.keep(&state, rows)
        {
            return Ok(Some(Ended::Unkept(error)));
        }
        if self.rhythm.is_due() { self.ask(info, solver) } else { Ok(None) }
    }
}

impl<S: Real> Observer<S> for Overseer<'_, S> {
    fn observe(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> ControlFlow<()> {
        self.ended = self.decide(info, solver).unwrap_or_else(|error| Some(Ended::Failed(error)));
        if self.ended.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn recorded(&mut self, row: &Row, _: &mut dyn Solver<S>) {
        self.rows.push(*row);
    }
}
