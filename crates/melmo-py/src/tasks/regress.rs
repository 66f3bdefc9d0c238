//! Sparse regression along a path.

use std::ops::ControlFlow;

use melmo_tasks::PenaltyChoice;
use melmo_tasks::regress::{Coefficients, Compressed, Followed, Lambdas, Loss, Model, Rounds, Samples, Table};
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
    /// X comes column by column.
    transposed: bool,
    weights: Option<Vec<f64>>,
    offset: Option<Vec<f64>>,
    factors: Option<Vec<f64>>,
    positive: bool,
    /// Coefficients and intercepts to start from, output by output.
    start: Option<Vec<(Vec<f64>, f64)>>,
    lambdas: Lambdas,
    rounds: Rounds,
    /// Says whether to stop, on threads that hear no signals.
    stopped: Option<Py<PyAny>>,
}

/// A compressed matrix: starts, places and values, with the shape.
type Sparse<'py> = (PyReadonlyArray1<'py, usize>, PyReadonlyArray1<'py, usize>, Bound<'py, PyAny>, [usize; 2]);

/// Solutions for one λ after another; X full or compressed, by rows or, where `asked` says so, its transpose by rows.
#[pyfunction]
pub fn regress<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    y: PyReadonlyArray1<'py, f64>,
    asked: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyDict>> {
    let asked = read(asked)?;
    let target = y.as_slice()?;
    let Ok(sparse) = x.extract::<Sparse<'py>>() else {
        return match array::is_single(x) {
            true => full::<f32>(py, x, target, &asked),
            false => full::<f64>(py, x, target, &asked),
        };
    };
    match array::is_single(&sparse.2) {
        true => compressed::<f32>(py, &sparse, target, &asked),
        false => compressed::<f64>(py, &sparse, target, &asked),
    }
}

/// A loss with everything that is taken from y: `huber` becomes `huber:delta=…`.
#[pyfunction]
pub fn settled_loss(loss: &str, y: PyReadonlyArray1<'_, f64>) -> PyResult<String> {
    let loss: Loss = loss.parse().map_err(|error: melmo_tasks::Error| raised(error))?;
    Ok(loss.settled(y.as_slice()?).to_string())
}

/// The mean loss of predictions, an offset in them: a stretch of all rows for each class.
#[pyfunction]
pub fn mean_loss(
    py: Python<'_>,
    loss: &str,
    y: PyReadonlyArray1<'_, f64>,
    t: PyReadonlyArray1<'_, f64>,
    weights: Option<Vec<f64>>,
) -> PyResult<f64> {
    let loss: Loss = loss.parse().map_err(|error: melmo_tasks::Error| raised(error))?;
    let (y, t) = (y.as_slice()?, t.as_slice()?);
    if t.len() != loss.outputs() * y.len() {
        return Err(PyValueError::new_err("t: expected a number for every row and class"));
    }
    Ok(py.detach(|| loss.mean(y, t, weights.as_deref())))
}

/// A value, and two arrays of slopes.
type Slopes<'py> = (f64, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Σ ℓ(yᵢ, tᵢ) of rows, ∂ℓ/∂t and a little more than ∂²ℓ/∂t², for whoever adds them up with other rows. y is as the loss takes it (±1 for two
/// classes), an offset is in t; `outputs` stretches of all rows.
#[pyfunction]
pub fn row_slopes<'py>(
    py: Python<'py>,
    loss: &str,
    y: PyReadonlyArray1<'py, f64>,
    t: PyReadonlyArray1<'py, f64>,
    outputs: usize,
    weights: Option<Vec<f64>>,
) -> PyResult<Slopes<'py>> {
    let loss: Loss = loss.parse().map_err(|error: melmo_tasks::Error| raised(error))?;
    let (y, t) = (y.as_slice()?, t.as_slice()?);
    let rows = loss.rows::<f64>(y, outputs / loss.outputs(), Samples::default()).map_err(raised)?;
    if t.len() != rows.outputs() * rows.count() {
        return Err(PyValueError::new_err("t: expected a number for every row and output"));
    }
    let rows = match weights {
        Some(weights) => rows.weighted(weights).map_err(raised)?,
        None => rows,
    };
    let (mut slopes, mut bends) = (t.to_vec(), vec![0.0; t.len()]);
    let value = rows.slopes(&mut slopes);
    rows.bends(&mut bends, &slopes, t);
    Ok((value, give(py, slopes), give(py, bends)))
}

