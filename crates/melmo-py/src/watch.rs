//! What Python has to say while a solver runs: Ctrl-C, a callback, a progress bar.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use melmo::drive::{Best, Observer};
use melmo::geometry::BlockNorm;
use melmo::patience::Patience;
use melmo::solver::{Info, Solver};
use numpy::PyArray1;
use pyo3::exceptions::{PyKeyboardInterrupt, PyStopIteration};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::array::Scalar;
use crate::failure;
use crate::wait::{HEARTBEAT, signals};

/// Why a watcher ended a run.
pub enum Halt {
    /// Ctrl-C.
    Interrupted,
    /// The callback asked for it.
    Stopped,
    /// Something was raised: a callback, a signal's handler, a user's term.
    Raised(PyErr),
}

/// Sees every point.
pub struct Watcher<S> {
    /// `callback(info, x)`: true, or `StopIteration`, ends the run.
    pub callback: Option<Py<PyAny>>,
    /// `progress(k, objective)`, every heartbeat.
    pub progress: Option<Py<PyAny>>,
    /// The point of least F among those whose F was known (rows, heartbeats, points that the callback saw), and the norms
    /// of its certificate.
    pub best: Option<(Best<S>, Vec<BlockNorm>)>,
    halt: Option<Halt>,
    /// Something was raised, which somebody waits for.
    raised: Arc<AtomicBool>,
    last: Instant,
}

impl<S: Scalar> Watcher<S> {
    /// Nobody but signals.
    pub fn new(callback: Option<Py<PyAny>>, progress: Option<Py<PyAny>>) -> Self {
        Self { callback, progress, best: None, halt: None, raised: Arc::default(), last: Instant::now() }
    }

    /// What its run is given: until a signal raises something, here or at a point, or a callback does.
    pub fn patience(&self) -> Patience {
        let raised = self.raised.clone();
        signals().or(move || raised.load(Ordering::Relaxed))
    }

    /// Why it ended the run, if it did. A user's term that failed counts, and a Ctrl-C that struck inside of one.
    pub fn halted(&mut self) -> Option<Halt> {
        let halt = self.halt.take().or_else(|| failure::take().map(Halt::Raised));
        halt.map(|halt| match halt {
            Halt::Raised(error) if Python::attach(|py| error.is_instance_of::<PyKeyboardInterrupt>(py)) => {
                Halt::Interrupted
            }
            other => other,
        })
    }

    fn keep_best(&mut self, info: &Info, objective: f64, solver: &mut dyn Solver<S>) {
        let (best, _) = self.best.get_or_insert_with(|| (Best::new(solver), solver.norms()));
        best.consider(info, objective, solver);
    }

    /// Lets Python run its signal handlers, and tells the progress.
    fn beat(&self, info: &Info, objective: f64) -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            if let Some(progress) = &self.progress {
                progress.bind(py).call1((info.k, objective))?;
            }
            Ok(())
        })
    }

    /// Shows a point to the callback; true ends the run.
    fn show(callback: &Py<PyAny>, info: &Info, objective: f64, x: Vec<S>) -> PyResult<bool> {
        Python::attach(|py| {
            let shown = callback.bind(py).call1((describe(py, info, objective)?, PyArray1::from_vec(py, x)));
            match shown {
                Ok(answer) => answer.is_truthy(),
                Err(error) if error.is_instance_of::<PyStopIteration>(py) => Ok(true),
                Err(error) => Err(error),
            }
        })
    }

    fn ask(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> Result<(), Halt> {
        if failure::pending() {
            return Err(failure::take().map_or(Halt::Stopped, Halt::Raised));
        }
        let due = self.last.elapsed() >= HEARTBEAT;
        if !due && self.callback.is_none() && info.objective.is_none() {
            return Ok(());
        }
        let objective = info.objective.unwrap_or_else(|| solver.objective());
        self.keep_best(info, objective, solver);
        if due {
            self.last = Instant::now();
            self.beat(info, objective).map_err(Halt::Raised)?;
        }
        match &self.callback {
            Some(callback) if Self::show(callback, info, objective, solver.x()).map_err(Halt::Raised)? => {
                Err(Halt::Stopped)
            }
            _ => Ok(()),
        }
    }
}

impl<S: Scalar> Observer<S> for Watcher<S> {
    fn observe(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> ControlFlow<()> {
        match self.ask(info, solver) {
            Ok(()) => ControlFlow::Continue(()),
            Err(halt) => {
                self.raised.store(matches!(halt, Halt::Raised(_)), Ordering::Relaxed);
                self.halt = Some(halt);
                ControlFlow::Break(())
            }
        }
    }
}

/// The scalars at a point, in the order of the fields of Python's `Info`.
pub fn describe<'py>(py: Python<'py>, info: &Info, objective: f64) -> PyResult<Bound<'py, PyTuple>> {
    let Info { k, epoch, beta, gamma, dual_norm, eta, excess, prox_gap, .. } = *info;
    (k, epoch, objective, (dual_norm.lower, dual_norm.upper), prox_gap, beta, gamma, eta, excess).into_pyobject(py)
}
