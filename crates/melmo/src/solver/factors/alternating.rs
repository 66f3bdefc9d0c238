//! Factorisation by two ridge regressions a sweep: past the paper, with a proof of its own (`docs/theory.md`).

use crate::certificate::Evidence;
use crate::error::Error;
use crate::geometry::{BlockNorm, Bracket, Geometry};
use crate::penalty::Coordinates;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::factors::Factors;
use crate::solver::factors::rescale::Rescale;
use crate::solver::measure::Measure;
use crate::solver::pair::Pair;
use crate::solver::smoothing::Smoothing;
use crate::solver::{Info, Solver, State, count};
use crate::vector;

/// β hands over to coordinate descent when it has fallen to this part of its first value.
pub const HANDOVER: f64 = 1024.0;
/// Sweeps of coordinate descent over W for one H.
const SWEEPS: usize = 2;
/// A sweep from an extrapolated point has to gain this part of what a plain one would.
const KEPT: f64 = 0.25;
/// How many numbers a saved state has.
pub(super) const NUMBERS: usize = 7;

/// W ← V − ∇_WF_β(V, H)·M_W⁻¹ with M_W = 2cHHᵀ + I/β, then H ← argmin f(W, ·), V = W + θ(W − W_before) by Nesterov, β by the
/// κ-rule ([`Smoothing`]).
///
/// In the metric M_W the step has length 1, and it is a ridge regression: W minimises c‖M⊙(Y − WH)‖² + ‖W − z‖²/(2β),
/// z = prox_{βg}(V); with a mask, row by row with a metric of its own. W moves first: H fitted to a random W would keep W's
/// size, which the penalty has to pay for. θ goes back to 0 where the step climbs, ⟨∇_WF_β(V, H), W − W_before⟩ > 0, and where
/// β shrinks. A sweep from V ≠ W is kept only if it lowers F_β by a part of what one from W would; otherwise it is taken
/// again from W itself.
///
/// Once β has fallen to a thousandth of its first value the smoothing has chosen a basin, and steps as short as β are all that
/// it leaves. From there on W moves by coordinate descent on f(·, H) + g itself, entry by entry, if g is a sum over entries;
/// its certificates are then made of one proximal gradient step from x.
pub struct Alternating<'p, S> {
    problem: &'p Problem<S>,
    factors: Factors<'p, S>,
    smoothing: Smoothing,
    rescale: Option<Rescale<S>>,
    x: Vec<S>,
    /// The point before x.
    previous: Vec<S>,
    /// ∇F_β(x).
    phi: Vec<S>,
    v: Vec<S>,
    /// prox_{βg}(V), then the next W.
    next: Vec<S>,
    spare: Vec<S>,
    work: Vec<S>,
    pair: Pair<S>,
    measure: Measure<S>,
    /// ∇f(x) + T*w, where it is asked for.
    sum: Vec<S>,
    /// Where β hands over to coordinate descent.
    handover: f64,
    t: f64,
    /// β of the last evaluation; 0 before the first.
    beta: f64,
    /// ‖W − prox_{βg}(W)‖₂ there.
    gap: f64,
    /// Sweeps of coordinate descent so far.
    polished: u64,
    k: u64,
    ended: bool,
}

/// What a step from V promises: ½‖φ‖² in the dual of ‖·‖_{M_W}, and ‖V − prox_{βg}(V)‖₂.
struct Step {
    promised: f64,
    gap: f64,
    /// ⟨φ, W_next − W⟩ > 0.
    climbs: bool,
}

/// What an evaluation found.
struct Found {
    beta: f64,
    dual_norm: Bracket,
    prox_gap: f64,
}

