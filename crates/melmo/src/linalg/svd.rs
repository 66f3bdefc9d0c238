//! Thin singular value decomposition: the reference for everything spectral.

use faer::diag::DiagMut;
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::traits::ComplexField;
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
    T: ComplexField + scratch::Plain + PartialEq + std::ops::Sub<Output = T>,
{
    // One NaN in the input can come back as a success.
    if a.data.iter().any(|&v| v - v != v - v) {
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
