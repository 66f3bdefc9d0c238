//! Whether a symmetric matrix is positive definite, by its Cholesky factor.

use faer::linalg::cholesky::llt::factor::{LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::traits::RealField;
use faer::{MatMut, Par, Spec};

use super::scratch;

pub(super) fn work_len<T: RealField>(n: usize) -> usize {
    scratch::numbers::<T>(cholesky_in_place_scratch::<T>(n, Par::Seq, Spec::default()))
}

pub(super) fn positive_definite<T: RealField + scratch::Plain>(a: &mut [T], n: usize, work: &mut [T]) -> bool {
    // Both triangles are there: the column-major reading has the same matrix, in the order that the factor is built
    // in.
    let a = MatMut::from_column_major_slice_mut(&mut a[..n * n], n, n);
    cholesky_in_place(a, LltRegularization::default(), Par::Seq, scratch::stack(work), Spec::default()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::Dense;

    #[test]
    fn the_smallest_eigenvalue_decides() {
        // The second difference matrix has the eigenvalues 2 − 2cos(πk/(n+1)).
        for n in [1, 5, 40, 150] {
            let least = 2.0 - 2.0 * (std::f64::consts::PI / (n + 1) as f64).cos();
            for (shift, expected) in [(0.999 * least, true), (1.001 * least, false), (f64::NAN, false)] {
                let entry = |i: usize, j: usize| match i.abs_diff(j) {
                    0 => 2.0 - shift,
                    1 => -1.0,
                    _ => 0.0,
                };
                let mut a: Vec<f64> = (0..n * n).map(|at| entry(at / n, at % n)).collect();
                let mut work = vec![0.0; f64::positive_definite_work_len(n)];
                assert_eq!(f64::positive_definite(&mut a, n, &mut work), expected, "{n} {shift}");
            }
        }
    }
}
