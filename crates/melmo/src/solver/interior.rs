//! An interior point method, for problems whose only corners are kinks: linear and quadratic programs in disguise.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::geometry::Geometry;
use crate::metric::Weighted;
use crate::operator::LinOp;
use crate::penalty::Kinks;
use crate::problem::Problem;
use crate::real::Real;
use crate::smooth::Quadratic;
use crate::solver::state::{self, positive, take};
use crate::solver::unsmoothed::{Known, Unsmoothed};
use crate::solver::{Info, Measured, Method, Run, Standing};
use crate::space::Host;
use crate::vector;

/// Where rounding ends it, the last point is shown again so often: whoever judges looks at it.
const SHOWN_AGAIN: u64 = 4;
/// How far towards the boundary a step may go.
const INSIDE: f64 = 0.995;

/// f quadratic, g = Σ max{high·t, low·t} with t = (Tx)ᵢ − atᵢ: t = above − below with both ≥ 0, and slopes w strictly inside (low, high).
/// A step is one of Newton's on
///
/// ```text
/// ∇f(x) + T*w = 0      Tx − at = above − below      above·(high − w) = below·(w − low) = μ
/// ```
///
/// with μ falling to 0: (∇²f + T*ΘT)dx = …, Θ = (above/(high − w) + below/(w − low))⁻¹, twice with one factor: to see how far a step to
/// μ = 0 would get, and then with what that teaches (Mehrotra 1992; for quantiles Portnoy & Koenker 1997). About fifteen steps, whatever
/// the problem's size. Certificates are made of z = prox_{βg}(Tx + βw).
pub struct Interior<'p, S: Real> {
    host: Host<'p, S>,
    problem: &'p Problem<S>,
    kinks: Kinks,
    system: Weighted,
    common: Unsmoothed<S>,
    point: Point,
    direction: Point,
    /// Of above·(high − w) and of below·(w − low), what is asked of a step.
    wanted: [Vec<f64>; 2],
    theta: Vec<f64>,
    shift: Vec<f64>,
    tx: Vec<f64>,
    pair: Pair<S>,
    /// Steps that led nowhere.
    idle: u64,
    scratch: Scratch<S>,
}

/// x, w and the distances from the kinks; or a direction of them.
#[derive(Clone, Debug)]
struct Point {
    x: Vec<f64>,
    w: Vec<f64>,
    above: Vec<f64>,
    below: Vec<f64>,
}

/// z = prox_{βg}(Tx + βw), and Tx + βw − z.
struct Pair<S> {
    z: Vec<S>,
    scaled: Vec<S>,
    beta: f64,
}

struct Scratch<S> {
    x: Vec<S>,
    grad: Vec<S>,
    image: Vec<S>,
    work: Vec<S>,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memo {
    x: Vec<f64>,
    w: Vec<f64>,
    above: Vec<f64>,
    below: Vec<f64>,
    idle: u64,
}

impl<'p, S: Real> Interior<'p, S> {
    /// Whether it takes the problem: f quadratic, g a sum of bent lines, a system that is small or narrow.
    pub fn fits(problem: &Problem<S>) -> bool {
        Kinks::of(problem.g()).is_some()
            && Quadratic::of(problem.f()).is_some_and(|hessian| Weighted::fits(&hessian, problem.t()))
    }

    /// Starts at x₀, which is copied, with slopes in the middle.
    pub fn new(problem: &'p Problem<S>, x0: &[S]) -> Result<Run<Self>, Error> {
        problem.check_start(x0)?;
        let refused = |what: &str| Error::Unsupported(format!("an interior point method needs {what}"));
        let kinks = Kinks::of(problem.g())
            .ok_or_else(|| refused("a penalty that is a sum of bent lines: l1, residuals without squares"))?;
        let hessian = Quadratic::of(problem.f()).ok_or_else(|| refused("a quadratic loss with a known L_f"))?;
        let system = Weighted::new(&hessian, problem.t())
            .ok_or_else(|| refused("an operator on at most 768 entries, or one with few entries in T*T"))?;
        let (n, m) = (x0.len(), kinks.at.len());
        let zeros = || vec![0.0; m];
        let point = Point { x: x0.iter().map(|x| x.f64()).collect(), w: zeros(), above: zeros(), below: zeros() };
        let work = problem.f().work_len().max(problem.g().work_len()).max(problem.t().work_len());
        let [grad, x] = [(); 2].map(|()| vec![S::ZERO; n]);
        let scratch = Scratch { x, grad, image: vec![S::ZERO; m], work: vec![S::ZERO; work] };
        let mut this = Self {
            host: Host::euclidean(problem)?,
            problem,
            kinks,
            system,
            common: Unsmoothed::new(problem, x0),
            direction: point.clone(),
            point,
            wanted: [zeros(), zeros()],
            theta: zeros(),
            shift: zeros(),
            tx: zeros(),
            pair: Pair { z: vec![S::ZERO; m], scaled: vec![S::ZERO; m], beta: 1.0 },
            idle: 0,
            scratch,
        };
        this.begin();
        Ok(Run::new(this))
    }

