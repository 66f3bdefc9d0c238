//! The first of the two: sweeps on F_β by ridge regressions, β by the κ-rule.

use crate::certificate::Shown;
use crate::real::Real;
use crate::solver::Info;
use crate::solver::factors::alternating::{Place, Sweeps};
use crate::solver::smoothing::Smoothing;
use crate::vector;

/// W ← V − ∇_WF_β(V, H)·M_W⁻¹, then its H; V = W + θ(W − W_before).
pub(super) struct Smoothed<S> {
    pub smoothing: Smoothing,
    /// Nesterov's.
    pub t: f64,
    v: Vec<S>,
    /// prox_{βg}(V), then the next W.
    pub next: Vec<S>,
    pub spare: Vec<S>,
    /// ‖W − prox_{βg}(W)‖₂ at the last evaluation.
    pub gap: f64,
}

/// What a step from V promises: ½‖φ‖² in the dual of ‖·‖_{M_W}, and ‖V − prox_{βg}(V)‖₂.
struct Step {
    promised: f64,
    gap: f64,
    /// ⟨φ, W_next − W⟩ > 0.
    climbs: bool,
}

impl<S: Real> Smoothed<S> {
    /// For a W of so many entries.
    pub(super) fn new(smoothing: Smoothing, on_w: usize) -> Self {
        let zeros = || vec![S::ZERO; on_w];
        Self { smoothing, t: 1.0, v: zeros(), next: zeros(), spare: zeros(), gap: 0.0 }
    }

    /// `next` ← the W that a step from V leads to, and its H into `previous`, where W_before is lost.
    fn step_from(&mut self, at: &mut Place<'_, S>, theta: f64) -> Step {
        let Self { v, next, spare, .. } = self;
        let Place { host, factors, x, previous, beta, .. } = at;
        let (problem, work) = host.parts();
        let (g, beta, ahead) = (problem.g(), *beta, S::of(theta));
        let w = &x[..factors.split()];
        let (step, h) = previous.split_at_mut(w.len());
        match theta {
            0.0 => v.copy_from_slice(w),
            _ => v.iter_mut().zip(w).zip(&*step).for_each(|((v, &w), &before)| *v = w + ahead * (w - before)),
        }
        g.prox(next, v, beta, work); // z
        let gap = v.iter().zip(&*next).map(|(v, z)| (*v - *z).f64().powi(2)).sum::<f64>().sqrt();
        factors.ridge_w(next, beta); // the next W
        // φ = ∇_WF_β(V, H) = M_W(V − W), from 2c(V − W)HHᵀ and (V − W)/β.
        step.iter_mut().zip(&*v).zip(&*next).for_each(|((d, &v), &next)| *d = v - next);
        factors.gradient_w(spare, step, true);
        vector::axpy(spare, 1.0 / beta, step);
        let promised = 0.5 * vector::dot(spare, step);
        let climbs = vector::dot(spare, next) > vector::dot(spare, w);
        factors.look_at_w(next);
        factors.ridge_h(h);
        Step { promised, gap, climbs }
    }
}

impl<'p, S: Real> Sweeps<'p, S> for Smoothed<S> {
    fn sweep(&mut self, at: &mut Place<'p, S>) {
        let ahead = 0.5 * (1.0 + (1.0 + 4.0 * self.t * self.t).sqrt());
        let theta = (self.t - 1.0) / ahead;
        self.t = ahead;
        let mut step = self.step_from(at, theta);
        // Written so that a NaN is not kept.
        let kept = theta == 0.0 || self.gains_enough(at);
        if !kept {
            self.t = 1.0;
            step = self.step_from(at, 0.0);
        }
        let Self { smoothing, v, spare, .. } = self;
        let (problem, work) = at.host.parts();
        let g = problem.g();
        let hidden = || g.value(v, work) - g.moreau(spare, v, at.beta, work).value;
        let shrank = smoothing.consider(step.promised, step.gap, g.weak_convexity(), hidden);
        if step.climbs || shrank {
            self.t = 1.0;
        }
        at.previous[..self.next.len()].copy_from_slice(&self.next);
        std::mem::swap(&mut at.x, &mut at.previous);
    }

    fn evaluate(&mut self, at: &mut Place<'p, S>, k: u64) -> Info {
        let between = at.host.between();
        at.gradient();
        let (on_w, beta) = (self.next.len(), at.beta);
        let (problem, work) = at.host.parts();
        let slope_squared = problem.g().slopes(&mut self.spare, &at.x[..on_w], beta, work);
        vector::axpy(&mut at.phi[..on_w], 1.0, &self.spare);
        let size = vector::norm2(&at.phi);
        self.gap = beta * slope_squared.sqrt();
        Info { beta, ..Info::unsmoothed(k, 1.0, between, [size, size], self.gap) }
    }

    fn smoothed(&mut self, at: &mut Place<'p, S>) -> f64 {
        let loss = at.loss();
        let (problem, work) = at.host.parts();
        loss + problem.envelope(&at.x, at.beta, work)
    }

    fn exact_dual_norm(&mut self, at: &mut Place<'p, S>) -> f64 {
        at.host.dual_norm_of(&at.phi)
    }

    fn show(&mut self, at: &mut Place<'p, S>) -> Shown {
        Shown::smoothed(at.beta)
    }
}
