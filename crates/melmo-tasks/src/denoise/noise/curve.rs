//! Noise that grows or falls with brightness, as photons do and as cameras render them; and the scale of samples on which it does not.

use melmo::real::Real;

use super::super::planes::Planes;
use super::halved;
use super::squares::{Square, lower, squares};

/// Squares for one stretch of brightness.
const EACH: usize = 24;
/// Stretches at most.
const STRETCHES: usize = 16;
/// One square in so many of a stretch holds nothing but noise.
const QUIET: usize = 8;
/// Where the variance differs less than by this factor, it is one number.
const DIFFERS: f64 = 2.0;
/// How far stretches may lie from their curve, relative, root mean square.
const STRAY: f64 = 0.35;
/// The least variance, as part of the largest.
const FLOOR: f64 = 0.03;
/// Nodes of a table.
const NODES: usize = 1024;

/// var = c₀ + c₁t + c₂t² at brightness lo + t(hi − lo), as at the ends beyond them; c₂ = 0 is photons beside a constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    lo: f64,
    hi: f64,
    c: [f64; 3],
    floor: f64,
    /// The mean variance over the picture.
    mean: f64,
}

impl Curve {
    /// From squares of all channels, sorted by brightness; none where one number says as much.
    pub(super) fn of<S: Real>(image: &Planes<'_, S>, correlated: bool, unit: f64) -> Option<Self> {
        let shape = (image.rows, image.cols);
        let (mut all, mut shared) = (Vec::new(), 1.0);
        for c in 0..image.channels {
            let found = match correlated {
                true => halved(image.channel(c), shape, unit),
                false => squares(image.channel(c), shape, 8, unit),
            };
            shared = found.shared;
            all.extend(found.full());
        }
        // Pixels of 2×2 have a quarter of the variance, times what is shared.
        let gain = if correlated { 4.0 } else { 1.0 } * unit * unit;
        let points: Vec<(f64, f64)> = stretches(all, shared).into_iter().map(|(at, v)| (at * unit, v * gain)).collect();
        Self::fitted(&points)
    }

    /// Through (brightness, variance); points above count less: there is more than noise in them.
    fn fitted(points: &[(f64, f64)]) -> Option<Self> {
        let (lo, hi) = (points.first()?.0, points.last()?.0);
        let most = points.iter().map(|p| p.1).fold(0.0, f64::max);
        if points.len() < 4 || hi <= lo || most <= 0.0 {
            return None;
        }
        let mut curve = Self { lo, hi, c: [0.0; 3], floor: FLOOR * most, mean: 0.0 };
        let mut weights: Vec<f64> = points.iter().map(|p| (p.1.max(curve.floor)).powi(-2)).collect();
        for _ in 0..8 {
            curve.c = quadratic(points.iter().map(|p| ((p.0 - lo) / (hi - lo), p.1)).zip(weights.iter().copied()))?;
            for (weight, p) in weights.iter_mut().zip(points) {
                let there = curve.variance(p.0);
                *weight = if p.1 > 1.1 * there { 0.2 } else { 1.0 } * there.powi(-2);
            }
        }
        let variances: Vec<f64> = points.iter().map(|p| curve.variance(p.0)).collect();
        curve.mean = variances.iter().sum::<f64>() / variances.len() as f64;
        let (least, most) = variances.iter().fold((f64::INFINITY, 0.0f64), |(a, b), v| (a.min(*v), b.max(*v)));
        // What lies far above is texture; the rest has to follow.
        let stray = points.iter().zip(&variances).map(|(p, v)| (p.1 / v - 1.0).min(1.0).powi(2)).sum::<f64>();
        let follows = (stray / points.len() as f64).sqrt() < STRAY;
        (follows && most > DIFFERS * least).then_some(curve)
    }

    /// At this brightness.
    pub fn variance(&self, brightness: f64) -> f64 {
        let t = ((brightness - self.lo) / (self.hi - self.lo)).clamp(0.0, 1.0);
        (self.c[0] + t * (self.c[1] + t * self.c[2])).max(self.floor)
    }

    /// Its derivative there.
    fn slope(&self, brightness: f64) -> f64 {
        let step = (self.hi - self.lo) / NODES as f64;
        (self.variance(brightness + step) - self.variance(brightness - step)) / (2.0 * step)
    }

    /// The root of the mean variance.
    pub(super) fn level(&self) -> f64 {
        self.mean.sqrt()
    }

