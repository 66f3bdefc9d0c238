//! Proximal alternating linearised minimisation, plain and with inertia: the yardstick for factorisation.

use serde::{Deserialize, Serialize};

use crate::certificate::Shown;
use crate::error::Error;
use crate::geometry::Geometry;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::factors::Factors;
use crate::solver::factors::rescale::Rescale;
use crate::solver::pair::Pair;
use crate::solver::state::{self, fits};
use crate::solver::{Info, Measured, Method, Run, Standing};
use crate::space::Host;
use crate::vector;

/// W ← prox_{sg}(V − s∇_Wf(V, H)), s = 1/max(L_W, 2ρ); H ← X − ∇_Hf(W, X)/L_H, with L_W = 2cσ₁(HHᵀ), L_H = 2cσ₁(WᵀW) + ν.
///
/// PALM (Bolte, Sabach and Teboulle 2014) has V = W and X = H; iPALM (Pock and Sabach 2016) extrapolates both by
/// θ_k = (k − 1)/(k + 2). No smoothing: its certificates are made of one proximal gradient step from x.
pub struct Palm<'p, S> {
    host: Host<'p, S>,
    factors: Factors<'p, S>,
    pair: Pair<S>,
    inertia: bool,
    rescale: Option<Rescale<S>>,
    x: Vec<S>,
    previous: Vec<S>,
    /// ∇f(x).
    grad: Vec<S>,
    next: Vec<S>,
    begun: bool,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    inertia: bool,
    x: Vec<S>,
    previous: Vec<S>,
}

impl<'p, S: Real> Palm<'p, S> {
    /// Starts at x₀ = (W, H), which is copied.
    pub fn new(problem: &'p Problem<S>, inertia: bool, x0: &[S]) -> Result<Run<Self>, Error> {
        problem.check_start(x0)?;
        let n = x0.len();
        Ok(Run::new(Self {
            host: Host::euclidean(problem)?,
            factors: Factors::new(problem)?,
            pair: Pair::new(problem)?,
            inertia,
            rescale: None,
            x: x0.to_vec(),
            previous: x0.to_vec(),
            grad: vec![S::ZERO; n],
            next: vec![S::ZERO; n],
            begun: false,
        }))
    }

    /// ∇f(x) and the pair, for the W that is held; H is looked at.
    fn evaluate(&mut self) {
        self.begun = true;
        let Self { factors, x, grad, .. } = self;
        let (w, h) = x.split_at(factors.split());
        let (grad_w, grad_h) = grad.split_at_mut(factors.split());
        factors.look_at_h(h);
        factors.gradient_w(grad_w, w, false);
        factors.gradient_h(grad_h, h);
        let lipschitz = factors.lipschitz_w().max(factors.lipschitz_h());
        self.pair.look(self.host.problem(), x, grad, lipschitz);
    }

    /// next ← x + θ(x − previous).
    fn extrapolate(&mut self, k: u64) {
        let k = k as f64;
        let theta = S::of(if self.inertia { (k - 1.0) / (k + 2.0) } else { 0.0 });
        let points = self.x.iter().zip(&self.previous);
        self.next.iter_mut().zip(points).for_each(|(next, (&x, &before))| *next = x + theta * (x - before));
    }

    fn sweep(&mut self, k: u64) {
        self.extrapolate(k);
        let Self { host, factors, x, previous, grad, next, .. } = self;
        let (problem, work) = host.parts();
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
        if let Some(rescale) = self.rescale.as_mut().filter(|rescale| k.is_multiple_of(rescale.every)) {
            let points = [&mut self.x[..], &mut self.previous[..]];
            rescale.apply(self.host.problem(), points, self.factors.rank, self.factors.ridge, None);
            self.factors.look_at_w(&self.x[..self.factors.split()]);
        }
    }

    /// Holds the W of x, and looks at all the rest.
    fn stand(&mut self) {
        self.factors.look_at_w(&self.x[..self.factors.split()]);
        self.evaluate();
    }
}

impl<S: Real> Run<Palm<'_, S>> {
    /// Also rescales the columns of W against H every so many sweeps, as [`Alternating`](crate::solver::Alternating) can; never for 0.
    pub fn rescaling(mut self, every: u64) -> Result<Self, Error> {
        let problem = self.method.host.problem();
        self.method.rescale = (every > 0).then(|| Rescale::new(problem, every)).transpose()?;
        Ok(self)
    }
}

impl<'p, S: Real> Method for Palm<'p, S> {
    type Space = Host<'p, S>;

    fn step(&mut self, k: u64) -> Option<Info> {
        match k {
            0 => self.factors.look_at_w(&self.x[..self.factors.split()]),
            _ => self.sweep(k),
        }
        self.evaluate();
        Some(Info::unsmoothed(k + 1, 1.0, self.host.between(), [self.pair.residual; 2], self.pair.gap))
    }

    fn retreat(&mut self) {
        std::mem::swap(&mut self.x, &mut self.previous);
        self.stand();
    }

    fn standing(&mut self, _: u64) -> impl Standing<Host<'p, S>> {
        self
    }

    fn save(&mut self, _: u64) -> state::Memo<S> {
        state::Memo::Palm(Memo { inertia: self.inertia, x: self.x.clone(), previous: self.previous.clone() })
    }

    fn restore(&mut self, k: u64, memo: &state::Memo<S>) -> Result<(), Error> {
        let name = |inertia: bool| if inertia { "ipalm" } else { "palm" };
        let state::Memo::Palm(Memo { inertia, x, previous }) = memo else { return memo.is_none_of(name(self.inertia)) };
        if *inertia != self.inertia {
            let message = format!("a state of `{}` cannot resume `{}`", name(*inertia), name(self.inertia));
            return Err(Error::Unsupported(message));
        }
        fits(x, self.x.len())?;
        fits(previous, self.x.len())?;
        self.x.copy_from_slice(x);
        self.previous.copy_from_slice(previous);
        self.begun = false;
        if k > 0 {
            self.stand();
        }
        Ok(())
    }
}

impl<'p, S: Real> Standing<Host<'p, S>> for Palm<'p, S> {
    fn place(&mut self) -> (&mut Host<'p, S>, &Vec<S>) {
        (&mut self.host, &self.x)
    }

    fn objective(&mut self) -> f64 {
        let (w, h) = self.x.split_at(self.factors.split());
        let value = self.factors.value(w, h);
        let (problem, work) = self.host.parts();
        let loss = value.unwrap_or_else(|| problem.f().value_grad(&mut self.next, &self.x, work));
        loss + problem.penalty(&self.x, work)
    }

    fn exact_dual_norm(&mut self) -> f64 {
        self.pair.gradient(self.host.problem(), &mut self.next, &self.grad);
        self.host.dual_norm_of(&self.next)
    }

    fn show(&mut self) -> Shown {
        if self.begun { self.pair.show(&mut self.host) } else { Shown::smoothed(self.host.problem().default_beta()) }
    }
}

impl<S: Real> Measured for Palm<'_, S> {
    fn measure_in(&mut self, geometry: Box<dyn Geometry<S>>) -> Result<(), Error> {
        self.host.measure_in(geometry)
    }
}
