//! What methods without smoothing share: a point, the norm it is measured in, and how far it is from stationary.

use crate::certificate::Evidence;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::Info;
use crate::solver::measure::Measure;
use crate::vector;

/// z and w = scaled/step ∈ ∂g(z): what a method knows besides x, once it has taken a step.
pub(super) struct Known<'a, S> {
    pub z: &'a [S],
    pub scaled: &'a [S],
    pub step: f64,
}

/// Stands at x; the method beside it knows a pair (z, w), w ∈ ∂g(z) ([`pair`](crate::solver::pair)).
pub(super) struct Unsmoothed<'p, S> {
    pub problem: &'p Problem<S>,
    /// x.
    pub x: Vec<S>,
    pub measure: Measure<S>,
    grad: Vec<S>,
    slope: Vec<S>,
    work: Vec<S>,
}

impl<'p, S: Real> Unsmoothed<'p, S> {
    pub fn new(problem: &'p Problem<S>, x0: &[S]) -> Self {
        Self {
            problem,
            x: x0.to_vec(),
            measure: Measure::new(problem),
            grad: vec![S::ZERO; x0.len()],
            slope: vec![S::ZERO; problem.t().range().size()],
            work: vec![S::ZERO; problem.work_len()],
        }
    }

    /// F(x).
    pub fn objective(&mut self) -> f64 {
        let f = self.problem.f().value_grad(&mut self.grad, &self.x, &mut self.work);
        f + self.problem.penalty(&self.x, &mut self.work)
    }

    /// f at any x.
    pub fn loss(&mut self, x: &[S]) -> f64 {
        self.problem.f().value_grad(&mut self.grad, x, &mut self.work)
    }

    /// The info of the start: nothing is known yet but u = Tx₀, so it is judged as a smoothed point.
    pub fn begin(&mut self, step: f64) -> Info {
        let beta = self.problem.default_beta();
        let found = self.problem.smoothed_gradient(&mut self.grad, &self.x, beta, &mut self.work);
        let (size, gap) = (vector::norm2(&self.grad), beta * found.slope_squared.sqrt());
        let finite = found.f.is_finite() && size.is_finite() && gap.is_finite();
        let info = Info { finite, ..self.info(1, step, [size, size], gap) };
        if finite {
            self.measure.start = Some([info.dual_norm.upper, gap]);
        }
        info
    }

    /// The info of x: β = 0, since ‖∇f(x) + T*w‖₂, between two bounds, speaks of f + g∘T itself.
    pub fn info(&mut self, k: u64, step: f64, [lower, upper]: [f64; 2], gap: f64) -> Info {
        Info {
            k,
            epoch: None,
            beta: 0.0,
            gamma: step,
            dual_norm: self.measure.bracket(lower, upper),
            eta: 0.0,
            excess: 0.0,
            prox_gap: gap,
            objective: None,
            finite: upper.is_finite() && gap.is_finite(),
            candidate: true,
        }
    }

    /// ∇f(x) + T*w; w = ∇g_β(Tx) at the start, where nothing is known yet.
    pub fn gradient(&mut self, known: Option<Known<'_, S>>) -> &[S] {
        let Self { problem, x, grad, slope, work, .. } = self;
        match known {
            None => {
                problem.smoothed_gradient(grad, x, problem.default_beta(), work);
            }
            Some(Known { scaled, step, .. }) => {
                slope.iter_mut().zip(scaled).for_each(|(w, &scaled)| *w = S::of(scaled.f64() / step));
                problem.f().value_grad(grad, x, work);
                problem.t().adjoint_add(grad, slope, work);
            }
        }
        grad
    }

    /// Its dual norm.
    pub fn exact_dual_norm(&mut self, known: Option<Known<'_, S>>) -> f64 {
        self.gradient(known);
        self.measure.norm(&self.grad)
    }

    /// What a certificate at x is made of.
    pub fn evidence<'u>(&self, u: &'u mut [S], known: Option<Known<'_, S>>) -> Evidence<'u, S> {
        match known {
            Some(Known { z, scaled, step }) => Evidence::of_pair(self.problem, u, z, scaled, step),
            None => Evidence::smoothed(self.problem.default_beta()),
        }
    }
}

/// What a solver with a field `common` answers from it alone, inside its `impl Solver<S>`.
macro_rules! forward_to_unsmoothed {
    () => {
        fn problem(&self) -> &Problem<S> {
            self.common.problem
        }

        fn x(&self) -> &[S] {
            &self.common.x
        }

        fn objective(&mut self) -> f64 {
            self.common.objective()
        }

        fn smoothed(&mut self) -> f64 {
            self.common.objective()
        }

        fn norms(&self) -> Vec<BlockNorm> {
            self.common.measure.norms()
        }

        fn start_measure(&self) -> Option<[f64; 2]> {
            self.common.measure.start
        }
    };
}
pub(super) use forward_to_unsmoothed;
