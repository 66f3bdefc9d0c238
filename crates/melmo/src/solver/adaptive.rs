//! Steps as long as the gradient says, and smoothing by need: past the paper, with proofs of its own (`docs/theory.md`).

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::geometry::Geometry;
use crate::metric::{self, Metric};
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::guard::{Checked, Guard};
use crate::solver::iterate::{Iterate, Place, Point};
use crate::solver::momentum::Momentum;
use crate::solver::rule::{Rule, Trial, Tried};
use crate::solver::smoothing::{Shrunk, Smoothing};
use crate::solver::state::{self, finite, fits};
use crate::solver::{Info, Measured, Method, Run, Standing};
use crate::space::{Host, Space};

/// x_{k+1} = y_k + (‖φ‖_*/L)·lmo(φ) or y_k − M⁻¹φ, φ = ∇F_β(y_k), with Nesterov's y_k and β by the κ-rule ([`Smoothing`]).
///
/// Its points are the y_k: there the gradient is known, so there a certificate is free. The extrapolation is watched by a
/// guard; where L is found by trial there is none, y_k = x_k. An ε-certificate in O(ε⁻³) steps: `docs/theory.md`.
///
/// The sequence ends where no length of step lowers F_β any more: the gradient is then rounding, or wrong.
pub struct Adaptive<X: Space> {
    pub(super) iterate: Iterate<X>,
    rule: Rule<X>,
    smoothing: Smoothing,
    momentum: Momentum<X>,
    guard: Guard<X>,
    /// Length of the step from the current point.
    gamma: f64,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    pub(super) place: Place<S>,
    smoothing: Shrunk,
    pub(super) landed: Vec<S>,
    t: f64,
    gamma: f64,
    pub(super) anchor: Vec<S>,
    pace: Pace,
}

/// What the lengths of the steps depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Pace {
    /// Nothing was evaluated yet.
    Unknown,
    /// Known lengths, watched by a guard.
    Guarded(Checked),
    /// Lengths by trial.
    Tried(Tried),
}

impl<'p, S: Real> Adaptive<Host<'p, S>> {
    /// Dual-norm-scaled steps in a geometry: L = L_f + ‖T‖²/β in ℓ2 when L_f is known, found by trial otherwise.
    pub fn scaled(
        problem: &'p Problem<S>,
        geometry: Box<dyn Geometry<S>>,
        smoothing: Smoothing,
        x0: &[S],
    ) -> Result<Run<Self>, Error> {
        Self::on(Host::new(problem, geometry)?, smoothing, x0)
    }

    /// Steps −M⁻¹φ in the cheapest metric that the problem's structure allows; refuses a problem without one.
    pub fn metric(problem: &'p Problem<S>, smoothing: Smoothing, x0: &[S]) -> Result<Run<Self>, Error> {
        let (_, metric) = metric::for_problem(problem)?;
        Self::with_metric(problem, metric, smoothing, x0)
    }

    /// Steps −M⁻¹φ in a metric of your own.
    pub fn with_metric(
        problem: &'p Problem<S>,
        metric: Box<dyn Metric<S> + 'p>,
        smoothing: Smoothing,
        x0: &[S],
    ) -> Result<Run<Self>, Error> {
        Self::metric_on(Host::euclidean(problem)?, metric, smoothing, x0)
    }

    /// Starts again from x, with a smoothing of its own.
    pub(super) fn begin_at(&mut self, x: &[S], smoothing: Smoothing) {
        self.iterate.replace(|_, y, _| y.copy_from_slice(x));
        self.momentum.landed.copy_from_slice(x);
        self.momentum.reset();
        self.guard.reset();
        (self.smoothing, self.gamma) = (smoothing, 0.0);
    }
}

impl<X: Space> Adaptive<X> {
    /// Dual-norm-scaled steps wherever x lives.
    pub fn on(mut space: X, smoothing: Smoothing, x0: &[X::Real]) -> Result<Run<Self>, Error> {
        let rule = Rule::scaled(&mut space);
        Self::with_rule(space, rule, smoothing, x0)
    }

    /// Steps −M⁻¹φ wherever x lives.
    pub fn metric_on(
        mut space: X,
        metric: X::Metric,
        smoothing: Smoothing,
        x0: &[X::Real],
    ) -> Result<Run<Self>, Error> {
        let rule = Rule::metric(&mut space, metric);
        Self::with_rule(space, rule, smoothing, x0)
    }

    fn with_rule(space: X, rule: Rule<X>, smoothing: Smoothing, x0: &[X::Real]) -> Result<Run<Self>, Error> {
        let mut iterate = Iterate::new(space, [smoothing.beta(); 2], x0)?;
        let momentum = Momentum::new(&mut iterate.space, &iterate.x);
        let guard = Guard::new(&mut iterate.space);
        Ok(Run::new(Self { iterate, rule, smoothing, momentum, guard, gamma: 0.0 }))
    }

    /// Takes the last points back where the momentum has not paid; then the κ-rule, by what the step from here promises.
    fn check(&mut self, mut point: Point, beta: f64) -> Point {
        let mut promised = self.look();
        if self.guard.due(promised) {
            if !self.guard.paid(self.iterate.smoothed() - promised) {
                let Self { iterate, momentum, guard, .. } = self;
                iterate.replace(|space, y, _| space.copy(y, &guard.anchor));
                iterate.space.copy(&mut momentum.landed, &guard.anchor);
                momentum.reset();
                point = iterate.evaluate(beta);
                promised = self.look();
            }
            self.guard.begin(self.iterate.smoothed() - promised);
        }
        let Self { smoothing, iterate, momentum, guard, .. } = self;
        let facts = iterate.facts;
        if smoothing.consider(promised, point.prox_gap, facts.rho, || iterate.hidden()) {
            momentum.reset();
            guard.allow(Smoothing::raise(beta, smoothing.beta(), point.prox_gap / beta, facts.lipschitz_g));
        }
        point
    }

