//! A task's problem, solved while Python can still be heard.

use melmo_tasks::{Prepared, Settings, Solved, Watch, solve};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::Scalar;
use crate::certificate::Stored;
use crate::error::raised;
use crate::solved::to_dict;
use crate::watch::{Halt, Watcher};

/// Solves it; Ctrl-C and what a signal's handler raises are raised. Called with the interpreter released.
pub fn watched<S: Scalar>(prepared: &Prepared<S>, settings: &Settings) -> PyResult<Solved<S>> {
    let mut watcher = Watcher::new(None, None);
    let patience = watcher.patience();
    let watch = Watch { watcher: Some(&mut watcher), ..Watch::default() };
    let solved = patience.run(|| solve(prepared, settings, watch));
    match watcher.halted() {
        Some(Halt::Raised(error)) => Err(error),
        Some(_) => Err(PyKeyboardInterrupt::new_err(())),
        None => solved.map_err(raised),
    }
}

/// What was found, as a dictionary.
pub fn told<'py, S: Scalar + Stored>(py: Python<'py>, solved: Solved<S>) -> PyResult<Bound<'py, PyDict>> {
    to_dict(py, solved, None)
}
