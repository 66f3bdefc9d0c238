//! Sparse regression along a path.

use std::ops::ControlFlow;

use melmo_tasks::PenaltyChoice;
use melmo_tasks::regress::{Followed, Lambdas, Loss, Model, Rounds, Table};
use numpy::{PyArray1, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyError, PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::{self, Scalar, give};
use crate::error::raised;

/// What is asked for besides data.
struct Asked {
    loss: Loss,
    penalty: PenaltyChoice,
    groups: Option<Vec<Vec<usize>>>,
    intercept: bool,
    standardize: bool,
    lambdas: Lambdas,
    rounds: Rounds,
    /// Says whether to stop, on threads that hear no signals.
    stopped: Option<Py<PyAny>>,
}

/// Compressed rows: row starts, columns and values, with the shape.
type Compressed<'py> = (PyReadonlyArray1<'py, usize>, PyReadonlyArray1<'py, usize>, Bound<'py, PyAny>, [usize; 2]);

/// Solutions for one λ after another; X full, or in compressed rows.
#[pyfunction]
pub fn regress<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    y: PyReadonlyArray1<'py, f64>,
    asked: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyDict>> {
    let asked = read(asked)?;
    let target = y.as_slice()?;
    let Ok((starts, columns, values, [rows, cols])) = x.extract::<Compressed<'py>>() else {
        return match array::is_single(x) {
            true => full::<f32>(py, x, target, &asked),
            false => full::<f64>(py, x, target, &asked),
        };
    };
    let (starts, columns) = (starts.as_slice()?, columns.as_slice()?);
    match array::is_single(&values) {
        true => {
            let values = array::read::<f32>("values of X", &values)?;
            let table = Table::Compressed { starts, columns, values: values.as_slice()? };
            follow(py, table, [rows, cols], target, &asked)
        }
        false => {
            let values = array::read::<f64>("values of X", &values)?;
            let table = Table::Compressed { starts, columns, values: values.as_slice()? };
            follow(py, table, [rows, cols], target, &asked)
        }
    }
}

/// A loss with everything that is taken from y: `huber` becomes `huber:delta=…`.
#[pyfunction]
pub fn settled_loss(loss: &str, y: PyReadonlyArray1<'_, f64>) -> PyResult<String> {
    let loss: Loss = loss.parse().map_err(|error: melmo_tasks::Error| raised(error))?;
    Ok(loss.settled(y.as_slice()?).to_string())
}

fn full<'py, S: Scalar>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    y: &[f64],
    asked: &Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let view = array::read::<S>("X", x)?;
    let &[rows, cols] = view.shape() else { return Err(PyValueError::new_err("X: expected a matrix")) };
    follow(py, Table::Full(view.as_slice()?), [rows, cols], y, asked)
}

fn follow<'py, S: Scalar>(
    py: Python<'py>,
    table: Table<'_, S>,
    [rows, cols]: [usize; 2],
    y: &[f64],
    asked: &Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let Asked { loss, penalty, groups, intercept, standardize, lambdas, rounds, stopped } = asked;
    let (mut heard, mut last) = (None, std::time::Instant::now());
    let found = py.detach(|| {
        let (y, _) = loss.target(y)?;
        let model = Model {
            table,
            rows,
            cols,
            y: &y,
            loss: loss.settled(&y),
            penalty,
            groups: groups.as_deref(),
            intercept: *intercept,
            standardize: *standardize,
        };
        model.follow(lambdas, *rounds, || {
            if last.elapsed().as_millis() < 50 {
                return ControlFlow::Continue(());
            }
            last = std::time::Instant::now();
            heard = Python::attach(|py| -> PyResult<()> {
                py.check_signals()?;
                match stopped {
                    Some(stopped) if stopped.call0(py)?.is_truthy(py)? => Err(PyKeyboardInterrupt::new_err(())),
                    _ => Ok(()),
                }
            })
            .err();
            if heard.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    });
    match (found, heard) {
        (_, Some(error)) => Err(error),
        (Ok(Some(followed)), None) => told(py, followed, cols),
        (Ok(None), None) => Err(PyValueError::new_err("the path was left")),
        (Err(error), None) => Err(raised(error)),
    }
}

/// Coefficients row by row, and what is known of each.
fn told<'py>(py: Python<'py>, followed: Followed, cols: usize) -> PyResult<Bound<'py, PyDict>> {
    let Followed { lambda_max, lambdas, coefficients, objective, violation, rounds } = followed;
    let dict = PyDict::new(py);
    let mut all = Vec::with_capacity(cols * coefficients.len());
    coefficients.iter().for_each(|c| all.extend_from_slice(&c.values));
    dict.set_item("lambda_max", lambda_max)?;
    dict.set_item("lambdas", give(py, lambdas))?;
    dict.set_item("coef", give(py, all))?;
    dict.set_item("intercept", PyArray1::from_iter(py, coefficients.iter().map(|c| c.intercept)))?;
    dict.set_item("objective", give(py, objective))?;
    dict.set_item("violation", give(py, violation))?;
    dict.set_item("rounds", PyArray1::from_iter(py, rounds.into_iter().map(i64::from)))?;
    Ok(dict)
}

fn read(given: &Bound<'_, PyDict>) -> PyResult<Asked> {
    let get = |key: &'static str| given.get_item(key)?.ok_or_else(|| PyKeyError::new_err(key));
    let lambdas = match get("lambdas")?.extract::<Option<Vec<f64>>>()? {
        Some(lambdas) => Lambdas::Given(lambdas),
        None => Lambdas::Down { count: get("count")?.extract()?, ratio: get("ratio")?.extract()? },
    };
    Ok(Asked {
        loss: get("loss")?.extract::<String>()?.parse().map_err(|error: melmo_tasks::Error| raised(error))?,
        penalty: super::penalty(&get("penalty")?.extract::<String>()?)?,
        groups: get("groups")?.extract()?,
        intercept: get("intercept")?.extract()?,
        standardize: get("standardize")?.extract()?,
        lambdas,
        rounds: Rounds { tolerance: get("tolerance")?.extract()?, most: get("rounds")?.extract()? },
        stopped: get("stopped")?.extract()?,
    })
}
