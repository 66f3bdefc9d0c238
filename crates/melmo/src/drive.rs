//! Driving a solver: the one place for time, stopping and status.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::certificate::{Certificate, Claim};
use crate::geometry::Bracket;
use crate::real::Real;
use crate::report::{Best, Report};
use crate::solver::{Info, Solver};
use crate::trace::{Record, Row};

/// How small both certificate numbers have to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Epsilon {
    /// ‖∇F_β(x)‖_* ≤ ε and ‖Tx − z‖₂ ≤ ε.
    Absolute(f64),
    /// Each at most ε times its value at the very start, x₁ with β₁ (the gap: ε itself where that value is 0); a resumed run
    /// keeps its start's values.
    Relative(f64),
}

/// F counts as stalled when its least value has not fallen by `relative`·|F| within `steps` steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stalled {
    /// How long to wait for progress.
    pub steps: u64,
    /// What counts as progress.
    pub relative: f64,
}

/// When to stop. The number of steps always limits a run; the rest is optional.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// At most so many steps.
    pub iterations: u64,
    /// At most so much time.
    pub time: Option<Duration>,
    /// Until a certificate.
    pub epsilon: Option<Epsilon>,
    /// Until F ≤ target.
    pub target: Option<f64>,
    /// Until F no longer falls.
    pub stalled: Option<Stalled>,
}

impl Stop {
    /// After so many steps.
    pub fn after(iterations: u64) -> Self {
        Self { iterations, time: None, epsilon: None, target: None, stalled: None }
    }

    /// Also when both certificate numbers are at most ε.
    pub fn at_epsilon(self, epsilon: Epsilon) -> Self {
        Self { epsilon: Some(epsilon), ..self }
    }

    fn needs_objective(&self) -> bool {
        self.target.is_some() || self.stalled.is_some()
    }
}

/// Everything about a run that is not the solver's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// When to stop.
    pub stop: Stop,
    /// Which points to record.
    pub record: Option<Record>,
    /// Keep the point of least F.
    pub track_best: bool,
}

impl Options {
    /// Stop as said; record nothing, track nothing.
    pub fn new(stop: Stop) -> Self {
        Self { stop, record: None, track_best: false }
    }
}

/// Sees every point and may end the run: a progress bar, Ctrl-C, a checkpoint.
pub trait Observer<S: Real> {
    /// Called at every evaluated point; `solver` can be asked for its point, F, or its state.
    fn observe(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> ControlFlow<()>;
}

impl<S: Real, F: FnMut(&Info, &[S]) -> ControlFlow<()>> Observer<S> for F {
    fn observe(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> ControlFlow<()> {
        self(info, solver.x())
    }
}

/// Why a run ended. There is no "optimal": only what was certified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Both certificate numbers are at most ε.
    Certified,
    /// F reached its target.
    Target,
    /// An observer ended the run.
    Stopped,
    /// F no longer falls.
    Stalled,
    /// All steps were taken.
    Iterations,
    /// Time is up.
    Time,
    /// An evaluation was not finite; the report's point is the last that was.
    NotFinite,
}

/// Runs a solver to the first reason to stop.
pub fn run<S: Real>(
    solver: &mut dyn Solver<S>,
    options: &Options,
    observers: &mut [&mut dyn Observer<S>],
) -> Report<S> {
    let mut drive = Drive::new(options, solver);
    let status = loop {
        if options.stop.iterations == 0 && solver.steps_first() {
            break Status::Iterations;
        }
        let Some(info) = solver.next().filter(|info| info.finite) else { break Status::NotFinite };
        if let Some(status) = drive.take(info, solver, observers) {
            break status;
        }
    };
    drive.finish(status, solver)
}

/// What a run remembers between points. Everything is allocated before the first.
struct Drive<'o, S> {
    options: &'o Options,
    start: Instant,
    trace: Vec<Row>,
    best: Option<Best<S>>,
    /// The claim that was reached, and the bracket that decided it.
    decided: Option<(Claim, Bracket)>,
    last: Option<Info>,
    /// The least F seen, and where it last fell by enough to count as progress.
    progress: Option<(u64, f64)>,
}

impl<'o, S: Real> Drive<'o, S> {
    fn new(options: &'o Options, solver: &dyn Solver<S>) -> Self {
        let x = solver.x();
        // A solver that steps first never shows where it began.
        let began = if solver.steps_first() { solver.problem().objective(x) } else { f64::INFINITY };
        Self {
            options,
            start: Instant::now(),
            trace: Vec::with_capacity(options.record.map_or(0, |r| r.capacity)),
            best: options.track_best.then(|| Best { k: 1, objective: began, x: x.to_vec() }),
            decided: None,
            last: None,
            progress: None,
        }
    }

