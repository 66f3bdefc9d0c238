//! Solutions for one penalty weight after another, each from the last.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::error::Error;
use crate::penalty::{Coordinates, Prox};
use crate::real::Real;
use crate::smooth::{Responses, Smooth};
use crate::solver::coordinate::descent::Descent;
use crate::solver::coordinate::model::Model;
use crate::solver::coordinate::working_set::Entry;
use crate::solver::coordinate::{Columns, Score, units};
use crate::vector;

/// Makes g_λ.
type MakePenalty<'f, S> = Box<dyn Fn(f64) -> Result<Box<dyn Prox<S>>, Error> + 'f>;

/// After so many rounds y is computed from x again.
const AFRESH: u32 = 16;

/// The solutions of f(x) + g_λ(x) for a decreasing sequence of λ, by coordinate descent from solution to solution.
///
/// `penalty(λ)` makes g_λ: any penalty that is a sum over units whose kinks at 0 grow in proportion to λ.
///
/// Where g_λ is not convex the way decides among local minima, and no way is always the best. [`approach`](Self::approach) goes two: the
/// penalty's own, and that of a stretched penalty, which is nearly convex; every solution is then the lower of what the two lead to.
pub struct LambdaPath<'f, S: Clone> {
    pub(super) penalty: MakePenalty<'f, S>,
    pub(super) descent: Descent<'f, S>,
    last: Option<Box<dyn Prox<S>>>,
    /// The largest slope of f at 0: what violations are measured by where no unit has a kink.
    slope: f64,
    /// A solution: no unit is farther from stationary than this times its λ's share of the kink.
    pub(super) tolerance: f64,
    /// Rounds for one λ, at most.
    rounds: u32,
    /// Where the way of the stretched penalty stands, for those that go two.
    pub(super) stretched: Option<Vec<S>>,
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
    /// The largest kink of a unit at 0, in the same units; where none has one, the largest slope of f at 0. A solution's
    /// violation is at most this times the tolerance.
    pub kink: f64,
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
        columns: Option<Arc<Columns<'f, S>>>,
        penalty: impl Fn(f64) -> Result<Box<dyn Prox<S>>, Error> + 'f,
    ) -> Result<Self, Error> {
        Self::start(Model::of(f, columns)?, penalty)
    }

    /// The same for a design and what is known of its rows.
    pub fn of_columns(
        columns: Columns<'f, S>,
        rows: Responses<S>,
        penalty: impl Fn(f64) -> Result<Box<dyn Prox<S>>, Error> + 'f,
    ) -> Result<Self, Error> {
        Self::start(Model::new(Arc::new(columns), rows)?, penalty)
    }

    fn start(
        model: Model<'f, S>,
        penalty: impl Fn(f64) -> Result<Box<dyn Prox<S>>, Error> + 'f,
    ) -> Result<Self, Error> {
        let g = penalty(1.0)?;
        Error::expect_len("entries of the penalty", model.size(), g.size())?;
        let descent = Descent::new(model, units(&*g)?, &vec![S::ZERO; g.size()])?;
        let slope = vector::norm_inf(&descent.grad);
        let slope = if slope > 0.0 { slope } else { 1.0 };
        Ok(Self {
            penalty: Box::new(penalty),
            descent,
            last: None,
            slope,
            tolerance: 1e-7,
            rounds: 1000,
            stretched: None,
        })
    }

    /// How exact solutions are (relative to the kinks) and how many rounds one may take.
    pub fn accuracy(mut self, tolerance: f64, rounds: u32) -> Self {
        (self.tolerance, self.rounds) = (tolerance, rounds);
        self
    }

    /// The columns of the design, for solvers of the same loss.
    pub fn columns(&self) -> Arc<Columns<'f, S>> {
        self.descent.model.columns.clone()
    }

    /// Goes on from x.
    pub fn start_at(&mut self, x: &[S]) -> Result<(), Error> {
        Error::expect_len("start", self.descent.x.len(), x.len())?;
        Error::expect_finite("start", x)?;
        self.descent.x.copy_from_slice(x);
        self.descent.evaluate();
        (self.last, self.stretched) = (None, None);
        Ok(())
    }

    /// The least λ for which every penalised entry is zero: max ‖∇_cf(x)‖/t_c(1), with unpenalised units at their best. Leaves
    /// the path there.
    pub fn lambda_max(&mut self) -> Result<f64, Error> {
        let boxed = (self.penalty)(1.0)?;
        let g = units(&*boxed)?;
        self.free_units_at_their_best(g);
        let descent = &self.descent;
        self.last = None;
        let slope = |c: usize| descent.members(c).iter().map(|&i| descent.grad[i].f64().powi(2)).sum::<f64>().sqrt();
        let penalised = (0..g.units()).filter(|&c| g.threshold_of(c) > 0.0);
        Ok(penalised.map(|c| slope(c) / g.threshold_of(c)).fold(0.0, f64::max))
    }

    /// Everything at 0 but what is not penalised: that is stationary next to the largest slope there. Returns the rounds it took.
    fn free_units_at_their_best(&mut self, g: &dyn Coordinates<S>) -> u32 {
        let Self { descent, tolerance, rounds, .. } = self;
        let free: Vec<usize> = (0..g.units()).filter(|&c| g.threshold_of(c) == 0.0).collect();
        if descent.x.iter().any(|&v| v != S::ZERO) {
            descent.x.fill(S::ZERO);
            descent.evaluate();
        }
        let largest = vector::norm_inf(&descent.grad);
        descent.face(g);
        for round in 0..*rounds {
            descent.score(g);
            let farthest = free.iter().map(|&c| descent.scores[c]).fold(0.0, f64::max);
            if farthest <= *tolerance * largest {
                return round;
            }
            descent.set.clear();
            descent.set.extend_from_slice(&free);
            let _ = descent.round(g, farthest, &mut || ControlFlow::Continue(()));
            descent.evaluate();
        }
        *rounds
    }

    /// The solution for the next λ.
    pub fn solve(&mut self, lambda: f64) -> Result<PathPoint<S>, Error> {
        Ok(self.solve_while(lambda, || ControlFlow::Continue(()))?.0)
    }

    /// The same, asking after every sweep whether to go on; and whether it was told to break off.
    pub fn solve_while(
        &mut self,
        lambda: f64,
        mut go_on: impl FnMut() -> ControlFlow<()>,
    ) -> Result<(PathPoint<S>, ControlFlow<()>), Error> {
        let boxed = (self.penalty)(Error::expect_positive("lambda", lambda)?)?;
        let g = units(&*boxed)?;
        Error::expect_len("units of the penalty", self.descent.units(), g.units())?;
        let flow = self.lowest_of_ways(g, &mut go_on)?;
        let entry = if self.stretched.is_some() { Entry::Few } else { Entry::Many };
        let limits = (self.tolerance * self.kink(g), self.rounds);
        let Reached { score, rounds, flow } = match flow {
            ControlFlow::Continue(()) => self.descend(g, entry, limits, &mut go_on)?,
            flow => Reached { score: self.descent.score(g), rounds: 0, flow },
        };
        let (kink, descent) = (self.kink(g), &mut self.descent);
        let (x, loss, violation) = (descent.x.clone(), descent.f_x, score.largest);
        let objective = loss + descent.penalty(g);
        self.last = self.stretched.is_none().then_some(boxed);
        Ok((PathPoint { lambda, x, loss, objective, violation, kink, rounds }, flow))
    }

    /// What violations are measured by.
    pub(super) fn kink(&self, g: &dyn Coordinates<S>) -> f64 {
        let largest = (0..g.units()).map(|c| g.threshold_of(c)).fold(0.0, f64::max);
        if largest > 0.0 { largest } else { self.slope }
    }

    /// Goes on from x, as if nothing was known of it.
    pub(super) fn move_to(&mut self, x: &[S]) {
        if self.descent.x != x {
            self.descent.x.copy_from_slice(x);
            self.descent.evaluate();
        }
        self.last = None;
    }

    /// Rounds on g until no unit is farther from stationary than is allowed.
    pub(super) fn descend(
        &mut self,
        g: &dyn Coordinates<S>,
        entry: Entry,
        (allowed, most): (f64, u32),
        go_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Reached, Error> {
        let mut previous = self.last.take();
        let descent = &mut self.descent;
        descent.face(g);
        let mut reached = Reached { score: descent.score(g), rounds: 0, flow: ControlFlow::Continue(()) };
        while reached.score.largest > allowed && reached.rounds < most && reached.flow.is_continue() {
            match previous.take().as_deref().map(units) {
                Some(before) => descent.choose_by_strong_rule(g, before?),
                None => descent.choose(entry),
            }
            reached.flow = descent.round(g, reached.score.largest, go_on);
            reached.rounds += 1;
            match reached.rounds % AFRESH {
                0 => descent.evaluate(),
                _ => descent.evaluate_here(),
            }
            reached.score = descent.score(g);
        }
        Ok(reached)
    }
}

