//! Xq and XᵀXq for a row-major X of either number type and vectors in `f64`, and X + αuvᵀ, in one pass over X.

use super::Shape;
use crate::real::Real;
use crate::vector::simd;

const LANES: usize = 16;

/// The image of a vector of the short side: long ← Xq, or Xᵀq when X is wide.
pub(super) fn image<S: Real>(long: &mut [f64], shape: Shape, x: &[S], q: &[f64]) {
    simd(
        #[inline(always)]
        || {
            if shape.rows >= shape.cols {
                dots(long, x, shape.cols, q);
            } else {
                add_rows(long, x, shape.cols, q);
            }
        },
    )
}

/// w ← Gq for a symmetric G, as a sum of its rows: eight of them are summed in single precision, the eights in `f64`.
pub(super) fn symmetric(w: &mut [f64], g: &[f32], q: &[f64]) {
    simd(
        #[inline(always)]
        || {
            let n = q.len();
            w.fill(0.0);
            let (eights, rest) = q.as_chunks::<8>();
            let (g, last) = g.split_at(8 * eights.len() * n);
            for (q, g) in eights.iter().zip(g.chunks_exact(8 * n)) {
                let c = q.map(|q| q as f32);
                let (low, high) = g.split_at(4 * n);
                let (low, high) = (quarters(low, n), quarters(high, n));
                let rows = low.0.iter().zip(low.1).zip(low.2).zip(low.3);
                let rows = rows.zip(high.0.iter().zip(high.1).zip(high.2).zip(high.3));
                for (w, ((((x0, x1), x2), x3), (((x4, x5), x6), x7))) in w.iter_mut().zip(rows) {
                    let low = (c[0] * x0 + c[1] * x1) + (c[2] * x2 + c[3] * x3);
                    let high = (c[4] * x4 + c[5] * x5) + (c[6] * x6 + c[7] * x7);
                    *w += f64::from(low + high);
                }
            }
            accumulate(w, last, n, rest);
        },
    )
}

/// Four rows of the given length.
#[inline(always)]
fn quarters<S>(x: &[S], cols: usize) -> (&[S], &[S], &[S], &[S]) {
    let (a, x) = x.split_at(cols);
    let (b, x) = x.split_at(cols);
    let (c, d) = x.split_at(cols);
    (a, b, c, d)
}

/// One round of Gram–Schmidt: w loses its part along the rows of V, which are orthonormal; `overlaps` ← Vw.
pub(super) fn remove(w: &mut [f64], overlaps: &mut [f64], v: &[f64]) {
    simd(
        #[inline(always)]
        || {
            dots(overlaps, v, w.len(), w);
            overlaps.iter_mut().for_each(|c| *c = -*c);
            accumulate(w, v, w.len(), overlaps);
            overlaps.iter_mut().for_each(|c| *c = -*c);
        },
    )
}

/// w ← XᵀXq, or XXᵀq when X is wide; `long` is scratch.
pub(super) fn normal<S: Real>(w: &mut [f64], long: &mut [f64], shape: Shape, x: &[S], q: &[f64]) {
    simd(
        #[inline(always)]
        || {
            if shape.rows >= shape.cols {
                // A strip of rows is still in cache when it is read for the second time.
                w.fill(0.0);
                let strip = (STRIP / shape.cols / 4).max(1) * 4 * shape.cols;
                for x in x.chunks(strip) {
                    let rows = x.len() / shape.cols;
                    dots(&mut long[..rows], x, shape.cols, q);
                    accumulate(w, x, shape.cols, &long[..rows]);
                }
            } else {
                add_rows(long, x, shape.cols, q);
                dots(w, x, shape.cols, long);
            }
        },
    )
}

/// Y ← X + αuvᵀ.
pub(super) fn add_outer<S: Real>(y: &mut [S], x: &[S], alpha: f64, u: &[S], v: &[S]) {
    simd(
        #[inline(always)]
        || {
            for ((y, x), u) in y.chunks_exact_mut(v.len()).zip(x.chunks_exact(v.len())).zip(u) {
                let weight = S::of(alpha * u.f64());
                for ((y, &x), &v) in y.iter_mut().zip(x).zip(v) {
                    *y = x + weight * v;
                }
            }
        },
    )
}

/// Entries of a strip: half of a first-level cache in `f64`.
const STRIP: usize = 2048;

/// sum ← Σᵢ weightᵢ·rowᵢ.
#[inline(always)]
fn add_rows<S: Real>(sum: &mut [f64], x: &[S], cols: usize, weights: &[f64]) {
    sum.fill(0.0);
    accumulate(sum, x, cols, weights);
}

/// sum ← sum + Σᵢ weightᵢ·rowᵢ, four rows at a time: the sum is read and written a quarter as often.
#[inline(always)]
fn accumulate<S: Real>(sum: &mut [f64], x: &[S], cols: usize, weights: &[f64]) {
    let (fours, rest) = weights.as_chunks::<4>();
    for (weights, x) in fours.iter().zip(x.chunks_exact(4 * cols)) {
        let (a, b, c, d) = quarters(x, cols);
        for ((((s, a), b), c), d) in sum.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *s += (weights[0] * a.f64() + weights[1] * b.f64()) + (weights[2] * c.f64() + weights[3] * d.f64());
        }
    }
    for (weight, row) in rest.iter().zip(x[4 * fours.len() * cols..].chunks_exact(cols)) {
        for (s, v) in sum.iter_mut().zip(row) {
            *s += weight * v.f64();
        }
    }
}

/// tᵢ ← ⟨rowᵢ, q⟩.
#[inline(always)]
fn dots<S: Real>(t: &mut [f64], x: &[S], cols: usize, q: &[f64]) {
    for (t, row) in t.iter_mut().zip(x.chunks_exact(cols)) {
        *t = dot(row, q);
    }
}

/// ⟨row, q⟩.
#[inline(always)]
fn dot<S: Real>(row: &[S], q: &[f64]) -> f64 {
    let (a, rest_a) = row.as_chunks::<LANES>();
    let (b, rest_b) = q.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            lanes[l] += a[l].f64() * b[l];
        }
    }
    let rest: f64 = rest_a.iter().zip(rest_b).map(|(a, b)| a.f64() * b).sum();
    lanes.iter().sum::<f64>() + rest
}
