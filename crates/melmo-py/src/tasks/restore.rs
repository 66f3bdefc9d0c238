//! Pictures from what an instrument made of them.

use melmo_tasks::deblur::{self, Kernel};
use melmo_tasks::denoise::Planes;
use melmo_tasks::restore::{Choice, Options, Restoration, choose};
use melmo_tasks::{Prepared, Settings, Until, inpaint, upscale};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::solve::{told, watched};
use crate::array::{self, Scalar};
use crate::certificate::Stored;
use crate::error::raised;
use crate::settings::solving;
use crate::wait::waiting;

/// What is to be done to a picture.
#[derive(Clone)]
enum Job {
    Deblur(Kernel),
    Inpaint(Vec<bool>),
    Upscale(usize),
}

/// Channels, rows and columns.
type Sides = [usize; 3];

fn job(name: &str, with: &Bound<'_, PyAny>) -> PyResult<Job> {
    Ok(match name {
        "deblur" => {
            let (entries, rows, cols): (Vec<f64>, usize, usize) = with.extract()?;
            Job::Deblur(Kernel::new(entries, rows, cols).map_err(raised)?)
        }
        "inpaint" => Job::Inpaint(with.extract()?),
        "upscale" => Job::Upscale(with.extract()?),
        _ => return Err(PyValueError::new_err(format!("no picture is restored by `{name}`"))),
    })
}

/// A kernel by its name, as the program has it: its entries, rows and columns.
#[pyfunction]
pub fn kernel(name: &str) -> PyResult<(Vec<f64>, usize, usize)> {
    let kernel: Kernel = name.parse().map_err(|error: melmo_tasks::Error| raised(error))?;
    Ok((kernel.entries, kernel.rows, kernel.cols))
}

/// The end of the run, with the picture, the noise, λ and how they were found.
#[pyfunction]
#[pyo3(signature = (image, sides, name, with, noise, lambda, settings))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub fn restore<'py>(
    py: Python<'py>,
    image: &Bound<'py, PyAny>,
    sides: Sides,
    name: &str,
    with: &Bound<'py, PyAny>,
    noise: Option<f64>,
    lambda: Option<f64>,
    settings: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyDict>> {
    let (job, settings) = (job(name, with)?, solving(settings)?.settings);
    let options = Options { noise, lambda, range: None };
    match array::is_single(image) {
        true => restored::<f32>(py, image, sides, job, options, &settings),
        false => restored::<f64>(py, image, sides, job, options, &settings),
    }
}

/// What is to be done, where it starts, and what was chosen.
type Planned<S> = (Restoration<S>, Prepared<S>, f64, String);

fn planned<S: Scalar>(
    data: &[S],
    [channels, rows, cols]: Sides,
    job: &Job,
    options: &Options,
    until: &Until,
) -> Result<Planned<S>, melmo_tasks::Error> {
    let image = Planes::new(data, rows, cols, channels)?;
    let plan = match job {
        Job::Deblur(kernel) => deblur::plan(image, kernel, options)?,
        Job::Inpaint(missing) => inpaint::plan(image, missing, options)?,
        Job::Upscale(factor) => upscale::plan(image, *factor, options)?,
    };
    let Choice { lambda, how, near } = choose(&plan, options.lambda, until)?;
    let prepared = plan.prepare(lambda)?;
    let start = near.unwrap_or_else(|| prepared.start.clone());
    Ok((plan, Prepared { start, ..prepared }, lambda, how))
}

fn restored<'py, S: Scalar + Stored>(
    py: Python<'py>,
    image: &Bound<'py, PyAny>,
    sides: Sides,
    job: Job,
    options: Options,
    settings: &Settings,
) -> PyResult<Bound<'py, PyDict>> {
    let data = array::owned::<S>("image", image)?;
    let until = Until::after(settings.time_limit);
    let found = waiting(py, &until, move |until| planned(&data, sides, &job, &options, until))?;
    let (plan, prepared, lambda, how) = found.map_err(raised)?;
    let settings = Settings { time_limit: until.left(), ..settings.clone() };
    let solved = py.detach(|| watched(&prepared, &settings))?;
    let misfit = plan.misfit(&solved.report.x).map_err(raised)?;
    let (picture, shape) = (plan.picture(&solved.report.x), plan.shape());
    let told = told(py, solved)?;
    told.set_item("picture", array::give(py, picture))?;
    told.set_item("shape", shape)?;
    told.set_item("noise", plan.weighs().then(|| plan.noise()))?;
    told.set_item("weight", plan.weighs().then_some(lambda))?;
    told.set_item("how", how)?;
    told.set_item("misfit", misfit)?;
    Ok(told)
}