    /// Records one finite point and decides whether it is the last.
    fn take(
        &mut self,
        mut info: Info,
        solver: &mut dyn Solver<S>,
        observers: &mut [&mut dyn Observer<S>],
    ) -> Option<Status> {
        let stop = &self.options.stop;
        let steps_taken = info.k - 1;
        let finished = steps_taken >= stop.iterations;
        // A row describes a point before its step, or one that an epoch has judged.
        let is_row = !finished || info.epoch.is_some();
        let last_row = info.epoch.is_none() && steps_taken + 1 == stop.iterations;
        let is_end = self.trace.is_empty() || last_row;
        let recorded = is_row && self.options.record.is_some_and(|r| r.wants(info.k) || is_end);
        if info.objective.is_none() && (recorded || stop.needs_objective() || self.best.is_some()) {
            info.objective = Some(solver.objective());
        }
        self.keep_best(&info, solver.x());
        let stalled = self.has_stalled(&info);
        let certified = self.is_certified(&info, solver);
        let mut halted = false;
        for observer in observers.iter_mut() {
            halted |= observer.observe(&info, solver).is_break();
        }
        let reached = |target: f64| info.objective.is_some_and(|objective| objective <= target);
        let status = if certified {
            Some(Status::Certified)
        } else if stop.target.is_some_and(reached) {
            Some(Status::Target)
        } else if halted {
            Some(Status::Stopped)
        } else if stalled {
            Some(Status::Stalled)
        } else if finished {
            Some(Status::Iterations)
        } else if stop.time.is_some_and(|limit| self.start.elapsed() >= limit) {
            Some(Status::Time)
        } else {
            None
        };
        self.last = Some(info);
        if recorded || (is_row && status.is_some() && self.options.record.is_some()) {
            self.record(&info, solver);
        }
        status
    }

    fn record(&mut self, info: &Info, solver: &mut dyn Solver<S>) {
        let exact = self.options.record.is_some_and(|r| r.exact_dual_norms);
        self.trace.push(Row::at(info, solver, exact, self.start.elapsed().as_secs_f64()));
    }

    fn keep_best(&mut self, info: &Info, x: &[S]) {
        if let (Some(best), Some(objective)) = (&mut self.best, info.objective)
            && objective < best.objective
        {
            (best.k, best.objective) = (info.k, objective);
            best.x.copy_from_slice(x);
        }
    }

    fn has_stalled(&mut self, info: &Info) -> bool {
        let (Some(rule), Some(objective)) = (self.options.stop.stalled, info.objective) else { return false };
        match self.progress {
            // Anything is progress from ∞.
            Some((_, least))
                if objective < least - rule.relative * least.abs() || objective < least && least.is_infinite() =>
            {
                self.progress = Some((info.k, objective));
                false
            }
            Some((since, _)) => info.k - since >= rule.steps,
            None => {
                self.progress = Some((info.k, objective));
                false
            }
        }
    }

    /// Tests the point against ε; where the oracle's bracket straddles ε, the exact dual norm decides.
    fn is_certified(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> bool {
        let Some(epsilon) = self.options.stop.epsilon else { return false };
        let Some(claim) = thresholds(epsilon, solver.start_measure()) else { return false };
        let mut bracket = info.dual_norm;
        if !info.candidate || info.prox_gap > claim.prox_gap || bracket.lower > claim.dual_norm {
            return false;
        }
        if bracket.upper > claim.dual_norm {
            // "Exact" means to rounding.
            let rounding = if S::EPSILON > 1e-10 { 1e-4 } else { 1e-10 };
            bracket.upper = bracket.upper.min(solver.exact_dual_norm() * (1.0 + rounding));
        }
        let certified = bracket.upper <= claim.dual_norm;
        self.decided = certified.then_some((claim, bracket));
        certified
    }

    fn finish(self, status: Status, solver: &mut dyn Solver<S>) -> Report<S> {
        let elapsed = self.start.elapsed();
        let problem = solver.problem();
        let beta = solver.certificate_beta();
        let (claim, decided) = self.decided.filter(|_| status == Status::Certified).unzip();
        // A method without smoothing brackets another quantity, and a solver that stepped back another point: their
        // certificates are computed from scratch.
        let comparable = |info: &Info| info.beta > 0.0 && status != Status::NotFinite;
        let bracket = decided.or(self.last.filter(comparable).map(|info| info.dual_norm));
        let x = solver.certificate_point().to_vec();
        let certificate = Certificate::new(problem, &x, beta, solver.norms(), bracket, claim).ok();
        let z = problem.prox_point(&x, beta);
        let objective = match self.last {
            Some(Info { objective: Some(objective), .. }) if status != Status::NotFinite => objective,
            Some(_) => solver.objective(),
            None => solver.problem().objective(&x),
        };
        let info = self.last.unwrap_or(Info::unknown());
        Report { status, x, z, objective, info, best: self.best, certificate, trace: self.trace, elapsed }
    }
}

/// What both numbers must not exceed; unknown where the start was not measured.
fn thresholds(epsilon: Epsilon, start: Option<[f64; 2]>) -> Option<Claim> {
    match epsilon {
        Epsilon::Absolute(epsilon) => Some(Claim { dual_norm: epsilon, prox_gap: epsilon }),
        Epsilon::Relative(epsilon) => {
            let [dual_norm, prox_gap] = start?;
            let prox_gap = if prox_gap > 0.0 { prox_gap } else { 1.0 };
            Some(Claim { dual_norm: epsilon * dual_norm, prox_gap: epsilon * prox_gap })
        }
    }
}