    /// The κ-rule, by what the step that led here was accepted for. The point is shown with the β of the step from it.
    fn after_trial(&mut self, mut point: Point) -> Point {
        let Self { smoothing, iterate, rule, .. } = self;
        if let Rule::Trial(trial) = rule
            && smoothing.consider(trial.gain, trial.gap, iterate.facts.rho, || iterate.hidden())
        {
            point = iterate.evaluate(smoothing.beta());
            trial.value = iterate.smoothed();
        }
        self.look();
        point
    }

    /// Makes ready for the step from here; returns what it promises.
    fn look(&mut self) -> f64 {
        let (gamma, promised) = self.rule.look(&mut self.iterate);
        self.gamma = gamma;
        promised
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
            Rule::Trial(trial) => return climb_down(iterate, trial),
            Rule::Known { .. } => {
                iterate.space.advance(&mut momentum.next, &iterate.x, &iterate.phi, *gamma);
            }
            Rule::Metric { direction, .. } => {
                iterate.space.add_scaled(&mut momentum.next, &iterate.x, -1.0, direction);
            }
        }
        if guard.landing() {
            iterate.space.copy(&mut guard.anchor, &momentum.next);
        }
        iterate.replace(|space, y, phi| momentum.extrapolate(space, y, phi));
        Some(iterate.evaluate(beta))
    }
}

/// How much more the next step dares than the last.
const EASE: f64 = 0.9;
/// Doublings of L before the search ends: no step lowers F_β any more.
const PATIENCE: u32 = 60;
/// Doublings after which rounding is no excuse: F_β has to fall.
const GRACE: u32 = 20;

/// x + (‖φ‖_*/L)·lmo(φ) with the first L = L, 2L, 4L, … for which F_β falls by at least ½‖φ‖_*²/L, its `gain`.
fn climb_down<X: Space>(iterate: &mut Iterate<X>, trial: &mut Trial<X>) -> Option<Point> {
    let Trial { lipschitz, value, spare, gain, gap } = trial;
    let answer = iterate.answer;
    *gap = iterate.prox_gap;
    let size = 1.0 + answer.excess;
    let rounding = 8.0 * X::Real::EPSILON * value.abs();
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

impl<X: Space> Method for Adaptive<X> {
    type Space = X;

    /// None where no step leads anywhere.
    fn step(&mut self, k: u64) -> Option<Info> {
        let beta = self.smoothing.beta();
        let mut point = if k == 0 { self.begin(beta) } else { self.descend(beta)? };
        if point.is_finite() {
            point = if matches!(self.rule, Rule::Trial(_)) { self.after_trial(point) } else { self.check(point, beta) };
        }
        Some(point.info(k + 1, self.iterate.beta, self.gamma))
    }

    fn retreat(&mut self) {
        self.iterate.retreat();
    }

    fn standing(&mut self, _: u64) -> impl Standing<X> {
        &mut self.iterate
    }

    fn save(&mut self, k: u64) -> state::Memo<X::Real> {
        let Self { iterate, rule, smoothing, momentum, guard, gamma } = self;
        let pace = match rule {
            _ if k == 0 => Pace::Unknown,
            Rule::Trial(trial) => Pace::Tried(trial.save()),
            _ => Pace::Guarded(guard.save()),
        };
        let place = iterate.save();
        let [mut landed, mut anchor] = [(); 2].map(|()| vec![X::Real::ZERO; iterate.space.size()]);
        iterate.space.read(&momentum.landed, 0, &mut landed);
        iterate.space.read(&guard.anchor, 0, &mut anchor);
        let (t, gamma) = (momentum.t, *gamma);
        state::Memo::Adaptive(Memo { place, smoothing: smoothing.save(), landed, t, gamma, anchor, pace })
    }

    fn restore(&mut self, k: u64, memo: &state::Memo<X::Real>) -> Result<(), Error> {
        let state::Memo::Adaptive(memo) = memo else { return memo.is_none_of("adaptive") };
        let Memo { place, smoothing, landed, t, gamma, anchor, pace } = memo;
        finite([*t, *gamma])?;
        let size = self.iterate.space.size();
        fits(landed, size)?;
        fits(anchor, size)?;
        self.smoothing.restore(smoothing)?;
        self.iterate.restore(place)?;
        self.iterate.space.write(&mut self.momentum.landed, 0, landed);
        self.iterate.space.write(&mut self.guard.anchor, 0, anchor);
        (self.momentum.t, self.gamma) = (*t, *gamma);
        match (&mut self.rule, pace) {
            (_, _) if k == 0 => self.guard.reset(),
            (Rule::Trial(trial), Pace::Tried(tried)) => trial.restore(tried)?,
            (Rule::Known { .. } | Rule::Metric { .. }, Pace::Guarded(checked)) => {
                self.guard.restore(checked)?;
                self.look();
            }
            _ => return Err(Error::Unsupported("a state of other steps than these cannot resume them".into())),
        }
        Ok(())
    }
}

/// For metric steps, whose certificates speak of ‖φ‖₂ otherwise.
impl<S: Real> Measured for Adaptive<Host<'_, S>> {
    fn measure_in(&mut self, geometry: Box<dyn Geometry<S>>) -> Result<(), Error> {
        self.iterate.space.measure_in(geometry)
    }
}
