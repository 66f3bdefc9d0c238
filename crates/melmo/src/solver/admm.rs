//! ADMM on f(x) + g(z), Tx = z: the yardstick for penalties behind an operator.

use crate::error::Error;
use crate::geometry::BlockNorm;
use crate::metric;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::adaptive::whole;
use crate::solver::shown::{Shown, forward_to_shown};
use crate::solver::splitting::Splitting;
use crate::solver::{Info, Path, Solver, State};

/// ADMM with penalty 1/β, relaxation α and, where β falls, a graduated penalty: 1/β starts just above ρ and grows.
///
/// x-steps in the problem's metric (exact for least squares on an image, by cosine transforms), z = 0 and no multiplier at the
/// start. Infos have β = 0, ‖Tx − z‖₂ and a bound on ‖∇f(x) + T*w‖₂, w ∈ ∂g(z). For surjective T the certificate's
/// point is made of w; otherwise it is x, whose smoothed gradient says little: go on with `metric` steps, as
/// [`Tilted`](crate::solver::Tilted) does, for a certificate that says more.
pub struct Admm<'p, S> {
    splitting: Splitting<'p, S>,
    shown: Shown<'p, S>,
    path: Path,
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
        Ok(Self { splitting, shown: Shown::new(problem, x0), path, k: 0, ended: false })
    }

    fn step(&mut self) -> Info {
        let Self { splitting, shown, path, .. } = self;
        let beta = splitting.beta;
        if self.k == 0 {
            self.k = 1;
            return shown.begin(beta);
        }
        let residuals = splitting.step();
        let info = shown.info(self.k + 1, beta, residuals.slope, residuals.gap);
        self.ended = !info.finite;
        if info.finite {
            self.k += 1;
            shown.show(&splitting.x, [splitting.tx(), &splitting.z, &splitting.u], beta);
            splitting.rescale((beta * path.ratio).max(path.end.min(beta)));
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
    forward_to_shown!();

    fn save(&self) -> State<S> {
        let Self { splitting, shown, .. } = self;
        State {
            solver: "admm".into(),
            k: self.k,
            numbers: vec![splitting.beta, shown.beta, shown.measure],
            vectors: [&shown.x, &shown.point, &splitting.z, &splitting.u].map(Vec::clone).into(),
            warm_start: vec![],
        }
    }

    fn restore(&mut self, state: &State<S>) -> Result<(), Error> {
        let (n, m) = (self.splitting.x.len(), self.splitting.z.len());
        let [beta, shown_beta, measure] = state.check_each("admm", &[n, n, m, m])?;
        Error::expect_positive("beta of a saved state", beta)?;
        self.shown.problem.check_beta(shown_beta)?;
        let [x, point, z, u] = &state.vectors[..] else { unreachable!("counted above") };
        self.splitting.resume(x, z, u, beta);
        self.shown.x.copy_from_slice(x);
        self.shown.point.copy_from_slice(point);
        (self.shown.beta, self.shown.measure) = (shown_beta, measure);
        (self.k, self.ended) = (state.k, false);
        Ok(())
    }
}
