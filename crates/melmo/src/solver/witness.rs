//! What a method that does not smooth shows for a certificate.

use crate::error::Error;
use crate::geometry::Bracket;
use crate::operator::Form;
use crate::problem::Problem;
use crate::real::Real;
use crate::vector;

/// x′ with prox_{βg}(Tx′) = z and ∇F_β(x′) = ∇f(x′) + T*v, where v ∈ ∂g(z) comes from one proximal gradient step:
///
/// ```text
/// z = prox_{sg}(Tx − sT∇f(x))     v = (Tx − sT∇f(x) − z)/s     x′ = x + T*(z + βv − Tx)
/// ```
///
/// T = I or a selection of blocks (TT* = I). ‖∇F_β(x′)‖₂ ≤ ‖∇f(x) + T*v‖₂ + L_f‖x′ − x‖₂: at a stationary x only L_fβ‖v‖₂
/// remains, and rounding adds ε‖z‖₂/β. β = √(ε‖z‖₂/(L_f‖v‖₂)) balances the two.
#[derive(Clone, Debug)]
pub struct Witness<S> {
    point: Vec<S>,
    /// Tx − sT∇f(x), then v.
    forward: Vec<S>,
    z: Vec<S>,
    work: Vec<S>,
    /// β.
    pub beta: f64,
    /// ‖Tx′ − z‖₂ = β‖v‖₂.
    pub prox_gap: f64,
    /// ‖∇f(x) + T*v‖₂: how far x is from stationary, in the sense of the step s.
    pub residual: f64,
    /// ‖x′ − x‖₂.
    pub moved: f64,
}

impl<S: Real> Witness<S> {
    /// Refuses an operator that does not pick entries.
    pub fn new(problem: &Problem<S>) -> Result<Self, Error> {
        if !matches!(problem.t().form(), Form::Identity | Form::Select(_)) {
            let message = "a method that does not smooth needs T = I or a selection of blocks";
            return Err(Error::Unsupported(message.into()));
        }
        let (n, m) = (problem.layout().size(), problem.t().range().size());
        let work = vec![S::ZERO; problem.t().work_len().max(problem.g().work_len())];
        let (beta, unknown) = (problem.default_beta(), f64::NAN);
        Ok(Self {
            point: vec![S::ZERO; n],
            forward: vec![S::ZERO; m],
            z: vec![S::ZERO; m],
            work,
            beta,
            prox_gap: unknown,
            residual: unknown,
            moved: unknown,
        })
    }

    /// x′ of the last [`Witness::take`].
    pub fn point(&self) -> &[S] {
        &self.point
    }

    /// Takes the step from x, where ∇f(x) = `grad` and ∇f is (about) `lipschitz`-Lipschitz.
    pub fn take(&mut self, problem: &Problem<S>, x: &[S], grad: &[S], lipschitz: f64) {
        let (g, t) = (problem.g(), problem.t());
        let Self { point, forward, z, work, .. } = self;
        let step = (1.0 / lipschitz.max(f64::MIN_POSITIVE)).min(problem.beta_limit()).min(1.0 / S::EPSILON);
        t.apply(forward, grad, work); // T∇f(x)
        point.copy_from_slice(grad);
        z.iter_mut().zip(&*forward).for_each(|(z, &slope)| *z = -slope);
        t.adjoint_add(point, z, work);
        let free = vector::norm2_squared(point); // of ∇f(x) where T does not reach
        t.apply(z, x, work); // Tx
        vector::axpy(z, -step, forward);
        std::mem::swap(z, forward);
        g.prox(z, forward, step, work);
        let inverse = S::of(1.0 / step);
        forward.iter_mut().zip(&*z).for_each(|(v, &z)| *v = (*v - z) * inverse); // v ∈ ∂g(z)
        let (size, slope) = (vector::norm2(z), vector::norm2(forward));
        self.beta = balanced::<S>(size.max(step * slope), lipschitz * slope).min(step);
        self.prox_gap = self.beta * slope;
        // x′ − x on T's entries, before x is added to it.
        t.apply(&mut point[..forward.len()], x, work);
        let beta = S::of(self.beta);
        let (mut away, mut moved) = (0.0, 0.0);
        for ((v, z), tx) in forward.iter_mut().zip(&*z).zip(&*point) {
            let (to_z, to_point) = (*z - *tx, *z + beta * *v - *tx);
            (away, moved) = (away + to_z.f64().powi(2), moved + to_point.f64().powi(2));
            *v = to_point;
        }
        (self.residual, self.moved) = ((free + away / (step * step)).sqrt(), moved.sqrt());
        point.copy_from_slice(x);
        t.adjoint_add(point, forward, work);
    }

    /// ‖∇F_β(x′)‖₂; `phi` has the length of x, `work` the problem's.
    pub fn exact_dual_norm(&self, problem: &Problem<S>, phi: &mut [S], work: &mut [S]) -> f64 {
        problem.smoothed_gradient(phi, &self.point, self.beta, work);
        vector::norm2(phi)
    }

    /// F_β(x′).
    pub fn smoothed(&self, problem: &Problem<S>, phi: &mut [S], work: &mut [S]) -> f64 {
        let found = problem.smoothed_gradient(phi, &self.point, self.beta, work);
        found.f + problem.envelope(&self.point, self.beta, work)
    }

    /// Bounds on ‖∇F_β(x′)‖₂, when ∇f is `lipschitz`-Lipschitz indeed.
    pub fn bracket(&self, lipschitz: f64) -> Bracket {
        let change = lipschitz * self.moved;
        let rounding = S::EPSILON * vector::norm2(&self.point) / self.beta;
        let lower = (self.residual - change - rounding).max(0.0);
        Bracket { lower, upper: self.residual + change + rounding }
    }
}

/// √(ε·size/curvature), 1 where nothing limits it.
fn balanced<S: Real>(size: f64, curvature: f64) -> f64 {
    if curvature > 0.0 { (S::EPSILON * size / curvature).sqrt() } else { 1.0 }
}
