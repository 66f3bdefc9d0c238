//! From a method's numbers to a solver, and a whole run.

use std::ops::ControlFlow;

use melmo::drive::{self, Status, Stop};
use melmo::geometry::{Geometry, Norm, Oracle, for_layout};
use melmo::problem::Problem;
use melmo::schedule::{EpochConstant, EpochPower, Horizon, Power, Restart, Smoothness};
use melmo::solver::{Epoch, Melmo, Solver, Subgradient, VariableSmoothing};

use crate::data::Library;
use crate::error::Error;
use crate::instance::{Experiment, Instance, Method, Outcome};
use crate::prepared::Prepared;
use crate::probe::{Probe, RECORD};

/// A share of a run was done; the answer says whether to go on.
pub type Watch<'a> = dyn Fn(f64) -> ControlFlow<()> + 'a;

/// Runs an instance; `None` when `watch` ended it.
pub fn execute(instance: &Instance, library: &Library, watch: &Watch) -> Result<Option<Outcome>, Error> {
    let prepared = Prepared::new(instance, library)?;
    let mut solver = instance.method.start(&prepared.problem, &prepared.start, instance.iterations)?;
    let judged: Option<(Oracle, _)> = match (&instance.experiment, &instance.method) {
        (Experiment::Oracle, Method::Power { oracle, .. }) => Some((oracle.parse()?, &prepared.problem)),
        _ => None,
    };
    let mut probe = Probe::new(&prepared.measure, judged, instance.iterations, watch);
    let options = drive::Options { record: Some(RECORD), ..drive::Options::new(Stop::after(instance.iterations)) };
    let report = drive::run(&mut *solver, &options, &mut [&mut probe]);
    if report.status == Status::Interrupted {
        return Ok(None);
    }
    Ok(Some(Outcome {
        finite: report.status != Status::NotFinite,
        seconds: report.elapsed.as_secs_f64(),
        image: prepared.measure.picture(&report.x),
        points: probe.points,
        certificates: probe.certificates,
        epochs: probe.epochs,
    }))
}

impl Method {
    fn start<'p>(&self, problem: &'p Problem<f64>, x: &[f64], steps: u64) -> Result<Box<dyn Solver<f64> + 'p>, Error> {
        let in_norm = |norm: Norm, oracle: Oracle| -> Result<Box<dyn Geometry<f64>>, Error> {
            Ok(for_layout(norm, problem.layout(), oracle)?)
        };
        Ok(match *self {
            Self::Power { norm, ref oracle, p, q, gamma, beta } => {
                let geometry = in_norm(norm, oracle.parse()?)?;
                Box::new(Melmo::new(problem, geometry, Power { beta, gamma, p, q }, x)?)
            }
            Self::Horizon { norm, gamma, beta } => {
                let schedule = Horizon { beta, gamma, steps };
                Box::new(Melmo::new(problem, in_norm(norm, Oracle::Auto)?, schedule, x)?)
            }
            Self::EpochPower { norm, gamma, beta } => {
                let schedule = EpochPower { power: Power { gamma, ..Power::favouring(beta) } };
                Box::new(Epoch::new(problem, in_norm(norm, Oracle::Auto)?, schedule, x)?)
            }
            Self::EpochConstant { norm, ref oracle, gamma, beta, restart } => {
                let restart = if restart { Restart::Best } else { Restart::None };
                let geometry = in_norm(norm, oracle.parse()?)?;
                Box::new(Epoch::new(problem, geometry, EpochConstant { beta, gamma, restart }, x)?)
            }
            Self::Smoothing { beta, lipschitz, operator_squared, normalized: true } => {
                // The same steps along normalised blocks: MELMO in ℓ2 with another schedule.
                let schedule = Smoothness { beta, lipschitz, operator_squared, normalized: true };
                Box::new(Melmo::new(problem, in_norm(Norm::L2, Oracle::Auto)?, schedule, x)?)
            }
            Self::Smoothing { beta, lipschitz, .. } => {
                let method = VariableSmoothing { beta, lipschitz: Some(lipschitz), normalized: false };
                Box::new(method.start(problem, x)?)
            }
            Self::Subgradient { step } => Box::new(Subgradient::new(problem, step, x)?),
        })
    }
}
