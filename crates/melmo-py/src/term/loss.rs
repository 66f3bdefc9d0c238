//! f.

use std::sync::Arc;

use melmo::catalogue;
use melmo::smooth::Smooth;
use melmo_tasks::denoise::learned::with_loss;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::{self, Blocks, Scalar};
use crate::error::raised;
use crate::failure;
use crate::term::inputs::inputs;
use crate::term::python::PythonLoss;
use crate::term::{AnyLoss, Given, Precise, Terms, in_precision, precisely};

/// A smooth loss, built.
#[pyclass(frozen, module = "melmo._melmo")]
pub struct Loss(pub AnyLoss);

#[pymethods]
impl Loss {
    /// A loss of the catalogue.
    #[staticmethod]
    fn named(precision: &str, name: &str, given: Vec<(String, Given)>, data: &Bound<'_, PyDict>) -> PyResult<Self> {
        let built = in_precision(precision, || build::<f32>(name, &given, data), || build::<f64>(name, &given, data))?;
        Ok(Self(built))
    }

    /// A user's own: `call(x)` gives the value and the gradient.
    #[staticmethod]
    fn own(precision: &str, call: Py<PyAny>, layout: Blocks, lipschitz: Option<f64>) -> PyResult<Self> {
        let layout = array::layout(layout)?;
        Ok(Self(match precision {
            "f32" => Precise::Single(Arc::new(PythonLoss { call, layout, lipschitz })),
            _ => Precise::Double(Arc::new(PythonLoss { call, layout, lipschitz })),
        }))
    }

    /// It and the learned prior of a picture of rows×cols.
    fn with_learned_prior(&self, shape: (usize, usize), channels: usize, noise: f64, range: f64) -> PyResult<Self> {
        let built = match &self.0 {
            Precise::Single(f) => {
                with_loss(f.clone(), shape, channels, noise, range).map(|f| Precise::Single(Arc::from(f)))
            }
            Precise::Double(f) => {
                with_loss(f.clone(), shape, channels, noise, range).map(|f| Precise::Double(Arc::from(f)))
            }
        };
        built.map(Self).map_err(raised)
    }

    /// The blocks of x.
    #[getter]
    fn layout(&self) -> Blocks {
        precisely!(&self.0, f => array::blocks(f.layout()))
    }

    /// L_f.
    #[getter]
    fn lipschitz(&self) -> Option<f64> {
        precisely!(&self.0, f => f.lipschitz())
    }

    /// f(x) and ∇f(x).
    fn value_grad<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<(f64, Bound<'py, PyAny>)> {
        precisely!(&self.0, f => evaluate(py, &**f, x))
    }
}

fn build<S: Terms>(name: &str, given: &[(String, Given)], data: &Bound<'_, PyDict>) -> PyResult<Arc<dyn Smooth<S>>> {
    let rows = catalogue::losses::<S>();
    let row = catalogue::find("loss", &rows, name).map_err(raised)?;
    let arguments = Given::arguments(&row.entry, given)?;
    let inputs = inputs::<S>(data)?;
    data.py().detach(|| (row.build)(&arguments, inputs)).map(Arc::from).map_err(raised)
}

fn evaluate<'py, S: Scalar>(
    py: Python<'py>,
    f: &dyn Smooth<S>,
    x: &Bound<'py, PyAny>,
) -> PyResult<(f64, Bound<'py, PyAny>)> {
    let view = array::read::<S>("x", x)?;
    let x = view.as_slice()?;
    f.layout().check("x", x).map_err(raised)?;
    let (value, grad) = py.detach(|| {
        let (mut grad, mut work) = (vec![S::ZERO; x.len()], vec![S::ZERO; f.work_len()]);
        (f.value_grad(&mut grad, x, &mut work), grad)
    });
    failure::take().map_or(Ok(()), Err)?;
    Ok((value, PyArray1::from_vec(py, grad).into_any()))
}
