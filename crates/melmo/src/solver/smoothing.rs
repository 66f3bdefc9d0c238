//! β by need instead of by the clock: it shrinks when the smoothed problem is solved well enough.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::state::{count, positive};
use crate::vector;

/// The κ-rule: β shrinks at a point where
///
/// ```text
/// gain ≤ min(κ, β/β₁)·(β/β₁)·(g(Tx) − g_β(Tx))
/// ```
///
/// what a step from there is sure to gain next to what the smoothing hides. Both have the units of F, so κ has none. Both
/// also shrink with β, at a given gradient: without a factor that falls with β the gradient would never have to. The factor
/// lies between κ(β/β₁)² and (β/β₁)²: so β stays above a multiple of ε until there is an ε-certificate, which takes O(ε⁻³) steps;
/// with κβ/β₁ it would be a multiple of ε² and O(ε⁻⁴) steps (`docs/theory.md`). β is halved, or divided by up to 32 where the
/// gain is far below the mark, and never falls below its floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smoothing {
    /// κ > 0; 10⁻³ unless chosen.
    pub kappa: f64,
    /// β never falls below it.
    pub floor: f64,
    beta: f64,
    /// β₁, where the factor falls with β.
    first: Option<f64>,
    /// Points since the last look at g(Tx) − g_β(Tx).
    since: u64,
}

/// g(Tx) and g_β(Tx) cost a pass each: they are looked at every so many points.
const EVERY: u64 = 4;

impl Smoothing {
    /// Starts at β > 0; κ = 10⁻³, and a floor where rounding of Tx begins to show in ∇g_β.
    pub fn new<S: Real>(beta: f64) -> Self {
        Self { kappa: 1e-3, floor: beta * S::EPSILON.powf(2.0 / 3.0), beta, first: Some(beta), since: 0 }
    }

    /// The same with another κ and another floor, where they are given.
    pub fn with(mut self, kappa: Option<f64>, floor: Option<f64>) -> Result<Self, Error> {
        if let Some(kappa) = kappa {
            self.kappa = Error::expect_positive("kappa", kappa)?;
        }
        if let Some(floor) = floor {
            self.floor = Error::expect_positive("floor", floor)?.min(self.beta);
        }
        Ok(self)
    }

    /// The same with κ = 10⁻⁴ and without the factor β/β₁: for methods that solve each smoothed problem nearly exactly in a
    /// step or two, and whose gradient falls anyway.
    pub fn steady(self) -> Self {
        Self { kappa: 1e-4, first: None, ..self }
    }

    /// The same from a smaller β on, as if it had shrunk so far already.
    pub fn lowered(mut self, beta: f64) -> Self {
        self.beta = beta.clamp(self.floor, self.beta);
        self
    }

    /// Where a run starts: 1/(2ρ); for convex g a β whose proximal gap, at most βL_g, is as large as Tx₀ or as T moves in
    /// one gradient step from x₀. Scaling data and penalty together leaves it as it is. Allocates.
    pub fn start<S: Real>(problem: &Problem<S>, x0: &[S]) -> f64 {
        let limit = problem.beta_limit();
        if limit.is_finite() {
            return limit;
        }
        let (f, t) = (problem.f(), problem.t());
        let (mut grad, mut tx) = (vec![S::ZERO; x0.len()], vec![S::ZERO; t.range().size()]);
        let mut work = vec![S::ZERO; f.work_len().max(t.work_len())];
        t.apply(&mut tx, x0, &mut work);
        let here = vector::norm2(&tx);
        f.value_grad(&mut grad, x0, &mut work);
        t.apply(&mut tx, &grad, &mut work);
        let moved = f.lipschitz().map_or(0.0, |lipschitz| vector::norm2(&tx) / lipschitz.max(f64::MIN_POSITIVE));
        let scale = here.max(moved) / problem.g().lipschitz().unwrap_or(f64::INFINITY);
        if scale > 0.0 && scale.is_finite() { scale } else { problem.default_beta() }
    }

