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

/// A penalty of a sum: name, parameters, lift.
type Part<'py> = (String, Vec<(String, Given)>, Bound<'py, PyDict>);

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

    /// A sum of penalties of the catalogue, each as in [`Penalty::named`]; none where its prox is not known.
    #[staticmethod]
    fn sum(precision: &str, parts: Vec<Part<'_>>, layout: Blocks) -> PyResult<Option<Self>> {
        let layout = array::layout(layout)?;
        match precision {
            "f32" => Ok(added::<f32>(&parts, &layout)?.map(|g| Self(Precise::Single(g)))),
            _ => Ok(added::<f64>(&parts, &layout)?.map(|g| Self(Precise::Double(g)))),
        }
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

fn added<S: Terms>(parts: &[Part<'_>], layout: &Layout) -> PyResult<Option<Arc<dyn Prox<S>>>> {
    let addend = |(name, given, lift): &Part<'_>| -> PyResult<catalogue::Addend<S>> {
        let mut rows = catalogue::penalties::<S>();
        let arguments = Given::arguments(&catalogue::find("penalty", &rows, name).map_err(raised)?.entry, given)?;
        let at = rows.iter().position(|row| row.entry.name == name).unwrap_or_default();
        Ok(catalogue::Addend { row: rows.swap_remove(at), arguments, lift: lift_of(lift)? })
    };
    let addends = parts.iter().map(addend).collect::<PyResult<Vec<_>>>()?;
    Ok(catalogue::sum(&addends, layout).map_err(raised)?.map(Arc::from))
}

fn lift_of<S: Scalar>(lift: &Bound<'_, PyDict>) -> PyResult<Lift<S>> {
    let get = |key: &str| -> PyResult<Option<Bound<'_, PyAny>>> { Ok(lift.get_item(key)?.filter(|v| !v.is_none())) };
    let on = get("on")?.map_or(Ok("entries".to_string()), |on| on.extract())?;
    let weights = get("weights")?.map(|weights| array::owned::<S>("weights", &weights)).transpose()?;
    let groups = get("groups")?.map(|groups| groups.extract::<Vec<Vec<usize>>>()).transpose()?;
    let lift = match (on.as_str(), groups) {
        ("groups", Some(groups)) => Lift::Groups(groups),
        ("groups", None) => return Err(PyValueError::new_err("on=\"groups\" needs groups: lists of entries")),
        (on, Some(_)) => return Err(PyValueError::new_err(format!("on=\"{on}\" takes no groups"))),
        ("entries", None) => Lift::Entries,
        ("nonnegative", None) => Lift::Nonnegative,
        ("rows", None) => Lift::Rows,
        ("columns", None) => Lift::Columns,
        ("pixels", None) => Lift::Pixels,
        ("singular-values", None) => Lift::SingularValues,
        (on, None) => {
            let known = catalogue::lifts().iter().map(|lift| lift.name.into()).collect();
            return Err(raised(Error::UnknownName { kind: "lift".into(), name: on.into(), known }));
        }
    };
    match weights {
        None => Ok(lift),
        Some(_) if lift == Lift::SingularValues => {
            Err(PyValueError::new_err("on=\"singular-values\" takes no weights: they have an order, and no names"))
        }
        Some(weights) => Ok(lift.weighted(weights)),
    }
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
