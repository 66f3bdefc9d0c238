//! ADMM on f(x) + g(z), Tx = z: the yardstick for penalties behind an operator.

use crate::certificate::Evidence;
use crate::error::Error;
use crate::geometry::{BlockNorm, Geometry};
use crate::metric;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::balance;
use crate::solver::measure::Measure;
use crate::solver::splitting::Splitting;
use crate::solver::unsmoothed::{Unsmoothed, forward_to_unsmoothed};
use crate::solver::{Info, Path, Solver, State};

/// ADMM with penalty 1/β, relaxation α and, where β falls, a graduated penalty: 1/β starts just above ρ and grows.
///
/// x-steps in the problem's metric (exact for least squares on an image, by cosine transforms), z = 0 and no multiplier at the
/// start. Infos have β = 0, ‖Tx − z‖₂ and a bound on ‖∇f(x) + T*w‖₂, w ∈ ∂g(z); its certificates are made of z and the
/// multiplier w.
pub struct Admm<'p, S> {
    splitting: Splitting<'p, S>,
    common: Unsmoothed<'p, S>,
    path: Path,
    balances: bool,
    k: u64,
    ended: bool,
}

impl<'p, S: Real> Admm<'p, S> {
    /// Starts at x₀, which is copied. β falls by `path.ratio` a step down to `path.end`; a ratio of 1 keeps it.
    pub fn new(problem: &'p Problem<S>, path: Path, x0: &[S]) -> Result<Self, Error> {
        let Path { beta, ratio, end, relaxation } = path;
        Error::expect_parameter("ratio", ratio, 0.0 < ratio && ratio <= 1.0, "above 0, and at most 1")?;
        Error::expect_positive("end", end)?;
        let (_, metric) = metric::for_problem(problem)?;
        let splitting = Splitting::new(problem, metric, beta, relaxation, x0)?;
        Ok(Self { splitting, common: Unsmoothed::new(problem, x0), path, balances: false, k: 0, ended: false })
    }

    /// Also finds β by itself, for a convex g: neither residual is left far behind the other.
    pub fn balanced(self) -> Self {
        let balances = self.common.problem.g().weak_convexity() == 0.0;
        Self { balances, ..self }
    }

    /// Measured in a norm.
    pub fn in_norm(mut self, geometry: Box<dyn Geometry<S>>) -> Result<Self, Error> {
        self.common.measure = Measure::in_norm(self.common.problem, geometry)?;
        Ok(self)
    }

    fn step(&mut self) -> Info {
        let Self { splitting, common, path, .. } = self;
        let beta = splitting.beta;
        if self.k == 0 {
            self.k = 1;
            return common.begin(beta);
        }
        let residuals = splitting.step();
        let info = common.info(self.k + 1, beta, [0.0, residuals.slope], residuals.gap);
        self.ended = !info.finite;
        if info.finite {
            self.k += 1;
            common.x.copy_from_slice(&splitting.x);
            if self.balances && balance::looks(self.k) {
                splitting.rescale(balance::balanced(beta, &splitting.relative(&residuals)));
            } else {
                splitting.rescale((beta * path.ratio).max(path.end.min(beta)));
            }
        }
        info
    }
}

impl<S: Real> Iterator for Admm<'_, S> {
    type Item = Info;

    fn next(&mut self) -> Option<Info> {
        if self.ended { None } else { Some(self.step()) }
    }
}

impl<S: Real> Solver<S> for Admm<'_, S> {
    forward_to_unsmoothed!();

    fn exact_dual_norm(&mut self) -> f64 {
        self.common.exact_dual_norm((self.k > 1).then(|| self.splitting.known()))
    }

    fn evidence<'u>(&self, u: &'u mut [S]) -> Evidence<'u, S> {
        self.common.evidence(u, (self.k > 1).then(|| self.splitting.known()))
    }

    fn save(&self) -> State<S> {
        let Self { splitting, common, .. } = self;
        let [dual_norm, prox_gap] = common.measure.start.unwrap_or_default();
        State {
            solver: "admm".into(),
            k: self.k,
            numbers: vec![splitting.beta, dual_norm, prox_gap],
            vectors: [&common.x, &splitting.z, &splitting.u].map(Vec::clone).into(),
            warm_start: vec![],
        }
    }

    fn restore(&mut self, state: &State<S>) -> Result<(), Error> {
        let (n, m) = (self.splitting.x.len(), self.splitting.z.len());
        let [beta, start @ ..] = state.check_each::<3>("admm", &[n, m, m])?;
        Error::expect_positive("beta of a saved state", beta)?;
        let [x, z, u] = &state.vectors[..] else { unreachable!("counted above") };
        self.splitting.resume(x, z, u, beta);
        self.common.x.copy_from_slice(x);
        (self.k, self.ended) = (state.k, false);
        self.common.measure.start = (self.k > 0).then_some(start);
        Ok(())
    }
}
