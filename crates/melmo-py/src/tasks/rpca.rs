//! Low rank plus sparse.

use std::sync::Arc;

use melmo_tasks::rpca::{Weights, noise, prepare, rank};
use melmo_tasks::{Settings, Until};
use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::solve::{told, watched};
use crate::array::{self, Scalar};
use crate::certificate::Stored;
use crate::error::raised;
use crate::failure;
use crate::settings::solving;
use crate::wait::{signals, waiting};

/// The two parts of Y (NaN where it has no entry): z is [L | S], and what was chosen comes with it.
#[pyfunction]
#[pyo3(signature = (y, low_rank, sparse, level, settings))]
pub fn rpca<'py>(
    py: Python<'py>,
    y: &Bound<'py, PyAny>,
    low_rank: &str,
    sparse: &str,
    level: Option<f64>,
    settings: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = solving(settings)?.settings;
    match array::is_single(y) {
        true => separate::<f32>(py, y, [low_rank, sparse], level, &settings),
        false => separate::<f64>(py, y, [low_rank, sparse], level, &settings),
    }
}

fn separate<'py, S: Scalar + Stored>(
    py: Python<'py>,
    y: &Bound<'py, PyAny>,
    [low_rank, sparse]: [&str; 2],
    level: Option<f64>,
    settings: &Settings,
) -> PyResult<Bound<'py, PyDict>> {
    let view = array::read::<S>("X", y)?;
    let &[rows, cols] = view.shape() else { return Err(PyValueError::new_err("X: expected a matrix")) };
    let (low_rank, sparse) = (super::penalty(low_rank)?, super::penalty(sparse)?);
    let data = Arc::new(view.as_slice()?.to_vec());
    let until = Until::after(settings.time_limit);
    let found = waiting(py, &until, move |until| {
        let level = level.map_or_else(|| noise(&data, rows, cols, until), Ok)?;
        let weights = Weights::choose(&low_rank, &sparse, level, rows, cols);
        let prepared = prepare(&data, rows, cols, &weights, until)?;
        Ok((prepared, weights, level))
    })?;
    let (prepared, weights, level) = found.map_err(|error: melmo_tasks::Error| raised(error))?;
    let settings = Settings { time_limit: until.left(), ..settings.clone() };
    let solved = py.detach(|| watched(&prepared, &settings))?;
    // Not waited for where the run had to end.
    let patience = signals().run(|| solved.report.patience());
    let found = py.detach(|| patience.run(|| rank(&solved.report.z[..rows * cols], rows, cols)));
    failure::take().map_or(Ok(()), Err)?;
    let dict = told(py, solved)?;
    dict.set_item("noise", level)?;
    dict.set_item("rank", found)?;
    dict.set_item("low_rank_penalty", weights.low_rank.to_string())?;
    dict.set_item("sparse_penalty", weights.sparse.to_string())?;
    Ok(dict)
}
