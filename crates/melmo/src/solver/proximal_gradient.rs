//! Proximal gradient and FISTA: the yardstick where the prox of g∘T itself is at hand.

use crate::certificate::Evidence;
use crate::error::Error;
use crate::geometry::{BlockNorm, Geometry};
use crate::operator::Form;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::measure::Measure;
use crate::solver::momentum::Momentum;
use crate::solver::unsmoothed::{Known, Unsmoothed, forward_to_unsmoothed};
use crate::solver::{Info, Solver, State};
use crate::vector;

/// x⁺ = prox_{s·g∘T}(y − s∇f(y)) for T = I or T a selection of blocks; y = x, or extrapolated (FISTA) with gradient restart.
///
/// s ≤ 0.99/ρ, so that the prox has one answer. s = 1/L_f where L_f is known and y is extrapolated; otherwise s is found by
/// trial, f(x⁺) ≤ f(y) + ⟨∇f(y), x⁺ − y⟩ + ‖x⁺ − y‖²/(2s), and may grow again while y = x.
///
/// w = (p − z)/s ∈ ∂g(z) for p = T(y − s∇f(y)), z = Tx⁺, gives a certificate with gap 0; infos have β = 0 and the bound
/// 2‖y − x⁺‖/s on ‖∇f(x⁺) + T*w‖ (exact L_f ≤ 1/s).
pub struct ProximalGradient<'p, S> {
    common: Unsmoothed<'p, S>,
    /// x_k, and x_{k+1} on its way.
    momentum: Momentum<S>,
    extrapolates: bool,
    /// y.
    y: Vec<S>,
    grad: Vec<S>,
    /// p = T(y − s∇f(y)), z, and p − z.
    p: Vec<S>,
    z: Vec<S>,
    u: Vec<S>,
    step: f64,
    /// The step that led to x.
    taken: f64,
    longest: f64,
    fixed: bool,
    work: Vec<S>,
    k: u64,
    ended: bool,
}

/// How much more the next step dares than the last.
const GROWTH: f64 = 1.2;

impl<'p, S: Real> ProximalGradient<'p, S> {
    /// Plain steps, or FISTA's. Starts at x₀, which is copied. Refuses an operator that is neither the identity nor a selection.
    pub fn new(problem: &'p Problem<S>, extrapolates: bool, x0: &[S]) -> Result<Self, Error> {
        problem.check_start(x0)?;
        if !matches!(problem.t().form(), Form::Identity | Form::Select(_)) {
            let message =
                "proximal gradient needs T = I or a selection of blocks: the prox of g∘T has no formula otherwise";
            return Err(Error::Unsupported(message.into()));
        }
        let rho = problem.g().weak_convexity();
        let longest = if rho > 0.0 { 0.99 / rho } else { f64::INFINITY };
        let known = problem.f().lipschitz().filter(|&lipschitz| lipschitz > 0.0);
        let (n, m) = (x0.len(), problem.t().range().size());
        let [p, z, u] = [(); 3].map(|()| vec![S::ZERO; m]);
        let work_len = problem.f().work_len().max(problem.g().work_len()).max(problem.t().work_len());
        Ok(Self {
            common: Unsmoothed::new(problem, x0),
            momentum: Momentum::new(x0),
            extrapolates,
            y: x0.to_vec(),
            grad: vec![S::ZERO; n],
            p,
            z,
            u,
            step: known.map_or(1.0, |lipschitz| 1.0 / lipschitz).min(longest),
            taken: 1.0,
            longest,
            fixed: extrapolates && known.is_some(),
            work: vec![S::ZERO; work_len],
            k: 0,
            ended: false,
        })
    }

    /// Measured in a norm.
    pub fn in_norm(mut self, geometry: Box<dyn Geometry<S>>) -> Result<Self, Error> {
        self.common.measure = Measure::in_norm(self.common.problem, geometry)?;
        Ok(self)
    }

    fn step(&mut self) -> Info {
        if self.k == 0 {
            self.k = 1;
            return self.common.begin(self.step);
        }
        let moved = self.descend(); // ‖y − x⁺‖, for the step that was taken
        let info = self.common.info(self.k + 1, self.step, [0.0, 2.0 * moved / self.step], 0.0);
        self.ended = !info.finite;
        if info.finite {
            self.k += 1;
            self.go_on();
        }
        info
    }

