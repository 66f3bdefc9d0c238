//! Whether a sweep from an extrapolated point is kept.

use crate::real::Real;
use crate::solver::factors::alternating::Place;
use crate::solver::factors::alternating::smoothed::Smoothed;
use crate::vector;

/// A sweep from an extrapolated point has to gain this part of what a plain one would.
const KEPT: f64 = 0.25;

impl<S: Real> Smoothed<S> {
    /// Whether the last [`Self::step_from`] lowers F_β by a part of what a plain step from W would.
    pub(super) fn gains_enough(&mut self, at: &mut Place<'_, S>) -> bool {
        let least = KEPT * self.plain_gain(at);
        self.gains(at, least)
    }

    /// Whether F_β(x) − F_β at the W and H of the last [`Self::step_from`] is so much. f is quadratic in W and in H: its slope
    /// half way is that of the whole way, and H is the least for its W. That needs ∇_Hf only where a shorter way, by values that
    /// are at hand, is not sure of it.
    fn gains(&mut self, at: &mut Place<'_, S>, least: f64) -> bool {
        let Self { next, spare, .. } = self;
        let Place { host, factors, x, previous, phi, beta, .. } = at;
        let (problem, work) = host.parts();
        let g = problem.g();
        let (w, h) = x.split_at(factors.split());
        let (step, next_h) = previous.split_at_mut(w.len());
        step.iter_mut().zip(w).zip(&*next).for_each(|((d, &w), &next)| *d = S::of(0.5) * (w + next));
        factors.gradient_w(spare, step, false);
        step.iter_mut().zip(w).zip(&*next).for_each(|((d, &w), &next)| *d = w - next);
        let of_w = vector::dot(spare, step);
        let of_g = g.moreau(spare, w, *beta, work).value - g.moreau(spare, next, *beta, work).value;
        if factors.sure_gain_h(next, next_h).is_some_and(|of_h| of_w + of_h + of_g >= least) {
            return true;
        }
        let slope = &mut phi[w.len()..];
        factors.gradient_h(slope, h);
        let of_h = 0.5 * (vector::dot(slope, h) - vector::dot(slope, next_h));
        of_w + of_h + of_g >= least
    }

    /// What a plain step from W is sure to gain, or what the κ-rule would not call too little: the larger of ½‖φ‖²/L with
    /// L = 2c‖H‖² + 1/β, and κ(1 − βρ)‖W − prox_{βg}(W)‖²/(2β).
    fn plain_gain(&self, at: &Place<'_, S>) -> f64 {
        let slope = vector::norm2_squared(&at.phi[..self.next.len()]);
        let by_slope = slope / (at.factors.trace_w() + 1.0 / at.beta);
        let convex = 1.0 - at.beta * at.host.problem().g().weak_convexity();
        0.5 * by_slope.max(self.smoothing.kappa * convex * self.gap * self.gap / at.beta)
    }
}
