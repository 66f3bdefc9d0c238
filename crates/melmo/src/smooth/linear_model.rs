//! f(x) = h(Ax): what least squares, logistic and Huber regression share.

use crate::operator::LinOp;
use crate::real::Real;
use crate::smooth::{Link, Rounding};
use crate::vector::{norm2, simd, sum, sum_error};

/// Scratch of [`value_grad`]: Ax, and what A needs.
pub(super) fn work_len<S: Real>(a: &dyn LinOp<S>) -> usize {
    a.range().size() + a.work_len()
}

/// grad ← A*h′(Ax); returns h(Ax) = Σᵢ hᵢ((Ax)ᵢ). `h` gives hᵢ and hᵢ′ from (Ax)ᵢ and the datum bᵢ.
pub(super) fn value_grad<S: Real>(
    a: &dyn LinOp<S>,
    b: &[S],
    grad: &mut [S],
    x: &[S],
    work: &mut [S],
    h: impl Fn(S, S) -> (S, S),
) -> f64 {
    let (y, work) = work.split_at_mut(b.len());
    a.apply(y, x, work);
    let value = replace_by_slopes(y, b, h);
    grad.fill(S::ZERO);
    a.adjoint_add(grad, y, work);
    value
}

/// What rounding can have done to [`value_grad`]. With A rounded to ϑ‖x‖ and h′ to a few units:
///
/// ```text
/// ‖δ(Ax)‖ ≤ ϑ‖x‖     ‖δh′‖ ≤ (sup h″)‖δ(Ax)‖ + 8ε‖h′‖     ‖δ∇f‖ ≤ ‖A‖‖δh′‖ + ϑ‖h′‖     |δf| ≤ ‖h′‖‖δ(Ax)‖ + 8εf
/// ```
///
/// where ‖h′‖² ≤ 2f for squares and Huber's loss, and at most the number of rows for the logistic one.
pub(super) fn rounding<S: Real>(a: &dyn LinOp<S>, link: Link, x: &[S], value: f64) -> Rounding {
    let rows = a.range().size();
    let applied = a.rounding() * norm2(x);
    let slopes = match link {
        Link::Logistic => (rows as f64).sqrt(),
        Link::Squares | Link::Huber(_) => (2.0 * value.max(0.0)).sqrt(),
    };
    let of_slopes = link.curvature() * applied + 8.0 * S::EPSILON * slopes;
    Rounding {
        value: slopes * applied + (8.0 * S::EPSILON + sum_error(rows)) * value.abs(),
        grad: a.norm_bound() * of_slopes + a.rounding() * slopes,
    }
}

/// yᵢ ← hᵢ′(yᵢ) for a link by name; returns Σᵢ hᵢ(yᵢ).
pub(crate) fn slopes<S: Real>(y: &mut [S], b: &[S], link: Link) -> f64 {
    match link {
        Link::Squares => replace_by_slopes(
            y,
            b,
            #[inline(always)]
            |y, b| Link::Squares.value_slope(y, b),
        ),
        Link::Logistic => replace_by_slopes(
            y,
            b,
            #[inline(always)]
            |y, b| Link::Logistic.value_slope(y, b),
        ),
        Link::Huber(delta) => replace_by_slopes(
            y,
            b,
            #[inline(always)]
            |y, b| Link::Huber(delta).value_slope(y, b),
        ),
    }
}

/// slopesᵢ ← hᵢ′(yᵢ), without Σᵢ hᵢ(yᵢ).
pub(crate) fn slopes_of<S: Real>(slopes: &mut [S], y: &[S], b: &[S], link: Link) {
    match link {
        Link::Squares => write_slopes(
            slopes,
            y,
            b,
            #[inline(always)]
            |y, b| Link::Squares.slope(y, b),
        ),
        Link::Logistic => write_slopes(
            slopes,
            y,
            b,
            #[inline(always)]
            |y, b| Link::Logistic.slope(y, b),
        ),
        Link::Huber(delta) => write_slopes(
            slopes,
            y,
            b,
            #[inline(always)]
            |y, b| Link::Huber(delta).slope(y, b),
        ),
    }
}

/// slopesᵢ ← slope(yᵢ, bᵢ).
#[inline(always)]
fn write_slopes<S: Real>(slopes: &mut [S], y: &[S], b: &[S], slope: impl Fn(S, S) -> S) {
    simd(
        #[inline(always)]
        move || {
            for ((out, &y), &b) in slopes.iter_mut().zip(y).zip(b) {
                *out = slope(y, b);
            }
        },
    )
}

/// yᵢ ← hᵢ′(yᵢ); returns Σᵢ hᵢ(yᵢ).
#[inline(always)]
fn replace_by_slopes<S: Real>(y: &mut [S], b: &[S], h: impl Fn(S, S) -> (S, S)) -> f64 {
    const STRETCH: usize = 256;
    simd(
        #[inline(always)]
        move || {
            let (mut total, mut values) = (0.0, [S::ZERO; STRETCH]);
            for (y, b) in y.chunks_mut(STRETCH).zip(b.chunks(STRETCH)) {
                for ((y, &b), value) in y.iter_mut().zip(b).zip(&mut values) {
                    (*value, *y) = h(*y, b);
                }
                total += sum(&values[..y.len()], S::f64);
            }
            total
        },
    )
}
