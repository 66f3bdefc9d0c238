//! What a polynomial p does to singular values, and the bracket that an iteration goes by: ip/S ≤ ‖φ‖_* ≤ min over l of
//! ip/m(l) + min(γ(l)·(rS² − ‖d‖_F²), rl)·s, ip = ⟨φ, −d⟩, with room for rounding of its usual size (docs/brackets.md).
//!
//! The image of an interval under a quintic is known exactly, and the image under a composition is the image of the
//! image, so m(l), the least p on [0, l] and sup p come out of a handful of evaluations at construction.

use super::quintic::{Interval, Quintic};
use super::rounding;
use super::shape::Shape;
use crate::geometry::{Answer, Bracket, Inexactness};

/// What numbers are rounded to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arithmetic {
    /// Entries and sums alike, with this ε.
    Plain(f64),
    /// The entries of factors to eleven binary digits (half precision, tf32), sums in single precision: errors of entries are
    /// independent, and a matrix of them is far smaller than its entries allow.
    Short,
}

/// A unit of eleven binary digits.
const SHORT: f64 = 1.0 / 2048.0;

/// How the polynomial is evaluated: rounding errors differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Path {
    /// X ← X(aI + bG + cG²) in every step.
    Direct,
    /// On G = XᵀX alone, and one product with X at the end.
    GramSpace,
}

/// What was found out about a direction d.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// ⟨φ, −d⟩.
    pub ip: f64,
    /// ‖d‖_F².
    pub squared: f64,
    /// s/‖φ‖_F.
    pub s: f64,
}

/// What a polynomial is known to do to singular values in [0, 1].
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    short: f64,
    /// How far the s of a computed (XᵀX)² may be off.
    of_scale: f64,
    sup: f64,
    slack: Slack,
    /// From the largest unit down.
    levels: Vec<Level>,
    /// How far rounding can take d at most, in the Frobenius norm, where that is proven and small.
    proven: Option<f64>,
}

/// m = min p on [l, 1], `below` = min(0, min p on [0, l]), and γ.
#[derive(Clone, Copy, Debug)]
struct Floor {
    l: f64,
    m: f64,
    below: f64,
    gamma: f64,
}

/// The floors of a polynomial where the sums of its steps are rounded by a unit.
#[derive(Clone, Debug)]
struct Level {
    unit: f64,
    floors: Vec<Floor>,
}

/// Units that errors of entries may have, each √½ times the one before.
const LEVELS: i32 = 13;

/// l = 2^{-1}, 2^{-3/2}, … 2^{-24}.
const HALF_OCTAVES: std::ops::RangeInclusive<i32> = 2..=48;

/// Room for the rounding of ip, ‖φ‖_F and the bounds themselves.
const ROUNDING: f64 = 1e-13;

impl Bounds {
    pub fn new(steps: &[Quintic], shape: Shape, arithmetic: Arithmetic, path: Path) -> Self {
        let (short, unit) = (shape.short() as f64, unit(shape, arithmetic));
        let widened = |by: f64| image(steps, Interval::new(0.0, 1.0).widened(4.0 * by), by).hi;
        let (mut sup, mut proven) = (widened(unit), None);
        let slack = match (path, arithmetic) {
            (Path::Direct, Arithmetic::Short) => {
                sup = widened(2.0 * unit);
                Slack::short(short)
            }
            (Path::Direct, Arithmetic::Plain(epsilon)) => {
                proven = rounding::of_direction(steps, shape, epsilon);
                Slack::direct(steps, short, unit)
            }
            (Path::GramSpace, _) => Slack::gram_space(steps, short, unit),
        };
        let of_scale = if arithmetic == Arithmetic::Short { 8.0 * unit } else { unit * short };
        let levels = if arithmetic == Arithmetic::Short { LEVELS } else { 1 };
        let units = (0..levels).map(|level| unit * (-0.5 * f64::from(level)).exp2());
        let levels = units.map(|unit| Level { unit, floors: floors(steps, unit) }).collect();
        Self { short, of_scale, sup: sup.max(1.0), slack, levels, proven }
    }

    /// What is known below and above l where rounding is as this s/‖φ‖_F has it: errors of entries that are independent go with
    /// ‖X‖_F/√r, which is far below ‖X‖₂ where φ is of low rank.
    fn floors(&self, s: f64) -> &[Floor] {
        let wanted = SHORT / (s * self.short.sqrt());
        let serves = |level: &&Level| level.unit >= wanted;
        self.levels.iter().rev().find(serves).or(self.levels.first()).map_or(&[], |level| &level.floors)
    }

    /// s for ‖X‖_F = 1, from ‖(XᵀX)²‖_F as computed, which is off by no more than 3wu·√r·σ₁⁴: with the room left for that, and
    /// for the rounding of X, no singular value is above s by more than 4wu of it.
    pub fn scale(&self, fourth: f64) -> f64 {
        (fourth.sqrt().sqrt() * (1.0 + self.of_scale)).min(1.0)
    }

