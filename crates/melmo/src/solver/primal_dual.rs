//! The primal–dual method of Condat and Vũ: no linear system, one ∇f, one T and one T* a step.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::geometry::Geometry;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::state::{self, finite, fits, positive, take};
use crate::solver::unsmoothed::{Known, Unsmoothed};
use crate::solver::{Info, Measured, Method, Run, Standing};
use crate::space::Host;
use crate::vector::{self, simd};

/// Condat and Vũ's iteration on f(x) + g(Tx), with a pair (z, w), w ∈ ∂g(z), at every point.
///
/// For convex f and g it converges, and β is moved to keep its two residuals in balance. For weakly convex g it is a heuristic without
/// a proof: β starts below 1/ρ, where the prox has one answer, and falls by a factor a step, as ADMM's does when it is graduated.
pub struct PrimalDual<'p, S> {
    host: Host<'p, S>,
    iteration: Iteration<'p, S>,
    common: Unsmoothed<S>,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    x: Vec<S>,
    z: Vec<S>,
    w: Vec<S>,
    beta: f64,
    adapt: f64,
    /// L, where it is found by trial.
    #[serde(default)]
    lipschitz: f64,
}

impl<'p, S: Real> PrimalDual<'p, S> {
    /// Starts at x₀, which is copied. For weakly convex g β falls by `ratio` a step, down to `end`.
    pub fn new(problem: &'p Problem<S>, beta: f64, ratio: f64, end: f64, x0: &[S]) -> Result<Run<Self>, Error> {
        Error::expect_parameter("ratio", ratio, 0.0 < ratio && ratio <= 1.0, "above 0, and at most 1")?;
        Error::expect_positive("end", end)?;
        let iteration = Iteration::new(problem, beta, [ratio, end], x0)?;
        let (host, common) = (Host::euclidean(problem)?, Unsmoothed::new(problem, x0));
        Ok(Run::new(Self { host, iteration, common }))
    }

    /// 4‖T‖²/L_f: above it L_f alone limits the primal step, and a larger β only slows the dual one.
    pub fn largest_beta(problem: &Problem<S>) -> f64 {
        largest_beta(problem, problem.f().lipschitz().unwrap_or(0.0))
    }
}

impl<'p, S: Real> Method for PrimalDual<'p, S> {
    type Space = Host<'p, S>;

    fn step(&mut self, k: u64) -> Option<Info> {
        let Self { host, iteration, common } = self;
        let length = iteration.step_length();
        let moved = if k == 0 { iteration.begin() } else { iteration.step() };
        let [slope, gap] = iteration.residuals;
        if moved {
            common.x.copy_from_slice(&iteration.x);
        }
        Some(Info { finite: moved, ..Info::unsmoothed(k + 1, length, host.between(), [slope, slope], gap) })
    }

    fn standing(&mut self, k: u64) -> impl Standing<Host<'p, S>> {
        let Iteration { z, w, .. } = &self.iteration;
        self.common.standing(&mut self.host, (k > 0).then_some(Known { z, scaled: w, step: 1.0 }))
    }

    fn save(&mut self, _: u64) -> state::Memo<S> {
        let Self { iteration, common, .. } = self;
        let [x, z, w] = [&common.x, &iteration.z, &iteration.w].map(Vec::clone);
        let Iteration { beta, adapt, lipschitz, .. } = *iteration;
        state::Memo::PrimalDual(Memo { x, z, w, beta, adapt, lipschitz })
    }

    fn restore(&mut self, _: u64, memo: &state::Memo<S>) -> Result<(), Error> {
        let state::Memo::PrimalDual(Memo { x, z, w, beta, adapt, lipschitz }) = memo else {
            return memo.is_none_of("primal-dual");
        };
        finite([*adapt, *lipschitz])?;
        let beta = positive("beta of a saved state", *beta)?;
        self.iteration.restore([x, z, w], beta, *adapt)?;
        if self.iteration.trial {
            self.iteration.lipschitz = lipschitz.max(0.0);
        }
        self.common.x.copy_from_slice(x);
        Ok(())
    }
}

