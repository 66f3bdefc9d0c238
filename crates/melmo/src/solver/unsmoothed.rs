//! What methods without smoothing share: a point, the norm it is measured in, and how far it is from stationary.

use crate::certificate::Shown;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::{Info, Standing};
use crate::space::Host;
use crate::vector;

/// z and w = scaled/step ∈ ∂g(z): what a method knows besides x, once it has taken a step.
#[derive(Clone, Copy)]
pub(super) struct Known<'a, S> {
    pub z: &'a [S],
    pub scaled: &'a [S],
    pub step: f64,
}

/// Stands at x; the method beside it knows a pair (z, w), w ∈ ∂g(z) ([`pair`](crate::solver::pair)).
pub(super) struct Unsmoothed<S> {
    /// x.
    pub x: Vec<S>,
    grad: Vec<S>,
    slope: Vec<S>,
}

impl<S: Real> Unsmoothed<S> {
    pub fn new(problem: &Problem<S>, x0: &[S]) -> Self {
        let zeros = |n: usize| vec![S::ZERO; n];
        Self { x: x0.to_vec(), grad: zeros(x0.len()), slope: zeros(problem.t().range().size()) }
    }

    /// f at any x.
    pub fn loss(&mut self, host: &mut Host<'_, S>, x: &[S]) -> f64 {
        let (problem, work) = host.parts();
        problem.f().value_grad(&mut self.grad, x, work)
    }

    /// The info of the start: nothing is known yet but u = Tx₀, so it is judged as a smoothed point.
    pub fn begin(&mut self, host: &mut Host<'_, S>, step: f64) -> Info {
        let (problem, work) = host.parts();
        let beta = problem.default_beta();
        let found = problem.smoothed_gradient(&mut self.grad, &self.x, beta, work);
        let (size, gap) = (vector::norm2(&self.grad), beta * found.slope_squared.sqrt());
        let finite = found.f.is_finite() && size.is_finite() && gap.is_finite();
        Info { finite, ..Info::unsmoothed(1, step, host.between(), [size, size], gap) }
    }

    /// The point with what is asked there; nothing is known at the start.
    pub fn standing<'a, 'p>(&'a mut self, host: &'a mut Host<'p, S>, known: Option<Known<'a, S>>) -> Paired<'a, 'p, S> {
        Paired { host, common: self, known }
    }
}

/// Where a method without smoothing stands, and the pair it knows there.
pub(super) struct Paired<'a, 'p, S> {
    host: &'a mut Host<'p, S>,
    common: &'a mut Unsmoothed<S>,
    known: Option<Known<'a, S>>,
}

impl<'p, S: Real> Standing<Host<'p, S>> for Paired<'_, 'p, S> {
    fn place(&mut self) -> (&mut Host<'p, S>, &Vec<S>) {
        (self.host, &self.common.x)
    }

    fn objective(&mut self) -> f64 {
        let Unsmoothed { x, grad, .. } = &mut *self.common;
        let (problem, work) = self.host.parts();
        let f = problem.f().value_grad(grad, x, work);
        f + problem.penalty(x, work)
    }

    /// Of ∇f(x) + T*w; w = ∇g_β(Tx) at the start, where nothing is known yet.
    fn exact_dual_norm(&mut self) -> f64 {
        let Unsmoothed { x, grad, slope } = &mut *self.common;
        let (problem, work) = self.host.parts();
        match self.known {
            None => {
                problem.smoothed_gradient(grad, x, problem.default_beta(), work);
            }
            Some(Known { scaled, step, .. }) => {
                slope.iter_mut().zip(scaled).for_each(|(w, &scaled)| *w = S::of(scaled.f64() / step));
                problem.f().value_grad(grad, x, work);
                problem.t().adjoint_add(grad, slope, work);
            }
        }
        self.host.dual_norm_of(grad)
    }

    fn show(&mut self) -> Shown {
        match self.known {
            Some(Known { z, scaled, step }) => self.host.show_pair(z, scaled, step),
            None => Shown::smoothed(self.host.problem().default_beta()),
        }
    }
}
