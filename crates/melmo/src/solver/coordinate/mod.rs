//! Coordinate descent for penalised regression: the fastest way to a lasso, and a hard one to beat under MCP and SCAD.

mod anderson;
mod columns;
mod descent;
mod model;
mod path;
mod working_set;

pub use columns::Columns;
pub use path::{LambdaPath, PathPoint, geometric};

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::certificate::Evidence;
use crate::error::Error;
use crate::geometry::{BlockNorm, Geometry};
use crate::operator::Form;
use crate::penalty::{Coordinates, Prox};
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::coordinate::descent::Descent;
use crate::solver::measure::Measure;
use crate::solver::pair::Pair;
use crate::solver::{Info, Solver, State};

/// How far a point is from stationary, unit by unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Score {
    /// The largest of the units'.
    pub largest: f64,
    /// The sum of their squares.
    pub squared: f64,
}

/// x_c ← prox_{g_c/L_c}(x_c − ∇_cf(x)/L_c), unit by unit over a working set, for f(x) = h(Ax) with a dense or sparse matrix A,
/// g = Σ_c g_c over entries or groups, T = I.
///
/// One step is one round: sweeps over the working set with Anderson extrapolation, then the gradient over all entries. F
/// never rises. Its certificates are made of one proximal gradient step from x.
pub struct CoordinateDescent<'p, S> {
    problem: &'p Problem<S>,
    descent: Descent<S>,
    pair: Pair<S>,
    lipschitz: f64,
    measure: Measure<S>,
    previous: Vec<S>,
    phi: Vec<S>,
    score: Score,
    objective: f64,
    k: u64,
    ended: bool,
}

/// The penalty by units, or a reason why not.
fn units<S: Real>(g: &dyn Prox<S>) -> Result<&dyn Coordinates<S>, Error> {
    let message = "coordinate descent needs a penalty that is a sum over entries or groups";
    g.coordinates().ok_or_else(|| Error::Unsupported(message.into()))
}

impl<'p, S: Real> CoordinateDescent<'p, S> {
    /// Starts at x₀, which is copied; so is the design, column by column.
    pub fn new(problem: &'p Problem<S>, x0: &[S]) -> Result<Self, Error> {
        Self::start(problem, None, x0)
    }

    /// The same with the columns of the loss's own design, copied before.
    pub fn with_columns(problem: &'p Problem<S>, columns: Arc<Columns<S>>, x0: &[S]) -> Result<Self, Error> {
        Self::start(problem, Some(columns), x0)
    }

    fn start(problem: &'p Problem<S>, columns: Option<Arc<Columns<S>>>, x0: &[S]) -> Result<Self, Error> {
        problem.check_start(x0)?;
        if !matches!(problem.t().form(), Form::Identity) {
            return Err(Error::Unsupported("coordinate descent needs T = I".into()));
        }
        let descent = Descent::new(problem.f(), units(problem.g())?, columns, x0)?;
        Ok(Self {
            problem,
            pair: Pair::new(problem)?,
            lipschitz: problem.f().lipschitz().unwrap_or(0.0),
            measure: Measure::new(problem),
            previous: x0.to_vec(),
            phi: vec![S::ZERO; x0.len()],
            descent,
            score: Score::default(),
            objective: f64::NAN,
            k: 0,
            ended: false,
        })
    }

    /// Measured in a norm.
    pub fn in_norm(mut self, geometry: Box<dyn Geometry<S>>) -> Result<Self, Error> {
        self.measure = Measure::in_norm(self.problem, geometry)?;
        Ok(self)
    }

    /// The columns of the design, for another solver of the same loss.
    pub(super) fn columns(&self) -> Arc<Columns<S>> {
        self.descent.model.columns.clone()
    }

    /// The info of the point it stands at; `None` before the first.
    pub(super) fn standing(&self) -> Option<Info> {
        (self.k > 0).then(|| self.info())
    }

    /// Goes on from x; relative thresholds stay relative to the first start.
    pub(super) fn begin_at(&mut self, x: &[S]) {
        self.descent.x.copy_from_slice(x);
        self.previous.copy_from_slice(x);
        (self.k, self.ended) = (0, false);
    }

