//! What a job gives back: facts to be told, and arrays to be drawn.

use std::ops::ControlFlow;

use melmo::certificate::Certificate;
use melmo::real::Real;
use melmo::solver::{Info, Solver};
use melmo_tasks::{Prepared, Settings, Solved, Watch, solve};
use serde_json::{Map, Value, json};

/// Told after every step: how many there were.
pub type Progress<'p> = &'p mut dyn FnMut(u64);

/// Facts by name, and arrays by name.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    facts: Map<String, Value>,
    arrays: Vec<(&'static str, Vec<f32>)>,
}

impl Answer {
    /// One more fact.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.facts.insert(name.into(), value.into());
        self
    }

    /// One more array.
    #[must_use]
    pub fn and(mut self, name: &'static str, values: impl IntoIterator<Item = f32>) -> Self {
        self.arrays.push((name, values.into_iter().collect()));
        self
    }

    /// A fact; null where there is none of that name.
    pub fn fact(&self, name: &str) -> &Value {
        self.facts.get(name).unwrap_or(&Value::Null)
    }

    /// All facts, as JSON.
    pub fn facts(&self) -> String {
        Value::Object(self.facts.clone()).to_string()
    }

    /// An array; empty where there is none of that name.
    pub fn array(&self, name: &str) -> &[f32] {
        self.arrays.iter().find(|(known, _)| *known == name).map_or(&[], |(_, values)| values)
    }
}

/// Rows of a trace, at most about so many: a chart needs no more.
const ROWS: u64 = 60;

/// Solves a problem as every front end does, and tells F step by step, how it ended, and what is certain.
pub(crate) fn solved<S: Real>(
    prepared: &Prepared<S>,
    settings: &Settings,
    progress: Progress<'_>,
) -> Result<(Answer, Solved<S>), melmo_tasks::Error> {
    let steps = settings.iterations.unwrap_or(prepared.defaults.iterations);
    let mut watcher = |info: &Info, _: &mut dyn Solver<S>| {
        progress(info.k);
        ControlFlow::<()>::Continue(())
    };
    let watch = Watch {
        watcher: Some(&mut watcher),
        trace_every: (steps.min(1000) / ROWS).max(1),
        exact: false,
        ..Watch::default()
    };
    let solved = solve(prepared, settings, watch)?;
    let report = &solved.report;
    let rows: Vec<Value> = report.trace.iter().map(|row| json!([row.k, row.objective])).collect();
    let mut answer = Answer::default()
        .with("objective", report.objective)
        .with("steps", report.info.k.saturating_sub(1))
        .with("ended", report.status.name())
        .with("method", solved.method.clone())
        .with("trace", rows);
    if let Some(certificate) = &report.certificate {
        answer = answer.with("certificate", told(certificate, prepared, &report.x));
    }
    Ok((answer, solved))
}

/// The numbers of a certificate, and whether they were found again.
pub(crate) fn told<S: Real>(certificate: &Certificate<S>, prepared: &Prepared<S>, x: &[S]) -> Value {
    let again = certificate.verify(&prepared.problem, x, Certificate::<S>::default_tolerance());
    json!({
        "dual_norm": certificate.dual_norm.upper,
        "prox_gap": certificate.prox_gap,
        "gap": certificate.optimality.map(|found| found.gap),
        "no_gap": certificate.no_gap,
        "verified": again.is_ok_and(|found| found.passed()),
    })
}
