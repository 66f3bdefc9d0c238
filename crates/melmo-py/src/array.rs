//! NumPy arrays as slices and back, without copies.

use melmo::block::Layout;
use melmo::real::Real;
use numpy::{
    Element, IntoPyArray, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyReadwriteArrayDyn,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::error::raised;

/// A number of the library that NumPy knows.
pub trait Scalar: Real + Element {}
impl Scalar for f32 {}
impl Scalar for f64 {}

/// Blocks as Python gives them: name, rows, columns.
pub type Blocks = Vec<(String, usize, usize)>;

/// An array that Rust can read as one slice. Of another type or order it is refused: `python/melmo` converts where it must.
pub fn read<'py, S: Scalar>(what: &str, any: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArrayDyn<'py, S>> {
    let array = any.cast::<PyArrayDyn<S>>().map_err(|_| wrong_type::<S>(what, any))?;
    expect_contiguous(what, array.is_c_contiguous())?;
    Ok(array.try_readonly()?)
}

/// An array that Rust can write as one slice.
pub fn write<'py, S: Scalar>(what: &str, any: &Bound<'py, PyAny>) -> PyResult<PyReadwriteArrayDyn<'py, S>> {
    let array = any.cast::<PyArrayDyn<S>>().map_err(|_| wrong_type::<S>(what, any))?;
    expect_contiguous(what, array.is_c_contiguous())?;
    Ok(array.try_readwrite()?)
}

/// The same as numbers of our own.
pub fn owned<S: Scalar>(what: &str, any: &Bound<'_, PyAny>) -> PyResult<Vec<S>> {
    Ok(read::<S>(what, any)?.as_slice()?.to_vec())
}

/// Hands a buffer over to NumPy.
pub fn give<'py, S: Scalar>(py: Python<'py>, data: Vec<S>) -> Bound<'py, PyArray1<S>> {
    data.into_pyarray(py)
}

/// Whether an array holds `f32`.
pub fn is_single(any: &Bound<'_, PyAny>) -> bool {
    any.cast::<PyArrayDyn<f32>>().is_ok()
}

/// Blocks as the library has them.
pub fn layout(blocks: Blocks) -> PyResult<Layout> {
    Layout::new(blocks).map_err(raised)
}

/// Blocks as Python has them.
pub fn blocks(layout: &Layout) -> Blocks {
    layout.blocks().iter().map(|block| (block.name.clone(), block.rows, block.cols)).collect()
}

fn wrong_type<S: Scalar>(what: &str, any: &Bound<'_, PyAny>) -> PyErr {
    let found = any.getattr("dtype").map_or_else(|_| any.get_type().to_string(), |dtype| dtype.to_string());
    PyTypeError::new_err(format!("{what}: expected a NumPy array of {}, got {found}", S::NAME))
}

fn expect_contiguous(what: &str, holds: bool) -> PyResult<()> {
    match holds {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!("{what}: expected an array in C order"))),
    }
}
