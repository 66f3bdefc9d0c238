//! The singular values above a threshold with their vectors: all that is left of a matrix by a penalty whose prox is 0 below it.
//!
//! Subspace iteration with Rayleigh and Ritz: B = QᵀA is decomposed for an orthonormal Q of few columns, and AV shows whether what
//! was found are singular vectors of A, to rounding; where not, its columns are the next Q. What lies far above the threshold
//! comes apart from what lies below by the square of their ratio a pass. The first Q spans eigenvectors of AAᵀ where the shorter side is
//! short and squares keep the digits that are needed, else AΩ with random signs. What does not come apart, or is not of low rank, is left to the general way.

use crate::linalg::{Into, Mat};
use crate::low_rank::{is_long, orthonormal, random_signs};
use crate::real::Real;

/// Matrices of fewer rows or columns are decomposed as they are.
const SMALL: usize = 64;
/// Up to this many rows or columns their Gram matrix is the quickest beginning.
const SHORT: usize = 512;
/// Columns of the first Q; doubled where they do not suffice.
const WIDTH: usize = 16;
/// Columns of Q beyond those above the threshold.
const SPARE: usize = 4;
/// The rank is low up to this part of the shorter side; of a long matrix, whose general way is as long, a larger one.
const PART: usize = 4;
const LONG_PART: usize = 2;
/// Passes, at most.
const PASSES: usize = 12;
/// ‖Av − σu‖ of what is found, in roundings of the largest value.
const ROUNDINGS: f64 = 4.0;

/// Columns that U and V have room for at least; none where the general way is as quick.
pub fn columns_above(rows: usize, cols: usize) -> Option<usize> {
    let size = rows.min(cols);
    let part = if is_long(rows, cols) { LONG_PART } else { PART };
    (size >= SMALL).then_some(size / part)
}

/// Scratch of [`svd_above`].
pub fn svd_above_work_len<S: Real>(rows: usize, cols: usize) -> usize {
    let (short, long) = (rows.min(cols), rows.max(cols));
    columns_above(rows, cols).map_or(0, |w| {
        let gram = if short <= SHORT { short + 2 * short * short + S::eigen_work_len(short) } else { 0 };
        let basis = w + 3 * w * w + S::eigen_work_len(w);
        (2 * short + long) * w + gram.max(basis).max(w * w + S::svd_work_len(w, long))
    })
}

/// A = Σ valueᵢ·uᵢvᵢᵀ and a rest without singular values above `threshold`: the values, descending, and as many columns in U and
/// V. None where the general way has to find them; A is then not of low rank, not finite, or has values too near the threshold.
pub fn svd_above<S: Real>(
    values: &mut [S],
    u: &mut [S],
    v: &mut [S],
    a: Mat<S>,
    threshold: f64,
    work: &mut [S],
) -> Option<usize> {
    let widest = columns_above(a.rows(), a.cols())?;
    // Q belongs to the shorter side, where a column costs less.
    let (a, u, v) = if a.rows() <= a.cols() { (a, u, v) } else { (a.t(), v, u) };
    let (q, work) = work.split_at_mut(a.rows() * widest);
    let (mut width, mut sketched) = (WIDTH.min(widest), a.rows() > SHORT);
    loop {
        let k = if sketched {
            sketch(q, a, &mut v[..a.cols() * width], width, work)?
        } else {
            match eigenvectors(q, a, threshold, widest, work)? {
                Squares::Told(k) => k,
                Squares::Rounded => {
                    sketched = true;
                    continue;
                }
            }
        };
        match passes([values, u, v], a, q, k, threshold, work)? {
            Found::All(kept) => return Some(kept),
            Found::More if sketched && width < widest => width = (2 * width).min(widest),
            Found::More => return None,
        }
    }
}

/// What the passes with one width came to.
enum Found {
    /// So many values lie above the threshold.
    All(usize),
    /// Q has too few columns to say.
    More,
}

/// What AAᵀ says of the values of A.
enum Squares {
    /// So many vectors are in Q.
    Told(usize),
    /// The square of the threshold is rounding next to that of the largest value.
    Rounded,
}

