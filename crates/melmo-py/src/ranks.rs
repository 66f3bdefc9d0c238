//! Runs on ranks, which Python connects: a communicator of mpi4py, and so no MPI here.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use melmo::drive::{Observer, Status};
use melmo::patience::Patience;
use melmo::problem::Problem;
use melmo::solver::{Info, Solver};
use melmo::threads::Threads;
use melmo_mpi::{Distributed, Lost, Measure, Piece, Ranks, Rhythm};
use melmo_tasks::{Defaults, DeviceChoice, Settings, Solved, Watch, elsewhere};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array;
use crate::certificate::Stored;
use crate::error::raised;
use crate::failure;
use crate::settings::Solving;
use crate::solved;
use crate::term::Terms;

/// Rows of a block that lie on this rank: all that there are, its own, and those that are held.
pub type Rows = (usize, (usize, usize), (usize, usize));

/// This rank's end, as Python's `melmo._ranks.Ranks` has it. What Python raises is kept for whoever started the run.
struct Connected {
    raw: Py<PyAny>,
    rank: usize,
    size: usize,
}

impl Connected {
    fn new(py: Python<'_>, raw: &Py<PyAny>) -> PyResult<Self> {
        let (rank, size) = (raw.getattr(py, "rank")?.extract(py)?, raw.getattr(py, "size")?.extract(py)?);
        Ok(Self { raw: raw.clone_ref(py), rank, size })
    }

    /// Calls a method that answers with an array of this length.
    fn call<'a>(
        &self,
        method: &str,
        own: impl IntoIterator<Item = &'a [f64]>,
        counts: Vec<usize>,
        to: &mut [f64],
    ) -> Result<(), Lost> {
        let answer = Python::attach(|py| -> PyResult<()> {
            let own: Vec<_> = own.into_iter().map(|own| PyArray1::from_slice(py, own)).collect();
            let found = self.raw.bind(py).call_method1(method, (own, counts))?;
            let found = found.cast::<PyArray1<f64>>()?.readonly();
            let found = found.as_slice()?;
            if found.len() != to.len() {
                return Err(PyRuntimeError::new_err("ranks sent another number of numbers; this is a bug of melmo"));
            }
            to.copy_from_slice(found);
            Ok(())
        });
        answer.map_err(|error| {
            failure::record(error);
            Lost
        })
    }
}

impl Ranks for Connected {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn gather(&mut self, own: &[f64], counts: &[usize], all: &mut [f64]) -> Result<(), Lost> {
        self.call("gather", [own], counts.to_vec(), all)
    }

    fn trade(&mut self, own: &[f64], counts: &[usize], received: &mut [f64], from: &[usize]) -> Result<(), Lost> {
        self.call("trade", [own], [counts, from].concat(), received)
    }

    fn beside(&mut self, send: [&[f64]; 2], receive: [&mut [f64]; 2]) -> Result<(), Lost> {
        let [before, after] = receive;
        let mut all = vec![0.0; before.len() + after.len()];
        self.call("beside", send, vec![before.len(), after.len()], &mut all)?;
        let (first, second) = all.split_at(before.len());
        before.copy_from_slice(first);
        after.copy_from_slice(second);
        Ok(())
    }
}

/// All end together: where the time of rank 0 is up, or where a signal or a term has raised something on one of them.
struct Agreed {
    ranks: Connected,
    rhythm: Rhythm,
    begun: Instant,
    limit: Option<Duration>,
    late: bool,
}

impl<S: Terms> Observer<S> for Agreed {
    fn observe(&mut self, _: &Info, _: &mut dyn Solver<S>) -> ControlFlow<()> {
        if !self.rhythm.is_due() {
            return ControlFlow::Continue(());
        }
        if !failure::pending() {
            Python::attach(|py| py.check_signals()).unwrap_or_else(failure::record);
        }
        let flag = |said: bool| f64::from(u8::from(said));
        let late = self.limit.is_some_and(|limit| self.begun.elapsed() >= limit);
        let own = [flag(failure::pending()), flag(late), self.rhythm.seconds()];
        let mut all = vec![0.0; 3 * self.ranks.size];
        let counts = vec![3; self.ranks.size];
        if self.ranks.gather(&own, &counts, &mut all).is_err() {
            return ControlFlow::Break(());
        }
        self.rhythm.heard(all[2]);
        self.late = all[1] > 0.0;
        let raised = all.chunks_exact(3).any(|rank| rank[0] > 0.0);
        if raised || self.late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Solves a rank's part of a problem, with everybody else.
pub fn solve<'py, S: Terms + Stored>(
    py: Python<'py>,
    problem: &Problem<S>,
    x0: &Bound<'py, PyAny>,
    solving: &Solving,
    ranks: Py<PyAny>,
    pieces: Vec<Option<Rows>>,
) -> PyResult<Bound<'py, PyDict>> {
    if solving.settings.device != DeviceChoice::Cpu {
        return Err(PyValueError::new_err("device: ranks compute on processors; leave it out with comm"));
    }
    let view = array::read::<S>("x0", x0)?;
    let x0 = view.as_slice()?;
    let piece = |(rows, own, held): Rows| Piece { rows, own: own.0..own.1, held: held.0..held.1 };
    let pieces: Vec<Option<Piece>> = pieces.into_iter().map(|rows| rows.map(piece)).collect();
    let [here, asking] = [Connected::new(py, &ranks)?, Connected::new(py, &ranks)?];
    let limit = solving.settings.time_limit;
    let mut agreed = Agreed { ranks: asking, rhythm: Rhythm::default(), begun: Instant::now(), limit, late: false };
    let threads = solving.threads.unwrap_or_else(Threads::current);
    // Whoever gave up a decomposition by itself would leave the others waiting: ends are agreed on, between steps.
    let work = || Patience::endless().run(|| solve_part(problem, x0, solving, &pieces, here, &mut agreed));
    let solved = py.detach(|| threads.run(work));
    failure::take().map_or(Ok(()), Err)?;
    let mut solved = solved.map_err(raised)?;
    if agreed.late && solved.report.status == Status::Interrupted {
        solved.report.status = Status::Time;
    }
    if solved.report.status == Status::Interrupted {
        return Err(PyRuntimeError::new_err("another rank has ended the run, and says why"));
    }
    solved::to_dict(py, solved, None)
}

fn solve_part<S: Terms>(
    problem: &Problem<S>,
    x0: &[S],
    solving: &Solving,
    pieces: &[Option<Piece>],
    ranks: Connected,
    agreed: &mut Agreed,
) -> Result<Solved<S>, melmo_tasks::Error> {
    let settings = Settings { time_limit: None, ..solving.settings.clone() };
    problem.layout().check("x0", x0)?;
    let defaults = Defaults::default();
    let measure = Measure::of(elsewhere::norms(problem, &defaults, &settings)?);
    let space = Distributed::new(problem, pieces, &measure, settings.oracle, Box::new(ranks))?;
    let start = space.own_entries(x0);
    let watch =
        Watch { watcher: Some(agreed), trace_every: solving.trace_every, exact: solving.exact, ..Watch::default() };
    let first = |space: &mut Distributed<'_, S>| space.first_beta(&start);
    elsewhere::solve_in(space, &start, (&defaults, &settings), first, watch)
}