impl<'p, S: Real> Alternating<'p, S> {
    /// Starts at x₀ = (W, H), which is copied.
    pub fn new(problem: &'p Problem<S>, smoothing: Smoothing, x0: &[S]) -> Result<Self, Error> {
        problem.check_start(x0)?;
        problem.check_beta(smoothing.beta())?;
        let factors = Factors::new(problem)?;
        let (n, on_w) = (x0.len(), factors.split());
        let zeros = |n: usize| vec![S::ZERO; n];
        Ok(Self {
            problem,
            factors,
            smoothing,
            rescale: None,
            x: x0.to_vec(),
            previous: x0.to_vec(),
            phi: zeros(n),
            v: zeros(on_w),
            next: zeros(on_w),
            spare: zeros(on_w),
            work: zeros(problem.work_len()),
            pair: Pair::new(problem)?,
            measure: Measure::new(problem),
            sum: zeros(n),
            handover: smoothing.beta() / HANDOVER,
            t: 1.0,
            beta: 0.0,
            gap: 0.0,
            polished: 0,
            k: 0,
            ended: false,
        })
    }

    /// Measured in a norm.
    pub fn in_norm(mut self, geometry: Box<dyn Geometry<S>>) -> Result<Self, Error> {
        self.measure = Measure::in_norm(self.problem, geometry)?;
        Ok(self)
    }

    /// Sweeps of coordinate descent so far.
    pub(super) fn polished(&self) -> u64 {
        self.polished
    }

    /// Starts again from x, with another smoothing of the same first β.
    pub(super) fn begin_at(&mut self, x: &[S], smoothing: Smoothing) {
        self.x.copy_from_slice(x);
        self.previous.copy_from_slice(x);
        (self.smoothing, self.t, self.beta, self.polished) = (smoothing, 1.0, 0.0, 0);
        (self.k, self.ended) = (0, false);
    }

    /// Stands at x without smoothing.
    pub(super) fn settle_at(&mut self, x: &[S]) -> Info {
        self.x.copy_from_slice(x);
        self.previous.copy_from_slice(x);
        self.factors.look_at_w(&self.x[..self.next.len()]);
        self.judge()
    }

    /// The info of the point it stands at, evaluated again; `None` before the first.
    pub(super) fn standing(&mut self) -> Option<Info> {
        (self.k > 0).then(|| self.judge())
    }

    /// Also rescales (W_j, H_j) to (tW_j, H_j/t), column by column, every so many sweeps. ‖Y − WH‖ does not change by it, only
    /// what penalty and ridge cost: with ν > 0 it spares sweeps where W and H would trade their sizes slowly. With ν = 0
    /// that drives W to 0 and F to its infimum, the Eckart–Young tail: off by default.
    pub fn rescaling(mut self, every: u64) -> Result<Self, Error> {
        self.rescale = (every > 0).then(|| Rescale::new(self.problem, every)).transpose()?;
        Ok(self)
    }

