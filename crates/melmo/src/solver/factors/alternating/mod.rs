//! Factorisation by two ridge regressions a sweep: past the paper, with a proof of its own (`docs/theory.md`).

mod gain;

use serde::{Deserialize, Serialize};

use crate::certificate::Shown;
use crate::error::Error;
use crate::geometry::Geometry;
use crate::penalty::Coordinates;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::factors::Factors;
use crate::solver::factors::rescale::Rescale;
use crate::solver::pair::Pair;
use crate::solver::smoothing::{Shrunk, Smoothing};
use crate::solver::state::{self, count, finite, fits};
use crate::solver::{Info, Measured, Method, Run, Standing};
use crate::space::Host;
use crate::vector;

/// β hands over to coordinate descent when it has fallen to this part of its first value.
pub const HANDOVER: f64 = 1024.0;
/// Sweeps of coordinate descent over W for one H.
const SWEEPS: usize = 2;

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
    host: Host<'p, S>,
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
    pair: Pair<S>,
    /// ∇f(x) + T*w, where it is asked for.
    sum: Vec<S>,
    /// Where β hands over to coordinate descent.
    handover: f64,
    t: f64,
    /// β of the last evaluation; 0 before the first; and of the one before the step.
    beta: f64,
    before: f64,
    /// ‖W − prox_{βg}(W)‖₂ there.
    gap: f64,
    /// Sweeps of coordinate descent so far.
    polished: u64,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    x: Vec<S>,
    previous: Vec<S>,
    t: f64,
    beta: f64,
    smoothing: Shrunk,
    polished: u64,
}

/// What a step from V promises: ½‖φ‖² in the dual of ‖·‖_{M_W}, and ‖V − prox_{βg}(V)‖₂.
struct Step {
    promised: f64,
    gap: f64,
    /// ⟨φ, W_next − W⟩ > 0.
    climbs: bool,
}

impl<'p, S: Real> Alternating<'p, S> {
    /// Starts at x₀ = (W, H), which is copied.
    pub fn new(problem: &'p Problem<S>, smoothing: Smoothing, x0: &[S]) -> Result<Run<Self>, Error> {
        problem.check_start(x0)?;
        problem.check_beta(smoothing.beta())?;
        let factors = Factors::new(problem)?;
        let (n, on_w) = (x0.len(), factors.split());
        let zeros = |n: usize| vec![S::ZERO; n];
        Ok(Run::new(Self {
            host: Host::euclidean(problem)?,
            factors,
            smoothing,
            rescale: None,
            x: x0.to_vec(),
            previous: x0.to_vec(),
            phi: zeros(n),
            v: zeros(on_w),
            next: zeros(on_w),
            spare: zeros(on_w),
            pair: Pair::new(problem)?,
            sum: zeros(n),
            handover: smoothing.beta() / HANDOVER,
            t: 1.0,
            beta: 0.0,
            before: 0.0,
            gap: 0.0,
            polished: 0,
        }))
    }

