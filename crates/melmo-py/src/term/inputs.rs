//! The data that a row of the catalogue is built from, out of a dictionary.

use melmo::catalogue::Inputs;
use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::{self, Blocks};
use crate::shared::Shared;
use crate::term::{Operator, Terms};

/// Keys are the fields of [`Inputs`]; arrays have the precision and the order that Rust reads.
pub fn inputs<S: Terms>(given: &Bound<'_, PyDict>) -> PyResult<Inputs<S>> {
    let mut inputs = Inputs::default();
    for (key, value) in given.iter() {
        let key: String = key.extract()?;
        match key.as_str() {
            "layout" => inputs.layout = Some(array::layout(value.extract::<Blocks>()?)?),
            "matrix" => inputs.matrix = Some(matrix(&value)?),
            "target" => inputs.target = Some(array::owned("target", &value)?),
            "mask" => inputs.mask = Some(array::owned("mask", &value)?),
            "blocks" => inputs.blocks = value.extract()?,
            "operators" => {
                for operator in value.try_iter()? {
                    let operator = operator?;
                    let operator = operator.cast::<Operator>().map_err(PyErr::from)?;
                    inputs.operators.push(Box::new(Shared(S::operator(operator.get())?)));
                }
            }
            other => return Err(PyValueError::new_err(format!("`{other}` is nothing that a term is built from"))),
        }
    }
    Ok(inputs)
}

fn matrix<S: Terms>(value: &Bound<'_, PyAny>) -> PyResult<(Vec<S>, usize, usize)> {
    let view = array::read::<S>("matrix", value)?;
    match view.shape()[..] {
        [rows, cols] => Ok((view.as_slice()?.to_vec(), rows, cols)),
        ref shape => Err(PyValueError::new_err(format!("matrix: expected two axes, got {}", shape.len()))),
    }
}
