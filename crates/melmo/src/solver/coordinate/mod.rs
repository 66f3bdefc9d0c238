//! Coordinate descent for penalised regression: the fastest way to a lasso, and a hard one to beat under MCP and SCAD.

mod anderson;
mod columns;
mod descent;
mod model;
mod newton;
mod path;
mod ways;
mod working_set;

pub use columns::Columns;
pub use path::{LambdaPath, PathPoint, geometric};

use std::ops::ControlFlow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::certificate::Shown;
use crate::error::Error;
use crate::geometry::Geometry;
use crate::operator::Form;
use crate::penalty::{Coordinates, Dilated, Prox};
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::coordinate::descent::Descent;
use crate::solver::coordinate::model::Model;
use crate::solver::coordinate::working_set::Entry;
use crate::solver::pair::Pair;
use crate::solver::state::{self, fits, positive};
use crate::solver::{Info, Measured, Method, Run, Standing};
use crate::space::Host;

/// How far a point is from stationary, unit by unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Score {
    /// The largest of the units'.
    pub largest: f64,
    /// The sum of their squares.
    pub squared: f64,
}

/// x_c ← prox_{g_c/L_c}(x_c − ∇_cf(x)/L_c), unit by unit over a working set, for f(x) = H(Ax) with a dense or sparse matrix A,
/// g = Σ_c g_c over entries or groups, T = I.
///
/// One step is one round: sweeps over the working set with Anderson extrapolation, then the gradient over all entries. F
/// never rises. Its certificates are made of one proximal gradient step from x.
pub struct CoordinateDescent<'p, S: Clone> {
    host: Host<'p, S>,
    descent: Descent<'p, S>,
    pair: Pair<S>,
    lipschitz: f64,
    previous: Vec<S>,
    phi: Vec<S>,
    score: Score,
    objective: f64,
    begun: bool,
    /// t of the next round's penalty g_t(u) = t²g(u/t), and what it is multiplied by after it.
    dilation: f64,
    fall: f64,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    x: Vec<S>,
    #[serde(default = "whole")]
    dilation: f64,
}

/// t where there is no path.
pub(in crate::solver) fn whole() -> f64 {
    1.0
}

/// The penalty by units, or a reason why not.
fn units<S: Real>(g: &dyn Prox<S>) -> Result<&dyn Coordinates<S>, Error> {
    let message = "coordinate descent needs a penalty that is a sum over entries or groups";
    g.coordinates().ok_or_else(|| Error::Unsupported(message.into()))
}

impl<'p, S: Real> CoordinateDescent<'p, S> {
    /// Starts at x₀, which is copied; so is the design, column by column.
    pub fn new(problem: &'p Problem<S>, x0: &[S]) -> Result<Run<Self>, Error> {
        Self::start(problem, None, x0)
    }

    /// The same with the columns of the loss's own design, copied before.
    pub fn with_columns(problem: &'p Problem<S>, columns: Arc<Columns<'p, S>>, x0: &[S]) -> Result<Run<Self>, Error> {
        Self::start(problem, Some(columns), x0)
    }

    fn start(problem: &'p Problem<S>, columns: Option<Arc<Columns<'p, S>>>, x0: &[S]) -> Result<Run<Self>, Error> {
        problem.check_start(x0)?;
        if !matches!(problem.t().form(), Form::Identity) {
            return Err(Error::Unsupported("coordinate descent needs T = I".into()));
        }
        let descent = Descent::new(Model::of(problem.f(), columns)?, units(problem.g())?, x0)?;
        Ok(Run::new(Self {
            host: Host::euclidean(problem)?,
            pair: Pair::new(problem)?,
            lipschitz: problem.f().lipschitz().unwrap_or(0.0),
            previous: x0.to_vec(),
            phi: vec![S::ZERO; x0.len()],
            descent,
            score: Score::default(),
            objective: f64::NAN,
            begun: false,
            dilation: 1.0,
            fall: 1.0,
        }))
    }