/// What a descent came to.
pub(super) struct Reached {
    score: Score,
    rounds: u32,
    pub flow: ControlFlow<()>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::Dense;
    use crate::penalty::{Entrywise, L1};
    use crate::seeded::Seeded;
    use crate::smooth::Logistic;

    /// Where no penalised entry moves, the free one's own slope is no measure of how small it has become.
    #[test]
    fn an_intercept_takes_a_few_rounds() {
        let (rows, cols) = (501, 30); // classes nearly balanced: the intercept is small, and rounding never makes its slope 0
        let a: Vec<f64> = Seeded::new(1).normals(rows * cols);
        let a: Vec<f64> = a.chunks(cols).flat_map(|row| row[1..].iter().copied().chain([1.0])).collect();
        let labels = (0..rows).map(|i| f64::from(i % 2 == 0)).collect();
        let f = Logistic::new(Box::new(Dense::new(a, rows, cols).unwrap()), labels).unwrap();
        let weights: Vec<f64> = (0..cols).map(|j| f64::from(j + 1 < cols)).collect();
        let penalty = |lambda: f64| -> Result<Box<dyn Prox<f64>>, Error> {
            Ok(Box::new(Entrywise::weighted(L1::new(1e3 * lambda)?, weights.clone())?))
        };
        let g = penalty(1.0).unwrap();
        let mut path = LambdaPath::new(&f, None, penalty).unwrap();
        assert!((1..20).contains(&path.free_units_at_their_best(g.coordinates().unwrap())));
        let slope = path.descent.grad[cols - 1].abs();
        assert!(slope <= 1e-6 * vector::norm_inf(&path.descent.grad), "{slope}");
    }
}
