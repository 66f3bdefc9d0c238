//! Proximal gradient and FISTA: the yardstick where the prox of g∘T itself is at hand.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::geometry::Geometry;
use crate::operator::Form;
use crate::penalty::{dilated_prox, first_dilation};
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::coordinate::whole;
use crate::solver::momentum::Momentum;
use crate::solver::state::{self, finite, fits, positive};
use crate::solver::unsmoothed::{Known, Unsmoothed};
use crate::solver::{Info, Measured, Method, Run, Standing};
use crate::space::Host;
use crate::vector;

/// x⁺ = prox_{s·g∘T}(y − s∇f(y)) for T = I or T a selection of blocks; y = x, or extrapolated (FISTA) with gradient restart.
///
/// s ≤ 0.99/ρ, so that the prox has one answer. s = 1/L_f where L_f is known and y is extrapolated; otherwise s is found by
/// trial, f(x⁺) ≤ f(y) + ⟨∇f(y), x⁺ − y⟩ + ‖x⁺ − y‖²/(2s), and may grow again; the speed then goes by √s (Scheinberg, Goldfarb and
/// Bai, "Fast first-order methods for composite convex optimization with backtracking", 2014).
///
/// w = (p − z)/s ∈ ∂g(z) for p = T(y − s∇f(y)), z = Tx⁺, gives a certificate with gap 0; infos have β = 0 and the bound
/// 2‖y − x⁺‖/s on ‖∇f(x⁺) + T*w‖ (exact L_f ≤ 1/s).
pub struct ProximalGradient<'p, S: Real> {
    host: Host<'p, S>,
    common: Unsmoothed<S>,
    /// x_k, and x_{k+1} on its way.
    momentum: Momentum<Host<'p, S>>,
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
    /// t of the next step's penalty g_t(u) = t²g(u/t), what it is multiplied by after it, and t of the step that led to x.
    dilation: f64,
    fall: f64,
    landed_at: f64,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    x: Vec<S>,
    y: Vec<S>,
    landed: Vec<S>,
    z: Vec<S>,
    u: Vec<S>,
    step: f64,
    taken: f64,
    t: f64,
    #[serde(default = "whole")]
    dilation: f64,
    #[serde(default = "whole")]
    landed_at: f64,
}

/// How much more the next step dares than the last, without speed and with it: there a trial that fails costs what was gained.
const GROWTH: f64 = 1.2;
const SLOW_GROWTH: f64 = 1.02;
/// No step is longer: where nothing moves any more nothing else would end its growth.
const LONGEST: f64 = 1e100;

impl<'p, S: Real> ProximalGradient<'p, S> {
    /// Plain steps, or FISTA's. Starts at x₀, which is copied. Refuses an operator that is neither the identity nor a selection.
    pub fn new(problem: &'p Problem<S>, extrapolates: bool, x0: &[S]) -> Result<Run<Self>, Error> {
        problem.check_start(x0)?;
        if !matches!(problem.t().form(), Form::Identity | Form::Select(_)) {
            let message =
                "proximal gradient needs T = I or a selection of blocks: the prox of g∘T has no formula otherwise";
            return Err(Error::Unsupported(message.into()));
        }
        let rho = problem.g().weak_convexity();
        let longest = if rho > 0.0 { 0.99 / rho } else { f64::INFINITY };
        let known = problem.f().lipschitz().filter(|&lipschitz| lipschitz > 0.0);
        let m = problem.t().range().size();
        let [p, z, u] = [(); 3].map(|()| vec![S::ZERO; m]);
        let (mut host, y) = (Host::euclidean(problem)?, x0.to_vec());
        Ok(Run::new(Self {
            momentum: Momentum::new(&mut host, &y),
            host,
            common: Unsmoothed::new(problem, x0),
            extrapolates,
            y,
            grad: vec![S::ZERO; x0.len()],
            p,
            z,
            u,
            step: known.map_or(1.0, |lipschitz| 1.0 / lipschitz).min(longest),
            taken: 1.0,
            longest,
            fixed: extrapolates && known.is_some(),
            dilation: 1.0,
            fall: 1.0,
            landed_at: 1.0,
        }))
    }

    /// The t at which a path begins: where the first step leads to 0. 1, which is no path, unless the start is 0.
    fn first_dilation(&mut self) -> f64 {
        let (problem, work) = self.host.parts();
        let (g, t) = (problem.g(), problem.t());
        t.apply(&mut self.p, &self.y, work);
        if self.p.iter().any(|&v| v != S::ZERO) {
            return 1.0;
        }
        problem.f().value_grad(&mut self.grad, &self.y, work);
        vector::add_scaled(&mut self.momentum.next, &self.y, -self.step, &self.grad);
        t.apply(&mut self.p, &self.momentum.next, work);
        first_dilation(g, [&mut self.z, &mut self.u], &self.p, self.step, work).unwrap_or(1.0)
    }

    /// x⁺ with the first step s, s/2, s/4, … for which f lies below its quadratic bound; returns ‖y − x⁺‖.
    fn descend(&mut self) -> f64 {
        let (problem, work) = self.host.parts();
        let f_y = problem.f().value_grad(&mut self.grad, &self.y, work);
        loop {
            self.land();
            let (squared, slope) = self.move_from_y();
            if self.fixed || !squared.is_finite() || squared == 0.0 {
                return squared.sqrt();
            }
            let bound = f_y + slope + 0.5 * squared / self.step;
            let reached = self.common.loss(&mut self.host, &self.momentum.next);
            if reached <= bound + 8.0 * S::EPSILON * f_y.abs() || self.step < f64::MIN_POSITIVE.sqrt() {
                return squared.sqrt();
            }
            self.step *= 0.5;
            if self.momentum.t > 1.0 {
                self.momentum.t *= std::f64::consts::SQRT_2;
            }
        }
    }

