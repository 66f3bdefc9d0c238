//! ip/sup p ≤ ‖φ‖_* ≤ min over l of ip/m(l) + r·l·‖φ‖_F, with ip = ⟨φ, −d⟩, d = −p(φ/‖φ‖_F), m(l) = min p on [l, 1].
//!
//! The image of an interval under a quintic is known exactly, and the image under a composition is the image of the
//! image, so m(l), the least p on [0, l] and sup p come out of a handful of evaluations at construction.
//!
//! Rounding, from one model: a computed step is p_k(X) + F with ‖F‖₂ ≤ κu(|a|h + |b|h³ + |c|h⁵), h = ‖X‖₂, where
//! κ = 2 + √long/8 stands for the growth of errors in long sums (their statistical size with room to spare; the worst
//! case, long/2, does not occur). The next step's singular values are then off by no more than ‖F‖₂ (Weyl), so every
//! image is widened by that much. What it does to ip is the `slack` of [`direct_slack`] or [`gram_space_slack`]; on the
//! matrices of the tests it uses up less than half of that, and mostly a hundredth.

use super::quintic::{Interval, Quintic};
use super::shape::Shape;
use crate::geometry::{Answer, Bracket};

/// How the polynomial is evaluated: rounding errors differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Path {
    /// X ← X(aI + bG + cG²) in every step.
    Direct,
    /// On G = XᵀX alone, and one product with X at the end.
    GramSpace,
}

/// What a polynomial is known to do to singular values in [0, 1].
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    short: f64,
    sup: f64,
    slack: f64,
    floors: Vec<Floor>,
}

/// m = min p on [l, 1], and `below` = min(0, min p on [0, l]).
#[derive(Clone, Copy, Debug)]
struct Floor {
    l: f64,
    m: f64,
    below: f64,
}

/// l = 2^{-1}, 2^{-3/2}, … 2^{-24}.
const HALF_OCTAVES: std::ops::RangeInclusive<i32> = 2..=48;

/// Room for the rounding of ip, ‖φ‖_F and the bounds themselves.
const ROUNDING: f64 = 1e-13;

impl Bounds {
    pub fn new(steps: &[Quintic], shape: Shape, epsilon: f64, path: Path) -> Self {
        let unit = unit_of_sums(shape, epsilon);
        let over = |lo, hi| image(steps, Interval::new(lo, hi).widened(4.0 * unit), unit);
        let floor = |half_octave: i32| {
            let l = (-0.5 * half_octave as f64).exp2();
            Floor { l, m: over(l, 1.0).lo, below: over(0.0, l).lo.min(0.0) }
        };
        let short = shape.short() as f64;
        let slack = match path {
            Path::Direct => direct_slack(steps, short, unit),
            Path::GramSpace => gram_space_slack(steps, short, unit),
        };
        Self { short, sup: over(0.0, 1.0).hi, slack, floors: HALF_OCTAVES.map(floor).filter(|f| f.m > 0.0).collect() }
    }

    /// How far rounding may move ip, in units of ‖φ‖_F.
    pub fn slack(&self) -> f64 {
        self.slack
    }

    /// The answer for a direction with ⟨φ, −d⟩ = ip.
    pub fn answer(&self, ip: f64, frobenius: f64) -> Answer {
        let slack = self.slack * frobenius;
        let from_floor = |f: &Floor| {
            let lost = self.short * f.l * frobenius;
            (ip + slack - f.below * lost) / f.m + lost
        };
        let upper = self.floors.iter().map(from_floor).fold(self.short.sqrt() * frobenius, f64::min);
        let lower = ((ip - slack) / self.sup).max(frobenius);
        Answer {
            dual_norm: Bracket { lower: lower * (1.0 - ROUNDING), upper: upper.max(frobenius) * (1.0 + ROUNDING) },
            decrease: ip,
            excess: (self.sup - 1.0).max(0.0),
        }
    }
}

/// κu: the relative error of a long sum.
fn unit_of_sums(shape: Shape, epsilon: f64) -> f64 {
    0.5 * epsilon * (2.0 + (shape.long() as f64).sqrt() / 8.0)
}

/// The image of singular values in an interval, each step widened by its rounding error.
fn image(steps: &[Quintic], over: Interval, unit: f64) -> Interval {
    steps.iter().fold(over, |over, p| {
        let h = over.hi.max(-over.lo);
        p.image(over).widened(unit * p.magnitude(h))
    })
}

