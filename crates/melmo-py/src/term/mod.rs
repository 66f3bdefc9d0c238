//! The terms f, g and T: of the catalogue, or a user's own Python.

mod inputs;
mod loss;
mod operator;
mod penalty;
mod python;

pub use loss::Loss;
pub use operator::Operator;
pub use penalty::Penalty;

use std::sync::Arc;

use melmo::catalogue::{Arguments, Entry, Value};
use melmo::operator::LinOp;
use melmo::penalty::Prox;
use melmo::smooth::Smooth;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::array::Scalar;
use crate::error::raised;

/// A number or a word that Python gave for a parameter.
pub struct Given(pub Value);

impl<'a, 'py> FromPyObject<'a, 'py> for Given {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let word = value.extract::<String>().map(Value::from);
        Ok(Self(word.or_else(|_| value.extract::<f64>().map(Value::from))?))
    }
}

impl Given {
    /// What was given for a row, checked and completed.
    fn arguments(entry: &Entry, given: &[(String, Self)]) -> PyResult<Arguments> {
        let given: Vec<(&str, Value)> =
            given.iter().map(|(name, Self(value))| (name.as_str(), value.clone())).collect();
        Arguments::new(entry, &given).map_err(raised)
    }
}

/// The same thing in one precision or the other.
pub enum Precise<A, B> {
    Single(A),
    Double(B),
}

/// Runs the same code on whichever it is.
macro_rules! precisely {
    ($either:expr, $name:ident => $body:expr) => {
        match $either {
            $crate::term::Precise::Single($name) => $body,
            $crate::term::Precise::Double($name) => $body,
        }
    };
}
pub(crate) use precisely;

/// A loss in one precision or the other.
pub type AnyLoss = Precise<Arc<dyn Smooth<f32>>, Arc<dyn Smooth<f64>>>;
/// A penalty in one precision or the other.
pub type AnyPenalty = Precise<Arc<dyn Prox<f32>>, Arc<dyn Prox<f64>>>;
/// An operator in one precision or the other.
pub type AnyOperator = Precise<Arc<dyn LinOp<f32>>, Arc<dyn LinOp<f64>>>;

/// Builds in the precision that users call `f32` or `f64`.
pub fn in_precision<A, B>(
    name: &str,
    single: impl FnOnce() -> PyResult<A>,
    double: impl FnOnce() -> PyResult<B>,
) -> PyResult<Precise<A, B>> {
    match name {
        "f32" => single().map(Precise::Single),
        "f64" => double().map(Precise::Double),
        other => Err(PyValueError::new_err(format!("precision: expected f32 or f64, got `{other}`"))),
    }
}

/// A number type with its terms.
pub trait Terms: Scalar {
    /// The loss, if it is in this precision.
    fn loss(loss: &Loss) -> PyResult<Arc<dyn Smooth<Self>>>;
    /// The penalty, if it is in this precision.
    fn penalty(penalty: &Penalty) -> PyResult<Arc<dyn Prox<Self>>>;
    /// The operator, if it is in this precision.
    fn operator(operator: &Operator) -> PyResult<Arc<dyn LinOp<Self>>>;
}

macro_rules! terms {
    ($($t:ty: $variant:ident),*) => {$(
        impl Terms for $t {
            fn loss(loss: &Loss) -> PyResult<Arc<dyn Smooth<Self>>> {
                match &loss.0 {
                    Precise::$variant(term) => Ok(term.clone()),
                    _ => Err(mixed("loss")),
                }
            }
            fn penalty(penalty: &Penalty) -> PyResult<Arc<dyn Prox<Self>>> {
                match &penalty.0 {
                    Precise::$variant(term) => Ok(term.clone()),
                    _ => Err(mixed("penalty")),
                }
            }
            fn operator(operator: &Operator) -> PyResult<Arc<dyn LinOp<Self>>> {
                match &operator.0 {
                    Precise::$variant(term) => Ok(term.clone()),
                    _ => Err(mixed("operator")),
                }
            }
        }
    )*};
}
terms!(f32: Single, f64: Double);

fn mixed(what: &str) -> PyErr {
    PyTypeError::new_err(format!("the {what} is in another precision than the rest"))
}
