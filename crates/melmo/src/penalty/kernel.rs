//! The vectorised loops over entries: maps, sums, and slopes with the sum of their squares.
//!
//! Every closure owns its penalty: behind a reference, its parameters and all that follows from them would be computed
//! again for each entry, because a write to the output might have changed them.

use crate::penalty::Envelope;
use crate::real::Real;
use crate::vector::{norm2_squared, simd};

const LANES: usize = 16;

/// Σ term(toᵢ − fromᵢ, wᵢ).
#[inline(always)]
pub(super) fn sum_kernel<S: Real>(from: &[S], to: &[S], w: &[S], term: impl Fn(S, S) -> S) -> f64 {
    simd(
        #[inline(always)]
        move || {
            let mut lanes = [0.0; LANES];
            for ((from, to), w) in from.chunks(LANES).zip(to.chunks(LANES)).zip(w.chunks(LANES)) {
                for (((&from, &to), &w), lane) in from.iter().zip(to).zip(w).zip(&mut lanes) {
                    *lane += term(to - from, w).f64();
                }
            }
            total(lanes)
        },
    )
}

/// Entries whose slopes are still in the nearest cache when their squares are summed: that second pass costs less than sums
/// carried through the first.
const NEAR: usize = 2048;

/// slope ← f(uᵢ, wᵢ), and the sum of squares.
#[inline(always)]
pub(super) fn slope_kernel<S: Real>(slope: &mut [S], u: &[S], w: &[S], f: impl Fn(S, S) -> S + Clone) -> f64 {
    let near = slope.chunks_mut(NEAR).zip(u.chunks(NEAR)).zip(w.chunks(NEAR));
    near.map(|((slope, u), w)| {
        map_kernel(slope, u, w, f.clone());
        norm2_squared(slope)
    })
    .sum()
}

/// Sums that begin at a cache line: they may be kept in memory, and across two lines that takes half as long again.
#[repr(align(64))]
struct Line([f64; LANES]);

/// grad ← grad + f(uᵢ, wᵢ), and the sum of the squares of f.
#[inline(always)]
pub(super) fn add_slope_kernel<S: Real>(grad: &mut [S], u: &[S], w: &[S], f: impl Fn(S, S) -> S) -> f64 {
    simd(
        #[inline(always)]
        move || {
            let n = grad.len(); // none is shorter, or this panics
            let ((grads, rest), u, w) =
                (grad.as_chunks_mut::<LANES>(), u[..n].as_chunks::<LANES>(), w[..n].as_chunks::<LANES>());
            let mut squares = Line([0.0; LANES]);
            for ((grad, u), w) in grads.iter_mut().zip(u.0).zip(w.0) {
                for l in 0..LANES {
                    let slope = f(u[l], w[l]);
                    grad[l] += slope;
                    squares.0[l] += slope.f64() * slope.f64();
                }
            }
            for (((grad, &u), &w), square) in rest.iter_mut().zip(u.1).zip(w.1).zip(&mut squares.0) {
                let slope = f(u, w);
                *grad += slope;
                *square += slope.f64() * slope.f64();
            }
            total(squares.0)
        },
    )
}

/// slope ← f(toᵢ − fromᵢ, wᵢ), and the sum of squares.
#[inline(always)]
pub(super) fn slope_between_kernel<S: Real>(
    slope: &mut [S],
    from: &[S],
    to: &[S],
    w: &[S],
    f: impl Fn(S, S) -> S + Clone,
) -> f64 {
    let near = slope.chunks_mut(NEAR).zip(from.chunks(NEAR)).zip(to.chunks(NEAR)).zip(w.chunks(NEAR));
    near.map(|(((slope, from), to), w)| {
        let (out, f) = (&mut *slope, f.clone());
        simd(
            #[inline(always)]
            move || {
                for (((out, &from), &to), &w) in out.iter_mut().zip(from).zip(to).zip(w) {
                    *out = f(to - from, w);
                }
            },
        );
        norm2_squared(slope)
    })
    .sum()
}

/// grad ← slopes, and the sums of values and squared slopes, in one pass.
#[inline(always)]
pub(super) fn envelope_kernel<S: Real>(
    grad: &mut [S],
    u: &[S],
    w: &[S],
    envelope: impl Fn(S, S) -> (S, S),
) -> Envelope {
    simd(
        #[inline(always)]
        move || {
            let (mut values, mut squares) = ([0.0; LANES], [0.0; LANES]);
            for ((grad, u), w) in grad.chunks_mut(LANES).zip(u.chunks(LANES)).zip(w.chunks(LANES)) {
                let lanes = values.iter_mut().zip(&mut squares);
                for (((grad, &u), &w), (sum, square)) in grad.iter_mut().zip(u).zip(w).zip(lanes) {
                    let (value, slope) = envelope(u, w);
                    *grad = slope;
                    *sum += value.f64();
                    *square += slope.f64() * slope.f64();
                }
            }
            Envelope { value: total(values), slope_squared: total(squares) }
        },
    )
}

/// Σ of the lanes by halves: a short row must not wait for sixteen additions in turn.
#[inline(always)]
fn total(lanes: [f64; LANES]) -> f64 {
    let eight: [f64; 8] = std::array::from_fn(|l| lanes[l] + lanes[l + 8]);
    let four: [f64; 4] = std::array::from_fn(|l| eight[l] + eight[l + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

/// out ← f(uᵢ, wᵢ).
#[inline(always)]
pub(super) fn map_kernel<S: Real>(out: &mut [S], u: &[S], w: &[S], f: impl Fn(S, S) -> S) {
    simd(
        #[inline(always)]
        move || {
            for ((out, &u), &w) in out.iter_mut().zip(u).zip(w) {
                *out = f(u, w);
            }
        },
    )
}