impl<S: Real> Measured for PrimalDual<'_, S> {
    fn measure_in(&mut self, geometry: Box<dyn Geometry<S>>) -> Result<(), Error> {
        self.host.measure_in(geometry)
    }
}

/// The iteration on f(x) + g(Tx) with w ∈ ∂g(z), Condat (2013), Vũ (2013):
///
/// ```text
/// x⁺ = x − τ(∇f(x) + T*w)
/// u  = βw + T(2x⁺ − x)        z⁺ = prox_{βg}(u)        w⁺ = (u − z⁺)/β ∈ ∂g(z⁺)
/// ```
///
/// It converges for convex f and g when 1/τ ≥ L_f/2 + ‖T‖²/β. Where L_f is not known, L takes its place: a step is taken again with
/// 2L until f(x⁺) ≤ f(x) + ⟨∇f(x), x⁺ − x⟩ + L/2‖x⁺ − x‖². L never falls, so that it stays in the end. For weakly convex g it is run with β < 1/ρ, where the prox has one
/// answer: a heuristic, without a proof. ‖∇f(x⁺) + T*w⁺‖₂ and ‖Tx⁺ − z⁺‖₂ are at once its two residuals (Goldstein et al. 2013)
/// and the two numbers of a certificate.
pub(super) struct Iteration<'p, S> {
    problem: &'p Problem<S>,
    pub x: Vec<S>,
    pub z: Vec<S>,
    pub w: Vec<S>,
    pub beta: f64,
    /// What β is multiplied by in a step, and down to where, when g is not convex.
    path: [f64; 2],
    /// How much β may still move in a step: α.
    pub adapt: f64,
    /// ‖∇f(x) + T*w‖₂ and ‖Tx − z‖₂.
    pub residuals: [f64; 2],
    /// L_f, or L.
    pub lipschitz: f64,
    trial: bool,
    tx: Vec<S>,
    /// ∇f(x) + T*w.
    v: Vec<S>,
    /// f(x).
    value: f64,
    u: Vec<S>,
    next: Next<S>,
    work: Vec<S>,
}

/// What a step leads to: it takes the place of what was there only when it is finite.
struct Next<S> {
    x: Vec<S>,
    z: Vec<S>,
    w: Vec<S>,
    tx: Vec<S>,
    v: Vec<S>,
}

/// τ stays this far inside its bound.
pub(crate) const INSIDE: f64 = 0.99;
/// Residuals, each relative to what it is made of, may differ by this factor before β moves.
const UNBALANCED: f64 = 2.0;
/// α at the start, and what it is multiplied by when β has moved: β moves by a bounded factor in all.
const ADAPT: (f64, f64) = (0.5, 0.95);

impl<'p, S: Real> Iteration<'p, S> {
    /// At x₀ with z = prox_{βg}(Tx₀). Refuses β ≥ 1/ρ.
    pub fn new(problem: &'p Problem<S>, beta: f64, path: [f64; 2], x0: &[S]) -> Result<Self, Error> {
        problem.check_start(x0)?;
        Error::expect_positive("beta", beta)?;
        let fits = beta * problem.g().weak_convexity() < 1.0;
        Error::expect_parameter("beta", beta, fits, "below 1/ρ: the penalty 1/β has to exceed the weak convexity")?;
        let known = problem.f().lipschitz();
        let (f, g, t) = (problem.f(), problem.g(), problem.t());
        let (n, m) = (x0.len(), t.range().size());
        let [z, w, tx, u, next_z, next_w, next_tx] = [(); 7].map(|()| vec![S::ZERO; m]);
        let work = vec![S::ZERO; f.work_len().max(g.work_len()).max(t.work_len())];
        let next = Next { x: x0.to_vec(), z: next_z, w: next_w, tx: next_tx, v: vec![S::ZERO; n] };
        let (v, residuals, value) = (vec![S::ZERO; n], [f64::NAN; 2], f64::NAN);
        let (x, adapt, lipschitz, trial) = (x0.to_vec(), ADAPT.0, known.unwrap_or(0.0), known.is_none());
        Ok(Self { problem, x, z, w, beta, path, adapt, residuals, lipschitz, trial, tx, v, value, u, next, work })
    }

