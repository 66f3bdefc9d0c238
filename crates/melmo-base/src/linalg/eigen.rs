//! Symmetric eigenvalues and eigenvectors.

use faer::diag::DiagMut;
use faer::linalg::evd::{ComputeEigenvectors, SelfAdjointEvdParams, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::traits::math_utils::is_finite;
use faer::traits::{ComplexField, RealField};
use faer::{Auto, MatMut, MatRef, Par, Spec};

use super::scratch;
use super::watched::{Watched, unless_enough, watched, watched_mut};

/// Below this size the QR iteration is faster than divide and conquer (measured: 10 % at n = 256).
const RECURSION: usize = 32;

fn parameters<T: ComplexField>() -> Spec<SelfAdjointEvdParams, T> {
    Spec::new(SelfAdjointEvdParams { recursion_threshold: RECURSION, ..<SelfAdjointEvdParams as Auto<T>>::auto() })
}

pub(super) fn work_len<T: RealField + Copy>(n: usize, vectors: bool) -> usize {
    let vectors = if vectors { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    scratch::numbers::<T>(self_adjoint_evd_scratch::<Watched<T>>(n, vectors, Par::Seq, parameters()))
}

pub(super) fn decompose<T>(values: &mut [T], vectors: Option<&mut [T]>, a: &[T], n: usize, work: &mut [T]) -> bool
where
    T: RealField + scratch::Plain,
{
    // One NaN in the input can come back as a success.
    if !a[..n * n].iter().all(is_finite) {
        return false;
    }
    let matrix = MatRef::from_row_major_slice(watched(&a[..n * n]), n, n);
    let values = DiagMut::from_slice_mut(watched_mut(&mut values[..n]));
    // Column-major: the iteration rotates columns, and with row-major storage takes four times as long at n = 256.
    let vectors = vectors.map(|q| MatMut::from_column_major_slice_mut(watched_mut(&mut q[..n * n]), n, n));
    let stack = scratch::stack(work);
    unless_enough(|| self_adjoint_evd(matrix, values, vectors, Par::Seq, stack, parameters()).is_ok()) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::super::{Dense, Mat};

    #[test]
    fn rows_are_eigenvectors_and_values_ascend() {
        for n in [1, 2, 9, 40, 130] {
            let x: Vec<f64> = (0..2 * n * n).map(|i| ((i * i) as f64 * 0.37).sin()).collect();
            let (mut g, mut q, mut values) = (vec![0.0; n * n], vec![0.0; n * n], vec![0.0; n]);
            f64::gram(&mut g, Mat::new(&x, 2 * n, n));
            let mut work = vec![0.0; f64::eigen_work_len(n)];
            assert!(f64::eigen(&mut values, &mut q, &g, n, &mut work));
            assert!(values.is_sorted());
            for (v, &lambda) in q.chunks(n).zip(&values) {
                let residual = g.chunks(n).zip(v).map(|(row, vi)| {
                    let gv: f64 = row.iter().zip(v).map(|(a, b)| a * b).sum();
                    (gv - lambda * vi).abs()
                });
                assert!(residual.fold(0.0, f64::max) < 1e-12 * values[n - 1]);
            }
            let (mut alone, mut work) = (vec![0.0; n], vec![0.0; f64::eigenvalues_work_len(n)]);
            assert!(f64::eigenvalues(&mut alone, &g, n, &mut work));
            assert!(alone.iter().zip(&values).all(|(a, b)| (a - b).abs() < 1e-12 * values[n - 1]));
            g[n * n - 1] = f64::NAN;
            assert!(!f64::eigenvalues(&mut alone, &g, n, &mut work));
        }
    }
}
