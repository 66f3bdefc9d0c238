//! Reweighted ℓ1: the concave part of a penalty replaced by its tangent, again and again.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::geometry::Geometry;
use crate::metric;
use crate::penalty::Streamed;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::splitting::Splitting;
use crate::solver::state::{self, take};
use crate::solver::unsmoothed::Unsmoothed;
use crate::solver::{Info, Measured, Method, Run, Standing};
use crate::space::Host;
use crate::vector::simd;

/// min f(x) + Σ wᵢ|(Tx)ᵢ| by ADMM, with wᵢ ← ψ′(|(Tx)ᵢ|) after every `inner` of its steps: the convex–concave procedure for
/// penalties Σψ(|uᵢ|) with concave ψ (MCP, SCAD, log-sum), Candès, Wakin & Boyd 2008.
///
/// The first weights come from x₀, or are those of the convex relative, ψ′(0) everywhere. Its w is a slope of the weighted ℓ1 norm at z; the certificate's prox makes one of g of it.
pub struct Reweighted<'p, S> {
    host: Host<'p, S>,
    splitting: Splitting<'p, S>,
    common: Unsmoothed<S>,
    weights: Vec<S>,
    magnitudes: Vec<S>,
    inner: u64,
    /// Steps before the weights change for the first time, besides `inner`.
    held: u64,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    x: Vec<S>,
    z: Vec<S>,
    u: Vec<S>,
    weights: Vec<S>,
}

impl<'p, S: Real> Reweighted<'p, S> {
    /// Starts at x₀, which is copied, with ADMM's penalty 1/β. Refuses a penalty that is not a sum over entries.
    pub fn new(problem: &'p Problem<S>, beta: f64, inner: u64, x0: &[S]) -> Result<Run<Self>, Error> {
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
        let (host, common) = (Host::euclidean(problem)?, Unsmoothed::new(problem, x0));
        let mut this = Self { host, splitting, common, weights, magnitudes, inner, held: 0 };
        this.reweigh();
        Ok(Run::new(this))
    }

    /// wᵢ ← ψ′(|(Tx)ᵢ|), the slope on the right at 0.
    fn reweigh(&mut self) {
        for (magnitude, tx) in self.magnitudes.iter_mut().zip(self.splitting.tx()) {
            *magnitude = tx.abs();
        }
        self.weigh();
    }

    /// wᵢ ← ψ′(magnitudeᵢ), the slope on the right at 0.
    fn weigh(&mut self) {
        let least = S::of(f64::from(f32::MIN_POSITIVE));
        self.magnitudes.iter_mut().for_each(|magnitude| *magnitude = magnitude.larger(least));
        let (problem, work) = self.host.parts();
        problem.g().subgradient(&mut self.weights, &self.magnitudes, work);
    }
}

impl<S: Real> Run<Reweighted<'_, S>> {
    /// The convex relative first: the weights are ψ′(0) for the first `held` steps, wherever x₀ is. What f leaves open is then settled
    /// by a problem with one answer, and not by where x₀ happens to be.
    pub fn from_convex(mut self, held: u64) -> Self {
        self.method.held = held;
        self.method.magnitudes.fill(S::ZERO);
        self.method.weigh();
        self
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

impl<'p, S: Real> Method for Reweighted<'p, S> {
    type Space = Host<'p, S>;

    fn step(&mut self, k: u64) -> Option<Info> {
        let beta = self.splitting.beta;
        if k == 0 {
            return Some(self.common.begin(&mut self.host, beta));
        }
        if k > 1 + self.held && (k - 1 - self.held).is_multiple_of(self.inner) {
            self.reweigh();
        }
        let Self { host, splitting, common, weights, .. } = self;
        let residuals = splitting.step_with(|z, s, beta, _| shrink(z, s, weights, S::of(beta)));
        let info = Info::unsmoothed(k + 1, beta, host.between(), [0.0, residuals.slope], residuals.gap);
        if info.finite {
            common.x.copy_from_slice(&splitting.x);
        }
        Some(info)
    }

    fn standing(&mut self, k: u64) -> impl Standing<Host<'p, S>> {
        self.common.standing(&mut self.host, (k > 1).then(|| self.splitting.known()))
    }

    fn save(&mut self, _: u64) -> state::Memo<S> {
        let Self { splitting, common, weights, .. } = self;
        let [x, z, u, weights] = [&common.x, &splitting.z, &splitting.u, weights].map(Vec::clone);
        state::Memo::Reweighted(Memo { x, z, u, weights })
    }

    fn restore(&mut self, _: u64, memo: &state::Memo<S>) -> Result<(), Error> {
        let state::Memo::Reweighted(Memo { x, z, u, weights }) = memo else { return memo.is_none_of("reweighted") };
        take(&mut self.weights, weights)?;
        self.splitting.restore([x, z, u], self.splitting.beta)?;
        self.common.x.copy_from_slice(x);
        Ok(())
    }
}

impl<S: Real> Measured for Reweighted<'_, S> {
    fn measure_in(&mut self, geometry: Box<dyn Geometry<S>>) -> Result<(), Error> {
        self.host.measure_in(geometry)
    }
}
