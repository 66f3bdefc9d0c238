//! A large matrix of low rank is decomposed as one: A = QB with few columns in Q, found by a sketch and checked entry by entry.
//!
//! What a proximal step leaves is such a matrix, and looking at it by the general way takes as long as the step itself. The
//! sketch Y = AΩ with random signs Ω spans the range of A where that has fewer dimensions than Ω has columns (Halko,
//! Martinsson and Tropp 2011). Whether it does is not left to chance: ‖A − QB‖ is computed, and what rounding does not explain
//! is decomposed the general way. A matrix of full rank is told by its sketch, before anything is decomposed.

mod above;

pub use above::{columns_above, svd_above, svd_above_work_len};

use crate::linalg::{Into, Mat};
use crate::real::Real;
use crate::seeded::Seeded;
use crate::vector;

/// Smaller matrices are decomposed as they are: of fewer rows and columns, or of fewer entries and few of these.
const SMALL: usize = 512;
const FEW: usize = 64;

/// The rank is low where it is below this part of the shorter side; of a long matrix, whose general way is as long, a larger one.
const PART: usize = 16;
const LONG_PART: usize = 4;

/// A matrix is long where one side is so many times the other: a film.
const LONG: usize = 8;

/// Entries of the rest that are looked at together.
const TOGETHER: usize = 1 << 20;

/// ‖A − QB‖ in units of rounding of ‖A‖: what two products leave.
const ROUNDINGS: f64 = 16.0;

/// Scratch of [`svd`].
pub fn svd_work_len<S: Real>(rows: usize, cols: usize) -> usize {
    S::svd_work_len(rows, cols).max(work_len::<S>(rows, cols))
}

/// A = U diag(values) Vᵀ with k columns in U and V, k the rank of a large matrix of low rank and else the shorter side; all
/// further values are 0. Returns k; none where A is not finite or the iteration did not converge.
pub fn svd<S: Real>(values: &mut [S], u: &mut [S], v: &mut [S], a: Mat<S>, work: &mut [S]) -> Option<usize> {
    let all = a.rows().min(a.cols());
    of_low_rank(values, u, v, a, work).or_else(|| S::svd(values, u, v, a, work).then_some(all))
}

/// Scratch of [`singular_values`].
pub fn singular_values_work_len<S: Real>(rows: usize, cols: usize) -> usize {
    S::singular_values_work_len(rows, cols).max(work_len::<S>(rows, cols))
}

/// The singular values alone, descending. False as for [`svd`].
pub fn singular_values<S: Real>(values: &mut [S], a: Mat<S>, work: &mut [S]) -> bool {
    values_of_low_rank(values, a, work) || S::singular_values(values, a, work)
}

/// Q (rows×k) and B (k×cols), and scratch for what follows.
struct Factors<'w, S> {
    q: &'w [S],
    b: &'w [S],
    k: usize,
    work: &'w mut [S],
}

/// Columns of the sketch; none for a small matrix.
fn width(rows: usize, cols: usize) -> Option<usize> {
    let size = rows.min(cols);
    let part = if is_long(rows, cols) { LONG_PART } else { PART };
    (size >= SMALL || (size >= FEW && rows * cols >= SMALL * SMALL)).then_some(size / part)
}

fn is_long(rows: usize, cols: usize) -> bool {
    rows.max(cols) >= LONG * rows.min(cols)
}

/// Rows of the rest that are looked at together.
fn together(rows: usize, cols: usize) -> usize {
    (TOGETHER / cols).clamp(1, rows)
}

fn work_len<S: Real>(rows: usize, cols: usize) -> usize {
    width(rows, cols).map_or(0, |w| {
        let inner = S::svd_work_len(w, cols).max(S::singular_values_work_len(w, cols)) + w * w;
        let found = (together(rows, cols) * cols).max(inner).max(w + 3 * w * w + S::eigen_work_len(w));
        (cols + 2 * rows) * w + found
    })
}

/// False, and nothing is done, where A is not of low rank.
fn values_of_low_rank<S: Real>(values: &mut [S], a: Mat<S>, work: &mut [S]) -> bool {
    let Some(Factors { b, k, work, .. }) = factors(a, work) else { return false };
    values[..a.rows().min(a.cols())].fill(S::ZERO);
    k == 0 || S::singular_values(&mut values[..k], Mat::new(b, k, a.cols()), work)
}

/// None where A is not of low rank.
fn of_low_rank<S: Real>(values: &mut [S], u: &mut [S], v: &mut [S], a: Mat<S>, work: &mut [S]) -> Option<usize> {
    let Factors { q, b, k, work } = factors(a, work)?;
    values[..a.rows().min(a.cols())].fill(S::ZERO);
    if k > 0 {
        let (left, work) = work.split_at_mut(k * k);
        if !S::svd(&mut values[..k], left, v, Mat::new(b, k, a.cols()), work) {
            return None;
        }
        S::gemm(u, Into::Replace, S::ONE, Mat::new(q, a.rows(), k), Mat::new(left, k, k));
    }
    Some(k)
}

