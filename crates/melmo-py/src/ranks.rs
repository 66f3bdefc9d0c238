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

use crate::error::raised;
use crate::failure;
use crate::settings::Solving;
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

    /// Everybody's numbers.
    fn each<const N: usize>(&mut self, own: [f64; N]) -> Result<Vec<[f64; N]>, Lost> {
        let mut all = vec![0.0; N * self.size];
        self.gather(&own, &vec![N; self.size], &mut all)?;
        Ok(all.chunks_exact(N).map(|part| std::array::from_fn(|i| part[i])).collect())
    }

    /// Goes on where everybody can; else this rank's error, or which rank has one.
    fn agree<T>(&mut self, result: PyResult<T>) -> PyResult<T> {
        let all = self.each([f64::from(u8::from(result.is_err()))]);
        let heard = failure::take(); // where nobody could be asked
        let failed = all.unwrap_or_default().iter().position(|[failed]| *failed > 0.0);
        let elsewhere = |rank| PyRuntimeError::new_err(format!("rank {rank} ended the run, and says why"));
        result.and_then(|value| heard.or(failed.map(elsewhere)).map_or(Ok(value), Err))
    }

    /// Lets Python hear of signals; whether Ctrl-C was one.
    fn hear(&self) -> bool {
        Python::attach(|py| {
            if !failure::pending() {
                py.check_signals().unwrap_or_else(failure::record);
            }
            self.raw.getattr(py, "interrupted").and_then(|said| said.extract(py)).unwrap_or(false)
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

/// Why all ended before the solver had a reason to.
#[derive(Clone, Copy, PartialEq)]
enum Ended {
    /// Ctrl-C on one of them.
    Interrupted,
    /// The time of rank 0 is up.
    Late,
    /// A signal or a term has raised something on one of them, or a rank is lost.
    Raised,
}

/// All end together: nobody decides by itself, for whoever left alone would be waited for.
struct Agreed {
    ranks: Connected,
    rhythm: Rhythm,
    begun: Instant,
    limit: Option<Duration>,
    ended: Option<Ended>,
}

impl Agreed {
    /// Asks everybody.
    fn ask(&mut self) -> Result<Option<Ended>, Lost> {
        let interrupted = self.ranks.hear();
        let flag = |said: bool| f64::from(u8::from(said));
        let late = self.limit.is_some_and(|limit| self.begun.elapsed() >= limit);
        let own = [flag(failure::pending()), flag(interrupted), flag(late), self.rhythm.seconds()];
        let all = self.ranks.each(own)?;
        let [_, _, late, seconds] = all[0];
        self.rhythm.heard(seconds);
        let somebody = |at: usize| all.iter().any(|rank| rank[at] > 0.0);
        Ok(match (somebody(0), somebody(1), late > 0.0) {
            (true, ..) => Some(Ended::Raised),
            (_, true, _) => Some(Ended::Interrupted),
            (.., true) => Some(Ended::Late),
            _ => None,
        })
    }
}

impl<S: Terms> Observer<S> for Agreed {
    fn observe(&mut self, _: &Info, _: &mut dyn Solver<S>) -> ControlFlow<()> {
        if self.rhythm.is_due() {
            self.ended = self.ask().unwrap_or(Some(Ended::Raised));
        }
        if self.ended.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Who takes part, and which rows of each block lie here.
pub struct Together {
    ranks: Py<PyAny>,
    pieces: Vec<Option<Piece>>,
}

impl Together {
    /// As Python's `melmo._ranks.Ranks` and `Share` have it.
    pub fn new(ranks: Py<PyAny>, pieces: Vec<Option<Rows>>) -> Self {
        let piece =
            |(rows, own, held): Rows| Piece { own: own.0..own.1, held: held.0..held.1, ..Piece::of(rows, 0, 0, 1) };
        Self { ranks, pieces: pieces.into_iter().map(|rows| rows.map(piece)).collect() }
    }

    /// Goes on where everybody can: what was made of this rank's rows, else its error or which rank has one.
    pub fn agree<T>(&self, py: Python<'_>, made: PyResult<T>) -> PyResult<T> {
        Connected::new(py, &self.ranks)?.agree(made)
    }
}

/// Solves a rank's part of a problem, with everybody else.
pub fn solve<S: Terms>(
    py: Python<'_>,
    (problem, x0, defaults): (&Problem<S>, &[S], &Defaults),
    solving: &Solving,
    Together { ranks, pieces }: &Together,
) -> PyResult<Solved<S>> {
    if solving.settings.device != DeviceChoice::Cpu {
        return Err(PyValueError::new_err("device: ranks compute on processors; leave it out with comm"));
    }
    let [here, asking] = [Connected::new(py, ranks)?, Connected::new(py, ranks)?];
    let limit = solving.settings.time_limit;
    let mut agreed = Agreed { ranks: asking, rhythm: Rhythm::default(), begun: Instant::now(), limit, ended: None };
    let threads = solving.threads.unwrap_or_else(Threads::current);
    let part = || solve_part((problem, x0, defaults), solving, pieces, here, &mut agreed);
    // Whoever gave up a decomposition by itself would leave the others waiting: ends are agreed on, between steps.
    let solved = py.detach(|| threads.run(|| Patience::endless().run(part)));
    let mut solved = agreed.ranks.agree(failure::take().map_or(solved, Err))?;
    if solved.report.status == Status::Interrupted && agreed.ended == Some(Ended::Late) {
        solved.report.status = Status::Time;
    }
    Ok(solved)
}

fn solve_part<S: Terms>(
    (problem, x0, defaults): (&Problem<S>, &[S], &Defaults),
    solving: &Solving,
    pieces: &[Option<Piece>],
    ranks: Connected,
    agreed: &mut Agreed,
) -> PyResult<Solved<S>> {
    let settings = Settings { time_limit: None, ..solving.settings.clone() };
    let norms = problem.layout().check("x0", x0).map_err(raised);
    let norms = norms.and_then(|()| elsewhere::norms(problem, defaults, &settings).map_err(raised));
    let measure = Measure::of(agreed.ranks.agree(norms)?);
    let mut space = Distributed::new(problem, pieces, &measure, settings.oracle, Box::new(ranks)).map_err(raised)?;
    if settings.gap.is_some() {
        space.expect_bound(settings.radius).map_err(raised)?;
    }
    let start = space.own_entries(x0);
    let watch =
        Watch { watcher: Some(agreed), trace_every: solving.trace_every, exact: solving.exact, ..Watch::default() };
    let first = |space: &mut Distributed<'_, S>| space.first_beta(&start);
    elsewhere::solve_in(space, &start, (defaults, &settings), first, watch).map_err(raised)
}
