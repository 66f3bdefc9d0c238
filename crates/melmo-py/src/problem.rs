//! f(x) + g(Tx), and everything that is done with it.

use std::sync::Arc;

use melmo::block::Layout;
use melmo::certificate::{Certificate as Plain, Evidence};
use melmo::drive;
use melmo::operator::Form;
use melmo::patience;
use melmo::problem::Problem as Composite;
use melmo::threads::Threads;
use melmo_tasks::{Defaults, Solved, Watch, solve_raced};
use numpy::PyArray1;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::{self, Blocks};
use crate::certificate::{Certificate, CheckRow, Stored, lines};
use crate::check::{self, Effort, Law};
use crate::error::raised;
use crate::ranks::{self, Rows, Together};
use crate::run::{Run, Startable};
use crate::settings::{Solving, solving};
use crate::shared::{Shared, SharedLoss};
use crate::solved;
use crate::term::{Loss, Operator, Penalty, Precise, Terms, in_precision, precisely};
use crate::wait::hearing;
use crate::watch::{Halt, Watcher};

/// minimise f(x) + g(Tx).
#[pyclass(frozen, module = "melmo._melmo")]
pub struct Problem(Precise<Arc<Composite<f32>>, Arc<Composite<f64>>>);

#[pymethods]
impl Problem {
    #[new]
    #[pyo3(signature = (precision, f, g, t, layout, within = None))]
    fn new(
        precision: &str,
        f: &Loss,
        g: &Penalty,
        t: &Operator,
        layout: Blocks,
        within: Option<(usize, usize)>,
    ) -> PyResult<Self> {
        let layout = array::layout(layout)?;
        let single = || build::<f32>(f, g, t, layout.clone(), within);
        Ok(Self(in_precision(precision, single, || build::<f64>(f, g, t, layout.clone(), within))?))
    }