    /// Slopes in the middle, distances that are as they are and as long again as a usual one.
    fn begin(&mut self) {
        apply(self.problem.t(), &mut self.tx, &self.point.x, &mut self.scratch);
        let Self { kinks: Kinks { at, low, high }, point, tx, .. } = self;
        let usual = tx.iter().zip(&*at).map(|(tx, at)| (tx - at).abs()).sum::<f64>() / at.len() as f64;
        let usual = if usual > 0.0 { usual } else { 1.0 };
        for i in 0..at.len() {
            let t = tx[i] - at[i];
            point.w[i] = 0.5 * (low[i] + high[i]);
            (point.above[i], point.below[i]) = (t.max(0.0) + usual, (-t).max(0.0) + usual);
        }
    }

    /// Newton's direction for what is wanted, with the factor that is there.
    fn direct(&mut self) {
        let Self { problem, kinks: Kinks { at, low, high }, system, point, direction, wanted, .. } = self;
        let Self { theta, shift, tx, scratch, .. } = self;
        for i in 0..at.len() {
            let apart = tx[i] - at[i] - point.above[i] + point.below[i];
            let [above, below] = [wanted[0][i] / (high[i] - point.w[i]), wanted[1][i] / (point.w[i] - low[i])];
            shift[i] = apart - above + below;
            scratch.image[i] = S::of(point.w[i] + theta[i] * shift[i]);
        }
        scratch.x.iter_mut().zip(&point.x).for_each(|(to, x)| *to = S::of(*x));
        problem.f().value_grad(&mut scratch.grad, &scratch.x, &mut scratch.work);
        problem.t().adjoint_add(&mut scratch.grad, &scratch.image, &mut scratch.work);
        direction.x.iter_mut().zip(&scratch.grad).for_each(|(d, grad)| *d = -grad.f64());
        system.solve(&mut direction.x);
        apply(problem.t(), &mut direction.above, &direction.x, scratch);
        for i in 0..at.len() {
            let dw = theta[i] * (direction.above[i] + shift[i]);
            direction.w[i] = dw;
            direction.above[i] = (wanted[0][i] + point.above[i] * dw) / (high[i] - point.w[i]);
            direction.below[i] = (wanted[1][i] - point.below[i] * dw) / (point.w[i] - low[i]);
        }
    }

    /// The longest step, 1 at most, that leaves the inside not, and what μ would be then.
    fn reach(&self) -> (f64, f64) {
        let Self { kinks: Kinks { low, high, .. }, point, direction, .. } = self;
        let mut length: f64 = 1.0;
        let mut room = |room: f64, change: f64| {
            if change < 0.0 {
                length = length.min(-room / change);
            }
        };
        for i in 0..low.len() {
            room(point.above[i], direction.above[i]);
            room(point.below[i], direction.below[i]);
            room(high[i] - point.w[i], -direction.w[i]);
            room(point.w[i] - low[i], direction.w[i]);
        }
        let mu = (0..low.len()).map(|i| {
            let w = point.w[i] + length * direction.w[i];
            (point.above[i] + length * direction.above[i]) * (high[i] - w)
                + (point.below[i] + length * direction.below[i]) * (w - low[i])
        });
        (length, mu.sum::<f64>() / (2 * low.len()) as f64)
    }

    /// A step to `share` of μ, with what the direction that is there teaches of the curvature.
    fn want(&mut self, mu: f64, learns: bool) {
        let Self { kinks: Kinks { low, high, .. }, point, direction, wanted, .. } = self;
        for i in 0..low.len() {
            let bent = if learns { direction.w[i] } else { 0.0 };
            wanted[0][i] = mu - point.above[i] * (high[i] - point.w[i]) + direction.above[i] * bent;
            wanted[1][i] = mu - point.below[i] * (point.w[i] - low[i]) - direction.below[i] * bent;
        }
    }

    /// μ, and Θ into the system; `None` where no system can be solved any more.
    fn prepare(&mut self) -> Option<f64> {
        let Self { kinks: Kinks { low, high, .. }, system, point, theta, .. } = self;
        let mut mu = 0.0;
        for i in 0..low.len() {
            let (up, down) = (high[i] - point.w[i], point.w[i] - low[i]);
            mu += point.above[i] * up + point.below[i] * down;
            theta[i] = 1.0 / (point.above[i] / up + point.below[i] / down);
        }
        let can = mu.is_finite() && mu > 0.0 && system.prepare(theta);
        can.then_some(mu / (2 * low.len()) as f64)
    }