    /// How far rounding may move ip, in units of ‖φ‖_F.
    pub fn slack(&self, s: f64) -> f64 {
        self.slack.of_ip(self.short, s)
    }

    /// How far rounding may move ‖d‖_F².
    fn squared_slack(&self, s: f64) -> f64 {
        let turn = self.slack.of_direction(s);
        turn * (2.0 * self.short.sqrt() * self.sup + turn)
    }

    /// How far above 1 upper/lower can come out at this s/‖φ‖_F: ‖φ‖_* ≥ ‖φ‖_F²/σ₁.
    pub fn widest(&self, s: f64) -> f64 {
        let lost = |f: &Floor| self.sup / f.m - 1.0 + self.short * (f.gamma * self.sup * self.sup).min(f.l) * s * s;
        2.0 * self.slack(s) * s + self.floors(s).iter().map(lost).fold(f64::INFINITY, f64::min)
    }

    /// η and ξ that no φ of this shape exceeds: ip ≥ m(‖φ‖_* − r·min(l, γS²)·s) for every l, with s ≤ ‖φ‖_F ≤ ‖φ‖_*.
    pub fn inexactness(&self) -> Inexactness {
        let kept = |f: &Floor| f.m * (1.0 - self.short * (f.gamma * self.sup * self.sup).min(f.l));
        let kept = self.floors(1.0).iter().map(kept).fold(0.0, f64::max);
        self.rounded(1.0 - kept, self.is_proven())
    }

    /// Whether rounding is known to be small, at its worst.
    pub fn is_proven(&self) -> bool {
        self.proven.is_some()
    }

    /// η in exact arithmetic, and sup p, with what rounding can do; or what it does as a rule.
    pub fn rounded(&self, eta: f64, proven: bool) -> Inexactness {
        let worst = self.proven.filter(|_| proven);
        let (off, length) = worst.map_or((self.slack(1.0), 0.0), |off| (off, off));
        let excess = (self.sup - 1.0).max(0.0) + length;
        Inexactness { eta: (eta + off).clamp(0.0, 1.0), excess, proven: worst.is_some() }
    }

    /// The answer for a direction.
    pub fn answer(&self, Found { ip, squared, s }: Found, frobenius: f64) -> Answer {
        let short_of = (self.short * self.sup * self.sup - squared + self.squared_slack(s)).max(0.0);
        let (slack, found_s, s) = (self.slack(s) * frobenius, s, s * frobenius);
        let from_floor = |f: &Floor| {
            let lost = (self.short * f.l).min(f.gamma * short_of) * s;
            (ip + slack - f.below * self.short * f.l * s) / f.m + lost
        };
        let upper = self.floors(found_s).iter().map(from_floor).fold(self.short.sqrt() * frobenius, f64::min);
        let lower = ((ip - slack) / self.sup).max(frobenius);
        Answer {
            dual_norm: Bracket { lower: lower * (1.0 - ROUNDING), upper: upper.max(frobenius) * (1.0 + ROUNDING) },
            decrease: ip,
            excess: (self.sup - 1.0).max(0.0),
        }
    }
}

/// m, the least below l and γ for every l where rounding has this unit.
fn floors(steps: &[Quintic], unit: f64) -> Vec<Floor> {
    let over = |lo, hi| image(steps, Interval::new(lo, hi).widened(4.0 * unit), unit);
    let mut gamma = 0.0f64;
    // From below, so that γ(l) is the largest so far; below the least l, p is not negative but for rounding.
    let mut floors: Vec<Floor> = HALF_OCTAVES
        .rev()
        .map(|half_octave| {
            let (l, next) = ((-0.5 * half_octave as f64).exp2(), (-0.5 * (half_octave + 1) as f64).exp2());
            let next = if half_octave == *HALF_OCTAVES.end() { 0.0 } else { next };
            gamma = gamma.max(l / (1.0 + over(next, l).lo.min(1.0)).max(0.1));
            Floor { l, m: over(l, 1.0).lo, below: over(0.0, l).lo.min(0.0), gamma }
        })
        .collect();
    floors.retain(|floor| floor.m > 0.0);
    floors
}

/// wu, w = 2 + √long/8: the relative error of a long sum as a rule, with room to spare. Of a matrix whose entries alone are rounded,
/// half a unit: twice what independent errors come to, in the spectral norm.
fn unit(shape: Shape, arithmetic: Arithmetic) -> f64 {
    let of_sums = |epsilon: f64| 0.5 * epsilon * (2.0 + (shape.long() as f64).sqrt() / 8.0);
    match arithmetic {
        Arithmetic::Plain(epsilon) => of_sums(epsilon),
        Arithmetic::Short => 0.5 * SHORT + of_sums(f64::from(f32::EPSILON)),
    }
}