fn factors<'w, S: Real>(a: Mat<S>, work: &'w mut [S]) -> Option<Factors<'w, S>> {
    let (rows, cols) = (a.rows(), a.cols());
    let w = width(rows, cols)?;
    let size = vector::norm2(a.entries());
    if size == 0.0 {
        return Some(Factors { q: &[], b: &[], k: 0, work });
    }
    let (signs, work) = work.split_at_mut(cols * w);
    let (y, work) = work.split_at_mut(rows * w);
    let (q, work) = work.split_at_mut(rows * w);
    random_signs(signs);
    S::gemm(y, Into::Replace, S::ONE, a, Mat::new(signs, cols, w));
    let k = orthonormal(q, Mat::new(y, rows, w), work).filter(|&k| 0 < k && k < w)?;
    // Columns of very different sizes are orthonormal to rounding only the second time.
    orthonormal(y, Mat::new(q, rows, k), work).filter(|&again| again == k)?;
    let (q, b) = (&y[..rows * k], &mut signs[..k * cols]);
    S::gemm(b, Into::Replace, S::ONE, Mat::new(q, rows, k).t(), a);
    (rest(a, q, Mat::new(b, k, cols), work) <= ROUNDINGS * S::EPSILON * size).then_some(Factors { q, b, k, work })
}

/// ‖A − QB‖, some rows at a time.
fn rest<S: Real>(a: Mat<S>, q: &[S], b: Mat<S>, work: &mut [S]) -> f64 {
    let (cols, k) = (a.cols(), b.rows());
    let rows = together(a.rows(), cols);
    let parts = a.entries().chunks(rows * cols).zip(q.chunks(rows * k));
    parts.fold(0.0, |size: f64, (a, q)| {
        let rest = &mut work[..a.len()];
        rest.copy_from_slice(a);
        S::gemm(rest, Into::Add, -S::ONE, Mat::new(q, a.len() / cols, k), b);
        size.hypot(vector::norm2(rest))
    })
}

fn random_signs<S: Real>(signs: &mut [S]) {
    let mut seeded = Seeded::new(1);
    for row in signs.chunks_mut(64) {
        let bits = seeded.bits();
        row.iter_mut().enumerate().for_each(|(at, sign)| *sign = if bits >> at & 1 == 0 { S::ONE } else { -S::ONE });
    }
}

