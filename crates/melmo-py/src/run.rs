//! A solver that Python drives, step by step.

use std::sync::{Arc, Mutex, MutexGuard};

use melmo::certificate::Asked;
use melmo::problem::Problem;
use melmo::solver::{Info, Solver};
use melmo_tasks::{Defaults, Settings};
use numpy::PyArray1;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use self_cell::self_cell;

use crate::array::Scalar;
use crate::certificate::Certificate;
use crate::error::raised;
use crate::failure;
use crate::term::{Precise, precisely};
use crate::wait::{hearing, signals};
use crate::watch::describe;

/// A solver, the name of its method, and why it was chosen.
type Chosen<'p, S> = melmo_tasks::solve::Chosen<'p, S>;
type SingleSolver<'p> = Chosen<'p, f32>;
type DoubleSolver<'p> = Chosen<'p, f64>;

self_cell!(
    /// A solver in f32 with the problem it borrows.
    pub struct Single {
        owner: Arc<Problem<f32>>,
        #[not_covariant]
        dependent: SingleSolver,
    }
);
self_cell!(
    /// A solver in f64 with the problem it borrows.
    pub struct Double {
        owner: Arc<Problem<f64>>,
        #[not_covariant]
        dependent: DoubleSolver,
    }
);

/// A number type whose solvers can be started.
pub trait Startable: Scalar {
    /// The solver that settings ask for, at x0.
    fn start(problem: Arc<Problem<Self>>, x0: &[Self], settings: &Settings) -> PyResult<Run>;
}

macro_rules! startable {
    ($($t:ty: $variant:ident),*) => {$(
        impl Startable for $t {
            fn start(problem: Arc<Problem<Self>>, x0: &[Self], settings: &Settings) -> PyResult<Run> {
                let cell = $variant::try_new(problem, |problem| {
                    melmo_tasks::solver(problem, x0, &Defaults::default(), settings)
                });
                failure::take().map_or(Ok(()), Err)?;
                let cell = Precise::$variant(cell.map_err(raised)?);
                Ok(Run(Mutex::new(State { cell, last: None, ended: false })))
            }
        }
    )*};
}
startable!(f32: Single, f64: Double);

/// Points one after another. One thread at a time, and none of its own terms, may use it.
#[pyclass(frozen, module = "melmo._melmo")]
pub struct Run(Mutex<State>);

struct State {
    cell: Precise<Single, Double>,
    last: Option<Info>,
    ended: bool,
}

impl Run {
    fn state(&self) -> PyResult<MutexGuard<'_, State>> {
        self.0.try_lock().map_err(|_| PyRuntimeError::new_err("this run is busy with a step"))
    }
}

#[pymethods]
impl Run {
    /// The next point, as the fields of Python's `Info`; `None` where there is none. What a user's term raised is raised.
    fn step<'py>(&self, py: Python<'py>, with_objective: bool) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let found = hearing(py, || -> PyResult<_> {
            let mut state = self.state()?;
            if state.ended {
                return Ok(None);
            }
            let found = precisely!(&mut state.cell, cell => {
                cell.with_dependent_mut(|_, (solver, ..)| next(&mut **solver, with_objective))
            });
            state.ended = failure::pending() || found.is_none();
            state.last = found.map(|(info, _)| info).or(state.last);
            Ok(found)
        })??;
        found.map(|(info, objective)| describe(py, &info, objective)).transpose()
    }

    /// The current point.
    #[getter]
    fn x<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut state = self.state()?;
        Ok(precisely!(&mut state.cell, cell => {
            cell.with_dependent_mut(|_, (solver, ..)| PyArray1::from_vec(py, solver.x()).into_any())
        }))
    }

    /// F at the current point.
    fn objective(&self, py: Python<'_>) -> PyResult<f64> {
        hearing(py, || -> PyResult<f64> {
            let mut state = self.state()?;
            Ok(precisely!(&mut state.cell, cell => cell.with_dependent_mut(|_, (solver, ..)| solver.objective())))
        })?
    }

    /// The method that runs, and why it was chosen.
    #[getter]
    fn method(&self) -> PyResult<(String, Option<String>)> {
        let state = self.state()?;
        Ok(
            precisely!(&state.cell, cell => cell.with_dependent(|_, (_, name, reason, _)| (name.clone(), reason.clone()))),
        )
    }

    /// The certificate of the current point, and the point it speaks of.
    fn certificate<'py>(&self, py: Python<'py>) -> PyResult<(Certificate, Bound<'py, PyAny>)> {
        let mut state = self.state()?;
        if state.last.is_none() {
            return Err(PyRuntimeError::new_err("no point has been evaluated yet"));
        }
        let certified = precisely!(&mut state.cell, cell => {
            cell.with_dependent_mut(|_, (solver, ..)| -> PyResult<_> {
                let found = py.detach(|| signals().run(|| solver.certify(Asked::default())));
                let certificate = found.certificate.map_err(raised)?;
                Ok((Certificate::new(certificate), PyArray1::from_vec(py, solver.x()).into_any()))
            })
        });
        failure::take().map_or(Ok(()), Err)?;
        certified
    }
}

fn next<S: Scalar>(solver: &mut dyn Solver<S>, with_objective: bool) -> Option<(Info, f64)> {
    let info = solver.next().filter(|info| info.finite)?;
    let objective = match info.objective {
        Some(objective) => objective,
        None if with_objective => solver.objective(),
        None => f64::NAN,
    };
    Some((info, objective))
}