    /// Solves it on ranks of which this is one: `ranks` connects them, `pieces` says which rows of each block lie here.
    fn solve_on_ranks<'py>(
        &self,
        py: Python<'py>,
        x0: &Bound<'py, PyAny>,
        settings: &Bound<'py, PyDict>,
        ranks: Py<PyAny>,
        pieces: Vec<Option<Rows>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (solving, together) = (solving(settings)?, Together::new(ranks, pieces));
        precisely!(&self.0, p => {
            let view = array::read("x0", x0)?;
            let part = (&**p, view.as_slice()?, &Defaults::default());
            solved::to_dict(py, ranks::solve(py, part, &solving, &together)?, None)
        })
    }

    /// The blocks of x.
    #[getter]
    fn layout(&self) -> Blocks {
        precisely!(&self.0, p => array::blocks(p.layout()))
    }

    /// The blocks of Tx.
    #[getter]
    fn range(&self) -> Blocks {
        precisely!(&self.0, p => array::blocks(p.t().range()))
    }

    /// ρ, L_g, L_f, and whether T is known to be surjective.
    #[getter]
    fn facts(&self) -> (f64, Option<f64>, Option<f64>, bool) {
        let facts = precisely!(&self.0, p => p.facts());
        (facts.rho, facts.lipschitz_g, facts.lipschitz_f, facts.surjective)
    }

    /// The method that `auto` runs, and why.
    fn choose(&self) -> (&'static str, String) {
        let choice = precisely!(&self.0, p => melmo::catalogue::choose(p));
        (choice.method, choice.reason)
    }

    /// F(x).
    fn objective(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<f64> {
        precisely!(&self.0, p => {
            let view = array::read("x", x)?;
            let x = view.as_slice()?;
            p.layout().check("x", x).map_err(raised)?;
            hearing(py, || p.objective(x))
        })
    }

    /// F_β(x) and ∇F_β(x).
    fn smoothed<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>, beta: f64) -> PyResult<(f64, Bound<'py, PyAny>)> {
        precisely!(&self.0, p => smoothed(py, p, x, beta))
    }

    /// z = prox_{βg}(Tx).
    fn prox_point<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>, beta: f64) -> PyResult<Bound<'py, PyAny>> {
        precisely!(&self.0, p => {
            let view = array::read("x", x)?;
            let x = view.as_slice()?;
            p.layout().check("x", x).map_err(raised)?;
            p.check_beta(beta).map_err(raised)?;
            let z = hearing(py, || p.prox_point(x, Evidence::smoothed(beta)))?;
            Ok(PyArray1::from_vec(py, z).into_any())
        })
    }

    /// Solves it from x0: the end of the run, and what was raised on the way, if anything.
    fn solve<'py>(
        &self,
        py: Python<'py>,
        x0: &Bound<'py, PyAny>,
        settings: &Bound<'py, PyDict>,
        callback: Option<Py<PyAny>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyDict>, Option<Py<PyAny>>)> {
        let solving = solving(settings)?;
        precisely!(&self.0, p => solve(py, p, x0, &solving, callback, progress))
    }

    /// Recomputes a certificate at x.
    fn verify(
        &self,
        py: Python<'_>,
        certificate: &Certificate,
        x: &Bound<'_, PyAny>,
        tolerance: Option<f64>,
    ) -> PyResult<Vec<CheckRow>> {
        precisely!(&self.0, p => verify(py, p, certificate, x, tolerance))
    }

    /// Whether x is what a tolerance asks for, by its certificate, recomputed.
    fn passed(
        &self,
        py: Python<'_>,
        certificate: &Certificate,
        x: &Bound<'_, PyAny>,
        tolerance: f64,
    ) -> PyResult<bool> {
        precisely!(&self.0, p => passed(py, p, certificate, x, tolerance))
    }

    /// Whether those of the terms `f`, `T`, `g` that are named are what they say, at and around x.
    fn check(&self, py: Python<'_>, x: &Bound<'_, PyAny>, terms: &str, effort: Effort) -> PyResult<Vec<Law>> {
        precisely!(&self.0, p => check::check(py, p, x, terms, effort))
    }

    /// A solver that goes step by step.
    fn run(&self, x0: &Bound<'_, PyAny>, settings: &Bound<'_, PyDict>) -> PyResult<Run> {
        let solving = solving(settings)?;
        precisely!(&self.0, p => {
            let view = array::read("x0", x0)?;
            Startable::start(p.clone(), view.as_slice()?, &solving.settings)
        })
    }
}

/// The terms as a problem, of which `within` are a rank's own rows where differences of an image reach beyond them.
fn build<S: Terms>(
    f: &Loss,
    g: &Penalty,
    t: &Operator,
    layout: Layout,
    within: Option<(usize, usize)>,
) -> PyResult<Arc<Composite<S>>> {
    let (f, g, t) = (S::loss(f)?, S::penalty(g)?, S::operator(t)?);
    let f = SharedLoss::new(f, layout).map_err(raised)?;
    let mut problem = Composite::new(f, Shared(g), Shared(t)).map_err(raised)?;
    // In one pass over memory where the terms allow it.
    let image = matches!(problem.t().form(), Form::Difference2d(_));
    let streams = image && problem.g().streamed().is_some() && problem.f().pointwise().is_some();
    if let Some((start, end)) = within.filter(|_| streams) {
        problem = problem.within(start..end).map_err(raised)?;
    }
    Ok(Arc::new(problem))
}

fn smoothed<'py, S: Terms>(
    py: Python<'py>,
    problem: &Composite<S>,
    x: &Bound<'py, PyAny>,
    beta: f64,
) -> PyResult<(f64, Bound<'py, PyAny>)> {
    let view = array::read::<S>("x", x)?;
    let x = view.as_slice()?;
    problem.layout().check("x", x).map_err(raised)?;
    problem.check_beta(beta).map_err(raised)?;
    let (value, grad) = hearing(py, || {
        let (mut grad, mut work) = (vec![S::ZERO; x.len()], vec![S::ZERO; problem.work_len()]);
        let found = problem.smoothed_gradient(&mut grad, x, beta, &mut work);
        (found.f + problem.envelope(x, beta, &mut work), grad)
    })?;
    Ok((value, PyArray1::from_vec(py, grad).into_any()))
}

