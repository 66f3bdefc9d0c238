//! Geometries on their own: directions, dual norms, polar factors.

use melmo::block::Layout;
use melmo::geometry::{Answer, BlockNorm, Bracket, Geometry, Norm, Oracle, product_primal};
use melmo_tasks::GeometryChoice;
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::array::{self, Blocks, Scalar, is_single};
use crate::error::raised;
use crate::wait::hearing;

/// Adds the functions to the module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(lmo, m)?)?;
    m.add_function(wrap_pyfunction!(oracle_answer, m)?)?;
    m.add_function(wrap_pyfunction!(dual_norm, m)?)?;
    m.add_function(wrap_pyfunction!(norm, m)?)
}

/// d with ⟨φ, d⟩ = min over ‖d‖ ≤ 1.
fn direction<S: Scalar>(geometry: &mut dyn Geometry<S>, phi: &[S]) -> (Vec<S>, Answer) {
    let mut d = vec![S::ZERO; phi.len()];
    let answer = geometry.lmo(&mut d, phi);
    (d, answer)
}

/// The oracle's direction.
#[pyfunction]
fn lmo<'py>(
    py: Python<'py>,
    geometry: &str,
    oracle: &str,
    layout: Blocks,
    phi: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    fn found<'py, S: Scalar>(
        py: Python<'py>,
        mut geometry: Box<dyn Geometry<S>>,
        phi: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let view = array::read::<S>("phi", phi)?;
        let phi = view.as_slice()?;
        Ok(PyArray1::from_vec(py, hearing(py, || direction(&mut *geometry, phi).0)?).into_any())
    }
    let layout = checked(layout, phi)?;
    match is_single(phi) {
        true => found::<f32>(py, build(geometry, oracle, &layout)?, phi),
        false => found::<f64>(py, build(geometry, oracle, &layout)?, phi),
    }
}

/// The direction, a bracket of ‖φ‖_*, η and ξ.
type Told<'py> = (Bound<'py, PyAny>, (f64, f64), f64, f64);

/// The same with what is proven of it.
#[pyfunction]
fn oracle_answer<'py>(
    py: Python<'py>,
    geometry: &str,
    oracle: &str,
    layout: Blocks,
    phi: &Bound<'py, PyAny>,
) -> PyResult<Told<'py>> {
    fn told<'py, S: Scalar>(
        py: Python<'py>,
        mut geometry: Box<dyn Geometry<S>>,
        phi: &Bound<'py, PyAny>,
    ) -> PyResult<Told<'py>> {
        let view = array::read::<S>("phi", phi)?;
        let phi = view.as_slice()?;
        let (d, answer) = hearing(py, || {
            let (d, said) = direction(&mut *geometry, phi);
            let answer = Answer::proven(&geometry.norms(), phi, &d).unwrap_or(said);
            (d, answer)
        })?;
        let bracket = (answer.dual_norm.lower, answer.dual_norm.upper);
        Ok((PyArray1::from_vec(py, d).into_any(), bracket, answer.eta(), answer.excess))
    }
    let layout = checked(layout, phi)?;
    match is_single(phi) {
        true => told::<f32>(py, build(geometry, oracle, &layout)?, phi),
        false => told::<f64>(py, build(geometry, oracle, &layout)?, phi),
    }
}

/// ‖φ‖_*, to rounding.
#[pyfunction]
fn dual_norm(py: Python<'_>, geometry: &str, layout: Blocks, phi: &Bound<'_, PyAny>) -> PyResult<f64> {
    fn measure<S: Scalar>(py: Python<'_>, mut geometry: Box<dyn Geometry<S>>, phi: &Bound<'_, PyAny>) -> PyResult<f64> {
        let view = array::read::<S>("phi", phi)?;
        let phi = view.as_slice()?;
        hearing(py, || geometry.dual_norm(phi))
    }
    let layout = checked(layout, phi)?;
    match is_single(phi) {
        true => measure::<f32>(py, build(geometry, "auto", &layout)?, phi),
        false => measure::<f64>(py, build(geometry, "auto", &layout)?, phi),
    }
}

/// ‖x‖, by its definition.
#[pyfunction]
fn norm(py: Python<'_>, geometry: &str, layout: Blocks, x: &Bound<'_, PyAny>) -> PyResult<f64> {
    fn measure<S: Scalar>(py: Python<'_>, norms: &[BlockNorm], x: &Bound<'_, PyAny>) -> PyResult<f64> {
        let view = array::read::<S>("x", x)?;
        let x = view.as_slice()?;
        Ok(hearing(py, || product_primal(norms, x))?.map_or(f64::NAN, Bracket::middle))
    }
    let layout = checked(layout, x)?;
    let norms = build::<f64>(geometry, "auto", &layout)?.norms();
    if is_single(x) { measure::<f32>(py, &norms, x) } else { measure::<f64>(py, &norms, x) }
}

fn checked(layout: Blocks, x: &Bound<'_, PyAny>) -> PyResult<Layout> {
    let layout = array::layout(layout)?;
    let size: usize = x.getattr("size")?.extract()?;
    melmo::error::Error::expect_len("the array and its blocks", layout.size(), size).map_err(raised)?;
    Ok(layout)
}

fn build<S: Scalar>(geometry: &str, oracle: &str, layout: &Layout) -> PyResult<Box<dyn Geometry<S>>> {
    let choice: GeometryChoice = geometry.parse().map_err(|error: melmo_tasks::Error| raised(error))?;
    let oracle: Oracle = oracle.parse().map_err(raised)?;
    choice.build(layout, Norm::L2, oracle).map_err(raised)
}
