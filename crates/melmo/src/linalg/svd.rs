//! Thin singular value decomposition: the reference for everything spectral.

use faer::diag::DiagMut;
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::traits::ComplexField;
use faer::traits::math_utils::is_finite;
use faer::{Par, Spec};

use super::{Mat, faer_mut, scratch};

/// Which singular vectors are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Vectors {
    None,
    Thin,
}

pub(super) fn work_len<T: ComplexField>(rows: usize, cols: usize, vectors: Vectors) -> usize {
    let compute = match vectors {
        Vectors::None => ComputeSvdVectors::No,
        Vectors::Thin => ComputeSvdVectors::Thin,
    };
    scratch::numbers::<T>(svd_scratch::<T>(rows, cols, compute, compute, Par::Seq, Spec::default()))
}

pub(super) fn decompose<T>(values: &mut [T], vectors: Option<(&mut [T], &mut [T])>, a: Mat<T>, work: &mut [T]) -> bool
where
    T: ComplexField + scratch::Plain,
{
    // One NaN in the input can come back as a success.
    if !a.data.iter().all(is_finite) {
        return false;
    }
    let (rows, cols) = (a.rows(), a.cols());
    let size = rows.min(cols);
    let (u, v) = vectors.unzip();
    svd(
        a.faer(),
        DiagMut::from_slice_mut(&mut values[..size]),
        u.map(|u| faer_mut(u, rows, size)),
        v.map(|v| faer_mut(v, cols, size)),
        Par::Seq,
        scratch::stack(work),
        Spec::default(),
    )
    .is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::{Dense, Into, Mat};

    #[test]
    fn factors_multiply_to_the_matrix() {
        for (rows, cols) in [(7, 4), (4, 7), (40, 40)] {
            let size = rows.min(cols);
            let a: Vec<f64> = (0..rows * cols).map(|i| ((i * i) as f64 * 0.37).sin()).collect();
            let (mut u, mut v, mut values) = (vec![0.0; rows * size], vec![0.0; cols * size], vec![0.0; size]);
            let mut work = vec![0.0; f64::svd_work_len(rows, cols)];
            assert!(f64::svd(&mut values, &mut u, &mut v, Mat::new(&a, rows, cols), &mut work));
            assert!(values.is_sorted_by(|a, b| a >= b));
            for row in u.chunks_exact_mut(size) {
                row.iter_mut().zip(&values).for_each(|(u, s)| *u *= s);
            }
            let mut product = vec![0.0; rows * cols];
            let (u, v) = (Mat::new(&u, rows, size), Mat::new(&v, cols, size));
            f64::gemm(&mut product, Into::Replace, 1.0, u, v.t());
            assert!(product.iter().zip(&a).all(|(p, a)| (p - a).abs() < 1e-12));
            let mut alone = vec![0.0; size];
            let mut work = vec![0.0; f64::singular_values_work_len(rows, cols)];
            assert!(f64::singular_values(&mut alone, Mat::new(&a, rows, cols), &mut work));
            assert!(alone.iter().zip(&values).all(|(a, b)| (a - b).abs() < 1e-12));
            let bad: Vec<f64> = a.iter().map(|&v| if v > 0.9 { f64::NAN } else { v }).collect();
            assert!(!f64::singular_values(&mut alone, Mat::new(&bad, rows, cols), &mut work));
        }
    }
}
