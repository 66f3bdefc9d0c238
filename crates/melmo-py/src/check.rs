//! Checks of terms for Python.

use melmo::check::{self, Finding, Options};
use melmo::penalty::Prox;
use melmo::problem::Problem;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::array::{self, Scalar, give};
use crate::error::raised;
use crate::failure;
use crate::wait::signals;

/// A finding, with its points as arrays and the whole of it as text.
#[pyclass(frozen, get_all, module = "melmo._melmo")]
pub struct Law {
    term: &'static str,
    law: &'static str,
    formula: &'static str,
    tests: usize,
    left: f64,
    right: f64,
    slack: f64,
    holds: bool,
    advice: String,
    witness: Vec<(&'static str, Py<PyAny>)>,
    text: String,
}

impl Law {
    fn of<S: Scalar>(py: Python<'_>, finding: Finding<S>) -> Self {
        let text = finding.to_string();
        let Finding { term, law, formula, tests, left, right, slack, holds, advice, witness } = finding;
        let witness = witness.into_iter().map(|(name, point)| (name, give(py, point).into_any().unbind())).collect();
        Self { term: term.name(), law, formula, tests, left, right, slack, holds, advice, witness, text }
    }

    /// A term that raised, or answered with something that is no array of its length.
    fn raised(py: Python<'_>, term: &'static str, error: &PyErr) -> Self {
        let advice =
            format!("{}: {}", error.get_type(py).name().map_or("an error".into(), |n| n.to_string()), error.value(py));
        let formula = "every call returns what it should";
        let text = format!("FAILS  {term} answers: {formula}\n       {advice}");
        let (left, right, slack) = (f64::NAN, f64::NAN, f64::NAN);
        Self {
            term,
            law: "answers",
            formula,
            tests: 1,
            left,
            right,
            slack,
            holds: false,
            advice,
            witness: vec![],
            text,
        }
    }
}

/// Probes, as many as fit the size unless given; seed; tolerance; whether g's subgradients are checked.
pub type Effort = (Option<usize>, u64, Option<f64>, bool);

/// Checks those of the terms `f`, `T`, `g` that are named, one after another: what one of them raises is a finding, and
/// the next has its turn.
pub fn check<S: Scalar>(
    py: Python<'_>,
    problem: &Problem<S>,
    x: &Bound<'_, PyAny>,
    terms: &str,
    (probes, seed, tolerance, subgradients): Effort,
) -> PyResult<Vec<Law>> {
    let view = array::read::<S>("x", x)?;
    let x = view.as_slice()?;
    problem.check_start(x).map_err(raised)?;
    let usual = Options::for_size(x.len().max(problem.t().range().size()));
    let probes = probes.unwrap_or(usual.probes);
    let options = Options { probes, seed, tolerance, subgradients };
    let mut laws = Vec::new();
    for (name, of) in [("f", of_loss as Of<S>), ("T", of_operator), ("g", of_penalty)] {
        if !terms.contains(name) {
            continue;
        }
        let findings = py.detach(|| signals().run(|| of(problem, x, &options)));
        match failure::take() {
            Some(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => return Err(error),
            Some(error) => laws.push(Law::raised(py, name, &error)),
            None => laws.extend(findings.into_iter().map(|finding| Law::of(py, finding))),
        }
    }
    Ok(laws)
}

/// The check of one term.
type Of<S> = fn(&Problem<S>, &[S], &Options) -> Vec<Finding<S>>;

fn of_loss<S: Scalar>(problem: &Problem<S>, x: &[S], options: &Options) -> Vec<Finding<S>> {
    check::loss(problem.f(), x, options)
}

fn of_operator<S: Scalar>(problem: &Problem<S>, _: &[S], options: &Options) -> Vec<Finding<S>> {
    check::operator(problem.t(), options)
}

/// At Tx; where T cannot say, at 0.
fn of_penalty<S: Scalar>(problem: &Problem<S>, x: &[S], options: &Options) -> Vec<Finding<S>> {
    let mut near = problem.image(x);
    if failure::take().is_some() || near.iter().any(|v| !v.is_finite()) {
        near.fill(S::ZERO);
    }
    check::penalty(&Listening(problem.g()), &near, options)
}

/// A penalty that hears signals: some are decomposed for each of a thousand values. After Ctrl-C it answers NaN at once, which
/// ends the check as a term of a user's own would that was interrupted.
struct Listening<'g, S>(&'g dyn Prox<S>);

impl<S: Scalar> Listening<'_, S> {
    /// What is asked for, or NaN once a signal was raised.
    fn answer(&self, work: impl FnOnce(&dyn Prox<S>) -> f64) -> f64 {
        if !failure::pending() {
            Python::attach(|py| py.check_signals()).unwrap_or_else(failure::record);
        }
        if failure::pending() { f64::NAN } else { work(self.0) }
    }
}

impl<S: Scalar> Prox<S> for Listening<'_, S> {
    fn size(&self) -> usize {
        self.0.size()
    }

    fn weak_convexity(&self) -> f64 {
        self.0.weak_convexity()
    }

    fn lipschitz(&self) -> Option<f64> {
        self.0.lipschitz()
    }

    fn work_len(&self) -> usize {
        self.0.work_len()
    }

    fn value(&self, u: &[S], work: &mut [S]) -> f64 {
        self.answer(|g| g.value(u, work))
    }

    fn prox(&self, z: &mut [S], u: &[S], beta: f64, work: &mut [S]) -> f64 {
        self.answer(|g| g.prox(z, u, beta, work))
    }

    fn subgradient(&self, v: &mut [S], u: &[S], work: &mut [S]) -> f64 {
        self.answer(|g| g.subgradient(v, u, work))
    }
}