fn solve<'py, S: Terms + Stored>(
    py: Python<'py>,
    problem: &Composite<S>,
    x0: &Bound<'py, PyAny>,
    solving: &Solving,
    callback: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyDict>, Option<Py<PyAny>>)> {
    let view = array::read::<S>("x0", x0)?;
    let x0 = view.as_slice()?;
    let mut watcher = Watcher::new(callback, progress);
    let (solved, halt) = py.detach(|| {
        let Solving { settings, trace_every, exact, threads } = solving;
        let patience = watcher.patience();
        let watch = Watch { watcher: Some(&mut watcher), trace_every: *trace_every, exact: *exact, ..Watch::default() };
        let threads = threads.unwrap_or_else(Threads::current);
        let defaults = Defaults::of(problem, settings);
        let mut solved = threads.run(|| patience.run(|| solve_raced(problem, x0, &defaults, settings, watch)));
        let halt = watcher.halted();
        if let (Ok(solved), Some(Halt::Interrupted)) = (&mut solved, &halt) {
            drive::moment().run(|| take_best(problem, solved, &mut watcher));
        }
        (solved, halt)
    });
    match (solved, halt) {
        (Ok(solved), halt) => {
            let dict = solved::to_dict(py, solved, halt.as_ref())?;
            let error = match halt {
                Some(Halt::Raised(error)) => Some(error.into_value(py).into_any()),
                _ => None,
            };
            Ok((dict, error))
        }
        (Err(_), Some(Halt::Raised(error))) => Err(error),
        (Err(_), Some(Halt::Interrupted)) => Err(PyKeyboardInterrupt::new_err(())),
        (Err(error), _) => Err(raised(error)),
    }
}

/// An interrupted run ends at the best point that was seen, where that is better than the last. Where Ctrl-C struck inside a
/// user's term, nothing could be said about the last point: then it is said now.
fn take_best<S: Terms>(problem: &Composite<S>, solved: &mut Solved<S>, watcher: &mut Watcher<S>) {
    let report = &mut solved.report;
    let Some((best, norms)) = watcher.best.take().filter(|(best, _)| best.beta > 0.0) else { return };
    if best.objective >= report.objective {
        return; // not where F is NaN at the end
    }
    (report.x, report.objective) = (best.x, best.objective);
    let evidence = Evidence { u: best.u.as_deref(), beta: best.beta };
    report.z = problem.prox_point(&report.x, evidence);
    report.certificate = Plain::new(problem, &report.x, evidence, norms, None, None).ok();
    report.unseen = report.certificate.is_none() && patience::is_over();
    if report.unseen {
        report.z = problem.image(&report.x);
    }
}

fn verify<S: Terms + Stored>(
    py: Python<'_>,
    problem: &Composite<S>,
    certificate: &Certificate,
    x: &Bound<'_, PyAny>,
    tolerance: Option<f64>,
) -> PyResult<Vec<CheckRow>> {
    let view = array::read::<S>("x", x)?;
    let x = view.as_slice()?;
    let certificate = S::stored(certificate)?;
    let tolerance = tolerance.unwrap_or_else(Plain::<S>::default_tolerance);
    let verification = hearing(py, || certificate.verify(problem, x, tolerance))?;
    verification.map(|verification| lines(&verification)).map_err(raised)
}

fn passed<S: Terms + Stored>(
    py: Python<'_>,
    problem: &Composite<S>,
    certificate: &Certificate,
    x: &Bound<'_, PyAny>,
    tolerance: f64,
) -> PyResult<bool> {
    let view = array::read::<S>("x", x)?;
    let x = view.as_slice()?;
    let certificate = S::stored(certificate)?;
    let passed = hearing(py, || certificate.passed(problem, x, tolerance))?;
    passed.map_err(raised)
}