/// Q ← the eigenvectors of AAᵀ for values above the threshold, and some; none where there are too many of them.
fn eigenvectors<S: Real>(q: &mut [S], a: Mat<S>, threshold: f64, widest: usize, work: &mut [S]) -> Option<Squares> {
    const NEARLY: f64 = 0.9;
    let n = a.rows();
    let (values, work) = work.split_at_mut(n);
    let (gram, work) = work.split_at_mut(n * n);
    let (vectors, work) = work.split_at_mut(n * n);
    S::gram(gram, a.t());
    if !S::eigen(values, vectors, gram, n, work) {
        return None;
    }
    let floor = (NEARLY * threshold).powi(2);
    // Below this the squares are rounding.
    let told = values[n - 1].f64() * S::EPSILON * n as f64;
    if floor <= told {
        return Some(Squares::Rounded);
    }
    let k = values.iter().filter(|value| value.f64() > floor).count() + SPARE;
    if k > widest {
        return None;
    }
    for (c, vector) in vectors.chunks(n).rev().take(k).enumerate() {
        vector.iter().enumerate().for_each(|(i, &entry)| q[i * k + c] = entry);
    }
    Some(Squares::Told(k))
}

/// Q ← a basis of AΩ; its columns.
fn sketch<S: Real>(q: &mut [S], a: Mat<S>, omega: &mut [S], width: usize, work: &mut [S]) -> Option<usize> {
    random_signs(omega);
    let (y, work) = work.split_at_mut(a.rows() * width);
    S::gemm(y, Into::Replace, S::ONE, a, Mat::new(omega, a.cols(), width));
    orthonormal(q, Mat::new(y, a.rows(), width), work).filter(|&k| k > 0)
}

/// Passes from Q (k columns) until what lies above the threshold are singular vectors to rounding. None where they are not after all.
fn passes<S: Real>(
    [values, u, v]: [&mut [S]; 3],
    a: Mat<S>,
    q: &mut [S],
    mut k: usize,
    threshold: f64,
    work: &mut [S],
) -> Option<Found> {
    let (n, m) = (a.rows(), a.cols());
    for _ in 0..PASSES {
        let (b, work) = work.split_at_mut(k * m);
        let (y, work) = work.split_at_mut(n * k);
        S::gemm(b, Into::Replace, S::ONE, Mat::new(q, n, k).t(), a);
        let (left, small) = work.split_at_mut(k * k);
        if !S::svd(&mut values[..k], left, v, Mat::new(b, k, m), small) {
            return None;
        }
        let kept = values[..k].iter().filter(|value| value.f64() > threshold).count();
        if kept + SPARE > k && k < n {
            return Some(Found::More);
        }
        S::gemm(u, Into::Replace, S::ONE, Mat::new(q, n, k), Mat::new(left, k, k));
        S::gemm(y, Into::Replace, S::ONE, a, Mat::new(v, m, k));
        if rests(y, u, &values[..k], kept) <= ROUNDINGS * (m as f64).sqrt() * S::EPSILON * values[0].f64() {
            narrow(u, k, kept);
            narrow(v, k, kept);
            values[kept..].fill(S::ZERO);
            return Some(Found::All(kept));
        }
        // Of one length they are orthonormal but for what the next pass moves.
        y.chunks_mut(k).for_each(|row| {
            row.iter_mut().zip(&*values).filter(|(_, value)| **value > S::ZERO).for_each(|(y, &value)| *y = *y / value);
        });
        k = orthonormal(q, Mat::new(y, n, k), work)?;
    }
    None
}

/// The largest ‖Avᵢ − σᵢuᵢ‖ among the first `kept` columns.
fn rests<S: Real>(av: &[S], u: &[S], values: &[S], kept: usize) -> f64 {
    let k = values.len();
    let column = |c: usize| {
        let pairs = av.iter().skip(c).step_by(k).zip(u.iter().skip(c).step_by(k));
        pairs.map(|(&y, &u)| (y - values[c] * u).f64().powi(2)).sum::<f64>().sqrt()
    };
    (0..kept).map(column).fold(0.0, f64::max)
}

/// Moves the first `kept` of k columns together.
fn narrow<S: Real>(vectors: &mut [S], k: usize, kept: usize) {
    for row in 0..vectors.len() / k {
        vectors.copy_within(row * k..row * k + kept, row * kept);
    }
}