/// `to` ← an orthonormal basis of the columns of Y, as far as its Gram matrix shows them; their number.
fn orthonormal<S: Real>(to: &mut [S], y: Mat<S>, work: &mut [S]) -> Option<usize> {
    let w = y.cols();
    let (values, work) = work.split_at_mut(w);
    let (gram, work) = work.split_at_mut(w * w);
    let (vectors, work) = work.split_at_mut(w * w);
    let (scaled, work) = work.split_at_mut(w * w);
    S::gram(gram, y);
    if !S::eigen(values, vectors, gram, w, work) {
        return None;
    }
    let floor = values[w - 1].f64() * ROUNDINGS * w as f64 * S::EPSILON;
    let k = values.iter().filter(|value| value.f64() > floor).count();
    for (c, vector) in vectors.chunks(w).skip(w - k).enumerate() {
        let length = S::of(values[w - k + c].f64().sqrt());
        vector.iter().enumerate().for_each(|(i, &entry)| scaled[i * k + c] = entry / length);
    }
    S::gemm(to, Into::Replace, S::ONE, y, Mat::new(scaled, w, k));
    Some(k)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Low rank under noise: what lies above a threshold is as the general way has it, and the product of what was kept is A but for
    /// the noise. With a threshold in the noise, or without low rank, nothing is found.
    fn above_agrees_with_the_general_way<S: Real>(rows: usize, cols: usize, scale: f64) {
        let size = rows.min(cols);
        let mut a = product::<S>(rows, cols, 9, 0.1);
        let noise = Seeded::new(11).normals::<S>(rows * cols);
        a.iter_mut().zip(noise).for_each(|(a, noise)| *a = S::of(scale) * *a + S::of(0.1) * noise);
        let a = Mat::new(&a, rows, cols);
        let mut work = vec![S::ZERO; svd_work_len::<S>(rows, cols).max(svd_above_work_len::<S>(rows, cols))];
        let [(mut u, mut v), (mut gu, mut gv)] =
            [(); 2].map(|()| (vec![S::ZERO; rows * size], vec![S::ZERO; cols * size]));
        let (mut found, mut general) = (vec![S::ONE; size], vec![S::ZERO; size]);
        assert!(S::svd(&mut general, &mut gu, &mut gv, a, &mut work));
        assert_eq!(svd_above(&mut found, &mut u, &mut v, a, general[9].f64() * 1.5, &mut work), Some(9));
        let most = 100.0 * (rows + cols) as f64 * S::EPSILON;
        for c in 0..9 {
            assert!((found[c] - general[c]).f64().abs() <= most * general[0].f64());
            let product = |i: usize, j: usize| [u[i * 9 + c] * v[j * 9 + c], gu[i * size + c] * gv[j * size + c]];
            for [ours, theirs] in (0..rows).step_by(7).map(|i| product(i, (i * 5) % cols)) {
                assert!((ours - theirs).f64().abs() <= most, "{c}: {ours:?} {theirs:?}");
            }
        }
        assert!(found[9..].iter().all(|value| *value == S::ZERO));
        let within = general[2 * size / 3].f64();
        assert_eq!(svd_above(&mut found, &mut u, &mut v, a, within, &mut work), None);
        assert_eq!(svd_above(&mut found, &mut u, &mut v, a, 2.0 * general[0].f64(), &mut work), Some(0));
        let nan = vec![S::of(f64::NAN); rows * cols];
        assert_eq!(svd_above(&mut found, &mut u, &mut v, Mat::new(&nan, rows, cols), 1.0, &mut work), None);
    }

    #[test]
    fn values_above_a_threshold_are_found() {
        above_agrees_with_the_general_way::<f64>(80, 300, 1.0);
        above_agrees_with_the_general_way::<f64>(300, 80, 1.0);
        above_agrees_with_the_general_way::<f32>(90, 200, 1.0);
        above_agrees_with_the_general_way::<f64>(530, 600, 1.0);
        above_agrees_with_the_general_way::<f32>(600, 530, 1.0);
        // Long.
        above_agrees_with_the_general_way::<f64>(70, 900, 1.0);
    }

    /// A sum of `rank` products of random vectors, the sizes of which fall to `smallest`.
    fn product<S: Real>(rows: usize, cols: usize, rank: usize, smallest: f64) -> Vec<S> {
        let mut seeded = Seeded::new(7);
        let (mut left, right): (Vec<S>, Vec<S>) = (seeded.normals(rows * rank), seeded.normals(cols * rank));
        for (at, entry) in left.iter_mut().enumerate() {
            *entry *= S::of(smallest.powf((at % rank) as f64 / rank as f64));
        }
        let mut a = vec![S::ZERO; rows * cols];
        S::gemm(&mut a, Into::Replace, S::ONE, Mat::new(&left, rows, rank), Mat::new(&right, cols, rank).t());
        a
    }

    fn agrees_with_the_general_way<S: Real>(rows: usize, cols: usize, smallest: f64) {
        let (a, size, rank) = (product::<S>(rows, cols, 12, smallest), rows.min(cols), 12);
        let a = Mat::new(&a, rows, cols);
        let mut work = vec![S::ZERO; svd_work_len::<S>(rows, cols)];
        let (mut u, mut v) = (vec![S::ZERO; rows * size], vec![S::ZERO; cols * size]);
        let (mut general, mut found) = (vec![S::ZERO; size], vec![S::ONE; size]);
        assert!(S::svd(&mut general, &mut u, &mut v, a, &mut work));
        assert_eq!(of_low_rank(&mut found, &mut u, &mut v, a, &mut work), Some(rank));
        let near = |a: &[S], b: &[S]| {
            a.iter().zip(b).all(|(a, b)| (*a - *b).f64().abs() <= 100.0 * S::EPSILON * general[0].f64())
        };
        assert!(near(&found, &general));
        assert!(values_of_low_rank(&mut found, a, &mut work) && near(&found, &general));
        let mut back = vec![S::ZERO; rows * cols];
        (0..rows * rank).for_each(|at| u[at] *= found[at % rank]);
        S::gemm(&mut back, Into::Replace, S::ONE, Mat::new(&u, rows, rank), Mat::new(&v, cols, rank).t());
        assert!(near(&back, a.entries()));
    }

    #[test]
    fn low_rank_is_found_and_decomposed() {
        agrees_with_the_general_way::<f64>(520, 600, 1e-3);
        agrees_with_the_general_way::<f64>(600, 520, 1.0);
        agrees_with_the_general_way::<f32>(530, 520, 0.1);
        // A film: a sixth of the shorter side is low there, and the rest is looked at in several parts.
        agrees_with_the_general_way::<f64>(72, 30_000, 0.1);
    }

    #[test]
    fn everything_else_is_left_alone() {
        let n = 512;
        let mut found = vec![1.0; n];
        let mut work = vec![0.0; singular_values_work_len::<f64>(n, n)];
        // Of full rank; of low rank but for one entry; with singular values that the sketch cannot see, and that are not rounding.
        let full: Vec<f64> = Seeded::new(3).normals(n * n);
        let mut one_more = product::<f64>(n, n, 31, 1.0);
        one_more[5 * n + 7] += 1.0;
        let graded = product::<f64>(n, n, 20, 1e-12);
        for a in [full, one_more, graded, vec![f64::NAN; n * n], vec![1e200; n * n]] {
            assert!(!values_of_low_rank(&mut found, Mat::new(&a, n, n), &mut work));
        }
        assert!(!values_of_low_rank(&mut found, Mat::new(&[1.0; 6], 2, 3), &mut work));
        assert!(values_of_low_rank(&mut found, Mat::new(&vec![0.0; n * n], n, n), &mut work));
        assert_eq!(found, vec![0.0; n]);
    }
}
