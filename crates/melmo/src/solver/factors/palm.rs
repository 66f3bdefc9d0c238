//! Proximal alternating linearised minimisation, plain and with inertia: the yardstick for factorisation.

use crate::certificate::Evidence;
use crate::error::Error;
use crate::geometry::{BlockNorm, Geometry};
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::factors::Factors;
use crate::solver::measure::Measure;
use crate::solver::pair::Pair;
use crate::solver::{Info, Solver, State};
use crate::vector;

/// W ← prox_{sg}(V − s∇_Wf(V, H)), s = 1/max(L_W, 2ρ); H ← X − ∇_Hf(W, X)/L_H, with L_W = 2cσ₁(HHᵀ), L_H = 2cσ₁(WᵀW) + ν.
///
/// PALM (Bolte, Sabach and Teboulle 2014) has V = W and X = H; iPALM (Pock and Sabach 2016) extrapolates both by
/// θ_k = (k − 1)/(k + 2). No smoothing: its certificates are made of one proximal gradient step from x.
pub struct Palm<'p, S> {
    problem: &'p Problem<S>,
    factors: Factors<'p, S>,
    pair: Pair<S>,
    measure: Measure<S>,
    inertia: bool,
    x: Vec<S>,
    previous: Vec<S>,
    /// ∇f(x).
    grad: Vec<S>,
    next: Vec<S>,
    work: Vec<S>,
    k: u64,
    ended: bool,
}

impl<'p, S: Real> Palm<'p, S> {
    /// Starts at x₀ = (W, H), which is copied.
    pub fn new(problem: &'p Problem<S>, inertia: bool, x0: &[S]) -> Result<Self, Error> {
        problem.check_start(x0)?;
        let n = x0.len();
        Ok(Self {
            problem,
            factors: Factors::new(problem)?,
            pair: Pair::new(problem)?,
            measure: Measure::new(problem),
            inertia,
            x: x0.to_vec(),
            previous: x0.to_vec(),
            grad: vec![S::ZERO; n],
            next: vec![S::ZERO; n],
            work: vec![S::ZERO; problem.work_len()],
            k: 0,
            ended: false,
        })
    }

    /// Measured in a norm.
    pub fn in_norm(mut self, geometry: Box<dyn Geometry<S>>) -> Result<Self, Error> {
        self.measure = Measure::in_norm(self.problem, geometry)?;
        Ok(self)
    }

    /// ∇f(x) and the pair, for the W that is held; H is looked at.
    fn evaluate(&mut self) {
        let Self { factors, problem, x, grad, .. } = self;
        let (w, h) = x.split_at(factors.split());
        let (grad_w, grad_h) = grad.split_at_mut(factors.split());
        factors.look_at_h(h);
        factors.gradient_w(grad_w, w, false);
        factors.gradient_h(grad_h, h);
        let lipschitz = factors.lipschitz_w().max(factors.lipschitz_h());
        self.pair.look(problem, x, grad, lipschitz);
    }

    /// next ← x + θ(x − previous).
    fn extrapolate(&mut self) {
        let k = self.k as f64;
        let theta = S::of(if self.inertia { (k - 1.0) / (k + 2.0) } else { 0.0 });
        let points = self.x.iter().zip(&self.previous);
        self.next.iter_mut().zip(points).for_each(|(next, (&x, &before))| *next = x + theta * (x - before));
    }

    fn sweep(&mut self) {
        self.extrapolate();
        let Self { factors, problem, x, previous, grad, next, work, .. } = self;
        let split = factors.split();
        let (v_w, v_h) = next.split_at_mut(split);
        let (grad_w, grad_h) = grad.split_at_mut(split);
        let step = 1.0 / factors.lipschitz_w().max(2.0 * problem.g().weak_convexity()).max(f64::MIN_POSITIVE);
        factors.gradient_w(grad_w, v_w, false);
        vector::axpy(v_w, -step, grad_w);
        problem.g().prox(&mut previous[..split], v_w, step, work);
        factors.look_at_w(&previous[..split]);
        factors.gradient_h(grad_h, v_h);
        let step = 1.0 / factors.lipschitz_h().max(f64::MIN_POSITIVE);
        vector::add_scaled(&mut previous[split..], v_h, -step, grad_h);
        std::mem::swap(x, previous);
    }

    fn advance(&mut self) -> Info {
        match self.k {
            0 => self.factors.look_at_w(&self.x[..self.factors.split()]),
            _ => self.sweep(),
        }
        self.k += 1;
        self.evaluate();
        let info = Info {
            k: self.k,
            epoch: None,
            beta: 0.0,
            gamma: 1.0,
            dual_norm: self.measure.bracket(self.pair.residual, self.pair.residual),
            eta: 0.0,
            excess: 0.0,
            prox_gap: self.pair.gap,
            objective: None,
            finite: self.pair.residual.is_finite() && self.pair.gap.is_finite(),
            candidate: true,
        };
        if info.finite {
            self.measure.start.get_or_insert([info.dual_norm.upper, info.prox_gap]);
        } else {
            self.ended = true;
            if self.k > 1 {
                std::mem::swap(&mut self.x, &mut self.previous);
                self.factors.look_at_w(&self.x[..self.factors.split()]);
                self.evaluate();
                self.k -= 1;
            }
        }
        info
    }

    fn loss(&mut self) -> f64 {
        let (w, h) = self.x.split_at(self.factors.split());
        let value = self.factors.value(w, h);
        value.unwrap_or_else(|| self.problem.f().value_grad(&mut self.next, &self.x, &mut self.work))
    }
}

impl<S: Real> Iterator for Palm<'_, S> {
    type Item = Info;

    fn next(&mut self) -> Option<Info> {
        if self.ended { None } else { Some(self.advance()) }
    }
}

impl<S: Real> Solver<S> for Palm<'_, S> {
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
        self.objective()
    }

    fn exact_dual_norm(&mut self) -> f64 {
        self.pair.gradient(self.problem, &mut self.next, &self.grad);
        self.measure.norm(&self.next)
    }

    fn norms(&self) -> Vec<BlockNorm> {
        self.measure.norms()
    }

    fn evidence<'u>(&self, u: &'u mut [S]) -> Evidence<'u, S> {
        if self.k == 0 { Evidence::smoothed(self.problem.default_beta()) } else { self.pair.evidence(self.problem, u) }
    }

    fn start_measure(&self) -> Option<[f64; 2]> {
        self.measure.start
    }

    fn save(&self) -> State<S> {
        State {
            solver: if self.inertia { "ipalm" } else { "palm" }.into(),
            k: self.k,
            numbers: self.measure.start.unwrap_or_default().to_vec(),
            vectors: vec![self.x.clone(), self.previous.clone()],
            warm_start: vec![],
        }
    }

    fn restore(&mut self, state: &State<S>) -> Result<(), Error> {
        let start_measure: [f64; 2] = state.check(if self.inertia { "ipalm" } else { "palm" }, 2, self.x.len())?;
        self.x.copy_from_slice(&state.vectors[0]);
        self.previous.copy_from_slice(&state.vectors[1]);
        (self.k, self.ended, self.measure.start) = (state.k, false, None);
        if self.k > 0 {
            self.measure.start = Some(start_measure);
            self.factors.look_at_w(&self.x[..self.factors.split()]);
            self.evaluate();
        }
        Ok(())
    }
}
