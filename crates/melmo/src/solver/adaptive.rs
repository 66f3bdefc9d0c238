//! Steps as long as the gradient says, and smoothing by need: past the paper, with proofs of its own (`docs/theory.md`).

use crate::certificate::Evidence;
use crate::error::Error;
use crate::geometry::{BlockNorm, Geometry};
use crate::metric::{self, Metric};
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::guard::Guard;
use crate::solver::iterate::{Iterate, Point, forward_to_iterate};
use crate::solver::measure::whole;
use crate::solver::momentum::Momentum;
use crate::solver::rule::{Rule, Trial};
use crate::solver::smoothing::Smoothing;
use crate::solver::{Info, Solver, State};
use crate::vector;

/// x_{k+1} = y_k + (‖φ‖_*/L)·lmo(φ) or y_k − M⁻¹φ, φ = ∇F_β(y_k), with Nesterov's y_k and β by the κ-rule ([`Smoothing`]).
///
/// Its points are the y_k: there the gradient is known, so there a certificate is free. The extrapolation is watched by a
/// guard; where L is found by trial there is none, y_k = x_k. An ε-certificate in O(ε⁻³) steps: `docs/theory.md`.
///
/// The sequence ends where no length of step lowers F_β any more: the gradient is then rounding, or wrong.
pub struct Adaptive<'p, S> {
    iterate: Iterate<'p, S>,
    rule: Rule<'p, S>,
    smoothing: Smoothing,
    momentum: Momentum<S>,
    guard: Guard<S>,
    first_beta: f64,
    k: u64,
    /// Length of the step from the current point.
    gamma: f64,
    ended: bool,
}

impl<'p, S: Real> Adaptive<'p, S> {
    /// Dual-norm-scaled steps in a geometry: L = L_f + ‖T‖²/β in ℓ2 when L_f is known, found by trial otherwise.
    pub fn scaled(
        problem: &'p Problem<S>,
        geometry: Box<dyn Geometry<S>>,
        smoothing: Smoothing,
        x0: &[S],
    ) -> Result<Self, Error> {
        let rule = Rule::scaled(problem, &geometry.norms());
        Self::with_rule(problem, geometry, rule, smoothing, x0)
    }

    /// Steps −M⁻¹φ in the cheapest metric that the problem's structure allows; refuses a problem without one.
    pub fn metric(problem: &'p Problem<S>, smoothing: Smoothing, x0: &[S]) -> Result<Self, Error> {
        let (_, metric) = metric::for_problem(problem)?;
        Self::with_metric(problem, metric, smoothing, x0)
    }

    /// Measured in another norm than the one it steps in: for metric steps, whose certificates speak of ‖φ‖₂ otherwise.
    pub fn in_norm(mut self, geometry: Box<dyn Geometry<S>>) -> Result<Self, Error> {
        self.iterate = Iterate::new(self.iterate.problem, geometry, self.first_beta, &self.iterate.x)?;
        Ok(self)
    }

    /// Steps −M⁻¹φ in a metric of your own.
    pub fn with_metric(
        problem: &'p Problem<S>,
        metric: Box<dyn Metric<S> + 'p>,
        smoothing: Smoothing,
        x0: &[S],
    ) -> Result<Self, Error> {
        Self::with_rule(problem, whole(problem), Rule::metric(metric, x0.len()), smoothing, x0)
    }

    fn with_rule(
        problem: &'p Problem<S>,
        geometry: Box<dyn Geometry<S>>,
        rule: Rule<'p, S>,
        smoothing: Smoothing,
        x0: &[S],
    ) -> Result<Self, Error> {
        let first_beta = smoothing.beta();
        let iterate = Iterate::new(problem, geometry, first_beta, x0)?;
        let (momentum, guard) = (Momentum::new(x0), Guard::new(x0.len()));
        Ok(Self { iterate, rule, smoothing, momentum, guard, first_beta, k: 0, gamma: 0.0, ended: false })
    }

    fn first_beta(&self) -> f64 {
        self.first_beta
    }

