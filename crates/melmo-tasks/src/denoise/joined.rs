//! An image's strips solved in parallel, and put together: a point of the whole image's problem, with a certificate of its own.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use melmo::certificate::{Asked, Certificate};
use melmo::clock::Instant;
use melmo::drive::Status;
use melmo::patience;
use melmo::real::Real;
use melmo::report::Report;
use melmo::solver::{Info, Solver};
use melmo::threads::{self, Threads};

use super::{Plan, Strip};
use crate::error::Error;
use crate::prepared::Prepared;
use crate::settings::Settings;
use crate::solve::{self, Solved, Watch, norms, solve};
use crate::until::Until;

/// What is being done, for whoever waits.
const DOING: &str = "denoising";

/// The strips of an image, solved and put together.
pub struct Joined<S: Real> {
    /// The image, in the problem's units.
    pub x: Vec<S>,
    /// Why they ended: the worst of them.
    pub status: Status,
    /// How many strips there was no time for: they are as they were.
    pub untouched: usize,
    ends: Vec<End>,
    begun: Instant,
}

/// How a strip ended.
struct End {
    info: Info,
    status: Status,
    /// The method, why it was chosen and the device; none where there was no time for it.
    method: Option<(String, Option<String>, Option<String>)>,
}

impl<S: Real> Joined<S> {
    /// Solves them, all in the same time, of which each gets its share. What is not begun in time stays as it was. `each` is asked at
    /// every point of every strip, and may end it all.
    pub fn solve(
        plan: &Plan<'_, S>,
        settings: &Settings,
        until: &Until,
        each: &(dyn Fn() -> ControlFlow<()> + Sync),
    ) -> Result<Self, Error> {
        let (begun, [rows, cols]) = (Instant::now(), plan.shape());
        let x = Mutex::new(vec![S::ZERO; plan.samples()]);
        // Where two strips meet their shares are added; the sum of two numbers does not depend on who comes first.
        let place = |strip: &Strip, solved: &[S]| {
            strip.place(&mut x.lock().unwrap_or_else(PoisonError::into_inner), solved, rows, cols);
        };
        // Counted here: helpers have not been told how many they are.
        let (waiting, workers) = (AtomicUsize::new(plan.strips().len()), Threads::current().get());
        let one = |strip: &Strip| -> Result<End, Error> {
            let rounds = waiting.fetch_sub(1, Ordering::Relaxed).div_ceil(workers);
            if until.is_over(DOING) {
                place(strip, &plan.samples_of(strip));
                let status = if until.asked(DOING).is_break() { Status::Interrupted } else { Status::Time };
                return Ok(End { info: Info::unknown(), status, method: None });
            }
            let share = until.left().map(|left| left / rounds as u32);
            let settings = Settings { time_limit: share.or(settings.time_limit), ..settings.clone() };
            let mut watcher = |_: &Info, _: &mut dyn Solver<S>| each();
            let watch = Watch { watcher: Some(&mut watcher), look: false, ..Watch::default() };
            let Solved { report, method, reason, device } = solve(&plan.prepare(strip, until)?, &settings, watch)?;
            place(strip, &report.x);
            Ok(End { info: report.info, status: report.status, method: Some((method, reason, device)) })
        };
        let ends: Vec<End> = threads::map(plan.strips().iter(), one).into_iter().collect::<Result<_, _>>()?;
        let x = x.into_inner().unwrap_or_else(PoisonError::into_inner);
        let worst =
            [Status::Fault, Status::NotFinite, Status::Interrupted, Status::Time, Status::Iterations, Status::Stalled];
        let worst = worst.into_iter().find(|bad| ends.iter().any(|end| end.status == *bad));
        let status = worst.or(ends.first().map(|end| end.status)).unwrap_or(Status::Settled);
        let untouched = ends.iter().filter(|end| end.method.is_none()).count();
        Ok(Self { x, status, untouched, ends, begun })
    }

    /// F of them together, as a point of the whole image's problem, and what is certain about it, where there is time for that. The
    /// latter takes about 140 bytes of memory for each `f32` of the image: it can be left out. Then, where F is a sum over strips
    /// ([`Plan::sums_in_strips`]), the problem of any strip may stand for that of the whole.
    pub fn whole(
        self,
        (plan, whole): (&Plan<'_, S>, &Prepared<S>),
        settings: &Settings,
        certify: bool,
        until: &Until,
    ) -> Result<Solved<S>, Error> {
        let Self { x, status, ends, begun, .. } = self;
        let nothing = || Error::input("an image", "nothing to do", "noise to remove, and a strength above 0");
        let End { info, method, .. } = ends.into_iter().max_by_key(|end| end.info.k).ok_or_else(nothing)?;
        let (method, reason, device) = method.unwrap_or_else(|| {
            let (method, _, reason) = solve::method(&whole.problem, &whole.defaults, settings);
            (method, reason, None)
        });
        let limit = whole.problem.beta_limit();
        // A method that does not smooth has no β: any shows something.
        let beta = if info.beta > 0.0 { info.beta.min(limit) } else { limit.min(1.0) };
        let elapsed = begun.elapsed();
        let norms = norms(whole, settings, &method)?;
        let asked = Asked { radius: settings.radius, ..Asked::default() };
        let (z, objective, certificate) = until.run(DOING, || match certify {
            // One pass over so large a picture is long: none is begun.
            _ if patience::is_over() => (Vec::new(), f64::NAN, None),
            true => {
                let seen = Certificate::at(&whole.problem, &x, beta, norms, asked);
                (seen.z, seen.objective, seen.certificate.ok())
            }
            false if plan.sums_in_strips() => (Vec::new(), plan.objective(&x, until), None),
            false => (Vec::new(), whole.problem.objective(&x), None),
        });
        // F may be known, and the norm in which the point is certified not.
        let unseen = (objective.is_nan() || certify && certificate.is_none()) && until.is_over(DOING);
        let info = Info { beta, objective: Some(objective).filter(|objective| !objective.is_nan()), ..info };
        let (trace, rose) = (Vec::new(), None);
        let report = Report { status, x, z, objective, info, certificate, trace, elapsed, rose, unseen };
        Ok(Solved { report: report.if_finite(), method, reason, device })
    }
}