    /// One step; its length.
    fn newton(&mut self) -> Option<f64> {
        let mu = self.prepare()?;
        self.want(0.0, false);
        self.direct();
        let ahead = self.reach().1;
        if !ahead.is_finite() {
            return None; // rounding: the last step was as near as it gets
        }
        self.want((ahead / mu).clamp(0.0, 1.0).powi(3) * mu, true);
        self.direct();
        let (longest, ahead) = self.reach();
        if !ahead.is_finite() {
            return None;
        }
        let length = if longest < 1.0 { INSIDE * longest } else { 1.0 };
        let Self { problem, point, direction, tx, scratch, .. } = self;
        for (at, d) in [
            (&mut point.x, &direction.x),
            (&mut point.w, &direction.w),
            (&mut point.above, &direction.above),
            (&mut point.below, &direction.below),
        ] {
            at.iter_mut().zip(d).for_each(|(at, d)| *at += length * d);
        }
        apply(problem.t(), tx, &point.x, scratch);
        Some(length)
    }

    /// The pair (z, w) that a certificate is made of, and its two residuals.
    fn look(&mut self) -> [f64; 2] {
        let Self { problem, point, pair: Pair { z, scaled, beta }, tx, scratch, .. } = self;
        let (size, slopes) = (vector::norm2(tx), vector::norm2(&point.w));
        *beta = Some(size / slopes).filter(|beta| beta.is_finite() && *beta > 0.0).unwrap_or(1.0);
        let moved = tx.iter().zip(&point.w).map(|(tx, w)| S::of(tx + *beta * w));
        scaled.iter_mut().zip(moved).for_each(|(to, s)| *to = s);
        problem.g().prox(z, scaled, *beta, &mut scratch.work);
        let mut gap = 0.0;
        for (i, z) in z.iter().enumerate() {
            scaled[i] -= *z;
            gap += (tx[i] - z.f64()).powi(2);
            scratch.image[i] = S::of(scaled[i].f64() / *beta);
        }
        scratch.x.iter_mut().zip(&point.x).for_each(|(to, x)| *to = S::of(*x));
        let value = problem.f().value_grad(&mut scratch.grad, &scratch.x, &mut scratch.work);
        problem.t().adjoint_add(&mut scratch.grad, &scratch.image, &mut scratch.work);
        [if value.is_finite() { vector::norm2(&scratch.grad) } else { f64::NAN }, gap.sqrt()]
    }
}

/// to ← Tx.
fn apply<S: Real>(t: &dyn LinOp<S>, to: &mut [f64], x: &[f64], scratch: &mut Scratch<S>) {
    scratch.x.iter_mut().zip(x).for_each(|(to, x)| *to = S::of(*x));
    t.apply(&mut scratch.image, &scratch.x, &mut scratch.work);
    to.iter_mut().zip(&scratch.image).for_each(|(to, v)| *to = v.f64());
}

impl<'p, S: Real> Method for Interior<'p, S> {
    type Space = Host<'p, S>;

    fn step(&mut self, k: u64) -> Option<Info> {
        if k == 0 {
            return Some(self.common.begin(&mut self.host, 1.0));
        }
        let length = if self.idle == 0 { self.newton() } else { None };
        self.idle += u64::from(length.is_none());
        let length = length.or((self.idle <= SHOWN_AGAIN).then_some(0.0))?;
        let [slope, gap] = self.look();
        let info = Info::unsmoothed(k + 1, length, self.host.between(), [slope, slope], gap);
        if info.finite {
            self.common.x.copy_from_slice(&self.scratch.x);
        }
        Some(info)
    }

    fn standing(&mut self, k: u64) -> impl Standing<Host<'p, S>> {
        let Pair { z, scaled, beta } = &self.pair;
        self.common.standing(&mut self.host, (k > 1).then_some(Known { z, scaled, step: *beta }))
    }

    fn save(&mut self, _: u64) -> state::Memo<S> {
        let Point { x, w, above, below } = self.point.clone();
        state::Memo::Interior(Memo { x, w, above, below, idle: self.idle })
    }

    fn restore(&mut self, _: u64, memo: &state::Memo<S>) -> Result<(), Error> {
        let state::Memo::Interior(Memo { x, w, above, below, idle }) = memo else {
            return memo.is_none_of("interior-point");
        };
        self.idle = state::count(*idle)?;
        let least = |all: &[f64]| all.iter().copied().fold(f64::INFINITY, f64::min);
        positive("a distance of a saved state", least(above).min(least(below)))?;
        let Self { point, problem, tx, scratch, common, .. } = self;
        for (own, saved) in [(&mut point.x, x), (&mut point.w, w), (&mut point.above, above), (&mut point.below, below)]
        {
            take(own, saved)?;
        }
        apply(problem.t(), tx, &point.x, scratch);
        common.x.copy_from_slice(&scratch.x);
        self.look();
        Ok(())
    }
}

impl<S: Real> Measured for Interior<'_, S> {
    fn measure_in(&mut self, geometry: Box<dyn Geometry<S>>) -> Result<(), Error> {
        self.host.measure_in(geometry)
    }
}
