//! The tasks, for the estimators: arrays in, dictionaries of arrays out.

mod complete;
mod denoise;
mod factorize;
mod film;
mod regress;
mod restore;
mod rpca;
mod solve;

use melmo_tasks::PenaltyChoice;
use pyo3::prelude::*;

use crate::error::raised;

/// Adds them to the module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(complete::complete, m)?)?;
    m.add_function(wrap_pyfunction!(complete::complete_entries, m)?)?;
    m.add_function(wrap_pyfunction!(denoise::denoise, m)?)?;
    m.add_function(wrap_pyfunction!(denoise::denoise_tv, m)?)?;
    m.add_function(wrap_pyfunction!(denoise::denoise_volume, m)?)?;
    m.add_class::<film::Film>()?;
    m.add_function(wrap_pyfunction!(factorize::factorize, m)?)?;
    m.add_function(wrap_pyfunction!(factorize::encode, m)?)?;
    m.add_function(wrap_pyfunction!(regress::regress, m)?)?;
    m.add_function(wrap_pyfunction!(regress::settled_loss, m)?)?;
    m.add_function(wrap_pyfunction!(regress::mean_loss, m)?)?;
    m.add_function(wrap_pyfunction!(regress::concordance, m)?)?;
    m.add_function(wrap_pyfunction!(regress::row_slopes, m)?)?;
    m.add_function(wrap_pyfunction!(restore::kernel, m)?)?;
    m.add_function(wrap_pyfunction!(restore::restore, m)?)?;
    m.add_function(wrap_pyfunction!(rpca::rpca, m)?)
}

/// A penalty by name and parameters, as people write it.
fn penalty(text: &str) -> PyResult<PenaltyChoice> {
    text.parse().map_err(|error: melmo_tasks::Error| raised(error))
}
