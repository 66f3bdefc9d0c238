//! Metric steps on an envelope that is tilted by a multiplier, β from just below 1/ρ downwards; then plain metric steps.

use crate::certificate::Evidence;
use crate::error::Error;
use crate::geometry::{BlockNorm, Geometry};
use crate::metric;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::measure::Measure;
use crate::solver::splitting::Splitting;
use crate::solver::unsmoothed::Unsmoothed;
use crate::solver::{Adaptive, Info, Smoothing, Solver, State, adaptive};

/// x ← x − M⁻¹∇F_{β,w}(x) with F_{β,w}(x) = f(x) + g_β(Tx + βw), then w ← ∇g_β(Tx + βw) and β ← rβ, faster once β is small.
/// From β = `end` on, w is dropped and the steps are those of [`Adaptive::metric`]: `end` is so small that plain smoothing
/// undoes nothing any more.
///
/// The tilt takes the first-order bias out of the smoothing, so β can start just below 1/ρ, where the prox hardly shrinks
/// what it keeps; poor local minima are passed by. A tilted step with relaxation α is a step of ADMM with penalty 1/β, seen
/// from the smoothing side: until w is dropped, certificates are made of z and w as ADMM's are.
pub struct Tilted<'p, S> {
    splitting: Splitting<'p, S>,
    /// Where the tilted steps stand.
    common: Unsmoothed<'p, S>,
    plain: Adaptive<'p, S>,
    smoothing: Smoothing,
    path: Path,
    k: u64,
    ended: bool,
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
    pub fn new(problem: &'p Problem<S>, path: Path, x0: &[S]) -> Result<Self, Error> {
        path.check()?;
        let (_, metric) = metric::for_problem(problem)?;
        let splitting = Splitting::new(problem, metric, path.beta, path.relaxation, x0)?;
        let smoothing = Smoothing::new::<S>(path.beta.min(problem.beta_limit())).lowered(path.end);
        let plain = Adaptive::metric(problem, smoothing, x0)?;
        let common = Unsmoothed::new(problem, x0);
        Ok(Self { splitting, common, plain, smoothing, path, k: 0, ended: false })
    }

    /// Measured in a norm.
    pub fn in_norm(mut self, geometry: Box<dyn Geometry<S>>) -> Result<Self, Error> {
        self.common.measure = Measure::bounds(self.common.problem, geometry.norms())?;
        self.plain = self.plain.in_norm(geometry)?;
        Ok(self)
    }

    /// The multiplier is still there.
    fn is_tilted(&self) -> bool {
        self.splitting.beta > self.path.end
    }

    fn step(&mut self) -> Info {
        let info = match self.k {
            0 => self.common.begin(self.splitting.beta),
            _ if self.is_tilted() => self.tilted_step(),
            _ => self.plain.next().unwrap_or_else(Info::unknown),
        };
        self.ended = !info.finite;
        if info.finite {
            self.k += 1;
        }
        Info { k: self.k, ..info }
    }

    fn tilted_step(&mut self) -> Info {
        let Self { splitting, common, path, .. } = self;
        let beta = splitting.beta;
        let residuals = splitting.step();
        let info = common.info(self.k + 1, beta, [0.0, residuals.slope], residuals.gap);
        if info.finite {
            common.x.copy_from_slice(&splitting.x);
            splitting.rescale(path.after(beta));
            if !self.is_tilted() {
                self.plain.begin_at(&self.common.x, self.smoothing);
            }
        }
        info
    }

    /// Whether the plain steps have begun: x is theirs.
    fn is_plain(&self) -> bool {
        !self.is_tilted() && self.plain.has_begun()
    }
}

impl<S: Real> Iterator for Tilted<'_, S> {
    type Item = Info;

    fn next(&mut self) -> Option<Info> {
        if self.ended { None } else { Some(self.step()) }
    }
}

/// What is asked of whoever stands at the point.
macro_rules! either {
    ($self:ident, $common:expr, $plain:expr) => {
        if $self.is_plain() { $plain } else { $common }
    };
}

impl<S: Real> Solver<S> for Tilted<'_, S> {
    fn problem(&self) -> &Problem<S> {
        self.common.problem
    }

    fn x(&self) -> &[S] {
        either!(self, &self.common.x, self.plain.x())
    }

    fn objective(&mut self) -> f64 {
        either!(self, self.common.objective(), self.plain.objective())
    }

    fn smoothed(&mut self) -> f64 {
        either!(self, self.common.objective(), self.plain.smoothed())
    }

    fn exact_dual_norm(&mut self) -> f64 {
        if self.is_plain() {
            return self.plain.exact_dual_norm();
        }
        let Self { splitting, common, plain, .. } = self;
        plain.dual_norm_of(common.gradient((self.k > 1).then(|| splitting.known())))
    }

    fn norms(&self) -> Vec<BlockNorm> {
        self.common.measure.norms()
    }

    fn evidence<'u>(&self, u: &'u mut [S]) -> Evidence<'u, S> {
        let Self { splitting, common, plain, .. } = self;
        if self.is_plain() { plain.evidence(u) } else { common.evidence(u, (self.k > 1).then(|| splitting.known())) }
    }

    fn start_measure(&self) -> Option<[f64; 2]> {
        self.common.measure.start
    }

    fn save(&self) -> State<S> {
        let inner = self.plain.save();
        let [dual_norm, prox_gap] = self.common.measure.start.unwrap_or_default();
        let own = [self.splitting.beta, dual_norm, prox_gap, inner.k as f64];
        let outer = [&self.common.x, &self.splitting.z, &self.splitting.u].map(Vec::clone);
        State {
            solver: "tilted".into(),
            k: self.k,
            numbers: [&own[..], &inner.numbers].concat(),
            vectors: inner.vectors.into_iter().chain(outer).collect(),
            warm_start: inner.warm_start,
        }
    }

    fn restore(&mut self, state: &State<S>) -> Result<(), Error> {
        let (n, m) = (self.splitting.x.len(), self.splitting.z.len());
        let [beta, dual_norm, prox_gap, inner_k, numbers @ ..]: [f64; 4 + adaptive::NUMBERS] =
            state.check_each("tilted", &[vec![n; adaptive::VECTORS + 1], vec![m; 2]].concat())?;
        Error::expect_positive("beta of a saved state", beta)?;
        let inner = State::part("adaptive", inner_k, &numbers, &state.vectors[..adaptive::VECTORS])?;
        let inner = State { warm_start: state.warm_start.clone(), ..inner };
        self.plain.restore(&inner)?;
        let [x, z, u] = &state.vectors[adaptive::VECTORS..] else { unreachable!("counted above") };
        self.splitting.resume(x, z, u, beta);
        self.common.x.copy_from_slice(x);
        (self.k, self.ended) = (state.k, false);
        self.common.measure.start = (self.k > 0).then_some([dual_norm, prox_gap]);
        Ok(())
    }
}
