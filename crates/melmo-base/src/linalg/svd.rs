//! Thin singular value decomposition: the reference for everything spectral.

use faer::diag::DiagMut;
use faer::linalg::svd::{ComputeSvdVectors, SvdParams, svd, svd_scratch};
use faer::traits::math_utils::is_finite;
use faer::traits::{ComplexField, RealField};
use faer::{Auto, Par, Spec};

use super::watched::{Watched, unless_enough, watched_mut};
use super::{Mat, faer_mut, scratch};

/// Which singular vectors are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Vectors {
    None,
    Thin,
}

/// How the bidiagonal matrix is taken apart.
#[derive(Clone, Copy)]
enum Way {
    /// Faster with vectors, but it does not converge for some matrices of rank one; and without vectors it loses singular
    /// values where most of the matrix is 0: of 256×256 with one entry in its middle all come back as 0.
    DivideAndConquer,
    /// Slower with vectors, about as fast without; values of 300×300 are good to 4·10⁻¹⁴ of the largest.
    Rotations,
}

fn parameters<T: ComplexField>(way: Way) -> Spec<SvdParams, T> {
    let usual = <SvdParams as Auto<T>>::auto();
    Spec::new(match way {
        Way::DivideAndConquer => usual,
        Way::Rotations => SvdParams { recursion_threshold: usize::MAX, ..usual },
    })
}

pub(super) fn work_len<T: RealField + Copy>(rows: usize, cols: usize, vectors: Vectors) -> usize {
    let compute = match vectors {
        Vectors::None => ComputeSvdVectors::No,
        Vectors::Thin => ComputeSvdVectors::Thin,
    };
    let needs = |way| svd_scratch::<Watched<T>>(rows, cols, compute, compute, Par::Seq, parameters(way));
    let needs = needs(Way::DivideAndConquer).or(needs(Way::Rotations));
    scratch::numbers::<T>(needs)
}

pub(super) fn decompose<T>(
    values: &mut [T],
    mut vectors: Option<(&mut [T], &mut [T])>,
    a: Mat<T>,
    work: &mut [T],
) -> bool
where
    T: RealField + scratch::Plain + Into<f64>,
{
    // One NaN in the input can come back as a success.
    if !a.data.iter().all(is_finite) {
        return false;
    }
    let (rows, cols) = (a.rows(), a.cols());
    let values = &mut values[..rows.min(cols)];
    let (matrix, with_vectors) = (a.data, vectors.is_some());
    let mut by = |way: Way| {
        let (u, v) = vectors.as_mut().map(|(u, v)| (&mut **u, &mut **v)).unzip();
        let u = u.map(|u| faer_mut(watched_mut(u), rows, values.len()));
        let v = v.map(|v| faer_mut(watched_mut(v), cols, values.len()));
        let diagonal = DiagMut::from_slice_mut(watched_mut(values));
        let (a, stack) = (a.watched().faer(), scratch::stack(work));
        let found = unless_enough(|| svd(a, diagonal, u, v, Par::Seq, stack, parameters(way)).is_ok())?;
        Some(found && is_complete(values, matrix))
    };
    // None: it was given up.
    let found = if with_vectors { by(Way::DivideAndConquer) } else { Some(false) };
    found.and_then(|found| if found { Some(true) } else { by(Way::Rotations) }) == Some(true)
}

/// Whether Σσᵢ² = ‖A‖_F²: no singular value above 10⁻⁴‖A‖_F (1 % in single precision) was lost. True where the squares leave
/// the range of numbers.
fn is_complete<T: Copy + Into<f64>>(values: &[T], a: &[T]) -> bool {
    let squares = |of: &[T]| of.iter().map(|&v| v.into() * v.into()).sum::<f64>();
    let (found, expected) = (squares(values), squares(a));
    !(1e-280..1e280).contains(&expected)
        || (found - expected).abs() <= if size_of::<T>() == 8 { 1e-8 } else { 1e-4 } * expected
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

    /// Divide and conquer fails on these, in one way or the other.
    #[test]
    fn hardly_any_entries_and_rank_one() {
        let one_entry = |n: usize| (0..n * n).map(|at| if at == n / 2 * (n + 1) { -2.0 } else { 0.0 }).collect();
        let rank_one =
            |n: usize, k: usize| (0..n * n).map(|at| (1.0 + (at / n % k) as f64) * ((at % n) as f64 - 0.4)).collect();
        let cases: [(usize, Vec<f64>); 4] =
            [(256, one_entry(256)), (300, one_entry(300)), (130, rank_one(130, 3)), (256, rank_one(256, 4))];
        for (n, a) in cases {
            let norm = a.iter().map(|v| v * v).sum::<f64>().sqrt();
            let (mut u, mut v, mut values) = (vec![0.0; n * n], vec![0.0; n * n], vec![0.0; n]);
            let a = Mat::new(&a, n, n);
            assert!(f64::singular_values(&mut values, a, &mut vec![0.0; f64::singular_values_work_len(n, n)]));
            assert!((values[0] - norm).abs() <= 1e-12 * norm, "{n}: {} {norm}", values[0]);
            assert!(f64::svd(&mut values, &mut u, &mut v, a, &mut vec![0.0; f64::svd_work_len(n, n)]));
            assert!((values[0] - norm).abs() <= 1e-12 * norm, "{n}: {} {norm}", values[0]);
        }
    }
}
