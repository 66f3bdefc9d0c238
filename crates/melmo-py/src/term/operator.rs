//! T.

use std::sync::Arc;

use melmo::catalogue;
use melmo::error::Error;
use melmo::operator::{LinOp, Sparse};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::{self, Blocks, Scalar};
use crate::error::raised;
use crate::failure;
use crate::term::inputs::inputs;
use crate::term::python::PythonOperator;
use crate::term::{AnyOperator, Given, Precise, Terms, in_precision, precisely};

/// A linear operator, built.
#[pyclass(frozen, module = "melmo._melmo")]
pub struct Operator(pub AnyOperator);

#[pymethods]
impl Operator {
    /// An operator of the catalogue.
    #[staticmethod]
    fn named(precision: &str, name: &str, given: Vec<(String, Given)>, data: &Bound<'_, PyDict>) -> PyResult<Self> {
        let built = in_precision(precision, || build::<f32>(name, &given, data), || build::<f64>(name, &given, data))?;
        Ok(Self(built))
    }

    /// A matrix in compressed rows.
    #[staticmethod]
    fn compressed_rows(
        precision: &str,
        shape: (usize, usize),
        row_starts: PyReadonlyArray1<'_, i64>,
        columns: PyReadonlyArray1<'_, i64>,
        values: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let indices = [row_starts.as_slice()?, columns.as_slice()?];
        let built = in_precision(precision, || sparse(shape, indices, values), || sparse(shape, indices, values))?;
        Ok(Self(built))
    }

    /// A user's own: `matvec(x)` and `rmatvec(y)`.
    #[staticmethod]
    fn own(precision: &str, object: Py<PyAny>, domain: Blocks, range: Blocks, norm_bound: f64) -> PyResult<Self> {
        Error::expect_positive("norm_bound", norm_bound).map_err(raised)?;
        let (domain, range) = (array::layout(domain)?, array::layout(range)?);
        Ok(Self(match precision {
            "f32" => Precise::Single(Arc::new(PythonOperator { object, domain, range, norm_bound })),
            _ => Precise::Double(Arc::new(PythonOperator { object, domain, range, norm_bound })),
        }))
    }

    /// The blocks of x.
    #[getter]
    fn domain(&self) -> Blocks {
        precisely!(&self.0, t => array::blocks(t.domain()))
    }

    /// The blocks of Tx.
    #[getter]
    fn range(&self) -> Blocks {
        precisely!(&self.0, t => array::blocks(t.range()))
    }

    /// An upper bound on ‖T‖₂.
    #[getter]
    fn norm_bound(&self) -> f64 {
        precisely!(&self.0, t => t.norm_bound())
    }

    /// A lower bound on σ_min(T) where T is known to be surjective.
    #[getter]
    fn sigma_min(&self) -> Option<f64> {
        precisely!(&self.0, t => t.right_inverse().map(|inverse| inverse.sigma_min()))
    }

    /// Tx.
    fn matvec<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        precisely!(&self.0, t => {
            map(py, x, [t.domain().size(), t.range().size()], t.work_len(), |y, x, work| t.apply(y, x, work))
        })
    }

    /// T*y.
    fn rmatvec<'py>(&self, py: Python<'py>, y: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        precisely!(&self.0, t => {
            map(py, y, [t.range().size(), t.domain().size()], t.work_len(), |x, y, work| t.adjoint_add(x, y, work))
        })
    }
}

fn build<S: Terms>(name: &str, given: &[(String, Given)], data: &Bound<'_, PyDict>) -> PyResult<Arc<dyn LinOp<S>>> {
    let rows = catalogue::operators::<S>();
    let row = catalogue::find("operator", &rows, name).map_err(raised)?;
    let arguments = Given::arguments(&row.entry, given)?;
    let inputs = inputs::<S>(data)?;
    data.py().detach(|| (row.build)(&arguments, inputs)).map(Arc::from).map_err(raised)
}

fn sparse<S: Scalar>(
    (rows, cols): (usize, usize),
    indices: [&[i64]; 2],
    values: &Bound<'_, PyAny>,
) -> PyResult<Arc<dyn LinOp<S>>> {
    // What is negative becomes too large, and is refused as such.
    let [row_starts, columns] =
        indices.map(|all| all.iter().map(|&i| usize::try_from(i).unwrap_or(usize::MAX)).collect());
    let values = array::owned::<S>("values", values)?;
    Ok(Arc::new(Sparse::new(rows, cols, row_starts, columns, values).map_err(raised)?))
}

fn map<'py, S: Scalar>(
    py: Python<'py>,
    from: &Bound<'py, PyAny>,
    [size, result]: [usize; 2],
    work: usize,
    apply: impl FnOnce(&mut [S], &[S], &mut [S]) + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let view = array::read::<S>("x", from)?;
    let from = view.as_slice()?;
    Error::expect_len("x", size, from.len()).map_err(raised)?;
    let to = py.detach(|| {
        let mut to = vec![S::ZERO; result];
        apply(&mut to, from, &mut vec![S::ZERO; work]);
        to
    });
    failure::take().map_or(Ok(()), Err)?;
    Ok(PyArray1::from_vec(py, to).into_any())
}
