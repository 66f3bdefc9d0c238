//! What solvers and terms do to whole buffers: sums, norms, combinations.
//!
//! Every loop here runs under [`simd`], which picks the widest instructions of the machine at run time, and sums in
//! sixteen `f64` lanes, so that a sum over 10⁷ `f32` entries keeps its digits. Sums run over blocks of fixed size, and
//! the blocks' sums are added in their order with what rounding took from them ([`Total`]); long vectors in parts of several
//! blocks, which threads share, and the parts' sums likewise. The order of summation is fixed: the same input gives the same
//! bits on every run and any number of threads, and the error does not grow with the length ([`ROUNDINGS`]).

pub use melmo_base::{Total, instructions, simd};

use crate::real::Real;
use crate::threads::{self, share};

const LANES: usize = 16;

/// Entries of a block: 256 a lane.
pub const BLOCK: usize = 4096;

/// A sum of products here, however long, is off by no more than `ROUNDINGS`·u·Σ|terms|, u = 2⁻⁵³: a term of a block is rounded
/// once itself, 255 times in its lane and 16 times when lanes and rest are joined; the rest is room for [`Total`] and for the
/// square root and the scaling of a norm (docs/brackets.md).
pub const ROUNDINGS: f64 = 288.0;

/// Σᵢ term(xᵢ).
#[inline(always)]
pub fn sum<S: Real>(x: &[S], term: impl Fn(S) -> f64 + Sync) -> f64 {
    let of_part = |x: &[S]| {
        simd(
            #[inline(always)]
            || {
                let mut total = Total::default();
                for block in x.chunks(BLOCK) {
                    let (chunks, rest) = block.as_chunks::<LANES>();
                    let mut lanes = [0.0; LANES];
                    for chunk in chunks {
                        for (lane, &v) in lanes.iter_mut().zip(chunk) {
                            *lane += term(v);
                        }
                    }
                    total.add(lanes.iter().sum::<f64>() + rest.iter().map(|&v| term(v)).sum::<f64>());
                }
                total.value()
            },
        )
    };
    if x.len() <= SHARED {
        return of_part(x);
    }
    let [sum] = threads::sums(x.len() / 4, x.chunks(block(x.len())), |x| [of_part(x)]);
    sum
}

/// ⟨x, y⟩.
pub fn dot<S: Real>(x: &[S], y: &[S]) -> f64 {
    sum_pairs(
        x,
        y,
        #[inline(always)]
        |a, b| a.f64() * b.f64(),
    )
}

