//! g.

use std::sync::Arc;

use melmo::block::Layout;
use melmo::catalogue::{self, Lift};
use melmo::error::Error;
use melmo::penalty::{self, Prox};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::{self, Blocks, Scalar};
use crate::error::raised;
use crate::shared::Shared;
use crate::term::python::PythonPenalty;
use crate::term::{AnyPenalty, Given, Precise, Terms, in_precision, precisely};
use crate::wait::hearing;

/// A penalty, built for a buffer of some layout.
#[pyclass(frozen, module = "melmo._melmo")]
pub struct Penalty(pub AnyPenalty);

#[pymethods]
impl Penalty {
    /// A penalty of the catalogue on a buffer of that layout; `lift` has what it is applied to: `on`, `weights`, `groups`.
    #[staticmethod]
    fn named(
        precision: &str,
        name: &str,
        given: Vec<(String, Given)>,
        lift: &Bound<'_, PyDict>,
        layout: Blocks,
    ) -> PyResult<Self> {
        let layout = array::layout(layout)?;
        let built = in_precision(
            precision,
            || build::<f32>(name, &given, lift, &layout),
            || build::<f64>(name, &given, lift, &layout),
        )?;
        Ok(Self(built))
    }

    /// A user's own: `value(u)`, `prox(u, beta)` and, where there is one, `subgradient(u)`.
    #[staticmethod]
    fn own(precision: &str, object: Py<PyAny>, size: usize, rho: f64, lipschitz: Option<f64>) -> PyResult<Self> {
        Ok(Self(match precision {
            "f32" => Precise::Single(Arc::new(PythonPenalty { object, size, rho, lipschitz })),
            _ => Precise::Double(Arc::new(PythonPenalty { object, size, rho, lipschitz })),
        }))
    }

    /// A penalty for each of some blocks.
    #[staticmethod]
    fn blocks(precision: &str, layout: Blocks, parts: Vec<(String, Py<Self>)>) -> PyResult<Self> {
        let layout = array::layout(layout)?;
        Ok(Self(in_precision(precision, || sum::<f32>(&layout, &parts), || sum::<f64>(&layout, &parts))?))
    }

    /// ρ.
    #[getter]
    fn weak_convexity(&self) -> f64 {
        precisely!(&self.0, g => g.weak_convexity())
    }

    /// L_g.
    #[getter]
    fn lipschitz(&self) -> Option<f64> {
        precisely!(&self.0, g => g.lipschitz())
    }

    /// g(u).
    fn value(&self, py: Python<'_>, u: &Bound<'_, PyAny>) -> PyResult<f64> {
        precisely!(&self.0, g => value(py, &**g, u))
    }

    /// z ← prox_{βg}(u), into `out`; returns g(z).
    fn prox(&self, py: Python<'_>, u: &Bound<'_, PyAny>, beta: f64, out: &Bound<'_, PyAny>) -> PyResult<f64> {
        precisely!(&self.0, g => prox(py, &**g, u, beta, out))
    }

    /// grad ← ∇g_β(u), into `out`; returns g_β(u).
    fn envelope(&self, py: Python<'_>, u: &Bound<'_, PyAny>, beta: f64, out: &Bound<'_, PyAny>) -> PyResult<f64> {
        precisely!(&self.0, g => envelope(py, &**g, u, beta, out))
    }

    /// v ← an element of ∂g(u), into `out`; returns g(u).
    fn subgradient(&self, py: Python<'_>, u: &Bound<'_, PyAny>, out: &Bound<'_, PyAny>) -> PyResult<f64> {
        precisely!(&self.0, g => into(py, &**g, u, out, |g, v, u, work| g.subgradient(v, u, work)))
    }
}

fn build<S: Terms>(
    name: &str,
    given: &[(String, Given)],
    lift: &Bound<'_, PyDict>,
    layout: &Layout,
) -> PyResult<Arc<dyn Prox<S>>> {
    let rows = catalogue::penalties::<S>();
    let row = catalogue::find("penalty", &rows, name).map_err(raised)?;
    let arguments = Given::arguments(&row.entry, given)?;
    (row.build)(&arguments, &lift_of(lift)?, layout).map(Arc::from).map_err(raised)
}