    /// β of the next evaluation.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// Takes in what was found at a point: the gain of a step from there, ‖Tx − z‖₂ and, where that does not decide, what
    /// `hidden` computes there or next to it. Answers whether β shrank.
    ///
    /// g(Tx) − g_β(Tx) ≥ (1 − βρ)‖Tx − z‖²/(2β) by weak convexity, and this bound costs nothing.
    pub fn consider(&mut self, gain: f64, prox_gap: f64, rho: f64, hidden: impl FnOnce() -> f64) -> bool {
        self.since += 1;
        let kappa = self.factor();
        let at_least = 0.5 * (1.0 - self.beta * rho) * prox_gap * prox_gap / self.beta;
        let hidden = match () {
            () if gain <= kappa * at_least => at_least,
            () if self.since < EVERY => return false,
            () => hidden(),
        };
        self.since = 0;
        let mark = kappa * hidden;
        // Also where nothing is hidden: a smoothing that changes nothing is no reason to stop.
        if gain.is_nan() || gain > mark || self.beta <= self.floor {
            return false;
        }
        let factor = if mark > 0.0 { (gain / mark).sqrt().clamp(1.0 / 32.0, 0.5) } else { 0.5 };
        self.beta = (self.beta * factor).max(self.floor);
        true
    }

    /// What g(Tx) − g_β(Tx) counts.
    fn factor(&self) -> f64 {
        let fallen = |first: f64| self.beta / first;
        self.first.map(fallen).map_or(self.kappa, |fallen| self.kappa.min(fallen) * fallen)
    }

    /// What F_β can rise by at a point with ‖∇g_β‖₂ = `slope` when β falls to `after`: ½(β/β′ − 1)β·slope², and never more than
    /// ½βL_g².
    pub(super) fn raise(beta: f64, after: f64, slope: f64, lipschitz: Option<f64>) -> f64 {
        let squared = (beta / after - 1.0) * slope * slope;
        0.5 * beta * lipschitz.map_or(squared, |bound| squared.min(bound * bound))
    }

    /// What a saved state needs.
    pub(super) fn save(&self) -> Shrunk {
        Shrunk { beta: self.beta, since: self.since }
    }

    /// Takes it up.
    pub(super) fn restore(&mut self, shrunk: &Shrunk) -> Result<(), Error> {
        (self.beta, self.since) = (positive("beta of a saved state", shrunk.beta)?, count(shrunk.since)?);
        Ok(())
    }
}

/// How far β has shrunk, and how many points ago the last look was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Shrunk {
    beta: f64,
    since: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beta_shrinks_when_little_is_left_to_gain() {
        let mut smoothing = Smoothing::new::<f64>(1.0);
        // The free bound is 0.5: 10⁻³ is still worth a step, 2·10⁻⁴ is not.
        assert!(!smoothing.consider(1e-3, 1.0, 0.0, || unreachable!("looked at too early")));
        assert!(smoothing.consider(2e-4, 1.0, 0.0, || unreachable!("the free bound decides")));
        assert_eq!(smoothing.beta(), 0.5);
        assert!(smoothing.consider(0.0, 1.0, 0.0, || unreachable!("the free bound decides")));
        assert_eq!(smoothing.beta(), 0.5 / 32.0);
    }

    /// κβ/β₁ as long as β/β₁ ≥ κ, (β/β₁)² from there on; without it κ.
    #[test]
    fn the_factor_falls_as_the_square_in_the_end() {
        let at = |beta: f64| Smoothing::new::<f64>(8.0).lowered(beta).factor();
        assert_eq!([at(8.0), at(4.0)], [1e-3, 5e-4]);
        assert!((at(8e-4) - 1e-8).abs() < 1e-20, "{}", at(8e-4));
        assert_eq!(Smoothing::new::<f64>(8.0).steady().lowered(1e-3).factor(), 1e-4);
    }

    #[test]
    fn what_is_hidden_is_looked_at_now_and_then() {
        let mut smoothing = Smoothing::new::<f64>(1.0);
        let mut looks = 0;
        for _ in 0..3 * EVERY {
            smoothing.consider(1e-2, 1e-9, 0.0, || {
                looks += 1;
                1.0
            });
        }
        assert_eq!((looks, smoothing.beta()), (3, 1.0));
    }

    #[test]
    fn there_is_a_floor() {
        let mut smoothing = Smoothing::new::<f32>(1.0).with(None, Some(0.1)).unwrap();
        for _ in 0..10 {
            smoothing.consider(0.0, 1.0, 0.0, || 1.0);
        }
        assert_eq!(smoothing.beta(), 0.1);
        assert!(Smoothing::new::<f64>(1.0).with(Some(0.0), None).is_err());
    }
}
