//! Images without their noise.

use melmo_tasks::denoise::{Grid, Options, Planes, denoise as automatic, variation, volume};
use melmo_tasks::{PenaltyChoice, Settings, Until};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::solve::{told, watched};
use crate::array::{self, Scalar};
use crate::certificate::Stored;
use crate::error::raised;
use crate::settings::solving;
use crate::wait::waiting;

/// Total variation of one signal, image or volume, or of channels taken together: the end of the run.
#[pyfunction]
#[pyo3(signature = (image, sides, together, penalty, isotropic, settings))]
pub fn denoise_tv<'py>(
    py: Python<'py>,
    image: &Bound<'py, PyAny>,
    sides: Vec<usize>,
    together: bool,
    penalty: &str,
    isotropic: bool,
    settings: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyDict>> {
    let grid = match (sides[..].try_into(), sides[..].try_into(), together) {
        (Ok(sides), _, false) => Grid::Image(sides),
        (_, Ok(sides), false) => Grid::Volume(sides),
        (_, Ok(sides), true) => Grid::Channels(sides),
        _ => return Err(PyValueError::new_err(format!("no grid has the sides {sides:?}"))),
    };
    let (penalty, settings) = (super::penalty(penalty)?, solving(settings)?.settings);
    match array::is_single(image) {
        true => one::<f32>(py, image, grid, &penalty, isotropic, &settings),
        false => one::<f64>(py, image, grid, &penalty, isotropic, &settings),
    }
}

fn one<'py, S: Scalar + Stored>(
    py: Python<'py>,
    image: &Bound<'py, PyAny>,
    grid: Grid,
    penalty: &PenaltyChoice,
    isotropic: bool,
    settings: &Settings,
) -> PyResult<Bound<'py, PyDict>> {
    let view = array::read::<S>("image", image)?;
    let y = view.as_slice()?;
    let solved = py.detach(|| watched(&variation(y, grid, penalty, isotropic).map_err(raised)?, settings))?;
    told(py, solved)
}

/// What is asked of the automatic models.
pub(super) fn asked(strength: f64, noise: Option<f64>, prior: Option<&str>) -> PyResult<Options> {
    let prior = prior.map(str::parse).transpose().map_err(raised)?;
    Ok(Options { strength, noise, prior, ..Options::default() })
}

/// The automatic model of images, on all cores: the image, the noise and the penalty in one line.
#[pyfunction]
#[pyo3(signature = (image, sides, strength, noise, prior, range))]
pub fn denoise<'py>(
    py: Python<'py>,
    image: &Bound<'py, PyAny>,
    sides: [usize; 3],
    strength: f64,
    noise: Option<f64>,
    prior: Option<&str>,
    range: Option<f64>,
) -> PyResult<(Bound<'py, PyAny>, f64, String)> {
    let options = Options { range, ..asked(strength, noise, prior)? };
    match array::is_single(image) {
        true => whole::<f32>(py, image, sides, options),
        false => whole::<f64>(py, image, sides, options),
    }
}

/// The automatic model of volumes of so many slices, rows and columns.
#[pyfunction]
#[pyo3(signature = (image, sides, strength, noise, prior))]
pub fn denoise_volume<'py>(
    py: Python<'py>,
    image: &Bound<'py, PyAny>,
    sides: [usize; 3],
    strength: f64,
    noise: Option<f64>,
    prior: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = asked(strength, noise, prior)?;
    match array::is_single(image) {
        true => solid::<f32>(py, image, sides, &options),
        false => solid::<f64>(py, image, sides, &options),
    }
}

fn solid<'py, S: Scalar + Stored>(
    py: Python<'py>,
    image: &Bound<'py, PyAny>,
    sides: [usize; 3],
    options: &Options,
) -> PyResult<Bound<'py, PyAny>> {
    let view = array::read::<S>("image", image)?;
    let y = view.as_slice()?;
    let (solved, scale) = py.detach(|| {
        let found = volume(y, sides, options).map_err(raised)?;
        Ok::<_, PyErr>((watched(&found.prepared, &Settings::default())?, S::of(found.scale)))
    })?;
    let x = solved.report.x.into_iter().map(|x| x * scale).collect();
    Ok(array::give(py, x).into_any())
}

fn whole<'py, S: Scalar>(
    py: Python<'py>,
    image: &Bound<'py, PyAny>,
    [channels, rows, cols]: [usize; 3],
    options: Options,
) -> PyResult<(Bound<'py, PyAny>, f64, String)> {
    let data = array::owned::<S>("image", image)?;
    let work = move |until: &Until| {
        let answer = automatic(Planes::new(&data, rows, cols, channels)?, &options, &Settings::default(), until)?;
        Ok((answer.image, answer.noise, answer.penalty))
    };
    let found: Result<_, melmo_tasks::Error> = waiting(py, &Until::done(), work)?;
    let (image, noise, penalty) = found.map_err(raised)?;
    Ok((array::give(py, image).into_any(), noise, penalty))
}
