//! Completing a matrix.

use melmo_tasks::complete::{Entries, Model, Plan, Wanted, choose};
use melmo_tasks::{Prepared, Settings, Until};
use numpy::PyUntypedArrayMethods;
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
    let wanted = Wanted { offsets, offset_weight, rank, ridge, penalty: penalty.map(super::penalty).transpose()? };
    let settings = solving(settings)?.settings;
    match array::is_single(y) {
        true => fill::<f32>(py, y, wanted, seed, &settings),
        false => fill::<f64>(py, y, wanted, seed, &settings),
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
    let entries = Entries::new(rows, cols, list).map_err(raised)?;
    let until = Until::after(settings.time_limit);
    let prepared = waiting(py, &until, move |until| -> Result<_, melmo_tasks::Error> {
        let plan = choose(&entries, &wanted, seed, until)?;
        let offsets = plan.offsets(&entries);
        let prepared: Prepared<S> = plan.prepare(&offsets.residual(&entries), seed, until)?;
        Ok((prepared, plan, offsets))
    })?;
    let (prepared, plan, offsets) = prepared.map_err(raised)?;
    let settings = Settings { time_limit: until.left(), ..settings.clone() };
    let solved = py.detach(|| watched(&prepared, &settings))?;
    let matrix: Vec<S> = plan.matrix(&offsets, &solved.report.x, &solved.report.z).into_iter().map(S::of).collect();
    let dict = told(py, solved)?;
    dict.set_item("matrix", give(py, matrix))?;
    dict.set_item("mean", offsets.mean)?;
    dict.set_item("row_offsets", give(py, offsets.row))?;
    dict.set_item("column_offsets", give(py, offsets.column))?;
    describe(&dict, &plan)?;
    Ok(dict)
}

/// What was chosen: κ, then rank and ν, or a penalty.
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
