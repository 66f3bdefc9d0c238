//! The start as a candidate for the answer: F need not fall with every step, and a run may end above where it began.

use crate::certificate::{Asked, Certificate, Certified};
use crate::drive::{Status, Stop};
use crate::geometry::BlockNorm;
use crate::patience;
use crate::problem::Problem;
use crate::real::Real;
use crate::report::Report;
use crate::solver::Info;

/// F differs by rounding alone up to so many roundings of a number of its size.
const ROUNDINGS: f64 = 16.0;

/// F rose from the start of a run to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rose {
    /// F at the start.
    pub start: f64,
    /// F where the last step led.
    pub end: f64,
    /// The start is what the report speaks of.
    pub returned: bool,
}

impl<S: Real> Report<S> {
    /// Whether F rose from this start, by more than rounding. Where F is infinite at the end nothing is said: a smoothed x may lie
    /// outside the domain of g∘T by a hair, and z inside. Nor is anything where F is not known there.
    pub fn rise(&self, start: &[S], problem: &Problem<S>) -> Option<Rose> {
        let end = Some(self.objective).filter(|end| end.is_finite())?;
        let start = problem.objective(start);
        let rose = start + ROUNDINGS * S::EPSILON * start.abs() < end;
        rose.then_some(Rose { start, end, returned: false })
    }

    /// The start in the place of an end that lies above it, with what is certain there. An end that is certified stays: that is
    /// what was asked for. A run that settled has settled at the start only if nothing is left to do there either.
    #[must_use]
    pub fn or_start(self, start: &[S], problem: &Problem<S>, norms: Vec<BlockNorm>, stop: &Stop) -> Self {
        let rose = self.rise(start, problem);
        let (Some(rise), false) = (rose, self.status == Status::Certified) else { return Self { rose, ..self } };
        let beta = self.certificate.as_ref().map_or(1.0, |certificate| certificate.beta).min(problem.beta_limit());
        let asked = Asked { radius: stop.radius, ..Asked::default() };
        let Certified { z, objective, certificate, .. } = Certificate::at(problem, start, beta, norms, asked);
        // There may be no time for a look at the start either.
        let unseen = (certificate.is_err() || objective.is_nan()) && patience::is_over();
        let (z, objective) = if unseen { (problem.image(start), rise.start) } else { (z, objective) };
        let (x, certificate) = (start.to_vec(), certificate.ok().filter(|_| !unseen));
        let passes =
            |tolerance| certificate.as_ref().is_some_and(|c| c.passed(problem, start, tolerance).unwrap_or(false));
        let status = match self.status {
            Status::Interrupted | Status::NotFinite | Status::Fault | Status::Time => self.status,
            Status::Settled if stop.tolerance.is_some_and(passes) => Status::Settled,
            _ => Status::Start,
        };
        let info = certificate.as_ref().map_or(self.info, |found| Info {
            beta: found.beta,
            dual_norm: found.dual_norm,
            prox_gap: found.prox_gap,
            objective: Some(objective),
            ..self.info
        });
        Self { status, x, z, objective, info, certificate, rose: Some(Rose { returned: true, ..rise }), unseen, ..self }
    }
}