    /// z and w from x alone: z = prox_{βg}(Tx), w = (Tx − z)/β. Answers whether all is finite.
    pub fn begin(&mut self) -> bool {
        let Self { problem, x, z, w, beta, tx, work, .. } = self;
        problem.t().apply(tx, x, work);
        problem.g().prox(z, tx, *beta, work);
        slopes(w, tx, z, *beta);
        self.look();
        if self.trial {
            self.first_curvature();
        }
        self.residuals.iter().all(|residual| residual.is_finite())
    }

    /// Goes on from saved x, z and w, if they fit.
    fn restore(&mut self, [x, z, w]: [&[S]; 3], beta: f64, adapt: f64) -> Result<(), Error> {
        fits(x, self.x.len())?;
        fits(z, self.z.len())?;
        take(&mut self.w, w)?;
        self.x.copy_from_slice(x);
        self.z.copy_from_slice(z);
        (self.beta, self.adapt) = (beta, adapt);
        self.problem.t().apply(&mut self.tx, &self.x, &mut self.work);
        self.look();
        Ok(())
    }

    /// v and the residuals at the current point.
    fn look(&mut self) {
        let Self { problem, x, z, w, tx, v, work, .. } = self;
        (self.value, self.residuals) = residuals(problem, v, [x, z, w, tx], work);
    }

    /// L from a short way down ∇f + T*w: ‖Δ∇f‖/‖Δx‖; and β no larger than that makes sense.
    fn first_curvature(&mut self) {
        let Self { problem, x, w, v, next, work, .. } = self;
        let size = vector::norm2(v);
        let way = 1e-3 * vector::norm2(x).max(1.0) / size;
        if size > 0.0 && way.is_finite() {
            vector::add_scaled(&mut next.x, x, -way, v);
            problem.f().value_grad(&mut next.v, &next.x, work);
            problem.t().adjoint_add(&mut next.v, w, work);
            let change = next.v.iter().zip(&*v).map(|(&a, &b)| (a - b).f64().powi(2)).sum::<f64>().sqrt();
            self.lipschitz = Some(change / (way * size)).filter(|found| found.is_finite()).unwrap_or(1.0);
        }
        self.beta = self.beta.min(largest_beta(self.problem, self.lipschitz));
    }

    /// τ for the current β.
    pub fn step_length(&self) -> f64 {
        let norm = self.problem.t().norm_bound();
        INSIDE / (0.5 * self.lipschitz + norm * norm / self.beta).max(f64::MIN_POSITIVE)
    }

    /// One step; `false` when something was not finite: then x, z and w are where they were.
    pub fn step(&mut self) -> bool {
        let (value, found) = loop {
            let (value, found) = self.ahead();
            let finite = value.is_finite() && found.iter().all(|residual| residual.is_finite());
            match () {
                () if self.trial && self.lipschitz < f64::MAX.sqrt() && !(finite && self.lies_below(value)) => {
                    self.lipschitz = (2.0 * self.lipschitz).max(f64::MIN_POSITIVE.sqrt());
                }
                () if finite => break (value, found),
                () => {
                    self.residuals = [f64::NAN; 2];
                    return false;
                }
            }
        };
        (self.value, self.residuals) = (value, found);
        let Self { x, z, w, tx, v, next, .. } = self;
        for (old, new) in [(x, &mut next.x), (z, &mut next.z), (w, &mut next.w), (tx, &mut next.tx), (v, &mut next.v)] {
            std::mem::swap(old, new);
        }
        self.balance();
        true
    }