    /// The noise in the darkest and in the brightest stretch.
    pub fn ends(&self) -> (f64, f64) {
        (self.variance(self.lo).sqrt(), self.variance(self.hi).sqrt())
    }
}

/// Brightness and variance of stretches of squares.
fn stretches(mut all: Vec<Square>, shared: f64) -> Vec<(f64, f64)> {
    all.sort_by(|a, b| a.brightness().total_cmp(&b.brightness()));
    let count = (all.len() / EACH).min(STRETCHES);
    let n = all.len();
    let mut points = Vec::new();
    for k in 0..count {
        let part = &mut all[k * n / count..(k + 1) * n / count];
        let brightness = part.iter().map(Square::brightness).sum::<f64>() / part.len() as f64;
        points.push((brightness, lower(part, QUIET, shared)));
    }
    points
}

/// The weighted least squares fit of c₀ + c₁t + c₂t², c₂ held back a little; none where it is not determined.
fn quadratic(points: impl Iterator<Item = ((f64, f64), f64)>) -> Option<[f64; 3]> {
    let (mut a, mut b) = ([[0.0; 3]; 3], [0.0; 3]);
    for ((t, v), w) in points {
        let basis = [1.0, t, t * t];
        for i in 0..3 {
            b[i] += w * basis[i] * v;
            (0..3).for_each(|j| a[i][j] += w * basis[i] * basis[j]);
        }
    }
    a[2][2] *= 1.05;
    for k in 0..3 {
        if a[k][k].abs() < f64::MIN_POSITIVE {
            return None;
        }
        for i in k + 1..3 {
            let factor = a[i][k] / a[k][k];
            (k..3).for_each(|j| a[i][j] -= factor * a[k][j]);
            b[i] -= factor * b[k];
        }
    }
    for k in (0..3).rev() {
        b[k] = (b[k] - (k + 1..3).map(|j| a[k][j] * b[j]).sum::<f64>()) / a[k][k];
    }
    b.iter().all(|v| v.is_finite()).then_some(b)
}

/// Samples on a scale on which noise is as strong everywhere: t(I) = a∫dI/√(var + ⅜var′²), and back without bias.
///
/// For photons it is Anscombe's root. Of the mean of t(I) one comes back to the mean of I at t⁻¹ + ¼var′, to second order. a makes t as
/// wide as I, so that a picture's range is what it was.
#[derive(Clone, Debug)]
pub struct Stabiliser {
    lo: f64,
    step: f64,
    /// t at lo, lo + step, …
    table: Vec<f64>,
    curve: Curve,
    /// The noise on the new scale.
    pub level: f64,
}

impl Stabiliser {
    /// For samples from lo to hi.
    pub fn new(curve: &Curve, (lo, hi): (f64, f64)) -> Self {
        let step = (hi - lo) / (NODES - 1) as f64;
        let density = |k: usize| {
            let at = lo + k as f64 * step;
            (curve.variance(at) + 0.375 * curve.slope(at).powi(2)).sqrt().recip()
        };
        let (mut sum, mut before) = (0.0, density(0));
        let mut table = vec![0.0];
        for k in 1..NODES {
            let next = density(k);
            sum += 0.5 * step * (before + next);
            before = next;
            table.push(sum);
        }
        let stretch = (hi - lo) / sum;
        table.iter_mut().for_each(|t| *t = lo + stretch * *t);
        Self { lo, step, table, curve: curve.clone(), level: stretch }
    }

    /// t(I).
    pub fn there(&self, sample: f64) -> f64 {
        let at = ((sample - self.lo) / self.step).clamp(0.0, (NODES - 1) as f64);
        let k = (at as usize).min(NODES - 2);
        let within = self.table[k] + (at - k as f64) * (self.table[k + 1] - self.table[k]);
        // Beyond the ends samples stay as far away as they are.
        within + (sample - self.lo - at * self.step)
    }

    /// I from a mean of t(I).
    pub fn back(&self, t: f64) -> f64 {
        let k = self.table.partition_point(|node| *node < t).clamp(1, NODES - 1);
        let (a, b) = (self.table[k - 1], self.table[k]);
        let inside = t.clamp(self.table[0], self.table[NODES - 1]);
        let sample = self.lo + self.step * ((k - 1) as f64 + (inside - a) / (b - a));
        sample + 0.25 * self.curve.slope(sample) + (t - inside)
    }
}