    /// The columns of the design, for another solver of the same loss.
    pub(super) fn columns(&self) -> Arc<Columns<'p, S>> {
        self.descent.model.columns.clone()
    }

    /// x.
    pub(super) fn point(&self) -> &[S] {
        &self.descent.x
    }

    /// The penalty by units: checked at construction.
    fn g(&self) -> Option<&'p dyn Coordinates<S>> {
        self.host.problem().g().coordinates()
    }

    /// f, ∇f, the scores and the pair at x.
    fn evaluate(&mut self) {
        let Some(g) = self.g() else { return };
        self.begun = true;
        self.descent.evaluate();
        self.descent.face(g);
        self.score = self.descent.score(g);
        self.objective = self.descent.f_x + self.descent.penalty(g);
        self.pair.look(self.host.problem(), &self.descent.x, &self.descent.grad, self.lipschitz);
    }

    /// A round on g_t; then t falls.
    fn dilated_round(&mut self, g: &dyn Coordinates<S>) {
        let dilated = Dilated { g, t: self.dilation };
        self.descent.face(&dilated);
        let largest = self.descent.score(&dilated).largest;
        self.descent.choose(Entry::Many);
        let _ = self.descent.round(&dilated, largest, &mut || ControlFlow::Continue(()));
        self.dilation = (self.fall * self.dilation).max(1.0);
    }

    /// What was found at x, which is x_k.
    fn info(&self, k: u64) -> Info {
        let info = Info::unsmoothed(k, 1.0, self.host.between(), [self.pair.residual; 2], self.pair.gap);
        let finite = self.objective.is_finite() && self.score.squared.is_finite() && self.pair.residual.is_finite();
        Info { objective: Some(self.objective), finite, ..info }
    }
}

impl<S: Real> Run<CoordinateDescent<'_, S>> {
    /// From 0 down a path: rounds on g_t(u) = t²g(u/t), from the t at which 0 is stationary, times `fall` after each, to t = 1. From any
    /// other start, and for convex g, there is no path.
    pub fn graduated(mut self, fall: f64) -> Result<Self, Error> {
        Error::expect_parameter("fall", fall, 0.0 < fall && fall < 1.0, "between 0 and 1, both excluded")?;
        let method = &mut self.method;
        method.fall = fall;
        let from_zero = method.descent.x.iter().all(|&v| v == S::ZERO);
        if let Some(g) = method.g().filter(|_| from_zero && method.host.problem().g().weak_convexity() > 0.0) {
            method.descent.evaluate();
            method.dilation = method.descent.first_dilation(g);
        }
        Ok(self)
    }

    /// The largest distance of a unit from stationary, in units of ∇f: the coordinatewise measure, at the current point.
    pub fn violation(&self) -> f64 {
        self.method.score.largest
    }

    /// The info of the point it stands at; `None` before the first.
    pub(super) fn info(&self) -> Option<Info> {
        (self.k > 0).then(|| self.method.info(self.k))
    }

    /// Goes on from x.
    pub(super) fn begin_at(&mut self, x: &[S]) {
        self.method.descent.x.copy_from_slice(x);
        self.method.previous.copy_from_slice(x);
        self.begin();
    }
}

impl<'p, S: Real> Method for CoordinateDescent<'p, S> {
    type Space = Host<'p, S>;

    fn step(&mut self, k: u64) -> Option<Info> {
        if k > 0
            && let Some(g) = self.g()
        {
            self.previous.copy_from_slice(&self.descent.x);
            if self.dilation > 1.0 {
                self.dilated_round(g);
            } else {
                self.descent.choose(Entry::Many);
                let _ = self.descent.round(g, self.score.largest, &mut || ControlFlow::Continue(()));
            }
        }
        self.evaluate();
        Some(self.info(k + 1))
    }

    fn retreat(&mut self) {
        self.descent.x.copy_from_slice(&self.previous);
        self.evaluate();
    }

    fn standing(&mut self, _: u64) -> impl Standing<Host<'p, S>> {
        self
    }

    fn save(&mut self, _: u64) -> state::Memo<S> {
        state::Memo::CoordinateDescent(Memo { x: self.descent.x.clone(), dilation: self.dilation })
    }

    fn restore(&mut self, k: u64, memo: &state::Memo<S>) -> Result<(), Error> {
        let state::Memo::CoordinateDescent(Memo { x, dilation }) = memo else {
            return memo.is_none_of("coordinate-descent");
        };
        fits(x, self.previous.len())?;
        self.dilation = positive("dilation of a saved state", *dilation)?;
        self.descent.x.copy_from_slice(x);
        self.previous.copy_from_slice(x);
        self.begun = false;
        if k > 0 {
            self.evaluate();
        }
        Ok(())
    }
}

impl<'p, S: Real> Standing<Host<'p, S>> for CoordinateDescent<'p, S> {
    fn place(&mut self) -> (&mut Host<'p, S>, &Vec<S>) {
        (&mut self.host, &self.descent.x)
    }

    fn objective(&mut self) -> f64 {
        self.objective
    }

    fn exact_dual_norm(&mut self) -> f64 {
        self.pair.gradient(self.host.problem(), &mut self.phi, &self.descent.grad);
        self.host.dual_norm_of(&self.phi)
    }

    fn show(&mut self) -> Shown {
        if self.begun { self.pair.show(&mut self.host) } else { Shown::smoothed(self.host.problem().default_beta()) }
    }
}

impl<S: Real> Measured for CoordinateDescent<'_, S> {
    fn measure_in(&mut self, geometry: Box<dyn Geometry<S>>) -> Result<(), Error> {
        self.host.measure_in(geometry)
    }
}
