//! An image's strips solved in parallel, and put together: a point of the whole image's problem, with a certificate of its own.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Instant;

use melmo::certificate::{Asked, Certificate, Certified};
use melmo::drive::Status;
use melmo::real::Real;
use melmo::report::Report;
use melmo::solver::{Info, Solver};
use melmo::threads;

use super::{Plan, Strip};
use crate::error::Error;
use crate::prepared::Prepared;
use crate::settings::Settings;
use crate::solve::{Solved, Watch, norms, solve};
use crate::until::Until;

/// The strips of an image, solved and put together.
pub struct Joined<S: Real> {
    /// The image, in the problem's units.
    pub x: Vec<S>,
    /// Why they ended: the worst of them.
    pub status: Status,
    ends: Vec<End>,
    begun: Instant,
}

/// How a strip ended.
struct End {
    info: Info,
    status: Status,
    method: String,
    reason: Option<String>,
}

impl<S: Real> Joined<S> {
    /// Solves them, all in the same time. `each` is asked at every point of every strip, and may end it all.
    pub fn solve(
        plan: &Plan<'_, S>,
        settings: &Settings,
        until: &Until,
        each: &(dyn Fn() -> ControlFlow<()> + Sync),
    ) -> Result<Self, Error> {
        let (begun, [rows, cols]) = (Instant::now(), plan.shape());
        let x = Mutex::new(vec![S::ZERO; plan.samples()]);
        let one = |strip: &Strip| -> Result<End, Error> {
            let settings = Settings { time_limit: until.left().or(settings.time_limit), ..settings.clone() };
            let mut watcher = |_: &Info, _: &mut dyn Solver<S>| each();
            let watch = Watch { watcher: Some(&mut watcher), ..Watch::default() };
            let Solved { report, method, reason } = solve(&plan.prepare(strip)?, &settings, watch)?;
            // Where two strips meet their shares are added; the sum of two numbers does not depend on who comes first.
            let mut x = x.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            strip.place(&mut x, &report.x, rows, cols);
            Ok(End { info: report.info, status: report.status, method, reason })
        };
        let ends: Vec<End> = threads::map(plan.strips().iter(), one).into_iter().collect::<Result<_, _>>()?;
        let x = x.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let worst = [Status::NotFinite, Status::Interrupted, Status::Time, Status::Iterations, Status::Stalled];
        let worst = worst.into_iter().find(|bad| ends.iter().any(|end| end.status == *bad));
        let status = worst.or(ends.first().map(|end| end.status)).unwrap_or(Status::Settled);
        Ok(Self { x, status, ends, begun })
    }

    /// F of them together, as a point of the whole image's problem, and what is certain about it. The latter takes about 140 bytes of
    /// memory for each `f32` of the image: it can be left out.
    pub fn whole(self, whole: &Prepared<S>, settings: &Settings, certify: bool) -> Result<Solved<S>, Error> {
        let Self { x, status, ends, begun } = self;
        let nothing = || Error::input("an image", "nothing to do", "noise to remove, and a strength above 0");
        let last = ends.into_iter().max_by_key(|end| end.info.k).ok_or_else(nothing)?;
        let End { info, method, reason, .. } = last;
        let limit = whole.problem.beta_limit();
        // A method that does not smooth has no β: any shows something.
        let beta = if info.beta > 0.0 { info.beta.min(limit) } else { limit.min(1.0) };
        let elapsed = begun.elapsed();
        let (z, objective, certificate) = if certify {
            let norms = norms(whole, settings, &method)?;
            let asked = Asked { radius: settings.radius, ..Asked::default() };
            let Certified { z, objective, certificate, .. } = Certificate::at(&whole.problem, &x, beta, norms, asked);
            (z, objective, certificate.ok())
        } else {
            (Vec::new(), whole.problem.objective(&x), None)
        };
        let info = Info { beta, objective: Some(objective), ..info };
        let (trace, rose, unseen) = (Vec::new(), None, false);
        let report = Report { status, x, z, objective, info, certificate, trace, elapsed, rose, unseen };
        Ok(Solved { report: report.if_finite(), method, reason })
    }
}
