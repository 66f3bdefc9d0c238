//! Readers, bundled data, image metrics.

use std::path::PathBuf;

use melmo_data::{Array, Data, bundled};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array;
use crate::error::of_data;
use crate::wait::leaving;

/// Adds the functions to the module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(sets, m)?)?;
    m.add_function(wrap_pyfunction!(formats, m)?)?;
    m.add_function(wrap_pyfunction!(bundled_set, m)?)?;
    m.add_function(wrap_pyfunction!(read, m)?)?;
    m.add_function(wrap_pyfunction!(ssim, m)?)?;
    m.add_function(wrap_pyfunction!(psnr, m)?)
}

/// The bundled sets: name and one line.
#[pyfunction]
fn sets() -> Vec<(&'static str, &'static str)> {
    bundled::sets().iter().map(|set| (set.name, set.about)).collect()
}

/// What can be read: name, extensions, one line.
#[pyfunction]
fn formats() -> Vec<(&'static str, Vec<&'static str>, &'static str)> {
    melmo_data::formats().iter().map(|format| (format.name, format.extensions.to_vec(), format.about)).collect()
}

/// A bundled set, if there is one of that name.
#[pyfunction]
fn bundled_set<'py>(py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(set) = bundled::sets().iter().find(|set| set.name == name) else { return Ok(None) };
    let array = py.detach(|| (set.load)()).map_err(of_data)?;
    shaped(py, array).map(Some)
}

/// What a file holds: an array, and what else its format has.
#[pyfunction]
fn read<'py>(py: Python<'py>, path: PathBuf) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyDict>)> {
    // A pipe may never speak: Ctrl-C is heard meanwhile.
    let data = leaving(py, move || melmo_data::open(&path))?.map_err(of_data)?;
    let more = PyDict::new(py);
    match &data {
        Data::Table(table) => {
            more.set_item("columns", table.names.clone())?;
            table.index.as_ref().map_or(Ok(()), |index| more.set_item("index", index))?;
        }
        Data::Graph(graph) => {
            more.set_item("labels", graph.labels.clone())?;
            more.set_item("directed", graph.directed)?;
        }
        _ => {}
    }
    Ok((shaped(py, data.into_array())?, more))
}

/// The structural similarity of two images of one channel.
#[pyfunction]
fn ssim(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>, data_range: f64) -> PyResult<f64> {
    let (rows, cols) = a.getattr("shape")?.extract()?;
    let (a, b) = (array::read::<f64>("image", a)?, array::read::<f64>("image", b)?);
    melmo_data::metrics::ssim(a.as_slice()?, b.as_slice()?, rows, cols, data_range).map_err(of_data)
}

/// The peak signal-to-noise ratio of two images, in decibels.
#[pyfunction]
fn psnr(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>, data_range: f64) -> PyResult<f64> {
    let (a, b) = (array::read::<f64>("image", a)?, array::read::<f64>("image", b)?);
    melmo_data::metrics::psnr(a.as_slice()?, b.as_slice()?, data_range).map_err(of_data)
}

fn shaped(py: Python<'_>, array: Array) -> PyResult<Bound<'_, PyAny>> {
    Ok(PyArray1::from_vec(py, array.data).reshape(array.shape)?.into_any())
}