    /// The penalty by entries, once coordinate descent has taken over.
    fn polishes(&self) -> Option<&'p dyn Coordinates<S>> {
        let by_entries = self.host.problem().g().coordinates().filter(|g| g.units() == self.next.len());
        by_entries.filter(|_| self.smoothing.beta() <= self.handover)
    }

    /// The info of x_k: ∇f(x) into `phi` and, while there is a smoothing, ∇F_β(x); W is held, H looked at.
    fn evaluate(&mut self, k: u64, beta: f64) -> Info {
        let smooths = self.polishes().is_none();
        let Self { host, factors, x, phi, spare, pair, .. } = self;
        let between = host.between();
        let (w, h) = x.split_at(factors.split());
        let (phi_w, phi_h) = phi.split_at_mut(factors.split());
        factors.look_at_h(h);
        factors.gradient_w(phi_w, w, false);
        factors.gradient_h(phi_h, h);
        self.beta = beta;
        if smooths {
            let (problem, work) = host.parts();
            let slope_squared = problem.g().slopes(spare, w, beta, work);
            vector::axpy(phi_w, 1.0, spare);
            let size = vector::norm2(phi);
            self.gap = beta * slope_squared.sqrt();
            return Info { beta, ..Info::unsmoothed(k, 1.0, between, [size, size], self.gap) };
        }
        pair.look(host.problem(), x, phi, factors.lipschitz_w());
        Info::unsmoothed(k, 1.0, between, [pair.residual; 2], pair.gap)
    }

    /// One sweep without smoothing: W by coordinate descent, then its H.
    fn polish(&mut self, k: u64, g: &dyn Coordinates<S>) {
        self.polished += 1;
        self.previous.copy_from_slice(&self.x);
        let (w, h) = self.x.split_at_mut(self.next.len());
        self.factors.descend_w(g, self.host.problem().g().weak_convexity(), w, SWEEPS);
        self.factors.look_at_w(w);
        self.factors.ridge_h(h);
        self.rescale_columns(k, true);
    }

    /// The option that is off by default.
    fn rescale_columns(&mut self, k: u64, polishing: bool) {
        if let Some(rescale) = self.rescale.as_mut().filter(|rescale| k.is_multiple_of(rescale.every)) {
            let points = [&mut self.x[..], &mut self.previous[..]];
            let beta = Some(self.beta).filter(|_| !polishing);
            rescale.apply(self.host.problem(), points, self.factors.rank, self.factors.ridge, beta);
            self.factors.look_at_w(&self.x[..self.next.len()]);
        }
    }

    /// One sweep: the next W, then its H.
    fn sweep(&mut self, k: u64) {
        let ahead = 0.5 * (1.0 + (1.0 + 4.0 * self.t * self.t).sqrt());
        let theta = (self.t - 1.0) / ahead;
        self.t = ahead;
        let mut step = self.step_from(theta);
        // Written so that a NaN is not kept.
        let kept = theta == 0.0 || self.gains_enough();
        if !kept {
            self.t = 1.0;
            step = self.step_from(0.0);
        }
        let Self { host, smoothing, v, spare, beta, .. } = self;
        let (problem, work) = host.parts();
        let g = problem.g();
        let hidden = || g.value(v, work) - g.moreau(spare, v, *beta, work).value;
        let shrank = smoothing.consider(step.promised, step.gap, g.weak_convexity(), hidden);
        if step.climbs || shrank {
            self.t = 1.0;
        }
        self.previous[..self.next.len()].copy_from_slice(&self.next);
        std::mem::swap(&mut self.x, &mut self.previous);
        self.rescale_columns(k, false);
    }

    /// `next` ← the W that a step from V = W + θ(W − W_before) leads to, and its H into `previous`, where W_before is lost.
    fn step_from(&mut self, theta: f64) -> Step {
        let Self { host, factors, x, previous, v, next, spare, beta, .. } = self;
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

    /// f(x) at the current point.
    fn loss(&mut self) -> f64 {
        let (w, h) = self.x.split_at(self.next.len());
        if let Some(value) = self.factors.value(w, h) {
            return value;
        }
        let (problem, work) = self.host.parts();
        problem.f().value_grad(&mut self.sum, &self.x, work)
    }
}

/// A solver that explores is made of these.
impl<'p, S: Real> Run<Alternating<'p, S>> {
    /// Also rescales (W_j, H_j) to (tW_j, H_j/t), column by column, every so many sweeps. ‖Y − WH‖ does not change by it, only
    /// what penalty and ridge cost: with ν > 0 it spares sweeps where W and H would trade their sizes slowly. With ν = 0
    /// that drives W to 0 and F to its infimum, the Eckart–Young tail: off by default.
    pub fn rescaling(mut self, every: u64) -> Result<Self, Error> {
        let problem = self.method.host.problem();
        self.method.rescale = (every > 0).then(|| Rescale::new(problem, every)).transpose()?;
        Ok(self)
    }

    /// Sweeps of coordinate descent so far.
    pub(super) fn polished(&self) -> u64 {
        self.method.polished
    }

    /// x.
    pub(super) fn point(&self) -> &[S] {
        &self.method.x
    }

    /// Starts again from x, with another smoothing of the same first β.
    pub(super) fn begin_at(&mut self, x: &[S], smoothing: Smoothing) {
        self.method.x.copy_from_slice(x);
        self.method.previous.copy_from_slice(x);
        (self.method.smoothing, self.method.t) = (smoothing, 1.0);
        (self.method.beta, self.method.polished) = (0.0, 0);
        self.begin();
    }

