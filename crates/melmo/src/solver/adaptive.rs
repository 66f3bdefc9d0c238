//! Steps as long as the gradient says, and smoothing by need: past the paper, outside its proofs.

use crate::certificate::Evidence;
use crate::error::Error;
use crate::geometry::{BlockNorm, Geometry};
use crate::metric::{self, Metric};
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::iterate::{Iterate, Point, forward_to_iterate};
use crate::solver::measure::whole;
use crate::solver::momentum::Momentum;
use crate::solver::rule::{Rule, Trial};
use crate::solver::smoothing::Smoothing;
use crate::solver::{Info, Solver, State};
use crate::vector;

/// x_{k+1} = y_k + (‖φ‖_*/L)·lmo(φ) or y_k − M⁻¹φ, φ = ∇F_β(y_k), with Nesterov's y_k and β by the κ-rule ([`Smoothing`]).
///
/// Its points are the y_k: there the gradient is known, so there a certificate is free. Where L is found by trial there is no
/// extrapolation, y_k = x_k. Not covered by the paper's proofs: the certificate at the end is what counts.
pub struct Adaptive<'p, S> {
    iterate: Iterate<'p, S>,
    rule: Rule<'p, S>,
    smoothing: Smoothing,
    momentum: Momentum<S>,
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
        let momentum = Momentum::new(x0);
        Ok(Self { iterate, rule, smoothing, momentum, first_beta, k: 0, gamma: 0.0, ended: false })
    }

    fn first_beta(&self) -> f64 {
        self.first_beta
    }

    fn step(&mut self) -> Info {
        let (beta, last_beta) = (self.smoothing.beta(), self.iterate.beta);
        let point = if self.k == 0 { self.begin(beta) } else { self.descend(beta) };
        self.k += 1;
        if !point.is_finite() {
            self.ended = true;
            if last_beta > 0.0 {
                self.iterate.retreat(last_beta);
                self.k -= 1;
            }
            return point.info(self.k, beta, 0.0);
        }
        let (gamma, predicted) = self.rule.look(&self.iterate.x, self.iterate.phi(), &point.answer, beta);
        self.gamma = gamma;
        let Self { smoothing, iterate, momentum, .. } = self;
        let rho = iterate.problem.g().weak_convexity();
        if smoothing.consider(predicted, point.prox_gap, rho, || iterate.hidden()) {
            momentum.reset();
        }
        point.info(self.k, beta, gamma)
    }

    /// Starts again from x, with a smoothing of its own.
    pub(super) fn begin_at(&mut self, x: &[S], smoothing: Smoothing) {
        self.iterate.replace(|y, _| y.copy_from_slice(x));
        self.momentum.landed.copy_from_slice(x);
        self.momentum.reset();
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
            trial.value = self.iterate.smoothed();
            // The step that would close the gap to a value of 0, if F were linear: any scale will do, trials correct it.
            trial.lipschitz = point.answer.decrease.powi(2) / trial.value.abs().max(f64::MIN_POSITIVE);
        }
        point
    }

    /// One step to the next point, evaluated with β.
    fn descend(&mut self, beta: f64) -> Point {
        let Self { iterate, rule, momentum, gamma, .. } = self;
        match rule {
            Rule::Trial(trial) => return climb_down(iterate, trial, beta),
            Rule::Known { .. } => {
                iterate.geometry.advance(&mut momentum.next, &iterate.x, iterate.phi(), *gamma);
            }
            Rule::Metric { direction, .. } => vector::add_scaled(&mut momentum.next, &iterate.x, -1.0, direction),
        }
        iterate.replace(|y, phi| momentum.extrapolate(y, phi));
        iterate.evaluate(beta)
    }
}

/// How much more the next step dares than the last.
const EASE: f64 = 0.9;
/// Doublings of L before a step is taken as it is: the gradient is then rounding.
const PATIENCE: u32 = 60;

/// x + (‖φ‖_*/L)·lmo(φ) with the first L = L, 2L, 4L, … for which F_β falls by at least ½‖φ‖_*²/L.
fn climb_down<S: Real>(iterate: &mut Iterate<'_, S>, trial: &mut Trial<S>, beta: f64) -> Point {
    if beta != iterate.beta {
        iterate.evaluate(beta);
        trial.value = iterate.smoothed();
    }
    let Trial { lipschitz, value, spare } = trial;
    let answer = iterate.answer;
    let size = 1.0 + answer.excess;
    let rounding = 8.0 * S::EPSILON * value.abs();
    for attempt in 0.. {
        let gamma = answer.decrease / (*lipschitz * size * size);
        let wanted = *value - 0.5 * gamma * answer.decrease + rounding;
        let accept = |reached: f64| reached <= wanted || attempt >= PATIENCE || answer.decrease == 0.0;
        if let Some((point, reached)) = iterate.attempt(gamma, spare, accept) {
            *value = reached;
            *lipschitz *= EASE;
            return point;
        }
        *lipschitz *= 2.0;
    }
    unreachable!("patience ends")
}

impl<S: Real> Iterator for Adaptive<'_, S> {
    type Item = Info;

    fn next(&mut self) -> Option<Info> {
        if self.ended { None } else { Some(self.step()) }
    }
}

impl<S: Real> Solver<S> for Adaptive<'_, S> {
    forward_to_iterate!();

    fn save(&self) -> State<S> {
        let (lipschitz, value) = match &self.rule {
            Rule::Trial(trial) if self.k > 0 => (trial.lipschitz, trial.value),
            _ => (0.0, 0.0),
        };
        let own = [lipschitz, value, self.momentum.t, self.gamma];
        State {
            solver: "adaptive".into(),
            k: self.k,
            numbers: [&own[..], &self.smoothing.numbers(), &self.iterate.numbers()].concat(),
            vectors: vec![self.iterate.x.clone(), self.momentum.landed.clone()],
            warm_start: self.iterate.warm_start(),
        }
    }

    fn restore(&mut self, state: &State<S>) -> Result<(), Error> {
        let [lipschitz, value, t, gamma, next_beta, since, beta, dual_norm, prox_gap] =
            state.check("adaptive", 2, self.iterate.x.len())?;
        self.smoothing.restore([next_beta, since])?;
        self.iterate.restore(&state.vectors[0], [beta, dual_norm, prox_gap], &state.warm_start)?;
        self.momentum.landed.copy_from_slice(&state.vectors[1]);
        (self.momentum.t, self.gamma, self.k, self.ended) = (t, gamma, state.k, false);
        if self.k > 0 {
            let Self { rule, iterate, .. } = self;
            rule.look(&iterate.x, iterate.phi(), &iterate.answer, beta);
        }
        if let Rule::Trial(trial) = &mut self.rule {
            (trial.lipschitz, trial.value) = (lipschitz, value);
        }
        Ok(())
    }
}
