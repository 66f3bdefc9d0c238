//! How many threads the process uses.

use melmo::error::Error;
use melmo::threads::Threads;
use pyo3::prelude::*;

use crate::error::raised;

/// Makes `threads` the number of the process; what the environment says, or all cores, for `None`.
#[pyfunction]
#[pyo3(signature = (threads=None))]
fn set_threads(threads: Option<usize>) -> PyResult<()> {
    let threads = threads.map_or_else(Threads::from_environment, Threads::new);
    threads.map(Threads::make_default).map_err(|refused| raised(Error::from(refused)))
}

/// The number of the process.
#[pyfunction]
fn get_threads() -> usize {
    Threads::current().get()
}

/// The functions, and the number that a process begins with.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    set_threads(None)?;
    m.add_function(wrap_pyfunction!(set_threads, m)?)?;
    m.add_function(wrap_pyfunction!(get_threads, m)?)
}
