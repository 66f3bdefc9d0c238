//! The Python package `melmo`, as far as it is Rust: the module `melmo._melmo`.
//!
//! Everything here works on flat, contiguous NumPy arrays of `f32` or `f64`; shapes, blocks by name, defaults and documentation
//! are the business of `python/melmo`. The interpreter is released while Rust works and taken back for what is Python's:
//! a user's own terms, callbacks, signals.

mod array;
mod catalogue;
mod certificate;
mod check;
mod data;
mod dlpack;
mod error;
mod failure;
mod oracle;
mod problem;
mod ranks;
mod run;
mod settings;
mod shared;
mod solved;
mod tasks;
mod term;
mod threads;
mod wait;
mod watch;

use pyo3::prelude::*;

// Huge pages from 4 MB on, as for NumPy's own arrays.
#[global_allocator]
static ALLOCATOR: melmo_alloc::Aligned<{ 4 << 20 }> = melmo_alloc::Aligned;

/// What `python/melmo` is built on.
#[pymodule]
fn _melmo(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add_class::<term::Loss>()?;
    m.add_class::<term::Penalty>()?;
    m.add_class::<term::Operator>()?;
    m.add_class::<problem::Problem>()?;
    m.add_class::<certificate::Certificate>()?;
    m.add_class::<check::Law>()?;
    m.add_class::<run::Run>()?;
    m.add_class::<dlpack::Lent>()?;
    m.add_class::<dlpack::Left>()?;
    catalogue::register(m)?;
    oracle::register(m)?;
    data::register(m)?;
    threads::register(m)?;
    tasks::register(m)
}