/// Harrell's C of times, with a minus where no event was seen, and risks; NaN where no pair can be compared.
#[pyfunction]
pub fn concordance(
    py: Python<'_>,
    times: PyReadonlyArray1<'_, f64>,
    risks: PyReadonlyArray1<'_, f64>,
) -> PyResult<f64> {
    let (times, risks) = (times.as_slice()?, risks.as_slice()?);
    if times.len() != risks.len() {
        return Err(PyValueError::new_err("risks: expected a number for every time"));
    }
    Ok(py.detach(|| melmo_tasks::regress::concordance(times, risks)))
}

fn full<'py, S: Scalar>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    y: &[f64],
    asked: &Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let view = array::read::<S>("X", x)?;
    let &[lines, length] = view.shape() else { return Err(PyValueError::new_err("X: expected a matrix")) };
    let x = view.as_slice()?;
    match asked.transposed {
        false => follow(py, Table::Full(x), [lines, length], y, asked),
        true => follow(py, Table::FullColumns(x), [length, lines], y, asked),
    }
}

fn compressed<'py, S: Scalar>(
    py: Python<'py>,
    (starts, places, values, shape): &Sparse<'py>,
    y: &[f64],
    asked: &Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let values = array::read::<S>("values of X", values)?;
    let table = Compressed { starts: starts.as_slice()?, places: places.as_slice()?, values: values.as_slice()? };
    match asked.transposed {
        false => follow(py, Table::Compressed(table), *shape, y, asked),
        true => follow(py, Table::CompressedColumns(table), *shape, y, asked),
    }
}

fn follow<'py, S: Scalar>(
    py: Python<'py>,
    table: Table<'_, S>,
    [rows, cols]: [usize; 2],
    y: &[f64],
    asked: &Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let Asked { loss, penalty, lambdas, rounds, stopped, .. } = asked;
    let (mut heard, mut last) = (None, std::time::Instant::now());
    let start: Option<Vec<Coefficients>> = asked.start.as_ref().map(|start| {
        start.iter().map(|(values, intercept)| Coefficients { intercept: *intercept, values: values.clone() }).collect()
    });
    let found = py.detach(|| {
        let (loss, y, _) = loss.target(y)?;
        let model = Model {
            table,
            rows,
            cols,
            y: &y,
            loss: loss.settled(&y),
            penalty,
            groups: asked.groups.as_deref(),
            intercept: asked.intercept,
            standardize: asked.standardize,
            samples: Samples { weights: asked.weights.as_deref(), offset: asked.offset.as_deref() },
            factors: asked.factors.as_deref(),
            positive: asked.positive,
            start: start.as_deref(),
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

/// Coefficients λ by λ, output by output, and what is known of each λ.
fn told<'py>(py: Python<'py>, followed: Followed, cols: usize) -> PyResult<Bound<'py, PyDict>> {
    let Followed { lambda_max, lambdas, coefficients, objective, violation, rounds } = followed;
    let dict = PyDict::new(py);
    let flat = || coefficients.iter().flatten();
    let mut all = Vec::with_capacity(cols * coefficients.len());
    flat().for_each(|c| all.extend_from_slice(&c.values));
    dict.set_item("lambda_max", lambda_max)?;
    dict.set_item("lambdas", give(py, lambdas))?;
    dict.set_item("coef", give(py, all))?;
    dict.set_item("intercept", PyArray1::from_iter(py, flat().map(|c| c.intercept)))?;
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
        transposed: get("transposed")?.extract()?,
        weights: get("weights")?.extract()?,
        offset: get("offset")?.extract()?,
        factors: get("factors")?.extract()?,
        positive: get("positive")?.extract()?,
        start: get("start")?.extract()?,
        lambdas,
        rounds: Rounds { tolerance: get("tolerance")?.extract()?, most: get("rounds")?.extract()? },
        stopped: get("stopped")?.extract()?,
    })
}