    /// The penalty by entries, once coordinate descent has taken over.
    fn polishes(&self) -> Option<&'p dyn Coordinates<S>> {
        let by_entries = self.problem.g().coordinates().filter(|g| g.units() == self.next.len());
        by_entries.filter(|_| self.smoothing.beta() <= self.handover)
    }

    /// ∇f(x) into `phi` and, while there is a smoothing, ∇F_β(x); W is held, H looked at.
    fn evaluate(&mut self, beta: f64) -> Found {
        let smooths = self.polishes().is_none();
        let Self { factors, problem, x, phi, spare, work, pair, measure, .. } = self;
        let (w, h) = x.split_at(factors.split());
        let (phi_w, phi_h) = phi.split_at_mut(factors.split());
        factors.look_at_h(h);
        factors.gradient_w(phi_w, w, false);
        factors.gradient_h(phi_h, h);
        self.beta = beta;
        if smooths {
            let slope_squared = problem.g().slopes(spare, w, beta, work);
            vector::axpy(phi_w, 1.0, spare);
            let size = vector::norm2(phi);
            let dual_norm = measure.bracket(size, size);
            self.gap = beta * slope_squared.sqrt();
            return Found { beta, dual_norm, prox_gap: self.gap };
        }
        let lipschitz = factors.lipschitz_w();
        pair.look(problem, x, phi, lipschitz);
        Found { beta: 0.0, dual_norm: measure.bracket(pair.residual, pair.residual), prox_gap: pair.gap }
    }

    /// One sweep without smoothing: W by coordinate descent, then its H.
    fn polish(&mut self, g: &dyn Coordinates<S>) {
        self.polished += 1;
        self.previous.copy_from_slice(&self.x);
        let (w, h) = self.x.split_at_mut(self.next.len());
        self.factors.descend_w(g, w, SWEEPS);
        self.factors.look_at_w(w);
        self.factors.ridge_h(h);
        self.rescale_columns(true);
    }

    /// The option that is off by default.
    fn rescale_columns(&mut self, polishing: bool) {
        if let Some(rescale) = self.rescale.as_mut().filter(|rescale| self.k.is_multiple_of(rescale.every)) {
            let points = [&mut self.x[..], &mut self.previous[..]];
            let beta = Some(self.beta).filter(|_| !polishing);
            rescale.apply(self.problem, points, self.factors.rank, self.factors.ridge, beta);
            self.factors.look_at_w(&self.x[..self.next.len()]);
        }
    }

    /// One sweep: the next W, then its H.
    fn sweep(&mut self) {
        let ahead = 0.5 * (1.0 + (1.0 + 4.0 * self.t * self.t).sqrt());
        let theta = (self.t - 1.0) / ahead;
        self.t = ahead;
        let mut step = self.step_from(theta);
        // Written so that a NaN is not kept.
        let kept = theta == 0.0 || self.gain() >= KEPT * self.plain_gain();
        if !kept {
            self.t = 1.0;
            step = self.step_from(0.0);
        }
        let Self { problem, smoothing, v, spare, work, beta, .. } = self;
        let g = problem.g();
        let hidden = || g.value(v, work) - g.moreau(spare, v, *beta, work).value;
        let shrank = smoothing.consider(step.promised, step.gap, g.weak_convexity(), hidden);
        if step.climbs || shrank {
            self.t = 1.0;
        }
        self.previous[..self.next.len()].copy_from_slice(&self.next);
        std::mem::swap(&mut self.x, &mut self.previous);
        self.rescale_columns(false);
    }

    /// `next` ← the W that a step from V = W + θ(W − W_before) leads to, and its H into `previous`, where W_before is lost.
    fn step_from(&mut self, theta: f64) -> Step {
        let Self { factors, problem, x, previous, v, next, spare, work, beta, .. } = self;
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

    /// F_β(x) − F_β at the W and H of the last [`Self::step_from`]. f is quadratic in W and in H: its slope half way is that of
    /// the whole way, and H is the least for its W.
    fn gain(&mut self) -> f64 {
        let Self { factors, problem, x, previous, next, spare, phi, work, beta, .. } = self;
        let g = problem.g();
        let (w, h) = x.split_at(factors.split());
        let (step, next_h) = previous.split_at_mut(w.len());
        step.iter_mut().zip(w).zip(&*next).for_each(|((d, &w), &next)| *d = S::of(0.5) * (w + next));
        factors.gradient_w(spare, step, false);
        step.iter_mut().zip(w).zip(&*next).for_each(|((d, &w), &next)| *d = w - next);
        let of_w = vector::dot(spare, step);
        let slope = &mut phi[w.len()..];
        factors.gradient_h(slope, h);
        let of_h = 0.5 * (vector::dot(slope, h) - vector::dot(slope, next_h));
        let of_g = g.moreau(spare, w, *beta, work).value - g.moreau(spare, next, *beta, work).value;
        of_w + of_h + of_g
    }

    /// What a plain step from W is sure to gain, or what the κ-rule would not call too little: the larger of ½‖φ‖²/L with
    /// L = 2c‖H‖² + 1/β, and κ(1 − βρ)‖W − prox_{βg}(W)‖²/(2β).
    fn plain_gain(&self) -> f64 {
        let slope = vector::norm2_squared(&self.phi[..self.next.len()]);
        let by_slope = slope / (self.factors.trace_w() + 1.0 / self.beta);
        let convex = 1.0 - self.beta * self.problem.g().weak_convexity();
        0.5 * by_slope.max(self.smoothing.kappa * convex * self.gap * self.gap / self.beta)
    }

    /// The info of x, evaluated with the β of now; W is held.
    fn judge(&mut self) -> Info {
        let Found { beta, dual_norm, prox_gap } = self.evaluate(self.smoothing.beta());
        Info {
            k: self.k,
            epoch: None,
            beta,
            gamma: 1.0,
            dual_norm,
            eta: 0.0,
            excess: 0.0,
            prox_gap,
            objective: None,
            finite: dual_norm.upper.is_finite() && prox_gap.is_finite(),
            candidate: true,
        }
    }

    fn advance(&mut self) -> Info {
        let last_beta = self.beta;
        match self.polishes() {
            _ if self.k == 0 => self.factors.look_at_w(&self.x[..self.next.len()]),
            Some(g) => self.polish(g),
            None => self.sweep(),
        }
        self.k += 1;
        let info = self.judge();
        if info.finite {
            self.measure.start.get_or_insert([info.dual_norm.upper, info.prox_gap]);
        } else {
            self.ended = true;
            if self.k > 1 {
                std::mem::swap(&mut self.x, &mut self.previous);
                self.factors.look_at_w(&self.x[..self.next.len()]);
                self.evaluate(last_beta);
                self.k -= 1;
            }
        }
        info
    }

    /// f(x) at the current point.
    fn loss(&mut self) -> f64 {
        let (w, h) = self.x.split_at(self.next.len());
        match self.factors.value(w, h) {
            Some(value) => value,
            None => {
                let value = self.problem.f().value_grad(&mut self.phi, &self.x, &mut self.work);
                self.evaluate(self.beta);
                value
            }
        }
    }
}

