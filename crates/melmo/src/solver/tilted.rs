//! Metric steps on an envelope that is tilted by a multiplier, β from just below 1/ρ downwards; then plain metric steps.

use serde::{Deserialize, Serialize};

use crate::certificate::Shown;
use crate::error::Error;
use crate::geometry::Geometry;
use crate::metric;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::iterate::Iterate;
use crate::solver::splitting::Splitting;
use crate::solver::state::{self, State, positive};
use crate::solver::unsmoothed::{Paired, Unsmoothed};
use crate::solver::{Adaptive, Info, Measured, Method, Run, Smoothing, Solver, Standing};
use crate::space::Host;

/// x ← x − M⁻¹∇F_{β,w}(x) with F_{β,w}(x) = f(x) + g_β(Tx + βw), then w ← ∇g_β(Tx + βw) and β ← rβ, faster once β is small.
/// From β = `end` on, w is dropped and the steps are those of [`Adaptive::metric`]: `end` is so small that plain smoothing
/// undoes nothing any more.
///
/// The tilt takes the first-order bias out of the smoothing, so β can start just below 1/ρ, where the prox hardly shrinks
/// what it keeps; poor local minima are passed by. A tilted step with relaxation α is a step of ADMM with penalty 1/β, seen
/// from the smoothing side: until w is dropped, certificates are made of z and w as ADMM's are.
pub struct Tilted<'p, S: Real> {
    splitting: Splitting<'p, S>,
    /// Where the tilted steps stand.
    common: Unsmoothed<S>,
    plain: Run<Adaptive<Host<'p, S>>>,
    smoothing: Smoothing,
    path: Path,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    x: Vec<S>,
    z: Vec<S>,
    u: Vec<S>,
    beta: f64,
    plain: Box<State<S>>,
}

/// Below this part of the first β it is settled which entries of Tx are kept: from there β falls by [`HURRY`].
const SETTLED: f64 = 0.05;

/// What β is multiplied by once that is settled, unless r is smaller still.
const HURRY: f64 = 0.8;

/// How β falls in tilted steps, and their relaxation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// The first β, below 1/ρ.
    pub beta: f64,
    /// r: what β is multiplied by after a step. [`Tilted`] takes 0.8 or less below a twentieth of the first β.
    pub ratio: f64,
    /// The β from which on there is no tilt.
    pub end: f64,
    /// α.
    pub relaxation: f64,
}

impl Path {
    /// From 0.98/ρ by 1.9 % a step, in the end faster, to 0.00012/ρ, with α = 1.5.
    pub fn new<S: Real>(problem: &Problem<S>, x0: &[S]) -> Self {
        let unit = Self::unit(problem, x0);
        Self { beta: 0.98 * unit, ratio: 0.981, end: 1.2e-4 * unit, relaxation: 1.5 }
    }

    /// 1/ρ, or what stands for it where g is convex: [`Smoothing::start`].
    pub(crate) fn unit<S: Real>(problem: &Problem<S>, x0: &[S]) -> f64 {
        let rho = problem.g().weak_convexity();
        if rho > 0.0 { 1.0 / rho } else { Smoothing::start(problem, x0) }
    }

    /// The β of [`Tilted`] after this one.
    fn after(&self, beta: f64) -> f64 {
        let ratio = if beta > SETTLED * self.beta { self.ratio } else { self.ratio.min(HURRY) };
        (ratio * beta).max(self.end)
    }

    fn check(&self) -> Result<(), Error> {
        let Self { ratio, end, beta, .. } = *self;
        Error::expect_parameter("ratio", ratio, 0.0 < ratio && ratio < 1.0, "between 0 and 1, both excluded")?;
        Error::expect_parameter("end", end, 0.0 < end && end <= beta, "above 0, and at most the first β")?;
        Ok(())
    }
}

impl<'p, S: Real> Tilted<'p, S> {
    /// Starts at x₀, which is copied. Refuses a problem without a metric, and β ≥ 1/ρ.
    pub fn new(problem: &'p Problem<S>, path: Path, x0: &[S]) -> Result<Run<Self>, Error> {
        path.check()?;
        let (_, metric) = metric::for_problem(problem)?;
        let splitting = Splitting::new(problem, metric, path.beta, path.relaxation, x0)?;
        let smoothing = Smoothing::new::<S>(path.beta.min(problem.beta_limit())).lowered(path.end);
        let plain = Adaptive::metric(problem, smoothing, x0)?;
        let common = Unsmoothed::new(problem, x0);
        Ok(Run::new(Self { splitting, common, plain, smoothing, path }))
    }