/// Σᵢ term(xᵢ, yᵢ).
#[inline(always)]
pub fn sum_pairs<S: Real>(x: &[S], y: &[S], term: impl Fn(S, S) -> f64 + Sync) -> f64 {
    let of_part = |x: &[S], y: &[S]| {
        simd(
            #[inline(always)]
            || {
                let mut total = Total::default();
                for (x, y) in x.chunks(BLOCK).zip(y.chunks(BLOCK)) {
                    let ((a, rest_a), (b, rest_b)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
                    let mut lanes = [0.0; LANES];
                    for (a, b) in a.iter().zip(b) {
                        for l in 0..LANES {
                            lanes[l] += term(a[l], b[l]);
                        }
                    }
                    let rest: f64 = rest_a.iter().zip(rest_b).map(|(&a, &b)| term(a, b)).sum();
                    total.add(lanes.iter().sum::<f64>() + rest);
                }
                total.value()
            },
        )
    };
    let n = x.len();
    if n <= SHARED {
        return of_part(x, y);
    }
    let [sum] = threads::sums(n / 3, x.chunks(block(n)).zip(y.chunks(block(n))), |(x, y)| [of_part(x, y)]);
    sum
}

/// ⟨x, y⟩ and ‖y‖₂², in one pass.
pub fn dot_and_square<S: Real>(x: &[S], y: &[S]) -> (f64, f64) {
    let n = x.len();
    let [dot, square] = match n {
        ..=SHARED => dot_and_square_of_part(x, y),
        _ => threads::sums(n / 3, x.chunks(block(n)).zip(y.chunks(block(n))), |(x, y)| dot_and_square_of_part(x, y)),
    };
    (dot, square)
}

fn dot_and_square_of_part<S: Real>(x: &[S], y: &[S]) -> [f64; 2] {
    simd(
        #[inline(always)]
        || {
            let mut totals = [Total::default(); 2];
            for (x, y) in x.chunks(BLOCK).zip(y.chunks(BLOCK)) {
                let ((a, rest_a), (b, rest_b)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
                let (mut products, mut squares) = ([0.0; LANES], [0.0; LANES]);
                for (a, b) in a.iter().zip(b) {
                    for l in 0..LANES {
                        products[l] += a[l].f64() * b[l].f64();
                        squares[l] += b[l].f64() * b[l].f64();
                    }
                }
                for (l, (a, b)) in rest_a.iter().zip(rest_b).enumerate() {
                    products[l] += a.f64() * b.f64();
                    squares[l] += b.f64() * b.f64();
                }
                totals[0].add(products.iter().sum());
                totals[1].add(squares.iter().sum());
            }
            totals.map(|total| total.value())
        },
    )
}

/// Σ xᵢ².
pub fn norm2_squared<S: Real>(x: &[S]) -> f64 {
    sum(
        x,
        #[inline(always)]
        |v| v.f64() * v.f64(),
    )
}

/// ‖x‖₂, also where the squares of the entries leave the range of `f64`.
pub fn norm2<S: Real>(x: &[S]) -> f64 {
    norm2_knowing(x, norm2_squared(x))
}

/// The same where Σ xᵢ² was summed on the way: x is looked at only if that left the range of `f64`.
pub fn norm2_knowing<S: Real>(x: &[S], squared: f64) -> f64 {
    const SAFE: std::ops::Range<f64> = 1e-280..1e280;
    if SAFE.contains(&squared) {
        return squared.sqrt();
    }
    let largest = norm_inf(x);
    if largest == 0.0 || !largest.is_finite() {
        return if squared == 0.0 { 0.0 } else { squared + largest };
    }
    largest
        * sum(
            x,
            #[inline(always)]
            |v| (v.f64() / largest) * (v.f64() / largest),
        )
        .sqrt()
}

/// Σ |xᵢ|.
pub fn norm1<S: Real>(x: &[S]) -> f64 {
    sum(
        x,
        #[inline(always)]
        |v| v.abs().f64(),
    )
}

/// max |xᵢ|; NaN when an entry is NaN.
pub fn norm_inf<S: Real>(x: &[S]) -> f64 {
    if x.len() <= SHARED {
        return largest_of_part(x);
    }
    let mut largest = 0.0;
    let each = |_: &mut (), x: &[S]| [largest_of_part(x)];
    threads::parts(x.len() / 4, threads::nothing(), x.chunks(block(x.len())), each, |[part]| {
        largest = if part > largest || part.is_nan() { part } else { largest };
    });
    largest
}

fn largest_of_part<S: Real>(x: &[S]) -> f64 {
    simd(
        #[inline(always)]
        || {
            let (chunks, rest) = x.as_chunks::<LANES>();
            let (mut largest, mut poison) = ([S::ZERO; LANES], [S::ZERO; LANES]);
            for chunk in chunks {
                for l in 0..LANES {
                    largest[l] = chunk[l].abs().larger(largest[l]);
                    poison[l] += chunk[l] * S::ZERO;
                }
            }
            let tail = rest.iter().fold(S::ZERO, |m, v| v.abs().larger(m));
            let nan = poison.iter().chain(rest).any(|&v| v.f64().is_nan());
            // ∞·0 is NaN too: only a largest entry that is finite proves that the poison came from a NaN.
            let m = largest.iter().fold(tail, |m, &v| v.larger(m)).f64();
            if nan && m.is_finite() { f64::NAN } else { m }
        },
    )
}

/// y ← x + a·d.
pub fn add_scaled<S: Real>(y: &mut [S], x: &[S], a: f64, d: &[S]) {
    let (a, block) = (S::of(a), block(y.len()));
    let blocks = y.chunks_mut(block).zip(x.chunks(block)).zip(d.chunks(block));
    share(x.len() / 2, blocks, |((y, x), d)| {
        simd(
            #[inline(always)]
            || {
                for ((y, &x), &d) in y.iter_mut().zip(x).zip(d) {
                    *y = x + a * d;
                }
            },
        )
    });
}

/// y ← y + a·x.
pub fn axpy<S: Real>(y: &mut [S], a: f64, x: &[S]) {
    let (a, block) = (S::of(a), block(y.len()));
    share(x.len() / 2, y.chunks_mut(block).zip(x.chunks(block)), |(y, x)| {
        simd(
            #[inline(always)]
            || {
                for (y, &x) in y.iter_mut().zip(x) {
                    *y += a * x;
                }
            },
        )
    });
}

/// y ← ay.
pub fn scale<S: Real>(y: &mut [S], a: f64) {
    let (a, block) = (S::of(a), block(y.len()));
    share(y.len() / 2, y.chunks_mut(block), |y| {
        simd(
            #[inline(always)]
            || y.iter_mut().for_each(|y| *y *= a),
        )
    });
}

/// y ← x + θ(x − before).
pub fn extrapolate<S: Real>(y: &mut [S], x: &[S], before: &[S], theta: f64) {
    let (theta, block) = (S::of(theta), block(y.len()));
    let blocks = y.chunks_mut(block).zip(x.chunks(block)).zip(before.chunks(block));
    share(x.len() / 2, blocks, |((y, x), before)| {
        simd(
            #[inline(always)]
            || {
                for ((y, &x), &before) in y.iter_mut().zip(x).zip(before) {
                    *y = x + theta * (x - before);
                }
            },
        )
    });
}

/// y ← a·x.
pub fn scale_into<S: Real>(y: &mut [S], a: f64, x: &[S]) {
    let a = S::of(a);
    map_into(
        y,
        x,
        #[inline(always)]
        |x| a * x,
    );
}

/// So many entries are one part, whoever works on them.
const SHARED: usize = 8 * BLOCK;

/// Entries of the parts that threads share: whole blocks.
fn block(n: usize) -> usize {
    threads::block(n, BLOCK, SHARED)
}

/// yᵢ ← f(xᵢ), of one number type or two.
#[inline(always)]
pub fn map_into<S: Real, T: Real>(y: &mut [T], x: &[S], f: impl Fn(S) -> T + Sync) {
    let block = block(y.len());
    share(x.len() / 2, y.chunks_mut(block).zip(x.chunks(block)), |(y, x)| {
        simd(
            #[inline(always)]
            || y.iter_mut().zip(x).for_each(|(y, &x)| *y = f(x)),
        )
    });
}

/// y ← a·u + b·v.
pub fn combine<S: Real>(y: &mut [S], [a, b]: [f64; 2], u: &[S], v: &[S]) {
    let (a, b, block) = (S::of(a), S::of(b), block(y.len()));
    let parts = y.chunks_mut(block).zip(u.chunks(block)).zip(v.chunks(block));
    share(u.len() / 2, parts, |((y, u), v)| {
        simd(
            #[inline(always)]
            || {
                for ((y, &u), &v) in y.iter_mut().zip(u).zip(v) {
                    *y = a * u + b * v;
                }
            },
        )
    });
}

/// A power of two c with ½ ≤ c·largest ≤ 2 as far as c itself stays in range: multiplying by it loses no digit.
pub fn power_of_two_scale<S: Real>(largest: f64) -> f64 {
    let limit = if S::EPSILON > 1e-10 { 120.0 } else { 1000.0 };
    (-largest.log2().floor()).clamp(-limit, limit).exp2()
}

/// A bound on the relative error of a sum of n numbers of one sign, added in double precision in any order.
pub fn sum_error(n: usize) -> f64 {
    n as f64 * f64::EPSILON
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_agree_with_plain_loops() {
        for n in [0, 1, 15, 16, 17, 100] {
            let x: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
            let plain: f64 = x.iter().map(|v| v * v).sum();
            assert!((norm2_squared(&x) - plain).abs() <= 1e-13 * (1.0 + plain));
            assert!((dot(&x, &x) - plain).abs() <= 1e-13 * (1.0 + plain));
            let twice: Vec<f64> = x.iter().map(|v| 2.0 * v).collect();
            let (product, square) = dot_and_square(&x, &twice);
            assert!((product - 2.0 * plain).abs() <= 1e-13 * (1.0 + plain));
            assert!((square - 4.0 * plain).abs() <= 1e-12 * (1.0 + plain));
            assert_eq!(norm_inf(&x), x.iter().fold(0.0, |m: f64, v| m.max(v.abs())));
        }
    }

    /// In one chain a lane these sums would be off by 10⁻¹², and more the longer they are.
    #[test]
    fn long_sums_keep_their_digits() {
        let n = 3_000_001;
        let x = vec![0.7f64; n];
        // 0.7² and 0.7 times n, in two parts: the product and what rounding took from it.
        let exact = |v: f64, w: f64| {
            let product = v * w;
            let (high, low) = (product * n as f64, f64::mul_add(product, n as f64, -(product * n as f64)));
            (high, low + n as f64 * f64::mul_add(v, w, -product))
        };
        for (sum, (high, low)) in [
            (norm2_squared(&x), exact(0.7, 0.7)),
            (dot(&x, &x), exact(0.7, 0.7)),
            (dot_and_square(&x, &x).1, exact(0.7, 0.7)),
            (norm1(&x), exact(0.7, 1.0)),
        ] {
            let off = ((sum - high) - low).abs() / high;
            assert!(off <= 0.5 * ROUNDINGS * f64::EPSILON, "{off:e}");
        }
        let single = vec![0.7f32; n];
        let v = f64::from(0.7f32);
        assert!((norm2_squared(&single) / (v * v * n as f64) - 1.0).abs() <= 0.5 * ROUNDINGS * f64::EPSILON);
    }

    #[test]
    fn infinite_blocks_add_up_to_infinity() {
        let mut x = vec![1.0f64; 3 * BLOCK];
        x[BLOCK + 7] = f64::INFINITY;
        assert_eq!((norm1(&x), norm2(&x)), (f64::INFINITY, f64::INFINITY));
        x[7] = f64::NAN;
        assert!(norm1(&x).is_nan() && norm2(&x).is_nan());
    }

    #[test]
    fn norms_survive_extreme_entries_and_show_nan() {
        assert!((norm2(&[3e200, 4e200]) / 5e200 - 1.0).abs() < 1e-15);
        assert!((norm2(&[3e-200, 4e-200]) / 5e-200 - 1.0).abs() < 1e-15);
        assert_eq!(norm2(&[0.0f64; 5]), 0.0);
        let mut x = vec![1.0f64; 40];
        x[7] = f64::NAN;
        assert!(norm_inf(&x).is_nan() && norm2(&x).is_nan() && norm1(&x).is_nan());
        x[7] = f64::INFINITY;
        assert_eq!(norm_inf(&x), f64::INFINITY);
        assert_eq!(norm2(&x), f64::INFINITY);
    }

    #[test]
    fn scale_is_a_power_of_two_that_normalises() {
        for v in [1e-300, 3.0, 1e300] {
            let c = power_of_two_scale::<f64>(v);
            assert_eq!(c.log2().fract(), 0.0);
            assert!((0.5..=2.0).contains(&(c * v)));
        }
    }
}
