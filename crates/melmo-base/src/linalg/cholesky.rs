//! Whether a symmetric matrix is positive definite, by its Cholesky factor; and systems with that factor.

use faer::dyn_stack::MemStack;
use faer::linalg::cholesky::llt::factor::{LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::cholesky::llt::solve::solve_in_place;
use faer::traits::RealField;
use faer::{MatMut, MatRef, Par, Spec};

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

/// X ← A⁻¹X for the factor that [`positive_definite`] left of A; X has n rows.
pub(super) fn solve<T: RealField>(factor: &[T], n: usize, x: MatMut<'_, T>) {
    let factor = MatRef::from_column_major_slice(&factor[..n * n], n, n);
    solve_in_place(factor, x, Par::Seq, MemStack::new(&mut []));
}

#[cfg(test)]
mod tests {
    use super::super::{Dense, Into, Mat};

    #[test]
    fn rows_and_columns_are_solved_for() {
        for (n, k) in [(1, 3), (5, 1), (12, 40)] {
            let x: Vec<f64> = (0..2 * n * n).map(|i| ((i * i) as f64 * 0.37).sin()).collect();
            let mut a = vec![0.0; n * n];
            f64::gram(&mut a, Mat::new(&x, 2 * n, n));
            (0..n).for_each(|i| a[i * n + i] += 1.0);
            let b: Vec<f64> = (0..n * k).map(|i| (i as f64).cos()).collect();
            let (mut factor, mut work) = (a.clone(), vec![0.0; f64::positive_definite_work_len(n)]);
            assert!(f64::positive_definite(&mut factor, n, &mut work));
            let (mut columns, mut rows, mut back) = (b.clone(), b.clone(), vec![0.0; n * k]);
            f64::solve_columns(&factor, n, &mut columns);
            f64::gemm(&mut back, Into::Replace, 1.0, Mat::new(&a, n, n), Mat::new(&columns, n, k));
            assert!(back.iter().zip(&b).all(|(x, y)| (x - y).abs() < 1e-12));
            f64::solve_rows(&factor, n, &mut rows);
            f64::gemm(&mut back, Into::Replace, 1.0, Mat::new(&rows, k, n), Mat::new(&a, n, n));
            assert!(back.iter().zip(&b).all(|(x, y)| (x - y).abs() < 1e-12));
        }
    }

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
