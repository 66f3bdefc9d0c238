//! Films, frame by frame.

use melmo_tasks::denoise::Options;
use melmo_tasks::denoise::film::{Film as Frames, Part};
use melmo_tasks::{Settings, Until};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::array::{self, Scalar};
use crate::error::raised;
use crate::tasks::denoise::asked;
use crate::wait::waiting;

/// A film in the precision of its first frame; none while a frame is worked on, and after that was interrupted.
enum Held {
    Single(Option<Frames<f32>>),
    Double(Option<Frames<f64>>),
}

/// Frames are pushed, and come back in their order a few frames later.
#[pyclass]
pub struct Film(Held);

#[pymethods]
impl Film {
    #[new]
    #[pyo3(signature = (single, strength, noise, prior, range))]
    fn new(single: bool, strength: f64, noise: Option<f64>, prior: Option<&str>, range: Option<f64>) -> PyResult<Self> {
        let options = Options { range, ..asked(strength, noise, prior)? };
        Ok(Self(match single {
            true => Held::Single(Some(Frames::new(options))),
            false => Held::Double(Some(Frames::new(options))),
        }))
    }

    /// Takes a frame of so many channels, rows and columns.
    fn push(&mut self, frame: &Bound<'_, PyAny>, sides: [usize; 3]) -> PyResult<()> {
        match &mut self.0 {
            Held::Single(frames) => push(frames, frame, sides),
            Held::Double(frames) => push(frames, frame, sides),
        }
    }

    /// The next frame, if enough have come after it, or `all` have.
    fn next<'py>(&mut self, py: Python<'py>, all: bool) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &mut self.0 {
            Held::Single(frames) => next(py, frames, all),
            Held::Double(frames) => next(py, frames, all),
        }
    }
}

fn gone() -> PyErr {
    PyRuntimeError::new_err("the film was interrupted: begin anew")
}

fn push<S: Scalar>(
    frames: &mut Option<Frames<S>>,
    frame: &Bound<'_, PyAny>,
    [channels, rows, cols]: [usize; 3],
) -> PyResult<()> {
    let data = array::owned::<S>("a frame", frame)?;
    let part = Part { data, shape: [rows, cols, channels] };
    frames.as_mut().ok_or_else(gone)?.push(vec![part]).map_err(raised)
}

fn next<'py, S: Scalar>(
    py: Python<'py>,
    frames: &mut Option<Frames<S>>,
    all: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let mut held = frames.take().ok_or_else(gone)?;
    let work = move |until: &Until| {
        let found = held.next(all, &Settings::default(), until);
        (held, found)
    };
    let (held, found) = waiting(py, &Until::done(), work)?;
    *frames = Some(held);
    let cleaned = found.map_err(raised)?;
    let data = cleaned.and_then(|cleaned| cleaned.parts.into_iter().next());
    Ok(data.map(|data| array::give(py, data).into_any()))
}
