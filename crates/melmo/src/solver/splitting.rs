//! Alternating x- and z-steps on f(x) + g(z), Tx = z, with a multiplier: what ADMM and the tilted envelope share.

use crate::error::Error;
use crate::metric::Metric;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::balance::Relative;
use crate::solver::state::fits;
use crate::solver::unsmoothed::Known;
use crate::vector::{self, simd};

/// With u = βw, w the multiplier, and relaxation α:
///
/// ```text
/// x ← x − M⁻¹(∇f(x) + T*(Tx − z + u)/β)       the minimiser of f(x) + ‖Tx − z + u‖²/(2β) where M is its Hessian
/// s = αTx + (1 − α)z + u                      z ← prox_{βg}(s)         u ← s − z,  so that w = u/β ∈ ∂g(z)
/// ```
pub(super) struct Splitting<'p, S> {
    problem: &'p Problem<S>,
    metric: Box<dyn Metric<S> + 'p>,
    pub x: Vec<S>,
    pub z: Vec<S>,
    pub u: Vec<S>,
    pub beta: f64,
    pub relaxation: f64,
    tx: Vec<S>,
    shifted: Vec<S>,
    next_z: Vec<S>,
    step: Vec<S>,
    work: Vec<S>,
}

/// How far a step was from leaving everything as it is.
pub(super) struct Residuals {
    /// ‖Tx − z‖₂.
    pub gap: f64,
    /// A bound on ‖∇f(x) + T*w‖₂, w ∈ ∂g(z), for an exact x-step.
    pub slope: f64,
    /// ‖Δz‖₂: what a balanced β goes by. The bound's own part, which relaxation adds to, would keep β too small.
    moved: f64,
}

impl<'p, S: Real> Splitting<'p, S> {
    /// At x₀ with z = 0, u = 0. β < 1/ρ, or the proximal step has no unique answer; 0 < α < 2.
    pub fn new(
        problem: &'p Problem<S>,
        metric: Box<dyn Metric<S> + 'p>,
        beta: f64,
        relaxation: f64,
        x0: &[S],
    ) -> Result<Self, Error> {
        let fits = beta * problem.g().weak_convexity() < 1.0;
        Error::expect_parameter("beta", beta, fits, "below 1/ρ: the penalty 1/β has to exceed the weak convexity")?;
        Self::unlimited(problem, metric, beta, relaxation, x0)
    }

    /// The same with any β > 0, for steps with a convex penalty of one's own.
    pub fn unlimited(
        problem: &'p Problem<S>,
        metric: Box<dyn Metric<S> + 'p>,
        beta: f64,
        relaxation: f64,
        x0: &[S],
    ) -> Result<Self, Error> {
        problem.check_start(x0)?;
        Error::expect_positive("beta", beta)?;
        let open = relaxation > 0.0 && relaxation < 2.0;
        Error::expect_parameter("relaxation", relaxation, open, "between 0 and 2, both excluded")?;
        let (f, g, t) = (problem.f(), problem.g(), problem.t());
        let m = t.range().size();
        let [z, u, tx, shifted, next_z] = [(); 5].map(|()| vec![S::ZERO; m]);
        let work = vec![S::ZERO; f.work_len().max(g.work_len()).max(t.work_len())];
        let step = vec![S::ZERO; x0.len()];
        let x = x0.to_vec();
        let mut this = Self { problem, metric, x, z, u, beta, relaxation, tx, shifted, next_z, step, work };
        this.refresh();
        Ok(this)
    }

    /// Tx.
    pub fn tx(&self) -> &[S] {
        &self.tx
    }

