//! How far rounding can take the computed d from −p(φ/s): a bound that holds for every φ (docs/brackets.md).
//!
//! A step computes p_k(X) + F with ‖F‖_F ≤ [`step_error`], and d is off by no more than f = Σ_k Λ_k‖F_k‖_F, Λ_k the Lipschitz
//! constant of the steps after k. In single precision worst cases add up to more than there is to say from a dozen columns on.

use super::quintic::{Interval, Quintic};
use super::shape::Shape;
use crate::linalg::roundings;
use crate::vector::ROUNDINGS;

/// A bound above this is worth less than the usual size of rounding.
const SMALL: f64 = 0.05;

/// ‖d + p(φ/s)‖_F at most, and how far p may rise where φ/s has singular values above 1 by rounding; for steps evaluated as
/// X(aI + bG + cG²) in numbers with the given ε. `None` where that is much, next to a d of length 1.
pub(super) fn of_direction(steps: &[Quintic], shape: Shape, epsilon: f64) -> Option<f64> {
    let (unit, r) = (0.505 * epsilon, shape.short() as f64);
    // Every entry of φ/‖φ‖_F is rounded, ‖φ‖_F too; and s, which comes from ‖G²‖_F ≥ r^{−3/2}.
    let start = 4.0 * unit + f64::EPSILON * ROUNDINGS;
    let scale = unit * (roundings(shape.long()) * r.powf(0.75) + roundings(shape.short()) * r.sqrt());
    let domain = 1.0 + 2.0 * start + scale;
    let (mut ends, mut local) = (vec![domain], Vec::new());
    for p in steps {
        let h = ends[ends.len() - 1];
        let error = step_error(p, shape, unit, h);
        let image = p.image(Interval::new(0.0, h));
        ends.push(image.hi.max(-image.lo) + error);
        local.push(error);
    }
    let later = |k: usize| lipschitz(&steps[k..], ends[k]);
    let moved: f64 = local.iter().enumerate().map(|(k, f)| later(k + 1) * f).sum();
    let off = later(0) * (start * r.sqrt() + domain - 1.0) + moved;
    (off < SMALL).then_some(off)
}

/// ‖F‖_F of a step from an X with ‖X‖₂ ≤ h, so ‖X‖_F ≤ x = h√r: G is off by γx², G² by another γ‖G‖_F², aI + bG + cG² by
/// their roundings, and the product with X by γ‖X‖_F times the sizes of its entries.
fn step_error(p: &Quintic, shape: Shape, unit: f64, h: f64) -> f64 {
    let r = shape.short() as f64;
    let (a, b, c) = (p.a.abs(), p.b.abs(), p.c.abs());
    let x = h * r.sqrt();
    let gram = unit * roundings(shape.long()) * x * x;
    let g = h * x + gram;
    let square = unit * roundings(shape.short()) * g * g;
    let size = g * (h * h + gram) + square;
    let sum = 5.0 * unit * (a * r.sqrt() + b * g + c * size);
    let product = unit * (r + 4.0) * x * (a + b * g + c * size);
    h * (b * gram + c * (2.0 * h * h + gram) * gram + c * square + sum) + 1.01 * product
}

/// sup |p′| of a composition over [0, hi]: the product of the steps' largest slopes over every small cell.
fn lipschitz(steps: &[Quintic], hi: f64) -> f64 {
    let octaves = (0..=192).map(|i| hi * (-0.125 * i as f64).exp2());
    let even = (1..512).map(|i| hi * i as f64 / 512.0);
    let mut ends: Vec<f64> = octaves.chain(even).chain([0.0]).collect();
    ends.sort_by(f64::total_cmp);
    let slope = |cell: &[f64]| {
        let start = (Interval::new(cell[0], cell[1]), 1.0);
        steps.iter().fold(start, |(over, slope), p| (p.image(over), slope * p.steepest(over))).1
    };
    ends.windows(2).map(slope).fold(0.0, f64::max)
}
