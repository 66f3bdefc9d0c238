//! Sparse factors.

use melmo_tasks::factorize::{Factors, Rows, row_penalty};
use melmo_tasks::{PenaltyChoice, Settings, Until};
use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::solve::{told, watched};
use crate::array::{self, Scalar};
use crate::certificate::Stored;
use crate::error::raised;
use crate::settings::solving;
use crate::wait::waiting;

/// What is asked for besides data.
struct Asked {
    rank: usize,
    penalty: PenaltyChoice,
    ridge: f64,
    nonnegative: bool,
    settings: Settings,
}

/// W and H of Y (NaN where it has no entry) from a start: x is [W | H], z the penalised part with its exact zeros.
#[pyfunction]
#[pyo3(signature = (y, w, h, penalty, ridge, nonnegative, settings))]
#[allow(clippy::too_many_arguments, reason = "they are the arguments of the Python function")]
pub fn factorize<'py>(
    py: Python<'py>,
    y: &Bound<'py, PyAny>,
    w: &Bound<'py, PyAny>,
    h: &Bound<'py, PyAny>,
    penalty: &str,
    ridge: f64,
    nonnegative: bool,
    settings: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyDict>> {
    let (penalty, settings) = (super::penalty(penalty)?, solving(settings)?.settings);
    let asked = Asked { rank: 0, penalty, ridge, nonnegative, settings };
    match array::is_single(y) {
        true => fit::<f32>(py, y, w, h, asked),
        false => fit::<f64>(py, y, w, h, asked),
    }
}

fn fit<'py, S: Scalar + Stored>(
    py: Python<'py>,
    y: &Bound<'py, PyAny>,
    w: &Bound<'py, PyAny>,
    h: &Bound<'py, PyAny>,
    mut asked: Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let view = array::read::<S>("X", y)?;
    let [rows, cols] = sides("X", view.shape())?;
    let (w, h) = (array::read::<S>("W", w)?, array::read::<S>("H", h)?);
    asked.rank = sides("W", w.shape())?[1];
    let Asked { rank, nonnegative, ridge, .. } = asked;
    let (y, w, h) = (view.as_slice()?, w.as_slice()?.to_vec(), h.as_slice()?.to_vec());
    if nonnegative {
        // Its start is found by rounds of its own.
        let (y, penalty) = (y.to_vec(), asked.penalty.clone());
        let until = Until::after(asked.settings.time_limit);
        let prepared = waiting(py, &until, move |until| {
            let factors = Factors { y: &y, mask: None, rows, cols, rank, penalty: &penalty, ridge };
            factors.prepare_nonnegative(w, h, until)
        })?;
        let prepared = prepared.map_err(raised)?;
        asked.settings.time_limit = until.left();
        let solved = py.detach(|| watched(&prepared, &asked.settings))?;
        return told(py, solved);
    }
    let solved = py.detach(|| {
        let factors = Factors { y, mask: None, rows, cols, rank, penalty: &asked.penalty, ridge };
        watched(&factors.prepare(w, h).map_err(raised)?, &asked.settings)
    })?;
    told(py, solved)
}

/// W of new rows for an H that is known.
#[pyfunction]
#[pyo3(signature = (y, h, penalty, nonnegative, tolerance, sweeps))]
pub fn encode<'py>(
    py: Python<'py>,
    y: &Bound<'py, PyAny>,
    h: &Bound<'py, PyAny>,
    penalty: &str,
    nonnegative: bool,
    tolerance: f64,
    sweeps: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let penalty = super::penalty(penalty)?;
    match array::is_single(y) {
        true => rows::<f32>(py, y, h, &penalty, nonnegative, tolerance, sweeps),
        false => rows::<f64>(py, y, h, &penalty, nonnegative, tolerance, sweeps),
    }
}

/// Numbers of one stretch of rows between two looks at signals: rows that need thousands of sweeps take half a second together.
const STRETCH: usize = 1 << 17;

fn rows<'py, S: Scalar>(
    py: Python<'py>,
    y: &Bound<'py, PyAny>,
    h: &Bound<'py, PyAny>,
    penalty: &PenaltyChoice,
    nonnegative: bool,
    tolerance: f64,
    sweeps: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (y, h) = (array::read::<S>("X", y)?, array::read::<S>("H", h)?);
    let [_, cols] = sides("X", y.shape())?;
    let [rank, width] = sides("H", h.shape())?;
    if width != cols {
        return Err(PyValueError::new_err(format!("X has {cols} columns, H has {width}")));
    }
    let (y, basis) = (y.as_slice()?, h.as_slice()?);
    let found = py.detach(|| -> PyResult<Vec<S>> {
        let g = row_penalty::<S>(penalty, rank, nonnegative).map_err(raised)?;
        let Some(units) = g.coordinates() else {
            return Err(PyValueError::new_err("a factor needs a penalty of its entries"));
        };
        let mut w = Vec::with_capacity(y.len() / cols * rank);
        for y in y.chunks((STRETCH / cols).max(1) * cols) {
            let part = Rows { y, basis, cols, rank, ridge: 0.0 };
            part.check().map_err(raised)?;
            w.extend(part.encode(units, tolerance, sweeps));
            Python::attach(|py| py.check_signals())?;
        }
        Ok(w)
    })?;
    Ok(array::give(py, found).into_any())
}

/// Rows and columns.
fn sides(what: &str, shape: &[usize]) -> PyResult<[usize; 2]> {
    shape.try_into().map_err(|_| PyValueError::new_err(format!("{what}: expected a matrix, got {} axes", shape.len())))
}