    /// z and w = u/β ∈ ∂g(z).
    pub fn known(&self) -> Known<'_, S> {
        Known { z: &self.z, scaled: &self.u, step: self.beta }
    }

    /// Tx anew, after x was replaced.
    fn refresh(&mut self) {
        self.problem.t().apply(&mut self.tx, &self.x, &mut self.work);
    }

    /// s of the last step.
    pub fn s(&self) -> &[S] {
        &self.shifted
    }

    /// As if the last step had led to this s: x stays.
    pub fn stand_at(&mut self, s: &[S]) {
        self.problem.g().prox(&mut self.z, s, self.beta, &mut self.work);
        self.u.iter_mut().zip(s).zip(&self.z).for_each(|((u, &s), &z)| *u = s - z);
    }

    /// Back to x, z and u as they were.
    pub fn go_back(&mut self, [x, z, u]: [&[S]; 3]) {
        self.x.copy_from_slice(x);
        self.z.copy_from_slice(z);
        self.u.copy_from_slice(u);
        self.refresh();
    }

    /// Goes on from saved x, z and u, if they fit.
    pub fn restore(&mut self, [x, z, u]: [&[S]; 3], beta: f64) -> Result<(), Error> {
        fits(x, self.x.len())?;
        fits(z, self.z.len())?;
        fits(u, self.u.len())?;
        self.beta = beta;
        self.go_back([x, z, u]);
        Ok(())
    }

    /// The residuals of the last step next to the sizes of Tx or z, and of the multiplier.
    pub fn relative(&self, residuals: &Residuals) -> Relative {
        let size = vector::norm2(&self.tx).max(vector::norm2(&self.z));
        Relative { gap: residuals.gap / size, slope: residuals.moved / vector::norm2(&self.u) }
    }

    /// Another β, with the multiplier w kept.
    pub fn rescale(&mut self, beta: f64) {
        let factor = S::of(beta / self.beta);
        self.u.iter_mut().for_each(|u| *u *= factor);
        self.beta = beta;
    }

    pub fn step(&mut self) -> Residuals {
        let g = self.problem.g();
        self.step_with(|z, s, beta, work| {
            g.prox(z, s, beta, work);
        })
    }

    /// A step with z ← `prox`(s, β) for the prox of another penalty.
    pub fn step_with(&mut self, prox: impl FnOnce(&mut [S], &[S], f64, &mut [S])) -> Residuals {
        let Self { problem, metric, x, z, u, beta, relaxation, tx, shifted, next_z, step, work } = self;
        let (f, t) = (problem.f(), problem.t());
        let (inverse, alpha, rest) = (S::of(1.0 / *beta), S::of(*relaxation), S::of(1.0 - *relaxation));
        simd(
            #[inline(always)]
            || {
                for (((shifted, &tx), &z), &u) in shifted.iter_mut().zip(&*tx).zip(&*z).zip(&*u) {
                    *shifted = (tx - z + u) * inverse;
                }
            },
        );
        f.value_grad(step, x, work);
        t.adjoint_add(step, shifted, work); // ∇f(x) + T*(Tx − z + u)/β
        metric.prepare(x, *beta);
        metric.solve(step);
        vector::axpy(x, -1.0, step);
        t.apply(tx, x, work);
        simd(
            #[inline(always)]
            || {
                for (((shifted, &tx), &z), &u) in shifted.iter_mut().zip(&*tx).zip(&*z).zip(&*u) {
                    *shifted = alpha * tx + rest * z + u;
                }
            },
        );
        prox(next_z, shifted, *beta, work);
        let [mut gap, mut slope, mut moved] = [0.0; 3];
        for ((((u, &shifted), &next), &z), &tx) in u.iter_mut().zip(&*shifted).zip(&*next_z).zip(&*z).zip(&*tx) {
            *u = shifted - next;
            gap += (tx - next).f64().powi(2);
            slope += (z - next - rest * (tx - z)).f64().powi(2);
            moved += (z - next).f64().powi(2);
        }
        std::mem::swap(z, next_z);
        Residuals { gap: gap.sqrt(), slope: t.norm_bound() * slope.sqrt() / *beta, moved: moved.sqrt() }
    }
}
