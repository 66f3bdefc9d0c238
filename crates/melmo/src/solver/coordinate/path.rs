//! Solutions for one penalty weight after another, each from the last.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::error::Error;
use crate::penalty::Prox;
use crate::real::Real;
use crate::smooth::Smooth;
use crate::solver::coordinate::descent::Descent;
use crate::solver::coordinate::{Columns, units};

/// Makes g_λ.
type MakePenalty<'f, S> = Box<dyn Fn(f64) -> Result<Box<dyn Prox<S>>, Error> + 'f>;

/// The solutions of f(x) + g_λ(x) for a decreasing sequence of λ, by coordinate descent from solution to solution.
///
/// `penalty(λ)` makes g_λ: any penalty that is a sum over units whose kinks at 0 grow in proportion to λ.
pub struct LambdaPath<'f, S> {
    penalty: MakePenalty<'f, S>,
    descent: Descent<S>,
    last: Option<Box<dyn Prox<S>>>,
    /// A solution: no unit is farther from stationary than this times its λ's share of the kink.
    tolerance: f64,
    /// Rounds for one λ, at most.
    rounds: u32,
}

/// One solution of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathPoint<S> {
    /// λ.
    pub lambda: f64,
    /// The solution.
    pub x: Vec<S>,
    /// f(x).
    pub loss: f64,
    /// F(x) = f(x) + g_λ(x).
    pub objective: f64,
    /// The largest distance of a unit from stationary, in units of ∇f.
    pub violation: f64,
    /// Rounds that it took.
    pub rounds: u32,
}

/// λ_max, …, λ_max·`ratio` in `count` equal steps of log λ.
pub fn geometric(lambda_max: f64, ratio: f64, count: usize) -> Vec<f64> {
    let last = count.saturating_sub(1).max(1) as f64;
    (0..count).map(|i| lambda_max * ratio.powf(i as f64 / last)).collect()
}

impl<'f, S: Real> LambdaPath<'f, S> {
    /// Starts where every penalised entry is zero. Copies the design column by column unless its columns are given.
    pub fn new(
        f: &'f dyn Smooth<S>,
        columns: Option<Arc<Columns<S>>>,
        penalty: impl Fn(f64) -> Result<Box<dyn Prox<S>>, Error> + 'f,
    ) -> Result<Self, Error> {
        let g = penalty(1.0)?;
        Error::expect_len("entries of the penalty", f.layout().size(), g.size())?;
        let x0 = vec![S::ZERO; g.size()];
        let mut descent = Descent::new(f, units(&*g)?, columns, &x0)?;
        descent.evaluate();
        Ok(Self { penalty: Box::new(penalty), descent, last: None, tolerance: 1e-7, rounds: 1000 })
    }

    /// How exact solutions are (relative to the kinks) and how many rounds one may take.
    pub fn accuracy(mut self, tolerance: f64, rounds: u32) -> Self {
        (self.tolerance, self.rounds) = (tolerance, rounds);
        self
    }

    /// The columns of the design, for solvers of the same loss.
    pub fn columns(&self) -> Arc<Columns<S>> {
        self.descent.model.columns.clone()
    }

    /// Goes on from x.
    pub fn start_at(&mut self, x: &[S]) -> Result<(), Error> {
        Error::expect_len("start", self.descent.x.len(), x.len())?;
        Error::expect_finite("start", x)?;
        self.descent.x.copy_from_slice(x);
        self.descent.evaluate();
        self.last = None;
        Ok(())
    }

    /// The least λ for which every penalised entry is zero: max ‖∇_cf(x)‖/t_c(1), with unpenalised units at their best. Leaves
    /// the path there.
    pub fn lambda_max(&mut self) -> Result<f64, Error> {
        let boxed = (self.penalty)(1.0)?;
        let g = units(&*boxed)?;
        let free: Vec<usize> = (0..g.units()).filter(|&c| g.threshold_of(c) == 0.0).collect();
        let descent = &mut self.descent;
        descent.x.fill(S::ZERO);
        descent.evaluate();
        for _ in 0..self.rounds {
            descent.score(g);
            let farthest = free.iter().map(|&c| descent.scores[c]).fold(0.0, f64::max);
            let scale = descent.scores.iter().copied().fold(0.0, f64::max);
            if farthest <= self.tolerance * scale {
                break;
            }
            descent.set.clear();
            descent.set.extend_from_slice(&free);
            descent.round(g, farthest);
            descent.evaluate();
        }
        self.last = None;
        let slope = |c: usize| descent.members(c).iter().map(|&i| descent.grad[i].f64().powi(2)).sum::<f64>().sqrt();
        let penalised = (0..g.units()).filter(|&c| g.threshold_of(c) > 0.0);
        Ok(penalised.map(|c| slope(c) / g.threshold_of(c)).fold(0.0, f64::max))
    }

    /// The solution for the next λ.
    pub fn solve(&mut self, lambda: f64) -> Result<PathPoint<S>, Error> {
        Ok(self.solve_while(lambda, || ControlFlow::Continue(()))?.0)
    }

    /// The same, asking after every round whether to go on; and whether it was told to break off.
    pub fn solve_while(
        &mut self,
        lambda: f64,
        mut go_on: impl FnMut() -> ControlFlow<()>,
    ) -> Result<(PathPoint<S>, ControlFlow<()>), Error> {
        let boxed = (self.penalty)(Error::expect_positive("lambda", lambda)?)?;
        let g = units(&*boxed)?;
        let descent = &mut self.descent;
        Error::expect_len("units of the penalty", descent.units(), g.units())?;
        let kink = (0..g.units()).map(|c| g.threshold_of(c)).fold(0.0, f64::max);
        let allowed = self.tolerance * if kink > 0.0 { kink } else { 1.0 };
        let mut score = descent.score(g);
        let (mut rounds, mut previous, mut flow) = (0, self.last.take(), ControlFlow::Continue(()));
        while score.largest > allowed && rounds < self.rounds && flow.is_continue() {
            match previous.take().as_deref().map(units) {
                Some(before) => descent.choose_by_strong_rule(g, before?),
                None => descent.choose(),
            }
            descent.round(g, score.largest);
            descent.evaluate();
            score = descent.score(g);
            rounds += 1;
            flow = go_on();
        }
        let objective = descent.f_x + descent.penalty(g);
        let point =
            PathPoint { lambda, x: descent.x.clone(), loss: descent.f_x, objective, violation: score.largest, rounds };
        self.last = Some(boxed);
        Ok((point, flow))
    }
}
