//! ADMM on f(x) + g(z), Tx = z: the yardstick for penalties behind an operator.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::geometry::Geometry;
use crate::metric;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::balance;
use crate::solver::extrapolated::{Extrapolated, Memory};
use crate::solver::splitting::Splitting;
use crate::solver::state::{self, positive};
use crate::solver::unsmoothed::Unsmoothed;
use crate::solver::{Info, Measured, Method, Path, Run, Standing};
use crate::space::Host;

/// ADMM with penalty 1/β, relaxation α and, where β falls, a graduated penalty: 1/β starts just above ρ and grows.
///
/// x-steps in the problem's metric (exact for least squares on an image, by cosine transforms), z = 0 and no multiplier at the
/// start. Infos have β = 0, ‖Tx − z‖₂ and a bound on ‖∇f(x) + T*w‖₂, w ∈ ∂g(z); its certificates are made of z and the
/// multiplier w.
pub struct Admm<'p, S: Real> {
    host: Host<'p, S>,
    splitting: Splitting<'p, S>,
    common: Unsmoothed<S>,
    path: Path,
    /// For those that find β by themselves.
    balances: bool,
    extrapolated: Option<Extrapolated<S>>,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    x: Vec<S>,
    z: Vec<S>,
    u: Vec<S>,
    beta: f64,
    #[serde(default)]
    memory: Memory<S>,
}

impl<'p, S: Real> Admm<'p, S> {
    /// Starts at x₀, which is copied. β falls by `path.ratio` a step down to `path.end`; a ratio of 1 keeps it.
    pub fn new(problem: &'p Problem<S>, path: Path, x0: &[S]) -> Result<Run<Self>, Error> {
        let Path { beta, ratio, end, relaxation } = path;
        Error::expect_parameter("ratio", ratio, 0.0 < ratio && ratio <= 1.0, "above 0, and at most 1")?;
        Error::expect_positive("end", end)?;
        let (_, metric) = metric::for_problem(problem)?;
        let splitting = Splitting::new(problem, metric, beta, relaxation, x0)?;
        let (host, common) = (Host::euclidean(problem)?, Unsmoothed::new(problem, x0));
        Ok(Run::new(Self { host, splitting, common, path, balances: false, extrapolated: None }))
    }
}

impl<S: Real> Run<Admm<'_, S>> {
    /// Also finds β by itself, for a convex g: neither residual is left far behind the other. Between changes of β it extrapolates.
    pub fn balanced(mut self) -> Self {
        let method = &mut self.method;
        method.balances = method.host.problem().g().weak_convexity() == 0.0;
        method.extrapolated = Extrapolated::of(&method.splitting).filter(|_| method.balances);
        self
    }
}

impl<'p, S: Real> Method for Admm<'p, S> {
    type Space = Host<'p, S>;

    fn step(&mut self, k: u64) -> Option<Info> {
        let Self { host, splitting, common, path, balances, extrapolated } = self;
        let beta = splitting.beta;
        if k == 0 {
            return Some(common.begin(host, beta));
        }
        let residuals = match extrapolated {
            Some(extrapolated) => extrapolated.step(k, splitting),
            None => splitting.step(),
        };
        let info = Info::unsmoothed(k + 1, beta, host.between(), [0.0, residuals.slope], residuals.gap);
        if info.finite {
            common.x.copy_from_slice(&splitting.x);
            let after = match *balances && balance::looks(k + 1) {
                true => balance::balanced(beta, &splitting.relative(&residuals)),
                false => (beta * path.ratio).max(path.end.min(beta)),
            };
            if let Some(extrapolated) = extrapolated.as_mut().filter(|_| after != beta) {
                extrapolated.clear();
            }
            splitting.rescale(after);
        }
        Some(info)
    }

    fn standing(&mut self, k: u64) -> impl Standing<Host<'p, S>> {
        self.common.standing(&mut self.host, (k > 1).then(|| self.splitting.known()))
    }

    fn save(&mut self, _: u64) -> state::Memo<S> {
        let Self { splitting, common, extrapolated, .. } = self;
        let memory = extrapolated.as_ref().map(Extrapolated::save).unwrap_or_default();
        let [x, z, u] = [&common.x, &splitting.z, &splitting.u].map(Vec::clone);
        state::Memo::Admm(Memo { x, z, u, beta: splitting.beta, memory })
    }

    fn restore(&mut self, _: u64, memo: &state::Memo<S>) -> Result<(), Error> {
        let state::Memo::Admm(Memo { x, z, u, beta, memory }) = memo else { return memo.is_none_of("admm") };
        let beta = positive("beta of a saved state", *beta)?;
        self.splitting.restore([x, z, u], beta)?;
        self.common.x.copy_from_slice(x);
        match &mut self.extrapolated {
            Some(extrapolated) => extrapolated.restore(memory),
            None => Ok(()),
        }
    }
}

impl<S: Real> Measured for Admm<'_, S> {
    fn measure_in(&mut self, geometry: Box<dyn Geometry<S>>) -> Result<(), Error> {
        self.host.measure_in(geometry)
    }
}
