//! How far computed eigenvalues can be off, from residuals that are measured.

use super::UNIT;
use crate::geometry::spectral::Shape;
use crate::linalg::{Dense, Into, Mat, roundings};
use crate::vector::norm2;

/// Room for the rounding of a norm that is itself small.
const NORM: f64 = 1.0 + 1e-12;

/// ‖fl(XᵀX) − XᵀX‖_F at most, for the trace as computed: |X|ᵀ|X| has no larger norm than ‖X‖_F².
pub(super) fn of_gram(shape: Shape, trace: f64) -> f64 {
    UNIT * roundings(shape.long()) * trace * (1.0 + 1e-9) + super::UNDERFLOW
}

/// ‖XᵀX − I‖_F at most, for X with n columns; `work` has n² entries.
pub(super) fn off_orthonormal(x: Mat<f64>, work: &mut [f64]) -> f64 {
    let (n, roundings) = (x.cols(), roundings(x.rows()) + 1.0);
    let work = &mut work[..n * n];
    f64::gram(work, x);
    let squared: f64 = work.iter().step_by(n + 1).sum();
    work.iter_mut().step_by(n + 1).for_each(|v| *v -= 1.0);
    norm2(work) * NORM + UNIT * roundings * squared * 1.01
}

/// How far the eigenvalues of G (n×n) may be from `values`, row i of Q being the i-th vector, with `defect` ≥ ‖QQᵀ − I‖_F:
/// ‖QG − ΛQ‖_F, and what makes Q orthogonal. `work` has n² entries.
pub(super) fn of_eigen(g: &[f64], q: &[f64], values: &[f64], defect: f64, work: &mut [f64]) -> f64 {
    let n = values.len();
    let size = (norm2(g) + norm2(values)) * NORM;
    f64::gemm(work, Into::Replace, 1.0, Mat::new(q, n, n), Mat::new(g, n, n));
    for ((work, q), lambda) in work.chunks_exact_mut(n).zip(q.chunks_exact(n)).zip(values) {
        work.iter_mut().zip(q).for_each(|(work, q)| *work -= lambda * q);
    }
    // A term of the product is rounded n + 1 times, what is subtracted once, the difference once; ‖Q‖_F ≤ 1.01√n.
    let rounding = 1.01 * UNIT * (n + 4) as f64 * (n as f64).sqrt() * size;
    norm2(work) * NORM + rounding + defect * size
}
