//! A pair (z, w) with w ∈ ∂g(z): what a method that does not smooth knows, and shows for a certificate.

use crate::certificate::Shown;
use crate::error::Error;
use crate::operator::Form;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::unsmoothed::Known;
use crate::space::Host;
use crate::vector;

/// The pair of one proximal gradient step from x, for T = I or a selection of blocks (TT* = I):
///
/// ```text
/// z = prox_{sg}(Tx − sT∇f(x))     w = (Tx − sT∇f(x) − z)/s ∈ ∂g(z)     ‖∇f(x) + T*w‖² = ‖∇f(x)‖² off T + ‖Tx − z‖²/s²
/// ```
///
/// s = ‖x‖/‖∇f(x)‖ gives stationarity and the gap ‖Tx − z‖ the same part of ∇f and of x; s ≤ 1/(2ρ), and s ≤ 1/L, so that F(z) is
/// not above F(x).
#[derive(Clone, Debug)]
pub(super) struct Pair<S> {
    pub z: Vec<S>,
    /// sw.
    scaled: Vec<S>,
    pub step: f64,
    /// ‖∇f(x) + T*w‖₂.
    pub residual: f64,
    /// ‖Tx − z‖₂.
    pub gap: f64,
    tx: Vec<S>,
    work: Vec<S>,
}

impl<S: Real> Pair<S> {
    /// Refuses an operator that does not pick blocks.
    pub fn new(problem: &Problem<S>) -> Result<Self, Error> {
        if !matches!(problem.t().form(), Form::Identity | Form::Select(_)) {
            let message = "this method needs T = I or a selection of blocks";
            return Err(Error::Unsupported(message.into()));
        }
        let m = problem.t().range().size();
        let zeros = || vec![S::ZERO; m];
        let work = vec![S::ZERO; problem.t().work_len().max(problem.g().work_len())];
        let (step, unknown) = (1.0, f64::NAN);
        Ok(Self { z: zeros(), scaled: zeros(), step, residual: unknown, gap: unknown, tx: zeros(), work })
    }

    /// Takes the step from x, where ∇f(x) = `grad` and ∇f is (about) `lipschitz`-Lipschitz.
    pub fn look(&mut self, problem: &Problem<S>, x: &[S], grad: &[S], lipschitz: f64) {
        let (g, t) = (problem.g(), problem.t());
        let Self { z, scaled, step, tx, work, .. } = self;
        let ratio = vector::norm2(x) / vector::norm2(grad);
        let ratio = if ratio > 0.0 && ratio.is_finite() { ratio } else { 1.0 };
        *step = ratio.min(problem.beta_limit()).min(1.0 / lipschitz.max(f64::MIN_POSITIVE));
        t.apply(tx, x, work);
        t.apply(scaled, grad, work); // T∇f(x)
        let off = (vector::norm2_squared(grad) - vector::norm2_squared(scaled)).max(0.0);
        for (scaled, &tx) in scaled.iter_mut().zip(&*tx) {
            *scaled = S::of(tx.f64() - *step * scaled.f64());
        }
        g.prox(z, scaled, *step, work);
        let mut away = 0.0;
        for ((scaled, &z), &tx) in scaled.iter_mut().zip(&*z).zip(&*tx) {
            *scaled -= z;
            away += (tx.f64() - z.f64()).powi(2);
        }
        (self.gap, self.residual) = (away.sqrt(), (off + away / (*step * *step)).sqrt());
    }

    /// v ← `grad` + T*w.
    pub fn gradient(&mut self, problem: &Problem<S>, v: &mut [S], grad: &[S]) {
        self.tx.iter_mut().zip(&self.scaled).for_each(|(w, &scaled)| *w = S::of(scaled.f64() / self.step));
        v.copy_from_slice(grad);
        problem.t().adjoint_add(v, &self.tx, &mut self.work);
    }

    /// The pair, for whoever stands beside it.
    pub fn known(&self) -> Known<'_, S> {
        Known { z: &self.z, scaled: &self.scaled, step: self.step }
    }

    /// What it shows.
    pub fn show(&self, host: &mut Host<'_, S>) -> Shown {
        host.show_pair(&self.z, &self.scaled, self.step)
    }
}