    /// The next point; none where no step leads anywhere.
    fn step(&mut self) -> Option<Info> {
        let (beta, last_beta) = (self.smoothing.beta(), self.iterate.beta);
        let mut point = if self.k == 0 { self.begin(beta) } else { self.descend(beta)? };
        if point.is_finite() {
            point = if matches!(self.rule, Rule::Trial(_)) { self.after_trial(point) } else { self.check(point, beta) };
        }
        self.k += 1;
        if !point.is_finite() {
            self.ended = true;
            if last_beta > 0.0 {
                self.iterate.retreat(last_beta);
                self.k -= 1;
            }
            return Some(point.info(self.k, beta, 0.0));
        }
        Some(point.info(self.k, self.iterate.beta, self.gamma))
    }

    /// Takes the last points back where the momentum has not paid; then the κ-rule, by what the step from here promises.
    fn check(&mut self, mut point: Point, beta: f64) -> Point {
        let mut promised = self.look();
        if self.guard.due(promised) {
            if !self.guard.paid(self.iterate.smoothed() - promised) {
                self.iterate.replace(|y, _| y.copy_from_slice(&self.guard.anchor));
                self.momentum.landed.copy_from_slice(&self.guard.anchor);
                self.momentum.reset();
                point = self.iterate.evaluate(beta);
                promised = self.look();
            }
            self.guard.begin(self.iterate.smoothed() - promised);
        }
        let Self { smoothing, iterate, momentum, guard, .. } = self;
        let g = iterate.problem.g();
        if smoothing.consider(promised, point.prox_gap, g.weak_convexity(), || iterate.hidden()) {
            momentum.reset();
            guard.allow(Smoothing::raise(beta, smoothing.beta(), point.prox_gap / beta, g.lipschitz()));
        }
        point
    }

    /// The κ-rule, by what the step that led here was accepted for. The point is shown with the β of the step from it.
    fn after_trial(&mut self, mut point: Point) -> Point {
        let Self { smoothing, iterate, rule, .. } = self;
        if let Rule::Trial(trial) = rule
            && smoothing.consider(trial.gain, trial.gap, iterate.problem.g().weak_convexity(), || iterate.hidden())
        {
            point = iterate.evaluate(smoothing.beta());
            trial.value = iterate.smoothed();
        }
        self.look();
        point
    }

    /// Makes ready for the step from here; returns what it promises.
    fn look(&mut self) -> f64 {
        let Iterate { x, answer, beta, .. } = &self.iterate;
        let (gamma, promised) = self.rule.look(x, self.iterate.phi(), answer, *beta);
        self.gamma = gamma;
        promised
    }

    /// Starts again from x, with a smoothing of its own.
    pub(super) fn begin_at(&mut self, x: &[S], smoothing: Smoothing) {
        self.iterate.replace(|y, _| y.copy_from_slice(x));
        self.momentum.landed.copy_from_slice(x);
        self.momentum.reset();
        self.guard.reset();
        (self.smoothing, self.k, self.gamma, self.ended) = (smoothing, 0, 0.0, false);
    }

    /// ‖v‖_* in the norm that it is measured in.
    pub(super) fn dual_norm_of(&mut self, v: &[S]) -> f64 {
        self.iterate.geometry.dual_norm(v)
    }

    /// A point has been evaluated since the start.
    pub(super) fn has_begun(&self) -> bool {
        self.k > 0
    }

    /// The first evaluation.
    fn begin(&mut self, beta: f64) -> Point {
        let point = self.iterate.evaluate(beta);
        if let Rule::Trial(trial) = &mut self.rule {
            trial.begin(self.iterate.smoothed(), point.answer.decrease);
        }
        point
    }

