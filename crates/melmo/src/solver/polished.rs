//! Coordinate descent, and a look past it by smoothing: regression past the paper, without a proof.

use crate::certificate::Evidence;
use crate::error::Error;
use crate::geometry::{BlockNorm, Geometry};
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::inner::forward_to_inner;
use crate::solver::measure::whole;
use crate::solver::smoothing::Smoothing;
use crate::solver::{Adaptive, CoordinateDescent, Info, Solver, State, adaptive, count};

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
pub struct Polished<'p, S> {
    /// Who stands at the point that is shown.
    shown: CoordinateDescent<'p, S>,
    smooth: Adaptive<'p, S>,
    polish: CoordinateDescent<'p, S>,
    smoothing: Smoothing,
    stage: Stage,
    /// F after the last round, and how many in a row hardly lowered it.
    objective: f64,
    idle: u64,
    last: Option<Info>,
    landed: Vec<S>,
    work: Vec<S>,
    k: u64,
}

/// Who moves.
#[derive(Clone, Copy, PartialEq)]
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

/// The numbers and buffers of a state of `Adaptive`, and of `CoordinateDescent`.
const SMOOTH: (usize, usize) = (adaptive::NUMBERS, adaptive::VECTORS);
const DESCENT: (usize, usize) = (2, 1);

impl<'p, S: Real> Polished<'p, S> {
    /// Starts at x₀, which is copied. Refuses a problem that coordinate descent refuses.
    pub fn new(problem: &'p Problem<S>, smoothing: Smoothing, x0: &[S]) -> Result<Self, Error> {
        let shown = CoordinateDescent::new(problem, x0)?;
        let polish = CoordinateDescent::with_columns(problem, shown.columns(), x0)?;
        let smooth = Adaptive::scaled(problem, whole(problem), smoothing, x0)?;
        Ok(Self {
            shown,
            smooth,
            polish,
            smoothing,
            stage: if problem.g().weak_convexity() > 0.0 { Stage::Descend } else { Stage::Done },
            objective: f64::INFINITY,
            idle: 0,
            last: None,
            landed: x0.to_vec(),
            work: vec![S::ZERO; problem.work_len()],
            k: 0,
        })
    }

    /// Measured in a norm.
    pub fn in_norm(mut self, geometry: Box<dyn Geometry<S>>) -> Result<Self, Error> {
        self.shown = self.shown.in_norm(geometry)?;
        Ok(self)
    }

    /// One step of whoever moves; the info is of what is shown.
    fn advance(&mut self) -> Option<Info> {
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
            self.smooth.begin_at(self.shown.x(), self.smoothing);
            (self.stage, self.objective, self.idle) = (Stage::Smooth, f64::INFINITY, 0);
        } else if self.stage == Stage::Polish && self.has_settled() {
            self.judge();
        }
        self.k += 1;
        self.last.map(|info| Info { k: self.k, ..info })
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
                let Self { smooth, landed, work, .. } = self;
                smooth.problem().g().prox(landed, smooth.x(), info.beta, work);
                self.polish.begin_at(&self.landed);
                self.stage = Stage::Polish;
            }
            Some(_) => {}
        }
    }

    fn judge(&mut self) {
        let known = self.shown.objective();
        if self.polish.objective() < known - WORTH * known.abs() {
            self.shown.begin_at(self.polish.x());
            self.last = self.shown.next();
        }
        self.stage = Stage::Done;
    }
}

impl<S: Real> Iterator for Polished<'_, S> {
    type Item = Info;

    fn next(&mut self) -> Option<Info> {
        self.advance()
    }
}

impl<S: Real> Solver<S> for Polished<'_, S> {
    forward_to_inner!(shown);

    fn save(&self) -> State<S> {
        let (shown, smooth, polish) = (self.shown.save(), self.smooth.save(), self.polish.save());
        // The lowest F of a stage that has not begun is ∞, and a state holds numbers.
        let objective = if self.objective.is_finite() { self.objective } else { f64::MAX };
        let stage = f64::from(self.stage as u8);
        let own = [stage, objective, self.idle as f64, shown.k as f64, smooth.k as f64, polish.k as f64];
        State {
            solver: "polished".into(),
            k: self.k,
            numbers: [&own[..], &shown.numbers, &smooth.numbers, &polish.numbers].concat(),
            vectors: [shown.vectors, smooth.vectors, polish.vectors].concat(),
            warm_start: vec![],
        }
    }

    fn restore(&mut self, state: &State<S>) -> Result<(), Error> {
        const OWN: usize = 6;
        let all: [f64; OWN + SMOOTH.0 + 2 * DESCENT.0] =
            state.check("polished", SMOOTH.1 + 2 * DESCENT.1, self.landed.len())?;
        let (own, rest) = all.split_at(OWN);
        let (of_shown, rest) = rest.split_at(DESCENT.0);
        let (of_smooth, of_polish) = rest.split_at(SMOOTH.0);
        let (shown, vectors) = state.vectors.split_at(DESCENT.1);
        let (smooth, polish) = vectors.split_at(SMOOTH.1);
        self.shown.restore(&State::part("coordinate-descent", own[3], of_shown, shown)?)?;
        self.smooth.restore(&State::part("adaptive", own[4], of_smooth, smooth)?)?;
        self.polish.restore(&State::part("coordinate-descent", own[5], of_polish, polish)?)?;
        self.stage = [Stage::Descend, Stage::Smooth, Stage::Polish, Stage::Done][(count(own[0])? as usize).min(3)];
        (self.objective, self.idle, self.k) = (own[1], count(own[2])?, state.k);
        self.last = self.shown.standing();
        Ok(())
    }
}
