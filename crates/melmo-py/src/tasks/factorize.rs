//! Sparse factors.

use melmo::smooth::Factorization;
use melmo::sparse::Csr;
use melmo_tasks::factorize::{self as task, Factors, nonnegative, penalised, row_penalty, sparse_loss};
use melmo_tasks::{PenaltyChoice, Prepared, Until};
use numpy::{PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::solve::{told, watched};
use crate::array::{self, Scalar};
use crate::certificate::Stored;
use crate::error::raised;
use crate::ranks::{self, Rows, Together};
use crate::settings::{Solving, solving};
use crate::term::Terms;
use crate::wait::waiting;

/// What is asked for besides data.
struct Asked {
    rank: usize,
    penalty: PenaltyChoice,
    ridge: f64,
    nonnegative: bool,
    solving: Solving,
    /// Those who have the other rows.
    together: Option<Together>,
}

/// A sparse matrix as SciPy has it: its shape, where rows begin, the column of each entry, the values.
type Compressed<'py> = ((usize, usize), PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, Bound<'py, PyAny>);

/// W and H of Y (NaN where it has no entry; or sparse, 0 where it has none) from a start: x is [W | H], z the penalised part with its
/// exact zeros. With `ranks` Y and W are rows that lie here: `piece` says which.
#[pyfunction]
#[pyo3(signature = (y, w, h, penalty, ridge, nonnegative, settings, ranks = None, piece = None))]
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
    ranks: Option<Py<PyAny>>,
    piece: Option<Rows>,
) -> PyResult<Bound<'py, PyDict>> {
    let (penalty, solving) = (super::penalty(penalty)?, solving(settings)?);
    let together = ranks.map(|ranks| Together::new(ranks, vec![piece, None]));
    let asked = Asked { rank: 0, penalty, ridge, nonnegative, solving, together };
    match array::is_single(w) {
        true => fit::<f32>(py, y, w, h, asked),
        false => fit::<f64>(py, y, w, h, asked),
    }
}

fn fit<'py, S: Terms + Stored>(
    py: Python<'py>,
    y: &Bound<'py, PyAny>,
    w: &Bound<'py, PyAny>,
    h: &Bound<'py, PyAny>,
    mut asked: Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let prepared = prepare::<S>(py, y, w, h, &mut asked);
    let solved = match &asked.together {
        Some(together) => {
            let prepared = together.agree(py, prepared)?;
            let part = (&prepared.problem, &prepared.start[..], &prepared.defaults);
            ranks::solve(py, part, &asked.solving, together)?
        }
        None => {
            let prepared = prepared?;
            py.detach(|| watched(&prepared, &asked.solving.settings))?
        }
    };
    told(py, solved)
}

/// The problem, and where it starts.
fn prepare<S: Terms>(
    py: Python<'_>,
    y: &Bound<'_, PyAny>,
    w: &Bound<'_, PyAny>,
    h: &Bound<'_, PyAny>,
    asked: &mut Asked,
) -> PyResult<Prepared<S>> {
    let (w, h) = (array::read::<S>("W", w)?, array::read::<S>("H", h)?);
    asked.rank = sides("W", w.shape())?[1];
    let loss = match y.extract::<Compressed<'_>>() {
        Ok(compressed) => sparse::<S>(&compressed, asked)?,
        Err(_) => dense::<S>(y, asked)?,
    };
    let (w, h) = (w.as_slice()?.to_vec(), h.as_slice()?.to_vec());
    if !asked.nonnegative {
        return penalised(loss, &asked.penalty, w, h).map_err(raised);
    }
    // Where entries are missing, its start is found by rounds of its own.
    let (penalty, until) = (asked.penalty.clone(), Until::after(asked.solving.settings.time_limit));
    let prepared = waiting(py, &until, move |until| nonnegative(loss, &penalty, w, h, until))?;
    asked.solving.settings.time_limit = until.left();
    prepared.map_err(raised)
}

/// The loss of all entries, those that are NaN left out.
fn dense<S: Scalar>(y: &Bound<'_, PyAny>, asked: &Asked) -> PyResult<Factorization<S>> {
    let view = array::read::<S>("X", y)?;
    let [rows, cols] = sides("X", view.shape())?;
    let (y, Asked { rank, penalty, ridge, .. }) = (view.as_slice()?, asked);
    let factors = Factors { y, mask: None, rows, cols, rank: *rank, penalty, ridge: *ridge };
    factors.loss().map_err(raised)
}

/// The loss of the entries that there are, the others 0.
fn sparse<S: Scalar>(
    ((rows, cols), starts, columns, values): &Compressed<'_>,
    asked: &Asked,
) -> PyResult<Factorization<S>> {
    // What is negative becomes too large, and is refused as such.
    let starts = starts.as_slice()?.iter().map(|&i| usize::try_from(i).unwrap_or(usize::MAX)).collect();
    let columns = columns.as_slice()?.iter().map(|&j| u32::try_from(j).unwrap_or(u32::MAX)).collect();
    let values = array::owned::<S>("values", values)?;
    let y = Csr::new(*rows, *cols, starts, columns, values).map_err(|misfit| PyValueError::new_err(misfit.0))?;
    sparse_loss(y, asked.rank, asked.ridge).map_err(raised)
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
            let part = task::Rows { y, basis, cols, rank, ridge: 0.0 };
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
