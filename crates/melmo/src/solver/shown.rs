//! What methods without smoothing show of themselves: a point that a smoothed certificate can speak of.

use crate::geometry::Bracket;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::Info;
use crate::vector;

/// For surjective T, a method without smoothing that stands at x with z ≈ Tx and v ∈ ∂g(z) shows the point
///
/// ```text
/// x′ = x + R(z + βv − Tx):   Tx′ = z + βv,  prox_{βg}(Tx′) = z,  ∇g_β(Tx′) = v,  ∇F_β(x′) = ∇f(x′) + T*v
/// ```
///
/// so that ‖∇F_β(x′)‖ ≤ ‖∇f(x) + T*v‖ + L_f‖x′ − x‖ and ‖Tx′ − z‖ = β‖v‖: both vanish with β at a stationary point, while at x
/// itself ∇g_β(Tx) need not be v at all (it is 0 where Tx is). Without a right inverse it shows x. (For T = I and selections,
/// [`Witness`](crate::solver::Witness) finds a v; here the method has one.)
pub(super) struct Shown<'p, S> {
    pub problem: &'p Problem<S>,
    /// x.
    pub x: Vec<S>,
    /// x′.
    pub point: Vec<S>,
    /// β of the certificate.
    pub beta: f64,
    /// The method's own measure of stationarity.
    pub measure: f64,
    offset: Vec<S>,
    spread: Vec<S>,
    grad: Vec<S>,
    work: Vec<S>,
}

impl<'p, S: Real> Shown<'p, S> {
    pub fn new(problem: &'p Problem<S>, x0: &[S]) -> Self {
        let surjective = problem.t().right_inverse().is_some();
        let (m, n) = if surjective { (problem.t().range().size(), x0.len()) } else { (0, 0) };
        Self {
            problem,
            x: x0.to_vec(),
            point: x0.to_vec(),
            beta: problem.default_beta(),
            measure: f64::MAX,
            offset: vec![S::ZERO; m],
            spread: vec![S::ZERO; n],
            grad: vec![S::ZERO; x0.len()],
            work: vec![S::ZERO; problem.work_len()],
        }
    }

    /// Stands at x, with the x′ of v = u/s, where s is the step of the method's proximal steps. β is then s·√ε, ε the unit of rounding:
    /// the rounding of x′, divided by β, is as small as β.
    pub fn show(&mut self, x: &[S], [tx, z, u]: [&[S]; 3], step: f64) {
        self.x.copy_from_slice(x);
        self.point.copy_from_slice(x);
        let limit = self.problem.beta_limit();
        let Some(inverse) = self.problem.t().right_inverse() else {
            self.beta = step.min(limit);
            return;
        };
        self.beta = (step * S::EPSILON.sqrt()).min(limit);
        let scale = S::of(self.beta / step);
        for (((offset, &tx), &z), &u) in self.offset.iter_mut().zip(tx).zip(z).zip(u) {
            *offset = z + scale * u - tx;
        }
        inverse.right_inverse(&mut self.spread, &self.offset, &mut self.work);
        vector::axpy(&mut self.point, 1.0, &self.spread);
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

    /// The info of the start, of which only f(x₀) is known. F(x₀) may be ∞.
    pub fn begin(&mut self, step: f64) -> Info {
        let f = self.problem.f().value_grad(&mut self.grad, &self.x, &mut self.work);
        self.info(1, step, if f.is_finite() { f64::MAX } else { f64::NAN }, 0.0)
    }

    /// The info of x: β = 0, since `measure` speaks of f + g∘T itself.
    pub fn info(&mut self, k: u64, step: f64, measure: f64, gap: f64) -> Info {
        self.measure = measure;
        Info {
            k,
            epoch: None,
            beta: 0.0,
            gamma: step,
            dual_norm: Bracket { lower: 0.0, upper: measure },
            eta: 0.0,
            excess: 0.0,
            prox_gap: gap,
            objective: None,
            finite: measure.is_finite() && gap.is_finite(),
            candidate: false,
        }
    }
}

/// What a solver with a field `shown` answers from it alone, inside its `impl Solver<S>`.
macro_rules! forward_to_shown {
    () => {
        fn problem(&self) -> &Problem<S> {
            self.shown.problem
        }

        fn x(&self) -> &[S] {
            &self.shown.x
        }

        fn certificate_point(&self) -> &[S] {
            &self.shown.point
        }

        fn objective(&mut self) -> f64 {
            self.shown.objective()
        }

        fn smoothed(&mut self) -> f64 {
            self.shown.objective()
        }

        fn exact_dual_norm(&mut self) -> f64 {
            self.shown.measure
        }

        fn norms(&self) -> Vec<BlockNorm> {
            whole(self.shown.problem).norms()
        }

        fn certificate_beta(&self) -> f64 {
            self.shown.beta
        }

        fn start_measure(&self) -> Option<[f64; 2]> {
            None
        }
    };
}
pub(super) use forward_to_shown;
