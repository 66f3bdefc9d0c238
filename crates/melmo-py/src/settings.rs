//! How to solve, as Python says it.

use std::time::Duration;

use melmo::catalogue::Value;
use melmo::drive::{Epsilon, Gap};
use melmo::error::Error;
use melmo::geometry::{Norm, Oracle};
use melmo::threads::Threads;
use melmo_tasks::{DeviceChoice, GeometryChoice, Settings};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::raised;
use crate::term::Given;

/// Settings and what is recorded.
pub struct Solving {
    /// For the solver.
    pub settings: Settings,
    /// A row every so many points; 0 for none.
    pub trace_every: u64,
    /// Rows have exact dual norms.
    pub exact: bool,
    /// So many threads, not the process's number.
    pub threads: Option<Threads>,
}

/// From a dictionary with the names of `melmo.minimize`.
pub fn solving(given: &Bound<'_, PyDict>) -> PyResult<Solving> {
    let mut solving = Solving { settings: Settings::default(), trace_every: 0, exact: false, threads: None };
    let settings = &mut solving.settings;
    for (key, value) in given.iter().filter(|(_, value)| !value.is_none()) {
        let key: String = key.extract()?;
        match key.as_str() {
            "method" => settings.method = value.extract()?,
            "options" => settings.arguments = arguments(value.cast::<PyDict>()?)?,
            "geometry" => settings.geometry = Some(geometry(&value)?),
            "device" => {
                let device = value.extract::<String>()?.parse::<DeviceChoice>();
                settings.device = device.map_err(|error: melmo_tasks::Error| raised(error))?;
            }
            "oracle" => settings.oracle = value.extract::<String>()?.parse::<Oracle>().map_err(raised)?,
            "max_iter" => settings.iterations = Some(value.extract()?),
            "epsilon" => settings.epsilon = Some(Epsilon::Absolute(tolerance("epsilon", &value)?)),
            "relative_epsilon" => settings.epsilon = Some(Epsilon::Relative(tolerance("relative_epsilon", &value)?)),
            "gap" => settings.gap = Some(Gap::Absolute(tolerance("gap", &value)?)),
            "relative_gap" => settings.gap = Some(Gap::Relative(tolerance("relative_gap", &value)?)),
            "radius" => settings.radius = Some(tolerance("radius", &value)?),
            "tol" => settings.tolerance = Some(value.extract()?),
            "target" => settings.target = Some(value.extract()?),
            "max_epochs" => settings.max_epochs = Some(value.extract()?),
            "time_limit" => settings.time_limit = Some(duration(value.extract()?)?),
            "trace_every" => solving.trace_every = value.extract()?,
            "exact_dual_norms" => solving.exact = value.extract()?,
            "threads" => {
                solving.threads = Some(Threads::new(value.extract()?).map_err(|refused| raised(Error::from(refused)))?)
            }
            other => return Err(PyTypeError::new_err(format!("`{other}` is no setting"))),
        }
    }
    Ok(solving)
}

/// As the program spells it, or (block, norm, oracle) of each block that is named.
fn geometry(given: &Bound<'_, PyAny>) -> PyResult<GeometryChoice> {
    if let Ok(text) = given.extract::<String>() {
        return text.parse().map_err(|error: melmo_tasks::Error| raised(error));
    }
    let part = |(block, norm, oracle): (String, String, Option<String>)| {
        let oracle = oracle.map(|oracle| oracle.parse::<Oracle>()).transpose()?;
        Ok((block, norm.parse::<Norm>()?, oracle))
    };
    let parts: Vec<_> = given.extract()?;
    let parts: Result<_, Error> = parts.into_iter().map(part).collect();
    parts.map(GeometryChoice::Named).map_err(raised)
}

fn tolerance(name: &'static str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    Error::expect_positive(name, value.extract()?).map_err(raised)
}

fn duration(seconds: f64) -> PyResult<Duration> {
    let holds = seconds >= 0.0 && Duration::try_from_secs_f64(seconds).is_ok();
    Error::expect_parameter("time_limit", seconds, holds, "a number of seconds, at least 0").map_err(raised)?;
    Ok(Duration::from_secs_f64(seconds))
}

/// Numbers and words.
fn arguments(given: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Value)>> {
    let one = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let key: String = key.extract()?;
        let wrong = |_| PyTypeError::new_err(format!("options: {key}: expected a number"));
        let Given(value) = value.extract().map_err(wrong)?;
        Ok((key, value))
    };
    given.iter().map(one).collect()
}
