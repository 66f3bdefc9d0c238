//! Certificates for Python.

use melmo::certificate::{Certificate as Plain, Verification};
use melmo::real::Real;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::give;
use crate::term::{Precise, precisely};

/// What was reached, in one precision or the other.
#[pyclass(frozen, module = "melmo._melmo")]
pub struct Certificate(pub Precise<Plain<f32>, Plain<f64>>);

/// A number type whose certificates can be stored.
pub trait Stored: Real {
    /// It, in its precision.
    fn store(certificate: Plain<Self>) -> Precise<Plain<f32>, Plain<f64>>;
    /// It, if it is in this precision.
    fn stored(certificate: &Certificate) -> PyResult<&Plain<Self>>;
}

macro_rules! stored {
    ($($t:ty: $variant:ident),*) => {$(
        impl Stored for $t {
            fn store(certificate: Plain<Self>) -> Precise<Plain<f32>, Plain<f64>> {
                Precise::$variant(certificate)
            }
            fn stored(certificate: &Certificate) -> PyResult<&Plain<Self>> {
                match &certificate.0 {
                    Precise::$variant(certificate) => Ok(certificate),
                    _ => Err(PyValueError::new_err("the certificate is in another precision than the problem")),
                }
            }
        }
    )*};
}
stored!(f32: Single, f64: Double);

impl Certificate {
    /// Of a run.
    pub fn new<S: Stored>(certificate: Plain<S>) -> Self {
        Self(S::store(certificate))
    }
}

/// A block of the norm: name, rows, columns, norm, radius.
type NormRow = (String, usize, usize, String, f64);

#[pymethods]
impl Certificate {
    /// `f32` or `f64`.
    #[getter]
    fn precision(&self) -> &str {
        precisely!(&self.0, c => &c.precision)
    }

    /// β.
    #[getter]
    fn beta(&self) -> f64 {
        precisely!(&self.0, c => c.beta)
    }

    /// The norm, block by block.
    #[getter]
    fn norms(&self) -> Vec<NormRow> {
        let rows = precisely!(&self.0, c => &c.norms);
        let row = |b: &melmo::geometry::BlockNorm| {
            (b.block.name.clone(), b.block.rows, b.block.cols, b.norm.name().to_string(), b.radius)
        };
        rows.iter().map(row).collect()
    }

    /// Bounds on ‖∇f(x) + T*w‖_*.
    #[getter]
    fn dual_norm(&self) -> (f64, f64) {
        precisely!(&self.0, c => (c.dual_norm.lower, c.dual_norm.upper))
    }

    /// ‖Tx − z‖₂.
    #[getter]
    fn prox_gap(&self) -> f64 {
        precisely!(&self.0, c => c.prox_gap)
    }

    /// What was asked for and reached: the ε of the dual norm, of the proximal gap, and the gap of F.
    #[getter]
    fn claim(&self) -> Option<(Option<f64>, Option<f64>, Option<f64>)> {
        precisely!(&self.0, c => c.claim.map(|claim| (claim.dual_norm, claim.prox_gap, claim.gap)))
    }

    /// u, where it is not Tx.
    #[getter]
    fn u<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        precisely!(&self.0, c => c.u.as_ref().map(|u| give(py, u.clone()).into_any()))
    }

    /// F(x), the lower bound on F*, and a bound on their distance; where there is none, the reason.
    #[getter]
    fn optimality(&self) -> (Option<(f64, f64, f64)>, Option<String>) {
        precisely!(&self.0, c => {
            (c.optimality.map(|o| (o.objective, o.bound, o.gap)), c.no_gap.clone())
        })
    }

    /// x̃, its distance from x, the bound on how far from stationary it is, and ‖Tx̃ − z‖.
    #[getter]
    fn stationarity<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyAny>, f64, f64, Option<f64>)> {
        precisely!(&self.0, c => {
            c.stationarity.as_ref().map(|s| (give(py, s.point.clone()).into_any(), s.distance, s.bound, s.residual))
        })
    }

    /// Every digit of it, as the program stores it.
    fn to_json(&self) -> PyResult<String> {
        let text = precisely!(&self.0, c => serde_json::to_string(c));
        text.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// What `to_json` wrote.
    #[staticmethod]
    fn from_json(text: &str, precision: &str) -> PyResult<Self> {
        let wrong = |error: serde_json::Error| PyValueError::new_err(format!("this is no certificate: {error}"));
        Ok(Self(match precision {
            "f32" => Precise::Single(serde_json::from_str(text).map_err(wrong)?),
            _ => Precise::Double(serde_json::from_str(text).map_err(wrong)?),
        }))
    }
}

/// A line of a verification: what, left, right, slack, whether it holds.
pub type CheckRow = (&'static str, f64, f64, f64, bool);

/// A verification, line by line.
pub fn lines(verification: &Verification) -> Vec<CheckRow> {
    verification.checks.iter().map(|c| (c.what, c.left, c.right, c.slack, c.holds)).collect()
}