impl<S: Real> Iterator for Alternating<'_, S> {
    type Item = Info;

    fn next(&mut self) -> Option<Info> {
        if self.ended { None } else { Some(self.advance()) }
    }
}

impl<S: Real> Solver<S> for Alternating<'_, S> {
    fn problem(&self) -> &Problem<S> {
        self.problem
    }

    fn x(&self) -> &[S] {
        &self.x
    }

    fn objective(&mut self) -> f64 {
        self.loss() + self.problem.penalty(&self.x, &mut self.work)
    }

    fn smoothed(&mut self) -> f64 {
        if self.polishes().is_some() {
            return self.objective();
        }
        self.loss() + self.problem.envelope(&self.x, self.beta, &mut self.work)
    }

    fn exact_dual_norm(&mut self) -> f64 {
        if self.polishes().is_none() {
            return self.measure.norm(&self.phi);
        }
        self.pair.gradient(self.problem, &mut self.sum, &self.phi);
        self.measure.norm(&self.sum)
    }

    fn norms(&self) -> Vec<BlockNorm> {
        self.measure.norms()
    }

    fn evidence<'u>(&self, u: &'u mut [S]) -> Evidence<'u, S> {
        match self.polishes() {
            Some(_) if self.k > 0 => self.pair.evidence(self.problem, u),
            _ if self.beta > 0.0 => Evidence::smoothed(self.beta),
            _ => Evidence::smoothed(self.smoothing.beta()),
        }
    }

    fn start_measure(&self) -> Option<[f64; 2]> {
        self.measure.start
    }

    fn save(&self) -> State<S> {
        let [dual_norm, prox_gap] = self.measure.start.unwrap_or_default();
        let own = [self.t, self.beta, dual_norm, prox_gap, self.polished as f64];
        State {
            solver: "alternating".into(),
            k: self.k,
            numbers: [&own[..], &self.smoothing.numbers()].concat(),
            vectors: vec![self.x.clone(), self.previous.clone()],
            warm_start: vec![],
        }
    }

    fn restore(&mut self, state: &State<S>) -> Result<(), Error> {
        let [t, beta, dual_norm, prox_gap, polished, next_beta, since] =
            state.check::<NUMBERS>("alternating", 2, self.x.len())?;
        self.smoothing.restore([next_beta, since])?;
        self.polished = count(polished)?;
        self.x.copy_from_slice(&state.vectors[0]);
        self.previous.copy_from_slice(&state.vectors[1]);
        (self.k, self.t, self.beta, self.ended, self.measure.start) = (state.k, t, 0.0, false, None);
        if self.k > 0 {
            self.problem.check_beta(beta)?;
            self.measure.start = Some([dual_norm, prox_gap]);
            self.factors.look_at_w(&self.x[..self.next.len()]);
            self.evaluate(beta);
        }
        Ok(())
    }
}
