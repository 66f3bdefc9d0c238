//! Metric steps on an envelope that is tilted by a multiplier, β from just below 1/ρ downwards; then plain metric steps.

use crate::error::Error;
use crate::geometry::BlockNorm;
use crate::metric;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::inner::forward_to_inner;
use crate::solver::splitting::Splitting;
use crate::solver::{Adaptive, Info, Smoothing, Solver, State};

/// x ← x − M⁻¹∇F_{β,w}(x) with F_{β,w}(x) = f(x) + g_β(Tx + βw), then w ← ∇g_β(Tx + βw) and β ← rβ, faster once β is small.
/// From β = `end` on, w is dropped and the steps are those of [`Adaptive::metric`]: `end` is so small that plain smoothing
/// undoes nothing any more.
///
/// The tilt takes the first-order bias out of the smoothing, so β can start just below 1/ρ, where the prox hardly shrinks
/// what it keeps; poor local minima are passed by. A tilted step with relaxation α is a step of ADMM with penalty 1/β, seen
/// from the smoothing side. It says little about ‖∇F_β(x)‖; the plain steps that follow bring that down.
pub struct Tilted<'p, S> {
    splitting: Splitting<'p, S>,
    plain: Adaptive<'p, S>,
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
        Ok(Self { splitting, plain, path, k: 0, ended: false })
    }

    /// The β with which the current point is judged: the tilted step may use more than 1/(2ρ), a certificate may not.
    fn judged_beta(&self) -> f64 {
        self.splitting.beta.min(self.splitting.problem().beta_limit())
    }

    fn step(&mut self) -> Info {
        let tilted = self.splitting.beta > self.path.end;
        let info = if self.k > 0 && !tilted {
            self.plain.next().unwrap_or_else(Info::unknown)
        } else {
            if self.k > 0 {
                self.splitting.step();
                self.splitting.rescale(self.path.after(self.splitting.beta));
            }
            self.plain.stand_at(&self.splitting.x, self.judged_beta())
        };
        self.ended = !info.finite;
        if info.finite {
            self.k += 1;
        }
        Info { k: self.k, ..info }
    }
}

impl<S: Real> Iterator for Tilted<'_, S> {
    type Item = Info;

    fn next(&mut self) -> Option<Info> {
        if self.ended { None } else { Some(self.step()) }
    }
}

impl<S: Real> Solver<S> for Tilted<'_, S> {
    forward_to_inner!(plain);

    fn certificate_beta(&self) -> f64 {
        if self.k > 0 { self.plain.certificate_beta() } else { self.judged_beta() }
    }

    fn save(&self) -> State<S> {
        let inner = self.plain.save();
        let own = [self.splitting.beta, inner.k as f64];
        let vectors = inner.vectors.into_iter().chain([self.splitting.z.clone(), self.splitting.u.clone()]).collect();
        State {
            solver: "tilted".into(),
            k: self.k,
            numbers: [&own[..], &inner.numbers].concat(),
            vectors,
            warm_start: inner.warm_start,
        }
    }

    fn restore(&mut self, state: &State<S>) -> Result<(), Error> {
        let (n, m) = (self.splitting.x.len(), self.splitting.z.len());
        let [beta, inner_k, numbers @ ..]: [f64; 11] = state.check_each("tilted", &[n, n, m, m])?;
        Error::expect_positive("beta of a saved state", beta)?;
        let inner = State::part("adaptive", inner_k, &numbers, &state.vectors[..2]);
        let inner = State { warm_start: state.warm_start.clone(), ..inner };
        self.plain.restore(&inner)?;
        self.splitting.resume(&state.vectors[0], &state.vectors[2], &state.vectors[3], beta);
        (self.k, self.ended) = (state.k, false);
        Ok(())
    }
}