    /// The largest distance of a unit from stationary, in units of ∇f: the coordinatewise measure, at the current point.
    pub fn violation(&self) -> f64 {
        self.score.largest
    }

    /// The penalty by units: checked at construction.
    fn g(&self) -> Option<&'p dyn Coordinates<S>> {
        self.problem.g().coordinates()
    }

    /// f, ∇f, the scores and the pair at x.
    fn evaluate(&mut self) {
        let Some(g) = self.g() else { return };
        self.descent.evaluate();
        self.score = self.descent.score(g);
        self.objective = self.descent.f_x + self.descent.penalty(g);
        self.pair.look(self.problem, &self.descent.x, &self.descent.grad, self.lipschitz);
    }

    fn advance(&mut self) -> Info {
        if self.k > 0
            && let Some(g) = self.g()
        {
            self.previous.copy_from_slice(&self.descent.x);
            self.descent.choose();
            let _ = self.descent.round(g, self.score.largest, &mut || ControlFlow::Continue(()));
        }
        self.k += 1;
        self.evaluate();
        let info = self.info();
        if info.finite {
            self.measure.start.get_or_insert([info.dual_norm.upper, info.prox_gap]);
        } else {
            self.ended = true;
            if self.k > 1 {
                self.descent.x.copy_from_slice(&self.previous);
                self.evaluate();
                self.k -= 1;
            }
        }
        info
    }

    /// What was found at x.
    fn info(&self) -> Info {
        Info {
            k: self.k,
            epoch: None,
            beta: 0.0,
            gamma: 1.0,
            dual_norm: self.measure.bracket(self.pair.residual, self.pair.residual),
            eta: 0.0,
            excess: 0.0,
            prox_gap: self.pair.gap,
            objective: Some(self.objective),
            finite: self.objective.is_finite() && self.score.squared.is_finite() && self.pair.residual.is_finite(),
            candidate: true,
        }
    }
}

impl<S: Real> Iterator for CoordinateDescent<'_, S> {
    type Item = Info;

    fn next(&mut self) -> Option<Info> {
        if self.ended { None } else { Some(self.advance()) }
    }
}

impl<S: Real> Solver<S> for CoordinateDescent<'_, S> {
    fn problem(&self) -> &Problem<S> {
        self.problem
    }

    fn x(&self) -> &[S] {
        &self.descent.x
    }

    fn objective(&mut self) -> f64 {
        self.objective
    }

    fn smoothed(&mut self) -> f64 {
        self.objective
    }

    fn exact_dual_norm(&mut self) -> f64 {
        self.pair.gradient(self.problem, &mut self.phi, &self.descent.grad);
        self.measure.norm(&self.phi)
    }

    fn norms(&self) -> Vec<BlockNorm> {
        self.measure.norms()
    }

    fn evidence<'u>(&self, u: &'u mut [S]) -> Evidence<'u, S> {
        if self.k == 0 { Evidence::smoothed(self.problem.default_beta()) } else { self.pair.evidence(self.problem, u) }
    }

    fn start_measure(&self) -> Option<[f64; 2]> {
        self.measure.start
    }

    fn save(&self) -> State<S> {
        State {
            solver: "coordinate-descent".into(),
            k: self.k,
            numbers: self.measure.start.unwrap_or_default().to_vec(),
            vectors: vec![self.descent.x.clone()],
            warm_start: vec![],
        }
    }

    fn restore(&mut self, state: &State<S>) -> Result<(), Error> {
        let start_measure: [f64; 2] = state.check("coordinate-descent", 1, self.previous.len())?;
        self.descent.x.copy_from_slice(&state.vectors[0]);
        self.previous.copy_from_slice(&state.vectors[0]);
        (self.k, self.ended, self.measure.start) = (state.k, false, None);
        if self.k > 0 {
            self.measure.start = Some(start_measure);
            self.evaluate();
        }
        Ok(())
    }
}