    /// What a step with the current L leads to, into `next`: f there, and the residuals.
    fn ahead(&mut self) -> (f64, [f64; 2]) {
        let tau = self.step_length();
        let Self { problem, x, w, beta, tx, v, u, next, work, .. } = self;
        vector::add_scaled(&mut next.x, x, -tau, v);
        problem.t().apply(&mut next.tx, &next.x, work);
        let (b, two) = (S::of(*beta), S::of(2.0));
        simd(
            #[inline(always)]
            || {
                for (((u, &w), &ahead), &tx) in u.iter_mut().zip(&*w).zip(&next.tx).zip(&*tx) {
                    *u = b * w + two * ahead - tx;
                }
            },
        );
        problem.g().prox(&mut next.z, u, *beta, work);
        slopes(&mut next.w, u, &next.z, *beta);
        residuals(problem, &mut next.v, [&next.x, &next.z, &next.w, &next.tx], work)
    }

    /// f(x⁺) ≤ f(x) + ⟨∇f(x), x⁺ − x⟩ + L/2‖x⁺ − x‖², give or take rounding; ∇f(x) = v − T*w.
    fn lies_below(&self, value: f64) -> bool {
        let Self { x, w, tx, v, next, lipschitz, .. } = self;
        let moves = next.x.iter().zip(x).zip(v).map(|((&next, &x), &v)| ((next - x).f64(), v.f64()));
        let (slope, squared) = moves.fold((0.0, 0.0), |(slope, squared), (d, v)| (slope + d * v, squared + d * d));
        let lifted: f64 = next.tx.iter().zip(tx).zip(w).map(|((&next, &tx), &w)| ((next - tx) * w).f64()).sum();
        let bound = self.value + slope - lifted + 0.5 * lipschitz * squared;
        value <= bound + 16.0 * S::EPSILON * (value.abs() + self.value.abs() + lifted.abs())
    }

    /// For convex g a longer primal step (a larger β) while stationarity lags, a longer dual step while Tx and z are apart;
    /// otherwise β goes down its path.
    fn balance(&mut self) {
        if self.problem.g().weak_convexity() > 0.0 {
            let [ratio, end] = self.path;
            self.beta = (ratio * self.beta).max(end.min(self.beta));
            return;
        }
        let [slope, gap] = self.residuals;
        let (tx, w) = (vector::norm2(&self.tx), self.problem.t().norm_bound() * vector::norm2(&self.w));
        let (slope, gap) = (slope * tx, gap * w); // slope/w against gap/tx, without a division by 0
        let factor = match () {
            () if slope > UNBALANCED * gap => 1.0 / (1.0 - self.adapt),
            () if gap > UNBALANCED * slope => 1.0 - self.adapt,
            () => return,
        };
        let most = largest_beta(self.problem, self.lipschitz).max(self.beta);
        (self.beta, self.adapt) = ((self.beta * factor).min(most), self.adapt * ADAPT.1);
    }
}

/// w ← (u − z)/β.
fn slopes<S: Real>(w: &mut [S], u: &[S], z: &[S], beta: f64) {
    let inverse = S::of(1.0 / beta);
    simd(
        #[inline(always)]
        || {
            for ((w, &u), &z) in w.iter_mut().zip(u).zip(z) {
                *w = (u - z) * inverse;
            }
        },
    );
}

/// 4‖T‖²/L.
fn largest_beta<S: Real>(problem: &Problem<S>, lipschitz: f64) -> f64 {
    let norm = problem.t().norm_bound();
    4.0 * norm * norm / lipschitz.max(f64::MIN_POSITIVE)
}

/// v ← ∇f(x) + T*w; returns f(x), and ‖v‖₂ and ‖Tx − z‖₂.
fn residuals<S: Real>(problem: &Problem<S>, v: &mut [S], [x, z, w, tx]: [&[S]; 4], work: &mut [S]) -> (f64, [f64; 2]) {
    let value = problem.f().value_grad(v, x, work);
    problem.t().adjoint_add(v, w, work);
    let gap = tx.iter().zip(z).map(|(&tx, &z)| (tx - z).f64().powi(2)).sum::<f64>().sqrt();
    (value, [if value.is_finite() { vector::norm2(v) } else { f64::NAN }, gap])
}