fn lift_of<S: Scalar>(lift: &Bound<'_, PyDict>) -> PyResult<Lift<S>> {
    let get = |key: &str| -> PyResult<Option<Bound<'_, PyAny>>> { Ok(lift.get_item(key)?.filter(|v| !v.is_none())) };
    let on = get("on")?.map_or(Ok("entries".to_string()), |on| on.extract())?;
    let weights = get("weights")?.map(|weights| array::owned::<S>("weights", &weights)).transpose()?;
    let groups = get("groups")?.map(|groups| groups.extract::<Vec<Vec<usize>>>()).transpose()?;
    Ok(match (on.as_str(), weights, groups) {
        ("entries", None, None) => Lift::Entries,
        ("entries", Some(weights), None) => Lift::Weighted(weights),
        ("nonnegative", None, None) => Lift::Nonnegative,
        ("rows", None, None) => Lift::Rows,
        ("columns", None, None) => Lift::Columns,
        ("pixels", None, None) => Lift::Pixels,
        ("singular-values", None, None) => Lift::SingularValues,
        ("groups", None, Some(groups)) => Lift::Groups(groups),
        ("groups", Some(weights), Some(groups)) => Lift::WeightedGroups(groups, weights),
        ("groups", _, None) => return Err(PyValueError::new_err("on=\"groups\" needs groups: lists of entries")),
        (on, weights, groups) => {
            let known: Vec<String> = catalogue::lifts().iter().map(|lift| lift.name.into()).collect();
            if !known.iter().any(|name| name == on) {
                return Err(raised(Error::UnknownName { kind: "lift".into(), name: on.into(), known }));
            }
            let what = if groups.is_some() { "groups" } else { "weights" };
            debug_assert!(groups.is_some() || weights.is_some());
            return Err(PyValueError::new_err(format!("on=\"{on}\" takes no {what}")));
        }
    })
}

fn sum<S: Terms>(layout: &Layout, parts: &[(String, Py<Penalty>)]) -> PyResult<Arc<dyn Prox<S>>> {
    let part = |(name, g): &(String, Py<Penalty>)| -> PyResult<(String, f64, Box<dyn Prox<S>>)> {
        Ok((name.clone(), 1.0, Box::new(Shared(S::penalty(g.get())?))))
    };
    let parts = parts.iter().map(part).collect::<PyResult<Vec<_>>>()?;
    Ok(Arc::new(penalty::Blocks::new(layout, parts).map_err(raised)?))
}

fn value<S: Scalar>(py: Python<'_>, g: &dyn Prox<S>, u: &Bound<'_, PyAny>) -> PyResult<f64> {
    let view = array::read::<S>("u", u)?;
    let u = view.as_slice()?;
    Error::expect_len("u", g.size(), u.len()).map_err(raised)?;
    hearing(py, || g.value(u, &mut vec![S::ZERO; g.work_len()]))
}

/// βρ < 1: beyond, the prox is not a function.
fn check_beta<S: Scalar>(g: &dyn Prox<S>, beta: f64) -> PyResult<()> {
    Error::expect_positive("beta", beta).map_err(raised)?;
    let rho = g.weak_convexity();
    Error::expect_parameter("beta", beta, beta * rho < 1.0, "below 1/ρ, ρ the weak convexity of the penalty")
        .map(drop)
        .map_err(raised)
}

fn prox<S: Scalar>(
    py: Python<'_>,
    g: &dyn Prox<S>,
    u: &Bound<'_, PyAny>,
    beta: f64,
    out: &Bound<'_, PyAny>,
) -> PyResult<f64> {
    check_beta(g, beta)?;
    into(py, g, u, out, |g, z, u, work| g.prox(z, u, beta, work))
}

fn envelope<S: Scalar>(
    py: Python<'_>,
    g: &dyn Prox<S>,
    u: &Bound<'_, PyAny>,
    beta: f64,
    out: &Bound<'_, PyAny>,
) -> PyResult<f64> {
    check_beta(g, beta)?;
    into(py, g, u, out, |g, grad, u, work| g.moreau(grad, u, beta, work).value)
}

/// Writes what `work` makes of u into `out`, which is another array.
fn into<S: Scalar>(
    py: Python<'_>,
    g: &dyn Prox<S>,
    u: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    work: impl FnOnce(&dyn Prox<S>, &mut [S], &[S], &mut [S]) -> f64 + Send,
) -> PyResult<f64> {
    let view = array::read::<S>("u", u)?;
    let u = view.as_slice()?;
    Error::expect_len("u", g.size(), u.len()).map_err(raised)?;
    let mut out = array::write::<S>("out", out)?;
    let out = out.as_slice_mut()?;
    Error::expect_len("out", g.size(), out.len()).map_err(raised)?;
    hearing(py, || work(g, out, u, &mut vec![S::ZERO; g.work_len()]))
}
