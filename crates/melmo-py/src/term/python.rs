//! Terms that are a user's own Python. Arrays go out as copies: a user may keep them.
//!
//! A term that raises leaves its exception with [`failure`] and answers NaN, and NaN from then on until that is taken.

use melmo::block::Layout;
use melmo::operator::LinOp;
use melmo::penalty::Prox;
use melmo::smooth::Smooth;
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::{self, Scalar};
use crate::failure;

/// f: `call(x)` gives the value and the gradient.
pub struct PythonLoss {
    pub call: Py<PyAny>,
    pub layout: Layout,
    pub lipschitz: Option<f64>,
}

/// g: `value(u)`, `prox(u, beta)`, `subgradient(u)`.
pub struct PythonPenalty {
    pub object: Py<PyAny>,
    pub size: usize,
    pub rho: f64,
    pub lipschitz: Option<f64>,
}

/// T: `matvec(x)`, `rmatvec(y)`.
pub struct PythonOperator {
    pub object: Py<PyAny>,
    pub domain: Layout,
    pub range: Layout,
    pub norm_bound: f64,
}

/// Asks Python, unless it failed before; what fails now is kept.
fn ask<T>(question: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
    if failure::pending() {
        return None;
    }
    Python::attach(|py| question(py).map_err(failure::record).ok())
}

/// Asks for an array: `to` takes it, or NaN where there is none.
fn fill<S: Scalar>(to: &mut [S], what: &str, question: impl FnOnce(Python<'_>) -> PyResult<Bound<'_, PyAny>>) {
    let answered = ask(|py| take(to, what, &question(py)?));
    if answered.is_none() {
        to.fill(S::of(f64::NAN));
    }
}

fn take<S: Scalar>(to: &mut [S], what: &str, answer: &Bound<'_, PyAny>) -> PyResult<()> {
    let view = array::read::<S>(what, answer)?;
    let from = view.as_slice()?;
    if from.len() != to.len() {
        return Err(PyValueError::new_err(format!("{what}: expected {} entries, got {}", to.len(), from.len())));
    }
    to.copy_from_slice(from);
    Ok(())
}

impl<S: Scalar> Smooth<S> for PythonLoss {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn value_grad(&self, grad: &mut [S], x: &[S], _: &mut [S]) -> f64 {
        let value = ask(|py| {
            let answer = self.call.bind(py).call1((PyArray1::from_slice(py, x),))?;
            let (value, gradient): (f64, Bound<'_, PyAny>) = answer.extract()?;
            take(grad, "the gradient of f", &gradient)?;
            Ok(value)
        });
        value.unwrap_or_else(|| {
            grad.fill(S::of(f64::NAN));
            f64::NAN
        })
    }

    fn lipschitz(&self) -> Option<f64> {
        self.lipschitz
    }
}

impl<S: Scalar> Prox<S> for PythonPenalty {
    fn size(&self) -> usize {
        self.size
    }

    fn weak_convexity(&self) -> f64 {
        self.rho
    }

    fn lipschitz(&self) -> Option<f64> {
        self.lipschitz
    }

    fn value(&self, u: &[S], _: &mut [S]) -> f64 {
        let value =
            ask(|py| self.object.bind(py).call_method1("value", (PyArray1::from_slice(py, u),))?.extract::<f64>());
        value.unwrap_or(f64::NAN)
    }

    fn prox(&self, z: &mut [S], u: &[S], beta: f64, work: &mut [S]) -> f64 {
        fill(z, "the prox of g", |py| self.object.bind(py).call_method1("prox", (PyArray1::from_slice(py, u), beta)));
        self.value(z, work)
    }

    fn slopes(&self, grad: &mut [S], u: &[S], beta: f64, _: &mut [S]) -> f64 {
        fill(grad, "the prox of g", |py| {
            self.object.bind(py).call_method1("prox", (PyArray1::from_slice(py, u), beta))
        });
        let inverse = S::of(1.0 / beta);
        for (grad, &u) in grad.iter_mut().zip(u) {
            *grad = (u - *grad) * inverse;
        }
        melmo::vector::norm2_squared(grad)
    }

    fn subgradient(&self, v: &mut [S], u: &[S], work: &mut [S]) -> f64 {
        fill(v, "the subgradient of g", |py| {
            self.object.bind(py).call_method1("subgradient", (PyArray1::from_slice(py, u),))
        });
        self.value(u, work)
    }
}

impl<S: Scalar> LinOp<S> for PythonOperator {
    fn domain(&self) -> &Layout {
        &self.domain
    }

    fn range(&self) -> &Layout {
        &self.range
    }

    fn norm_bound(&self) -> f64 {
        self.norm_bound
    }

    fn work_len(&self) -> usize {
        self.domain.size()
    }

    fn apply(&self, y: &mut [S], x: &[S], _: &mut [S]) {
        fill(y, "T's matvec", |py| self.object.bind(py).call_method1("matvec", (PyArray1::from_slice(py, x),)));
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], work: &mut [S]) {
        let pulled = &mut work[..self.domain.size()];
        fill(pulled, "T's rmatvec", |py| self.object.bind(py).call_method1("rmatvec", (PyArray1::from_slice(py, y),)));
        melmo::vector::axpy(x, 1.0, pulled);
    }
}
