//! The Python package `melmo`, as far as it is Rust: the module `melmo._melmo`.

use pyo3::prelude::*;

/// What `python/melmo` is built on.
#[pymodule]
fn _melmo(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    Ok(())
}
