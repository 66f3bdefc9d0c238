//! Symmetric eigenvalues and eigenvectors.

use faer::diag::DiagMut;
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::traits::ComplexField;
use faer::{MatRef, Par, Spec};

use super::{faer_mut, scratch};

pub(super) fn work_len<T: ComplexField>(n: usize) -> usize {
    scratch::numbers::<T>(self_adjoint_evd_scratch::<T>(n, ComputeEigenvectors::Yes, Par::Seq, Spec::default()))
}

pub(super) fn decompose<T>(values: &mut [T], q: &mut [T], a: &[T], n: usize, work: &mut [T]) -> bool
where
    T: ComplexField + scratch::Plain + PartialEq + std::ops::Sub<Output = T>,
{
    // One NaN in the input can come back as a success.
    if a[..n * n].iter().any(|&v| v - v != v - v) {
        return false;
    }
    self_adjoint_evd(
        MatRef::from_row_major_slice(&a[..n * n], n, n),
        DiagMut::from_slice_mut(&mut values[..n]),
        Some(faer_mut(q, n, n)),
        Par::Seq,
        scratch::stack(work),
        Spec::default(),
    )
    .is_ok()
}