/// The image of singular values in an interval, each step widened by its rounding error.
fn image(steps: &[Quintic], over: Interval, unit: f64) -> Interval {
    steps.iter().fold(over, |over, p| {
        let h = over.hi.max(-over.lo);
        p.image(over).widened(unit * p.magnitude(h))
    })
}

/// What rounding does to d and to ip = Σσᵢp(σᵢ/s) as a rule, in two parts: one goes with ‖φ‖_F/s, the other with √r
/// (docs/brackets.md).
#[derive(Clone, Copy, Debug)]
struct Slack {
    /// f: what goes with ‖φ‖_F/s, and the rest.
    turn: [f64; 2],
    /// Σ_k sup σΛ_k(σ)·‖F_k‖_F/s, likewise.
    stretch: [f64; 2],
}

impl Slack {
    fn direct(steps: &[Quintic], short: f64, unit: f64) -> Self {
        let (mut over, felt) = (Interval::new(0.0, 1.0), felt(steps));
        let (mut turn, mut stretch) = ([unit * lipschitz(steps, over.hi), 0.0], [unit * felt[0], 0.0]);
        for (k, p) in steps.iter().enumerate() {
            let local = unit * p.magnitude(over.hi);
            over = p.image(over).widened(local);
            let (at, length) = if k == 0 { (0, 1.0) } else { (1, short.sqrt()) };
            turn[at] += lipschitz(&steps[k + 1..], over.hi) * local * length;
            stretch[at] += felt[k + 1] * local * length;
        }
        Self { turn, stretch }
    }

    /// Errors of entries that are independent of φ: ⟨φ, d⟩ hardly sees them, and what is lost are singular values below them, that sum
    /// to no more than a unit times √r‖φ‖_F, and ‖d‖_F² is off by a few units of its size. Twice what was seen and more.
    fn short(short: f64) -> Self {
        let turn = 2.0 * SHORT * short.sqrt();
        Self { turn: [0.0, turn], stretch: [f64::INFINITY, 0.0] }
    }

    /// p(σ) = σq(σ²), and an error δ in G changes q by the factor 1 + δq′/q; every step makes such an error once more.
    fn gram_space(steps: &[Quintic], short: f64, unit: f64) -> Self {
        let sensitivity = grid(1.0).map(|x| {
            let (p, slope) = chain(steps, x);
            ((slope * x / p - 1.0) / (2.0 * x * x)).abs()
        });
        let slack = unit * (1 + steps.len()) as f64 * short.sqrt() * sensitivity.fold(0.0, f64::max);
        Self { turn: [slack, 0.0], stretch: [f64::INFINITY, 0.0] }
    }

    /// ‖d‖_F is off by no more.
    fn of_direction(&self, s: f64) -> f64 {
        self.turn[0] / s + self.turn[1]
    }

    /// ip is off by no more, in units of ‖φ‖_F.
    fn of_ip(&self, short: f64, s: f64) -> f64 {
        let (turn, stretch) = (self.of_direction(s), self.stretch[0] / s + self.stretch[1]);
        turn.min((short.sqrt() * stretch + turn * turn) * s)
    }
}

/// sup of σ times the slope of all steps from the k-th on, along the way of σ, for every k.
fn felt(steps: &[Quintic]) -> Vec<f64> {
    let mut most = vec![0.0; steps.len()];
    let mut slopes = vec![0.0; steps.len()];
    for x in grid(1.0) {
        let mut way = x;
        for (step, slope) in steps.iter().zip(&mut slopes) {
            *slope = step.slope(way);
            way = step.at(way);
        }
        let mut product = x;
        for (most, slope) in most.iter_mut().zip(&slopes).rev() {
            product *= slope.abs();
            *most = product.max(*most);
        }
    }
    most.push(1.0); // no step is left after the last, and σ ≤ 1
    most
}

/// sup |p′| over [0, hi], from a fine grid.
fn lipschitz(steps: &[Quintic], hi: f64) -> f64 {
    grid(hi).map(|x| chain(steps, x).1.abs()).fold(0.0, f64::max)
}

/// p(x) and p′(x) of a composition.
fn chain(steps: &[Quintic], x: f64) -> (f64, f64) {
    steps.iter().fold((x, 1.0), |(x, slope), p| (p.at(x), slope * p.slope(x)))
}

/// Points of (0, hi], dense everywhere and denser towards 0.
fn grid(hi: f64) -> impl Iterator<Item = f64> {
    let even = (1..=256).map(move |i| hi * i as f64 / 256.0);
    even.chain((1..=256).map(move |i| hi * (-i as f64 / 8.0).exp2()))
}

