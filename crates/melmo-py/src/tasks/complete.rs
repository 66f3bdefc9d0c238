//! Completing a matrix.

use melmo::known::Feedback;
use melmo::sparse::Csr;
use melmo_tasks::complete::{Completed, Entries, Model, Plan, Wanted, choose};
use melmo_tasks::{Prepared, Settings, Until};
use numpy::{PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::solve::{told, watched};
use crate::array::{self, Scalar, give};
use crate::certificate::Stored;
use crate::error::raised;
use crate::settings::solving;
use crate::wait::waiting;

/// The end of a run on Y (NaN where nothing is known), the offsets, what was chosen, and the whole matrix.
#[pyfunction]
#[pyo3(signature = (y, offsets, offset_weight, rank, ridge, penalty, seed, settings))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub fn complete<'py>(
    py: Python<'py>,
    y: &Bound<'py, PyAny>,
    offsets: bool,
    offset_weight: Option<f64>,
    rank: Option<usize>,
    ridge: Option<f64>,
    penalty: Option<&str>,
    seed: u64,
    settings: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyDict>> {
    let penalty = penalty.map(super::penalty).transpose()?;
    let wanted = Wanted { offsets, offset_weight, rank, ridge, penalty, feedback: Feedback::Explicit };
    let settings = solving(settings)?.settings;
    match array::is_single(y) {
        true => fill::<f32>(py, y, wanted, seed, &settings),
        false => fill::<f64>(py, y, wanted, seed, &settings),
    }
}

/// The same of the entries that a sparse matrix stores, by rows; the matrix is not made whole. With `implicit`, factors against
/// confidences 1 + implicit·y.
#[pyfunction]
#[pyo3(signature = (shape, starts, columns, values, implicit, offsets, offset_weight, rank, ridge, seed, settings))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub fn complete_entries<'py>(
    py: Python<'py>,
    shape: (usize, usize),
    starts: PyReadonlyArray1<'py, i64>,
    columns: PyReadonlyArray1<'py, i32>,
    values: &Bound<'py, PyAny>,
    implicit: Option<f64>,
    offsets: bool,
    offset_weight: Option<f64>,
    rank: Option<usize>,
    ridge: Option<f64>,
    seed: u64,
    settings: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyDict>> {
    let feedback = if implicit.is_some() { Feedback::Implicit } else { Feedback::Explicit };
    let wanted = Wanted { offsets, offset_weight, rank, ridge, penalty: None, feedback };
    let settings = solving(settings)?.settings;
    let scale = implicit.unwrap_or(1.0);
    // What is negative becomes too large, and is refused as such.
    let starts = starts.as_slice()?.iter().map(|&i| usize::try_from(i).unwrap_or(usize::MAX)).collect();
    let columns = columns.as_slice()?.iter().map(|&j| u32::try_from(j).unwrap_or(u32::MAX)).collect();
    let single = array::is_single(values);
    let values: Vec<f64> = match single {
        true => array::read::<f32>("values", values)?.as_slice()?.iter().map(|&y| scale * f64::from(y)).collect(),
        false => array::read::<f64>("values", values)?.as_slice()?.iter().map(|&y| scale * y).collect(),
    };
    let matrix = Csr::new(shape.0, shape.1, starts, columns, values);
    let matrix = matrix.map_err(|misfit| PyValueError::new_err(format!("X: {misfit}")))?;
    let entries = Entries::of_sparse(matrix).map_err(raised)?;
    match single {
        true => Ok(fitted::<f32>(py, entries, wanted, seed, &settings)?.0),
        false => Ok(fitted::<f64>(py, entries, wanted, seed, &settings)?.0),
    }
}

fn fill<'py, S: Scalar + Stored>(
    py: Python<'py>,
    y: &Bound<'py, PyAny>,
    wanted: Wanted,
    seed: u64,
    settings: &Settings,
) -> PyResult<Bound<'py, PyDict>> {
    let view = array::read::<S>("X", y)?;
    let &[rows, cols] = view.shape() else { return Err(PyValueError::new_err("X: expected a matrix")) };
    let known = view.as_slice()?.iter().enumerate().filter(|(_, y)| !y.f64().is_nan());
    let list = known.map(|(at, y)| (at / cols, at % cols, y.f64())).collect();
    let (dict, completed) = fitted::<S>(py, Entries::new(rows, cols, list).map_err(raised)?, wanted, seed, settings)?;
    dict.set_item("matrix", give(py, completed.matrix().into_iter().map(S::of).collect()))?;
    Ok(dict)
}

/// The end of a run, the offsets and what was chosen.
fn fitted<'py, S: Scalar + Stored>(
    py: Python<'py>,
    entries: Entries,
    wanted: Wanted,
    seed: u64,
    settings: &Settings,
) -> PyResult<(Bound<'py, PyDict>, Completed<S>)> {
    let until = Until::after(settings.time_limit);
    let prepared = waiting(py, &until, move |until| -> Result<_, melmo_tasks::Error> {
        let plan = choose(&entries, &wanted, seed, until)?;
        let offsets = plan.offsets(&entries);
        let prepared: Prepared<S> = plan.prepare(offsets.residual(entries), seed, until)?;
        Ok((prepared, plan, offsets))
    })?;
    let (prepared, plan, offsets) = prepared.map_err(raised)?;
    let settings = Settings { time_limit: until.left(), ..settings.clone() };
    let solved = py.detach(|| watched(&prepared, &settings))?;
    let completed = plan.completed(&offsets, &solved.report.x, &solved.report.z);
    let dict = told(py, solved)?;
    dict.set_item("mean", offsets.mean)?;
    dict.set_item("row_offsets", give(py, offsets.row))?;
    dict.set_item("column_offsets", give(py, offsets.column))?;
    describe(&dict, &plan)?;
    Ok((dict, completed))
}

/// What was chosen: the weight of the offsets, then rank and ν, or a penalty.
fn describe(dict: &Bound<'_, PyDict>, plan: &Plan) -> PyResult<()> {
    dict.set_item("offset_weight", plan.offset_weight)?;
    match &plan.model {
        Model::Factors { rank, ridge } => {
            dict.set_item("rank", *rank)?;
            dict.set_item("ridge", *ridge)
        }
        Model::SingularValues(penalty) => dict.set_item("penalty", penalty.to_string()),
    }
}
