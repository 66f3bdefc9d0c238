//! Coordinate descent, and a look past it by smoothing: regression past the paper, without a proof.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::geometry::Geometry;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::iterate::Iterate;
use crate::solver::smoothing::Smoothing;
use crate::solver::state::{self, State, count, finite};
use crate::solver::{Adaptive, CoordinateDescent, Info, Measured, Method, Run, Solver, Standing};
use crate::space::Host;

/// β hands over to coordinate descent when it has fallen to this part of its first value.
const HANDOVER: f64 = 64.0;
/// Coordinate descent has settled when F fell by less than this part in a round, so many times in a row.
const SETTLED: (f64, u64) = (1e-9, 3);
/// A look was worth it when F fell by this part.
const WORTH: f64 = 1e-9;

/// [`CoordinateDescent`]; once it has settled, [`Adaptive::scaled`] in ℓ2 from there until β has fallen to a part of its first
/// value, then coordinate descent from prox_{βg}(x). The lower of the two ends is kept: never worse than coordinate descent,
/// for f(x) = h(Ax) and T = I.
///
/// A smoothed weakly convex penalty has fewer local minima than the penalty, so its descent leaves some that coordinate descent
/// is caught in. With a convex penalty there is nothing to leave, and no look is taken.
pub struct Polished<'p, S: Real> {
    /// Who stands at the point that is shown.
    shown: Run<CoordinateDescent<'p, S>>,
    smooth: Run<Adaptive<Host<'p, S>>>,
    polish: Run<CoordinateDescent<'p, S>>,
    smoothing: Smoothing,
    stage: Stage,
    /// F after the last round, and how many in a row hardly lowered it.
    objective: f64,
    idle: u64,
    last: Option<Info>,
    landed: Vec<S>,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    stage: Stage,
    /// The lowest F of the stage; none before it has begun.
    objective: Option<f64>,
    idle: u64,
    shown: Box<State<S>>,
    smooth: Box<State<S>>,
    polish: Box<State<S>>,
}

/// Who moves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Stage {
    /// Coordinate descent from the start.
    Descend,
    /// The smoothed steps.
    Smooth,
    /// Coordinate descent from where they ended.
    Polish,
    /// Coordinate descent from the lower of the two ends.
    Done,
}

impl<'p, S: Real> Polished<'p, S> {
    /// Starts at x₀, which is copied. Refuses a problem that coordinate descent refuses.
    pub fn new(problem: &'p Problem<S>, smoothing: Smoothing, x0: &[S]) -> Result<Run<Self>, Error> {
        let shown = CoordinateDescent::new(problem, x0)?;
        let polish = CoordinateDescent::with_columns(problem, shown.method.columns(), x0)?;
        let smooth = Adaptive::on(Host::euclidean(problem)?, smoothing, x0)?;
        Ok(Run::new(Self {
            shown,
            smooth,
            polish,
            smoothing,
            stage: if problem.g().weak_convexity() > 0.0 { Stage::Descend } else { Stage::Done },
            objective: f64::INFINITY,
            idle: 0,
            last: None,
            landed: x0.to_vec(),
        }))
    }

    /// Whether coordinate descent, wherever it is, has come to its end.
    fn has_settled(&mut self) -> bool {
        let reached = if self.stage == Stage::Polish { self.polish.objective() } else { self.shown.objective() };
        let fell = reached < self.objective - SETTLED.0 * reached.abs();
        (self.objective, self.idle) = (reached, if fell { 0 } else { self.idle + 1 });
        self.idle >= SETTLED.1
    }

    fn smoothed_step(&mut self) {
        match self.smooth.next().filter(|info| info.finite) {
            None => self.stage = Stage::Done,
            Some(info) if info.beta <= self.smoothing.beta() / HANDOVER => {
                let Iterate { space, x, .. } = &mut self.smooth.method.iterate;
                let (problem, work) = space.parts();
                problem.g().prox(&mut self.landed, x, info.beta, work);
                self.polish.begin_at(&self.landed);
                self.stage = Stage::Polish;
            }
            Some(_) => {}
        }
    }

    fn judge(&mut self) {
        let known = self.shown.objective();
        if self.polish.objective() < known - WORTH * known.abs() {
            self.shown.begin_at(self.polish.method.point());
            self.last = self.shown.next();
        }
        self.stage = Stage::Done;
    }
}

impl<'p, S: Real> Method for Polished<'p, S> {
    type Space = Host<'p, S>;

    /// One step of whoever moves; the info is of what is shown.
    fn step(&mut self, k: u64) -> Option<Info> {
        match self.stage {
            Stage::Descend | Stage::Done => self.last = Some(self.shown.next()?),
            Stage::Smooth => self.smoothed_step(),
            Stage::Polish => {
                if self.polish.next().is_none_or(|info| !info.finite) {
                    self.stage = Stage::Done; // a look that got lost has found nothing
                }
            }
        }
        if self.stage == Stage::Descend && self.has_settled() {
            self.smooth.method.begin_at(self.shown.method.point(), self.smoothing);
            self.smooth.begin();
            (self.stage, self.objective, self.idle) = (Stage::Smooth, f64::INFINITY, 0);
        } else if self.stage == Stage::Polish && self.has_settled() {
            self.judge();
        }
        self.last.map(|info| Info { k: k + 1, ..info })
    }

    fn standing(&mut self, _: u64) -> impl Standing<Host<'p, S>> {
        self.shown.standing()
    }

    fn save(&mut self, _: u64) -> state::Memo<S> {
        let [shown, polish] = [&mut self.shown, &mut self.polish].map(|run| Box::new(run.save()));
        let smooth = Box::new(self.smooth.save());
        let objective = Some(self.objective).filter(|objective| objective.is_finite());
        state::Memo::Polished(Memo { stage: self.stage, objective, idle: self.idle, shown, smooth, polish })
    }

    fn restore(&mut self, _: u64, memo: &state::Memo<S>) -> Result<(), Error> {
        let state::Memo::Polished(memo) = memo else { return memo.is_none_of("polished") };
        finite([memo.objective.unwrap_or(0.0)])?;
        self.idle = count(memo.idle)?;
        self.shown.restore(&memo.shown)?;
        self.smooth.restore(&memo.smooth)?;
        self.polish.restore(&memo.polish)?;
        (self.stage, self.objective) = (memo.stage, memo.objective.unwrap_or(f64::INFINITY));
        self.last = self.shown.info();
        Ok(())
    }
}

impl<S: Real> Measured for Polished<'_, S> {
    fn measure_in(&mut self, geometry: Box<dyn Geometry<S>>) -> Result<(), Error> {
        self.shown.method.measure_in(geometry)
    }
}
