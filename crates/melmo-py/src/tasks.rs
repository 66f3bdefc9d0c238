//! The tasks, for the estimators.

use pyo3::prelude::*;

/// Adds them to the module.
pub fn register(_m: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