    /// The multiplier is still there.
    fn is_tilted(&self) -> bool {
        self.splitting.beta > self.path.end
    }

    fn tilted_step(&mut self, k: u64) -> Info {
        let beta = self.splitting.beta;
        let residuals = self.splitting.step();
        let between = self.plain.method.iterate.space.between();
        let info = Info::unsmoothed(k + 1, beta, between, [0.0, residuals.slope], residuals.gap);
        if info.finite {
            self.common.x.copy_from_slice(&self.splitting.x);
            self.splitting.rescale(self.path.after(beta));
            if !self.is_tilted() {
                self.plain.method.begin_at(&self.common.x, self.smoothing);
                self.plain.begin();
            }
        }
        info
    }

    /// Whether the plain steps have begun: x is theirs.
    fn is_plain(&self) -> bool {
        !self.is_tilted() && self.plain.k > 0
    }
}

impl<'p, S: Real> Method for Tilted<'p, S> {
    type Space = Host<'p, S>;

    fn step(&mut self, k: u64) -> Option<Info> {
        let info = match k {
            0 => self.common.begin(&mut self.plain.method.iterate.space, self.splitting.beta),
            _ if self.is_tilted() => self.tilted_step(k),
            _ => self.plain.next().unwrap_or_else(Info::unknown),
        };
        Some(Info { k: k + 1, ..info })
    }

    fn standing(&mut self, k: u64) -> impl Standing<Host<'p, S>> {
        if self.is_plain() {
            return Either::Plain(&mut self.plain.method.iterate);
        }
        let known = (k > 1).then(|| self.splitting.known());
        Either::Tilted(self.common.standing(&mut self.plain.method.iterate.space, known))
    }

    fn save(&mut self, _: u64) -> state::Memo<S> {
        let Self { splitting, common, plain, .. } = self;
        let [x, z, u] = [&common.x, &splitting.z, &splitting.u].map(Vec::clone);
        state::Memo::Tilted(Memo { x, z, u, beta: splitting.beta, plain: Box::new(plain.save()) })
    }

    fn restore(&mut self, _: u64, memo: &state::Memo<S>) -> Result<(), Error> {
        let state::Memo::Tilted(Memo { x, z, u, beta, plain }) = memo else { return memo.is_none_of("tilted") };
        let beta = positive("beta of a saved state", *beta)?;
        self.splitting.restore([x, z, u], beta)?;
        self.plain.restore(plain)?;
        self.common.x.copy_from_slice(x);
        Ok(())
    }
}

impl<S: Real> Measured for Tilted<'_, S> {
    fn measure_in(&mut self, geometry: Box<dyn Geometry<S>>) -> Result<(), Error> {
        self.plain.method.measure_in(geometry)
    }
}

/// Whoever stands at the point.
enum Either<'a, 'p, S: Real> {
    Tilted(Paired<'a, 'p, S>),
    Plain(&'a mut Iterate<Host<'p, S>>),
}

impl<'p, S: Real> Standing<Host<'p, S>> for Either<'_, 'p, S> {
    fn place(&mut self) -> (&mut Host<'p, S>, &Vec<S>) {
        match self {
            Self::Tilted(standing) => standing.place(),
            Self::Plain(standing) => standing.place(),
        }
    }

    fn objective(&mut self) -> f64 {
        match self {
            Self::Tilted(standing) => standing.objective(),
            Self::Plain(standing) => standing.objective(),
        }
    }

    fn smoothed(&mut self) -> f64 {
        match self {
            Self::Tilted(standing) => standing.smoothed(),
            Self::Plain(standing) => standing.smoothed(),
        }
    }

    fn exact_dual_norm(&mut self) -> f64 {
        match self {
            Self::Tilted(standing) => standing.exact_dual_norm(),
            Self::Plain(standing) => standing.exact_dual_norm(),
        }
    }

    fn show(&mut self) -> Shown {
        match self {
            Self::Tilted(standing) => standing.show(),
            Self::Plain(standing) => standing.show(),
        }
    }
}
