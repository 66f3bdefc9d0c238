//! The one catalogue, as data for Python: its classes, their documentation and their stubs are made from it.

use melmo::catalogue::{self, Entry, Input, Kind, Parameter};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Adds the table to the module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(rows, m)?)
}

/// The rows of every kind: name, formula, about, parameters, and what else a kind has.
#[pyfunction]
fn rows<'py>(py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    let list = |kind: &str| -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        all.set_item(kind, &list)?;
        Ok(list)
    };
    let penalties = list("penalties")?;
    for row in catalogue::penalties::<f64>() {
        let item = describe(py, &row.entry)?;
        item.set_item("even", row.even)?;
        penalties.append(item)?;
    }
    let losses = list("losses")?;
    for row in catalogue::losses::<f64>() {
        losses.append(with_inputs(py, &row.entry, row.inputs)?)?;
    }
    let operators = list("operators")?;
    for row in catalogue::operators::<f64>() {
        operators.append(with_inputs(py, &row.entry, row.inputs)?)?;
    }
    let geometries = list("geometries")?;
    for row in catalogue::geometries::<f64>() {
        geometries.append(describe(py, &row.entry)?)?;
    }
    let methods = list("methods")?;
    for row in catalogue::methods::<f64>() {
        let item = describe(py, &row.entry)?;
        item.set_item("uses_geometry", row.uses_geometry)?;
        methods.append(item)?;
    }
    let lifts = list("lifts")?;
    for entry in catalogue::lifts() {
        lifts.append(describe(py, &entry)?)?;
    }
    let oracles = list("oracles")?;
    for (_, entry) in catalogue::oracles() {
        oracles.append(describe(py, &entry)?)?;
    }
    Ok(all)
}

fn describe<'py>(py: Python<'py>, entry: &Entry) -> PyResult<Bound<'py, PyDict>> {
    let item = PyDict::new(py);
    item.set_item("name", entry.name)?;
    item.set_item("formula", entry.formula)?;
    item.set_item("about", entry.about)?;
    let parameters = entry.parameters.iter().map(|p| parameter(py, p)).collect::<PyResult<Vec<_>>>()?;
    item.set_item("parameters", parameters)?;
    Ok(item)
}

fn parameter<'py>(py: Python<'py>, parameter: &Parameter) -> PyResult<Bound<'py, PyDict>> {
    let item = PyDict::new(py);
    item.set_item("name", parameter.name)?;
    item.set_item("about", parameter.about)?;
    match parameter.kind {
        Kind::Number(default) => item.set_item("default", default)?,
        Kind::Whole(default, _) => item.set_item("default", default)?,
        Kind::Word(words) => item.set_item("default", words.first())?,
        Kind::Unset => item.set_item("default", None::<f64>)?,
    }
    item.set_item("choices", if let Kind::Word(words) = parameter.kind { words.to_vec() } else { Vec::new() })?;
    Ok(item)
}

fn with_inputs<'py>(py: Python<'py>, entry: &Entry, inputs: &[Input]) -> PyResult<Bound<'py, PyDict>> {
    let item = describe(py, entry)?;
    let name = |input: &Input| match input {
        Input::Layout => "layout",
        Input::Matrix => "matrix",
        Input::Target => "target",
        Input::Mask => "mask",
        Input::OptionalMask => "optional mask",
        Input::Blocks => "blocks",
        Input::Operator => "operator",
        Input::Operators => "operators",
    };
    item.set_item("inputs", inputs.iter().map(name).collect::<Vec<_>>())?;
    Ok(item)
}