#[cfg(test)]
mod tests {
    use super::super::polynomial::{Polynomial, Scale};
    use super::super::{Polar, minimax::minimax, newton_schulz::newton_schulz};
    use super::*;
    use crate::linalg::{Dense, Mat};
    use crate::real::Real;
    use crate::seeded::Seeded;
    use crate::vector::norm2;

    /// How much of the slacks and of the widened images rounding uses up: ip, ‖d‖_F² and ‖d‖ against p of exact singular
    /// values.
    fn used<S: Real>(steps: &[Quintic], scale: Scale, shape: Shape, phi: &[S]) -> (f64, f64, f64) {
        let Shape { rows, cols } = shape;
        let short = shape.short();
        let singular_values = |x: &[S]| {
            let x: Vec<f64> = x.iter().map(|v| v.f64()).collect();
            // With vectors: the values alone are good to 10⁻¹³ only.
            let (mut values, mut work) = (vec![0.0; short], vec![0.0; f64::svd_work_len(rows, cols)]);
            let (mut u, mut v) = (vec![0.0; rows * short], vec![0.0; cols * short]);
            assert!(f64::svd(&mut values, &mut u, &mut v, Mat::new(&x, rows, cols), &mut work));
            values
        };
        let frobenius = norm2(phi);
        let mut d = vec![S::ZERO; phi.len()];
        let mut polynomial = Polynomial::new(shape, vec![steps.to_vec()], scale);
        let ip = polynomial.polar(&mut d, phi, frobenius).decrease;
        let values = singular_values(phi);
        let tight = polynomial.bounds().scale(values.iter().map(|s| (s / frobenius).powi(8)).sum::<f64>().sqrt());
        let unit = frobenius * if polynomial.scale() == Scale::Tight { tight } else { 1.0 };
        let lifted: Vec<f64> = values.iter().map(|s| chain(steps, s / unit).0).collect();
        let expected: f64 = values.iter().zip(&lifted).map(|(s, p)| s * p).sum();
        let squared = (norm2(&d).powi(2) - lifted.iter().map(|p| p * p).sum::<f64>()).abs();
        let bounds = polynomial.bounds();
        let length = singular_values(&d)[0];
        let s = unit / frobenius;
        ((ip - expected).abs() / (frobenius * bounds.slack(s)), squared / bounds.squared_slack(s), length - bounds.sup)
    }

    fn rounding_stays_within_the_bounds<S: Real>() {
        for (rows, cols) in [(12, 5), (64, 64), (256, 30), (30, 256), (300, 300)] {
            let shape = Shape { rows, cols };
            let mut matrices: Vec<Vec<S>> = vec![Seeded::new(1).normals(rows * cols)];
            for least in [1e-3f64, 1e-6, 1e-12] {
                let graded = |(at, v): (usize, &f64)| S::of(v * least.powf((at % cols) as f64 / cols as f64));
                matrices.push(Seeded::new(2).normals(rows * cols).iter().enumerate().map(graded).collect());
            }
            // One large singular value: all positive.
            matrices.push(matrices[0].iter().map(|v| v.abs()).collect());
            let polynomials = [5, 8, 12].map(|steps| minimax(steps, S::EPSILON));
            for steps in [newton_schulz(2), newton_schulz(6)].into_iter().chain(polynomials) {
                for (phi, scale) in matrices.iter().flat_map(|phi| [(phi, Scale::Frobenius), (phi, Scale::Tight)]) {
                    let (slack, squared, excess) = used(&steps, scale, shape, phi);
                    let context = format!("{} {rows}×{cols} {scale:?}: {slack} {squared} {excess:e}", S::NAME);
                    assert!(slack <= 0.5 && squared <= 0.5 && excess <= 0.0, "{context}");
                }
            }
        }
    }

    #[test]
    fn rounding_stays_within_the_bounds_f64() {
        rounding_stays_within_the_bounds::<f64>();
    }

    #[test]
    fn rounding_stays_within_the_bounds_f32() {
        rounding_stays_within_the_bounds::<f32>();
    }

    /// The steep right end of the first steps must not throw the images of large blocks out.
    #[test]
    fn large_blocks_keep_their_bounds() {
        for n in [256, 1000, 2048, 4096] {
            let shape = Shape { rows: n, cols: n };
            for k in 4..=8 {
                let epsilon = f64::from(f32::EPSILON);
                let bounds = Bounds::new(&minimax(k, 0.5 * epsilon), shape, Arithmetic::Plain(epsilon), Path::Direct);
                assert!(bounds.sup < 1.02 && !bounds.floors(1.0).is_empty(), "{n}, {k} steps: {}", bounds.sup);
                let flat = (14.0 * n as f64).powf(0.125) / (n as f64).sqrt(); // s/‖φ‖_F of a random matrix
                assert!(bounds.widest(flat) < 0.12, "{n}, {k} steps: {}", bounds.widest(flat));
            }
        }
    }
}