    /// x⁺ with the first step s, s/2, s/4, … for which f lies below its quadratic bound; returns ‖y − x⁺‖.
    fn descend(&mut self) -> f64 {
        let problem = self.common.problem;
        let f_y = problem.f().value_grad(&mut self.grad, &self.y, &mut self.work);
        loop {
            self.land();
            let (squared, slope) = self.move_from_y();
            if self.fixed || !squared.is_finite() || squared == 0.0 {
                return squared.sqrt();
            }
            let bound = f_y + slope + 0.5 * squared / self.step;
            let reached = self.common.loss(&self.momentum.next);
            if reached <= bound + 8.0 * S::EPSILON * f_y.abs() || self.step < f64::MIN_POSITIVE.sqrt() {
                return squared.sqrt();
            }
            self.step *= 0.5;
        }
    }

    /// next ← prox_{s·g∘T}(y − s∇f(y)), exactly z on the entries that T selects.
    fn land(&mut self) {
        let (g, t) = (self.common.problem.g(), self.common.problem.t());
        vector::add_scaled(&mut self.momentum.next, &self.y, -self.step, &self.grad);
        t.apply(&mut self.p, &self.momentum.next, &mut self.work);
        g.prox(&mut self.z, &self.p, self.step, &mut self.work);
        match t.form() {
            Form::Select(select) => {
                select.pairs().for_each(|(in_x, in_z)| self.momentum.next[in_x].copy_from_slice(&self.z[in_z]));
            }
            _ => self.momentum.next.copy_from_slice(&self.z),
        }
    }

    /// ‖x⁺ − y‖² and ⟨∇f(y), x⁺ − y⟩.
    fn move_from_y(&self) -> (f64, f64) {
        let (mut squared, mut slope) = (0.0, 0.0);
        for ((&next, &y), &grad) in self.momentum.next.iter().zip(&self.y).zip(&self.grad) {
            let d = (next - y).f64();
            squared += d * d;
            slope += d * grad.f64();
        }
        (squared, slope)
    }

    /// Stands at x⁺ and makes the next y of it.
    fn go_on(&mut self) {
        for ((u, &p), &z) in self.u.iter_mut().zip(&self.p).zip(&self.z) {
            *u = p - z;
        }
        self.common.x.copy_from_slice(&self.momentum.next);
        self.taken = self.step;
        if self.extrapolates {
            // The gradient of F at y, up to a factor: (y − x⁺)/s.
            for ((grad, &y), &next) in self.grad.iter_mut().zip(&self.y).zip(&self.momentum.next) {
                *grad = y - next;
            }
            self.momentum.extrapolate(&mut self.y, &self.grad);
        } else {
            self.y.copy_from_slice(&self.momentum.next);
            if !self.fixed {
                self.step = (GROWTH * self.step).min(self.longest);
            }
        }
    }
}

impl<S: Real> Iterator for ProximalGradient<'_, S> {
    type Item = Info;

    fn next(&mut self) -> Option<Info> {
        if self.ended { None } else { Some(self.step()) }
    }
}

impl<S: Real> Solver<S> for ProximalGradient<'_, S> {
    forward_to_unsmoothed!();

    fn exact_dual_norm(&mut self) -> f64 {
        self.common.exact_dual_norm((self.k > 1).then(|| Known { z: &self.z, scaled: &self.u, step: self.taken }))
    }

    fn evidence<'u>(&self, u: &'u mut [S]) -> Evidence<'u, S> {
        self.common.evidence(u, (self.k > 1).then(|| Known { z: &self.z, scaled: &self.u, step: self.taken }))
    }

    fn save(&self) -> State<S> {
        let [dual_norm, prox_gap] = self.common.measure.start.unwrap_or_default();
        State {
            solver: "proximal-gradient".into(),
            k: self.k,
            numbers: vec![self.step, self.taken, self.momentum.t, dual_norm, prox_gap],
            vectors: [&self.common.x, &self.y, &self.momentum.landed, &self.z, &self.u].map(Vec::clone).into(),
            warm_start: vec![],
        }
    }

    fn restore(&mut self, state: &State<S>) -> Result<(), Error> {
        let (n, m) = (self.y.len(), self.z.len());
        let [step, taken, t, start @ ..] = state.check_each::<5>("proximal-gradient", &[n, n, n, m, m])?;
        self.step = Error::expect_positive("step of a saved state", step)?;
        self.taken = Error::expect_positive("step of a saved state", taken)?;
        let [x, y, landed, z, u] = &state.vectors[..] else { unreachable!("counted above") };
        self.common.x.copy_from_slice(x);
        self.y.copy_from_slice(y);
        self.momentum.landed.copy_from_slice(landed);
        self.z.copy_from_slice(z);
        self.u.copy_from_slice(u);
        (self.momentum.t, self.k, self.ended) = (t, state.k, false);
        self.common.measure.start = (self.k > 0).then_some(start);
        Ok(())
    }
}