    /// One step to the next point, evaluated with β.
    fn descend(&mut self, beta: f64) -> Option<Point> {
        let Self { iterate, rule, momentum, guard, gamma, .. } = self;
        match rule {
            Rule::Trial(trial) => {
                let point = climb_down(iterate, trial);
                self.ended = point.is_none();
                return point;
            }
            Rule::Known { .. } => {
                iterate.geometry.advance(&mut momentum.next, &iterate.x, iterate.phi(), *gamma);
            }
            Rule::Metric { direction, .. } => vector::add_scaled(&mut momentum.next, &iterate.x, -1.0, direction),
        }
        if guard.landing() {
            guard.anchor.copy_from_slice(&momentum.next);
        }
        iterate.replace(|y, phi| momentum.extrapolate(y, phi));
        Some(iterate.evaluate(beta))
    }
}

/// How many numbers and buffers a saved state has.
pub(super) const NUMBERS: usize = 11;
pub(super) const VECTORS: usize = 3;

/// How much more the next step dares than the last.
const EASE: f64 = 0.9;
/// Doublings of L before the search ends: no step lowers F_β any more.
const PATIENCE: u32 = 60;
/// Doublings after which rounding is no excuse: F_β has to fall.
const GRACE: u32 = 20;

/// x + (‖φ‖_*/L)·lmo(φ) with the first L = L, 2L, 4L, … for which F_β falls by at least ½‖φ‖_*²/L, its `gain`.
fn climb_down<S: Real>(iterate: &mut Iterate<'_, S>, trial: &mut Trial<S>) -> Option<Point> {
    let Trial { lipschitz, value, spare, gain, gap } = trial;
    let answer = iterate.answer;
    *gap = iterate.prox_gap;
    let size = 1.0 + answer.excess;
    let rounding = 8.0 * S::EPSILON * value.abs();
    for attempt in 0..=PATIENCE {
        let gamma = answer.decrease / (*lipschitz * size * size);
        *gain = 0.5 * gamma * answer.decrease;
        let wanted = *value - *gain;
        let fell = |reached: f64| match attempt {
            0..=GRACE => reached <= wanted + rounding,
            _ => reached <= wanted && reached < *value,
        };
        let accept = |reached: f64| fell(reached) || answer.decrease == 0.0;
        if let Some((point, reached)) = iterate.attempt(gamma, spare, accept) {
            *value = reached;
            *lipschitz *= EASE;
            return Some(point);
        }
        *lipschitz *= 2.0;
    }
    None
}

impl<S: Real> Iterator for Adaptive<'_, S> {
    type Item = Info;

    fn next(&mut self) -> Option<Info> {
        if self.ended { None } else { self.step() }
    }
}

impl<S: Real> Solver<S> for Adaptive<'_, S> {
    forward_to_iterate!();

    fn save(&self) -> State<S> {
        let search = match &self.rule {
            _ if self.k == 0 => [0.0; 4],
            Rule::Trial(trial) => trial.numbers(),
            _ => self.guard.numbers(),
        };
        let own = [self.momentum.t, self.gamma];
        State {
            solver: "adaptive".into(),
            k: self.k,
            numbers: [&search[..], &own, &self.smoothing.numbers(), &self.iterate.numbers()].concat(),
            vectors: vec![self.iterate.x.clone(), self.momentum.landed.clone(), self.guard.anchor.clone()],
            warm_start: self.iterate.warm_start(),
        }
    }

    fn restore(&mut self, state: &State<S>) -> Result<(), Error> {
        let [a, b, c, d, t, gamma, next_beta, since, beta, dual_norm, prox_gap]: [f64; NUMBERS] =
            state.check("adaptive", VECTORS, self.iterate.x.len())?;
        self.smoothing.restore([next_beta, since])?;
        self.iterate.restore(&state.vectors[0], [beta, dual_norm, prox_gap], &state.warm_start)?;
        self.momentum.landed.copy_from_slice(&state.vectors[1]);
        self.guard.anchor.copy_from_slice(&state.vectors[2]);
        (self.momentum.t, self.gamma, self.k, self.ended) = (t, gamma, state.k, false);
        match &mut self.rule {
            _ if self.k == 0 => self.guard.reset(),
            Rule::Trial(trial) => trial.restore([a, b, c, d]),
            _ => {
                self.guard.restore([a, b, c, d]);
                self.look();
            }
        }
        Ok(())
    }
}