/// |ip − Σσᵢp(σᵢ)| in units of ‖φ‖_F, when the errors F_k come in step after step.
///
/// An odd function of singular values is Λ-Lipschitz in the Frobenius norm where it is Λ-Lipschitz on numbers
/// (Andersson, Carlsson & Perfekt 2016), so d is off by no more than f = Σ_k Λ_k‖F_k‖_F, Λ_k that of the steps after
/// k; so is ip. Most of that is a turn of small singular vectors, which ip does not feel: to first order it sees
/// Σᵢ σᵢΛ_k(σᵢ)(F_k)ᵢᵢ only, with the slope Λ_k(σᵢ) of those steps on the way of σᵢ, and a turn by f costs no more than
/// f² (½f² between isometries).
fn direct_slack(steps: &[Quintic], short: f64, unit: f64) -> f64 {
    let mut over = Interval::new(0.0, 1.0);
    let mut turn = unit * lipschitz(steps, over.hi);
    let mut stretch = unit * felt(steps, 0);
    // ‖X‖_F is 1 at first and may be √r·‖X‖₂ after a step.
    let mut frobenius = 1.0;
    for (k, p) in steps.iter().enumerate() {
        let local = unit * p.magnitude(over.hi);
        over = p.image(over).widened(local);
        turn += lipschitz(&steps[k + 1..], over.hi) * local * frobenius;
        stretch += felt(steps, k + 1) * local * frobenius;
        frobenius = short.sqrt();
    }
    turn.min(short.sqrt() * stretch + turn * turn)
}

/// sup of σ times the slope of all steps from the given one on, along the way of σ.
fn felt(steps: &[Quintic], from: usize) -> f64 {
    let (before, after) = steps.split_at(from);
    grid(1.0).map(|x| x * chain(after, chain(before, x).0).1.abs()).fold(0.0, f64::max)
}

/// p(σ) = σq(σ²), and an error δ in G changes q by the factor 1 + δq′/q: √r‖·‖_F bounds the sum over singular values.
/// Every step makes such an error once more.
fn gram_space_slack(steps: &[Quintic], short: f64, unit: f64) -> f64 {
    let sensitivity = grid(1.0).map(|x| {
        let (p, slope) = chain(steps, x);
        ((slope * x / p - 1.0) / (2.0 * x * x)).abs()
    });
    unit * (1 + steps.len()) as f64 * short.sqrt() * sensitivity.fold(0.0, f64::max)
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
    use super::super::{Polar, minimax::minimax, newton_schulz::newton_schulz, polynomial::Polynomial};
    use super::*;
    use crate::linalg::{Dense, Mat};
    use crate::real::Real;
    use crate::seeded::Seeded;
    use crate::vector::norm2;

    /// How much of the slack and of the widened images rounding uses up: ip and ‖d‖ against p of exact singular
    /// values.
    fn used<S: Real>(steps: &[Quintic], shape: Shape, phi: &[S]) -> (f64, f64) {
        let Shape { rows, cols } = shape;
        let short = shape.short();
        let singular_values = |x: &[S]| {
            let x: Vec<f64> = x.iter().map(|v| v.f64()).collect();
            let (mut values, mut work) = (vec![0.0; short], vec![0.0; f64::singular_values_work_len(rows, cols)]);
            assert!(f64::singular_values(&mut values, Mat::new(&x, rows, cols), &mut work));
            values
        };
        let frobenius = norm2(phi);
        let mut d = vec![S::ZERO; phi.len()];
        let mut polynomial = Polynomial::new(shape, steps.to_vec());
        let ip = polynomial.polar(&mut d, phi, frobenius).decrease;
        let expected: f64 = singular_values(phi).iter().map(|s| s * chain(steps, s / frobenius).0).sum();
        let bounds = polynomial.bounds();
        let length = singular_values(&d)[0];
        ((ip - expected).abs() / (frobenius * bounds.slack), length - bounds.sup)
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
                for phi in &matrices {
                    let (slack, excess) = used(&steps, shape, phi);
                    assert!(slack <= 0.5 && excess <= 0.0, "{} {rows}×{cols}: {slack} {excess:e}", S::NAME);
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
}
