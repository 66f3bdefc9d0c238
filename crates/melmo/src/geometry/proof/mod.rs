//! Brackets that hold whatever rounding does: what certificates state, what a run may stop on, what verification recomputes.
//!
//! Nothing is believed of a decomposition but its residual, and of a sum but the number of its roundings; the proofs are in
//! docs/brackets.md. All in `f64`, on the given numbers times a power of two. An oracle's own bracket is what an iteration
//! goes by: much cheaper, and with room for the usual size of rounding where the worst is out of reach.

#[cfg(test)]
mod double;
mod eigen;
mod largest;
mod residual;
mod svd;
#[cfg(test)]
mod tests;

use crate::geometry::Bracket;
use crate::geometry::spectral::Shape;
use crate::real::Real;
use crate::vector;

/// 2⁻⁵³, and a little for the squares of roundings.
const UNIT: f64 = 0.5 * f64::EPSILON * 1.01;

/// What products of numbers below the range can have lost, next to a matrix of size 1.
const UNDERFLOW: f64 = 1e-280;

/// A bracket of Σσᵢ so wide, relative to itself, is tried again with singular vectors.
const WIDE: f64 = 1e-9;

/// Σσᵢ. NaN where an entry is not finite or no decomposition is found.
pub(super) fn sum<S: Real>(x: &[S], rows: usize, cols: usize) -> Bracket {
    let shape = Shape { rows, cols };
    scaled(x, |x| {
        let by_eigen = eigen::Eigen::new(x, shape).map(|eigen| eigen.sum(x));
        match by_eigen {
            Some(found) if found.upper - found.lower <= WIDE * found.upper => Some(found),
            found => match (found, svd::sum(x, shape)) {
                (Some(a), Some(b)) => Some(Bracket { lower: a.lower.max(b.lower), upper: a.upper.min(b.upper) }),
                (a, b) => a.or(b),
            },
        }
    })
}

/// σ₁. NaN as for [`sum`].
pub(super) fn largest<S: Real>(x: &[S], rows: usize, cols: usize) -> Bracket {
    let shape = Shape { rows, cols };
    scaled(x, |x| match shape.short() {
        ..=largest::SMALL => Some(eigen::Eigen::new(x, shape)?.largest()),
        _ => largest::of(x, shape),
    })
}

/// A bracket for the entries in `f64`, times a power of two that brings the largest to 1 or so.
fn scaled<S: Real>(x: &[S], bracket: impl FnOnce(&[f64]) -> Option<Bracket>) -> Bracket {
    let largest = vector::norm_inf(x);
    if largest == 0.0 || !largest.is_finite() {
        return Bracket::exact(if largest == 0.0 { 0.0 } else { f64::NAN });
    }
    let scale = vector::power_of_two_scale::<f64>(largest);
    let x: Vec<f64> = x.iter().map(|v| v.f64() * scale).collect();
    match bracket(&x) {
        // Where a quotient leaves the normal range it is rounded, by less than a step.
        Some(Bracket { lower, upper }) => {
            Bracket { lower: (lower.max(0.0) / scale).next_down().max(0.0), upper: (upper / scale).next_up() }
        }
        None => Bracket::exact(f64::NAN),
    }
}

/// Parts of the given lengths, one after another.
fn parts<const N: usize>(mut room: &mut [f64], lengths: [usize; N]) -> [&mut [f64]; N] {
    lengths.map(|len| {
        let (part, rest) = std::mem::take(&mut room).split_at_mut(len);
        room = rest;
        part
    })
}
