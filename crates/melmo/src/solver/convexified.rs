//! The convex problems that a difference-of-convex method solves one after another.

use crate::error::Error;
use crate::metric;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::splitting::{Residuals, Splitting};
use crate::solver::state::take;
use crate::solver::unsmoothed::Known;
use crate::vector::{self, simd};

/// α of ADMM.
pub(crate) const RELAXATION: f64 = 1.6;

/// g = h − ρ/2‖·‖² with h = g + ρ/2‖·‖² convex. With the concave part replaced by its tangent at Tx_k, up to a constant,
///
/// ```text
/// x_{k+1} = argmin f(x) + g(Tx) + ρ/2‖Tx − c‖²,   c = Tx_k
/// ```
///
/// (Pham Dinh & Le Thi 1997), a convex problem where f is. It is solved by ADMM with penalty 1/β, since
/// prox_{β(g + ρ/2‖·−c‖²)}(s) = prox_{β′g}((s + βρc)/(1 + βρ)), β′ = β/(1 + βρ) < 1/ρ, until both residuals are below `accuracy`
/// times what they are made of. ADMM's multiplier u/β lies in ∂g(z) + ρ(z − c); what is left of it lies in ∂g(z).
pub(super) struct Convexified<'p, S> {
    problem: &'p Problem<S>,
    pub splitting: Splitting<'p, S>,
    /// c.
    pub center: Vec<S>,
    /// w = u/β − ρ(z − c) ∈ ∂g(z).
    pub w: Vec<S>,
    accuracy: f64,
    rho: f64,
    shifted: Vec<S>,
}

impl<'p, S: Real> Convexified<'p, S> {
    /// At x₀ with c = Tx₀. Refuses a problem whose x-steps ADMM cannot solve.
    pub fn new(problem: &'p Problem<S>, beta: f64, accuracy: f64, x0: &[S]) -> Result<Self, Error> {
        let below = accuracy > 0.0 && accuracy < 1.0;
        Error::expect_parameter("accuracy", accuracy, below, "between 0 and 1, both excluded")?;
        let (_, metric) = metric::for_problem(problem)?;
        let splitting = Splitting::unlimited(problem, metric, beta, RELAXATION, x0)?;
        let center = splitting.tx().to_vec();
        let [w, shifted] = [(); 2].map(|()| vec![S::ZERO; center.len()]);
        Ok(Self { problem, splitting, center, w, accuracy, rho: problem.g().weak_convexity(), shifted })
    }

    /// Goes on from saved x, z, u and c, if they fit.
    pub fn restore(&mut self, [x, z, u, center]: [&[S]; 4]) -> Result<(), Error> {
        let beta = self.splitting.beta;
        take(&mut self.center, center)?;
        self.splitting.restore([x, z, u], beta)?;
        self.multiplier();
        Ok(())
    }

    /// One step of ADMM on the convex problem.
    pub fn step(&mut self) -> Residuals {
        let Self { problem, splitting, center, rho, shifted, .. } = self;
        let g = problem.g();
        let residuals = splitting.step_with(|z, s, beta, work| {
            let (pull, shrink) = (S::of(beta * *rho), S::of(1.0 / (1.0 + beta * *rho)));
            simd(
                #[inline(always)]
                || {
                    for ((shifted, &s), &c) in shifted.iter_mut().zip(s).zip(&*center) {
                        *shifted = (s + pull * c) * shrink;
                    }
                },
            );
            g.prox(z, shifted, beta / (1.0 + beta * *rho), work);
        });
        self.multiplier();
        residuals
    }

    /// w ← u/β − ρ(z − c).
    fn multiplier(&mut self) {
        let (inverse, rho) = (S::of(1.0 / self.splitting.beta), S::of(self.rho));
        let pairs = self.splitting.u.iter().zip(&self.splitting.z).zip(&self.center);
        self.w.iter_mut().zip(pairs).for_each(|(w, ((&u, &z), &c))| *w = u * inverse - rho * (z - c));
    }

    /// Whether the convex problem is solved: ‖Tx − z‖ next to ‖Tx‖ and the slope next to ‖T‖‖u‖/β.
    pub fn solved(&self, residuals: &Residuals) -> bool {
        let reach = vector::norm2(self.splitting.tx()).max(vector::norm2(&self.splitting.z));
        let pull = self.problem.t().norm_bound() * vector::norm2(&self.splitting.u) / self.splitting.beta;
        residuals.gap <= self.accuracy * reach && residuals.slope <= self.accuracy * pull
    }

    /// c ← Tx, with w as it is: u/β ← w + ρ(z − c).
    pub fn recenter(&mut self) {
        let pull = S::of(self.splitting.beta * self.rho);
        let tx = &mut self.shifted;
        tx.copy_from_slice(self.splitting.tx());
        for ((u, c), &tx) in self.splitting.u.iter_mut().zip(&mut self.center).zip(&*tx) {
            *u += pull * (*c - tx);
            *c = tx;
        }
        self.multiplier();
    }

    /// z and w ∈ ∂g(z).
    pub fn known(&self) -> Known<'_, S> {
        Known { z: &self.splitting.z, scaled: &self.w, step: 1.0 }
    }

    /// ρ‖T‖‖z − c‖: ‖∇f(x) + T*w‖ is at most the slope of ADMM plus this.
    pub fn pull(&self) -> f64 {
        let squares = self.splitting.z.iter().zip(&self.center).map(|(&z, &c)| (z - c).f64().powi(2));
        self.rho * self.problem.t().norm_bound() * squares.sum::<f64>().sqrt()
    }
}
