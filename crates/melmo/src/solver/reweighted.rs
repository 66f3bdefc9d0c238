//! Reweighted ℓ1: the concave part of a penalty replaced by its tangent, again and again.

use crate::certificate::Evidence;
use crate::error::Error;
use crate::geometry::{BlockNorm, Geometry};
use crate::metric;
use crate::penalty::Streamed;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::measure::Measure;
use crate::solver::splitting::Splitting;
use crate::solver::unsmoothed::{Unsmoothed, forward_to_unsmoothed};
use crate::solver::{Info, Solver, State};
use crate::vector::simd;

/// min f(x) + Σ wᵢ|(Tx)ᵢ| by ADMM, with wᵢ ← φ′(|(Tx)ᵢ|) after every `inner` of its steps: the convex–concave procedure for
/// penalties Σφ(|uᵢ|) with concave φ (MCP, SCAD, log-sum), Candès, Wakin & Boyd 2008.
///
/// The first weights come from x₀. Its w is a slope of the weighted ℓ1 norm at z; the certificate's prox makes one of g of it.
pub struct Reweighted<'p, S> {
    splitting: Splitting<'p, S>,
    common: Unsmoothed<'p, S>,
    weights: Vec<S>,
    magnitudes: Vec<S>,
    work: Vec<S>,
    inner: u64,
    k: u64,
    ended: bool,
}

impl<'p, S: Real> Reweighted<'p, S> {
    /// Starts at x₀, which is copied, with ADMM's penalty 1/β. Refuses a penalty that is not a sum over entries.
    pub fn new(problem: &'p Problem<S>, beta: f64, inner: u64, x0: &[S]) -> Result<Self, Error> {
        if !matches!(problem.g().streamed(), Some(Streamed::Entries(_))) {
            let message =
                "reweighting needs a penalty on entries: groups and singular values have no weights of their own";
            return Err(Error::Unsupported(message.into()));
        }
        Error::expect_parameter("inner", inner as f64, inner > 0, "at least 1")?;
        let (_, metric) = metric::for_problem(problem)?;
        let splitting = Splitting::unlimited(problem, metric, beta, 1.6, x0)?;
        let m = problem.t().range().size();
        let [weights, magnitudes] = [(); 2].map(|()| vec![S::ZERO; m]);
        let common = Unsmoothed::new(problem, x0);
        let work = vec![S::ZERO; problem.g().work_len()];
        let mut this = Self { splitting, common, weights, magnitudes, work, inner, k: 0, ended: false };
        this.reweigh();
        Ok(this)
    }

    /// Measured in a norm.
    pub fn in_norm(mut self, geometry: Box<dyn Geometry<S>>) -> Result<Self, Error> {
        self.common.measure = Measure::in_norm(self.common.problem, geometry)?;
        Ok(self)
    }

    /// wᵢ ← φ′(|(Tx)ᵢ|), the slope on the right at 0.
    fn reweigh(&mut self) {
        let least = S::of(f64::from(f32::MIN_POSITIVE));
        for (magnitude, tx) in self.magnitudes.iter_mut().zip(self.splitting.tx()) {
            *magnitude = tx.abs().larger(least);
        }
        self.common.problem.g().subgradient(&mut self.weights, &self.magnitudes, &mut self.work);
    }

    fn step(&mut self) -> Info {
        let beta = self.splitting.beta;
        if self.k == 0 {
            self.k = 1;
            return self.common.begin(beta);
        }
        if self.k > 1 && (self.k - 1).is_multiple_of(self.inner) {
            self.reweigh();
        }
        let Self { splitting, common, weights, .. } = self;
        let residuals = splitting.step_with(|z, s, beta, _| shrink(z, s, weights, S::of(beta)));
        let info = common.info(self.k + 1, beta, [0.0, residuals.slope], residuals.gap);
        self.ended = !info.finite;
        if info.finite {
            self.k += 1;
            common.x.copy_from_slice(&splitting.x);
        }
        info
    }
}

/// zᵢ ← sign(sᵢ)·max(|sᵢ| − βwᵢ, 0).
fn shrink<S: Real>(z: &mut [S], s: &[S], weights: &[S], beta: S) {
    simd(
        #[inline(always)]
        || {
            for ((z, &s), &w) in z.iter_mut().zip(s).zip(weights) {
                *z = S::ZERO.larger(s.abs() - beta * w).copysign(s) + S::ZERO;
            }
        },
    );
}

impl<S: Real> Iterator for Reweighted<'_, S> {
    type Item = Info;

    fn next(&mut self) -> Option<Info> {
        if self.ended { None } else { Some(self.step()) }
    }
}

impl<S: Real> Solver<S> for Reweighted<'_, S> {
    forward_to_unsmoothed!();

    fn exact_dual_norm(&mut self) -> f64 {
        self.common.exact_dual_norm((self.k > 1).then(|| self.splitting.known()))
    }

    fn evidence<'u>(&self, u: &'u mut [S]) -> Evidence<'u, S> {
        self.common.evidence(u, (self.k > 1).then(|| self.splitting.known()))
    }

    fn save(&self) -> State<S> {
        let Self { splitting, common, weights, .. } = self;
        State {
            solver: "reweighted".into(),
            k: self.k,
            numbers: common.measure.start.unwrap_or_default().to_vec(),
            vectors: [&common.x, &splitting.z, &splitting.u, weights].map(Vec::clone).into(),
            warm_start: vec![],
        }
    }

    fn restore(&mut self, state: &State<S>) -> Result<(), Error> {
        let (n, m) = (self.splitting.x.len(), self.splitting.z.len());
        let start = state.check_each("reweighted", &[n, m, m, m])?;
        let [x, z, u, weights] = &state.vectors[..] else { unreachable!("counted above") };
        self.splitting.resume(x, z, u, self.splitting.beta);
        self.common.x.copy_from_slice(x);
        self.weights.copy_from_slice(weights);
        (self.k, self.ended) = (state.k, false);
        self.common.measure.start = (self.k > 0).then_some(start);
        Ok(())
    }
}