    /// Stands at x without smoothing.
    pub(super) fn settle_at(&mut self, x: &[S]) -> Info {
        self.method.x.copy_from_slice(x);
        self.method.previous.copy_from_slice(x);
        self.method.factors.look_at_w(&self.method.x[..self.method.next.len()]);
        self.method.evaluate(self.k, self.method.smoothing.beta())
    }

    /// The info of the point it stands at, evaluated again; `None` before the first.
    pub(super) fn info(&mut self) -> Option<Info> {
        (self.k > 0).then(|| self.method.evaluate(self.k, self.method.smoothing.beta()))
    }
}

impl<'p, S: Real> Method for Alternating<'p, S> {
    type Space = Host<'p, S>;

    fn step(&mut self, k: u64) -> Option<Info> {
        self.before = self.beta;
        match self.polishes() {
            _ if k == 0 => self.factors.look_at_w(&self.x[..self.next.len()]),
            Some(g) => self.polish(k, g),
            None => self.sweep(k),
        }
        Some(self.evaluate(k + 1, self.smoothing.beta()))
    }

    fn retreat(&mut self) {
        std::mem::swap(&mut self.x, &mut self.previous);
        self.factors.look_at_w(&self.x[..self.next.len()]);
        self.evaluate(0, self.before);
    }

    fn standing(&mut self, _: u64) -> impl Standing<Host<'p, S>> {
        self
    }

    fn save(&mut self, _: u64) -> state::Memo<S> {
        let Self { x, previous, t, beta, smoothing, polished, .. } = self;
        let [x, previous] = [x, previous].map(|buffer| buffer.clone());
        state::Memo::Alternating(Memo {
            x,
            previous,
            t: *t,
            beta: *beta,
            smoothing: smoothing.save(),
            polished: *polished,
        })
    }

    fn restore(&mut self, k: u64, memo: &state::Memo<S>) -> Result<(), Error> {
        let state::Memo::Alternating(memo) = memo else { return memo.is_none_of("alternating") };
        finite([memo.t, memo.beta])?;
        fits(&memo.x, self.x.len())?;
        fits(&memo.previous, self.x.len())?;
        self.polished = count(memo.polished)?;
        self.smoothing.restore(&memo.smoothing)?;
        self.x.copy_from_slice(&memo.x);
        self.previous.copy_from_slice(&memo.previous);
        (self.t, self.beta) = (memo.t, 0.0);
        if k > 0 {
            self.host.problem().check_beta(memo.beta)?;
            self.factors.look_at_w(&self.x[..self.next.len()]);
            self.evaluate(k, memo.beta);
        }
        Ok(())
    }
}

impl<'p, S: Real> Standing<Host<'p, S>> for Alternating<'p, S> {
    fn place(&mut self) -> (&mut Host<'p, S>, &Vec<S>) {
        (&mut self.host, &self.x)
    }

    fn objective(&mut self) -> f64 {
        let loss = self.loss();
        let (problem, work) = self.host.parts();
        loss + problem.penalty(&self.x, work)
    }

    fn smoothed(&mut self) -> f64 {
        if self.polishes().is_some() {
            return self.objective();
        }
        let loss = self.loss();
        let (problem, work) = self.host.parts();
        loss + problem.envelope(&self.x, self.beta, work)
    }

    fn exact_dual_norm(&mut self) -> f64 {
        if self.polishes().is_none() {
            return self.host.dual_norm_of(&self.phi);
        }
        self.pair.gradient(self.host.problem(), &mut self.sum, &self.phi);
        self.host.dual_norm_of(&self.sum)
    }

    fn show(&mut self) -> Shown {
        match self.polishes() {
            Some(_) if self.beta > 0.0 => self.pair.show(&mut self.host),
            _ if self.beta > 0.0 => Shown::smoothed(self.beta),
            _ => Shown::smoothed(self.smoothing.beta()),
        }
    }
}

impl<S: Real> Measured for Alternating<'_, S> {
    fn measure_in(&mut self, geometry: Box<dyn Geometry<S>>) -> Result<(), Error> {
        self.host.measure_in(geometry)
    }
}