    /// next ← prox_{s·g∘T}(y − s∇f(y)), exactly z on the entries that T selects.
    fn land(&mut self) {
        let (problem, work) = self.host.parts();
        let (g, t) = (problem.g(), problem.t());
        vector::add_scaled(&mut self.momentum.next, &self.y, -self.step, &self.grad);
        t.apply(&mut self.p, &self.momentum.next, work);
        match self.dilation {
            1.0 => {
                g.prox(&mut self.z, &self.p, self.step, work);
            }
            dilation => dilated_prox(g, dilation, [&mut self.z, &mut self.u], &self.p, self.step, work),
        }
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
        (self.taken, self.landed_at) = (self.step, self.dilation);
        self.dilation = (self.fall * self.dilation).max(1.0);
        if self.extrapolates {
            // The gradient of F at y, up to a factor: (y − x⁺)/s.
            for ((grad, &y), &next) in self.grad.iter_mut().zip(&self.y).zip(&self.momentum.next) {
                *grad = y - next;
            }
            self.momentum.extrapolate(&mut self.host, &mut self.y, &self.grad);
            if !self.fixed {
                let longer = (SLOW_GROWTH * self.step).min(self.longest).min(LONGEST);
                self.momentum.t = (self.momentum.t * (self.step / longer).sqrt()).max(1.0);
                self.step = longer;
            }
        } else {
            self.y.copy_from_slice(&self.momentum.next);
            if !self.fixed {
                self.step = (GROWTH * self.step).min(self.longest).min(LONGEST);
            }
        }
    }
}

impl<S: Real> Run<ProximalGradient<'_, S>> {
    /// From 0 down a path: steps on g_t(u) = t²g(u/t), from the t at which the first leads to 0, times `fall` after each, to t = 1.
    /// From any other start, and for convex g, there is no path.
    pub fn graduated(mut self, fall: f64) -> Result<Self, Error> {
        Error::expect_parameter("fall", fall, 0.0 < fall && fall < 1.0, "between 0 and 1, both excluded")?;
        self.method.dilation = self.method.first_dilation();
        self.method.fall = fall;
        Ok(self)
    }
}

impl<'p, S: Real> Method for ProximalGradient<'p, S> {
    type Space = Host<'p, S>;

    fn step(&mut self, k: u64) -> Option<Info> {
        if k == 0 {
            return Some(self.common.begin(&mut self.host, self.step));
        }
        let moved = self.descend(); // ‖y − x⁺‖, for the step that was taken
        let slope = 2.0 * moved / self.step;
        let info = Info::unsmoothed(k + 1, self.step, self.host.between(), [0.0, slope], 0.0);
        if !info.finite {
            return Some(info);
        }
        self.go_on();
        if self.landed_at == 1.0 {
            return Some(info);
        }
        // On a path w is a slope of another penalty: x is judged like a start.
        Some(Info { k: k + 1, ..self.common.begin(&mut self.host, self.step) })
    }

    fn standing(&mut self, k: u64) -> impl Standing<Host<'p, S>> {
        let Self { host, common, z, u, taken, landed_at, .. } = self;
        common.standing(host, (k > 1 && *landed_at == 1.0).then_some(Known { z, scaled: u, step: *taken }))
    }

    fn save(&mut self, _: u64) -> state::Memo<S> {
        let Self { common, momentum, y, z, u, step, taken, dilation, landed_at, .. } = self;
        let [x, y, landed, z, u] = [&common.x, y, &momentum.landed, z, u].map(Vec::clone);
        let (dilation, landed_at) = (*dilation, *landed_at);
        let memo = Memo { x, y, landed, z, u, step: *step, taken: *taken, t: momentum.t, dilation, landed_at };
        state::Memo::ProximalGradient(memo)
    }

    fn restore(&mut self, _: u64, memo: &state::Memo<S>) -> Result<(), Error> {
        let state::Memo::ProximalGradient(memo) = memo else { return memo.is_none_of("proximal-gradient") };
        finite([memo.t, memo.landed_at])?;
        let step = positive("step of a saved state", memo.step)?;
        let taken = positive("step of a saved state", memo.taken)?;
        let dilation = positive("dilation of a saved state", memo.dilation)?;
        let buffers = [
            (&mut self.common.x, &memo.x),
            (&mut self.y, &memo.y),
            (&mut self.momentum.landed, &memo.landed),
            (&mut self.z, &memo.z),
            (&mut self.u, &memo.u),
        ];
        buffers.iter().try_for_each(|(own, saved)| fits(saved, own.len()))?;
        buffers.into_iter().for_each(|(own, saved)| own.copy_from_slice(saved));
        (self.step, self.taken, self.momentum.t) = (step, taken, memo.t);
        (self.dilation, self.landed_at) = (dilation, memo.landed_at);
        Ok(())
    }
}

impl<S: Real> Measured for ProximalGradient<'_, S> {
    fn measure_in(&mut self, geometry: Box<dyn Geometry<S>>) -> Result<(), Error> {
        self.host.measure_in(geometry)
    }
}
