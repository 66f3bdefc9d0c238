use std::sync::OnceLock;

use crate::block::Layout;
use crate::error::Error;
use crate::linalg::{Into, Mat};
use crate::operator::bound::{entries_bound, smallest_singular};
use crate::operator::pseudo_inverse::{Decomposition, PseudoInverse};
use crate::operator::{Form, LinOp, RightInverse, Sparse};
use crate::real::Real;
use crate::vector;

/// Tx = Ax for a dense matrix A.
///
/// ‖T‖₂ ≤ σ₁(A), from a singular value decomposition in f64, enlarged by its backward error; matrices with
/// min(rows, cols) > 512 would pay too much for that and take min(‖A‖_F, √(‖A‖₁‖A‖_∞)).
/// Differences and graphs are often given as such a matrix: one that is nearly all zeros is multiplied without them.
/// A wide matrix of at most 512 rows and of full row rank has the right inverse A⁺ and σ_min(A).
#[derive(Clone, Debug)]
pub struct Dense<S> {
    domain: Layout,
    range: Layout,
    a: Vec<S>,
    /// A without its zeros, where they are most of it.
    few: Option<Sparse<S>>,
    norm_bound: f64,
    pseudo_inverse: Option<PseudoInverse<S>>,
    /// A lower bound on ‖Ax‖/‖x‖, once somebody has asked.
    smallest: OnceLock<f64>,
}

/// Largest min(rows, cols) that is decomposed at construction.
const DECOMPOSED: usize = 512;

/// One entry in so many may be other than 0 where zeros are left out, and a matrix of fewer entries is not looked at.
const SPARSE: usize = 16;
const LARGE: usize = 4096;

/// A without its zeros, where that is worth it.
fn without_zeros<S: Real>(a: &[S], rows: usize, cols: usize) -> Result<Option<Sparse<S>>, Error> {
    let many = a.iter().filter(|v| **v != S::ZERO).count();
    if a.len() < LARGE || SPARSE * many > a.len() {
        return Ok(None);
    }
    let entries = a.iter().enumerate().filter(|(_, v)| **v != S::ZERO);
    Sparse::from_triplets(rows, cols, entries.map(|(at, &v)| (at / cols, at % cols, v))).map(Some)
}

impl<S: Real> Dense<S> {
    /// A as rows·cols numbers, row after row; x and Tx are vectors called `x` and `y`.
    pub fn new(a: Vec<S>, rows: usize, cols: usize) -> Result<Self, Error> {
        let plain = Self::design(a, rows, cols)?;
        let decomposition = if rows.min(cols) <= DECOMPOSED { Decomposition::of(&plain.a, rows, cols) } else { None };
        Ok(Self {
            norm_bound: decomposition.as_ref().map_or(plain.norm_bound, |d| d.largest().min(plain.norm_bound)),
            pseudo_inverse: decomposition.and_then(Decomposition::pseudo_inverse),
            ..plain
        })
    }

    /// The same without the decomposition, whatever the size: for methods that go column by column it would cost more than they
    /// do. The bound on the norm is that of the entries, and there is no right inverse.
    pub fn design(a: Vec<S>, rows: usize, cols: usize) -> Result<Self, Error> {
        Error::expect_len("entries of a dense matrix", Layout::matrix(rows, cols)?.size(), a.len())?;
        Error::expect_finite("dense matrix", &a)?;
        let norm_bound = entries_bound(rows, cols, &a, |i| a[i * cols..(i + 1) * cols].iter().enumerate())?;
        let (domain, range) = (Layout::vector(cols)?, Layout::new([("y", rows, 1)])?);
        let few = without_zeros(&a, rows, cols)?;
        Ok(Self { domain, range, norm_bound, few, pseudo_inverse: None, smallest: OnceLock::new(), a })
    }

    /// A, row after row.
    pub fn entries(&self) -> &[S] {
        &self.a
    }

    fn a(&self) -> Mat<'_, S> {
        Mat::new(&self.a, self.range.size(), self.domain.size())
    }
}

impl<S: Real> LinOp<S> for Dense<S> {
    fn domain(&self) -> &Layout {
        &self.domain
    }

    fn range(&self) -> &Layout {
        &self.range
    }

    fn norm_bound(&self) -> f64 {
        self.norm_bound
    }

    fn lower_norm_bound(&self) -> f64 {
        *self.smallest.get_or_init(|| smallest_singular(self.a()))
    }

    /// |A| has the Frobenius norm of A, and sums are as long as its longer side.
    fn rounding(&self) -> f64 {
        let longest = self.range.size().max(self.domain.size()) as f64;
        (longest + 1.0) * S::EPSILON * vector::norm2(&self.a)
    }

    fn apply(&self, y: &mut [S], x: &[S], work: &mut [S]) {
        match &self.few {
            Some(few) => few.apply(y, x, work),
            None => S::gemm(y, Into::Replace, S::ONE, self.a(), Mat::new(x, x.len(), 1)),
        }
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], work: &mut [S]) {
        match &self.few {
            Some(few) => few.adjoint_add(x, y, work),
            None => S::gemm(x, Into::Add, S::ONE, self.a().t(), Mat::new(y, y.len(), 1)),
        }
    }

    fn right_inverse(&self) -> Option<&dyn RightInverse<S>> {
        self.pseudo_inverse.as_ref().map(|r| r as _)
    }

    fn form(&self) -> Form<'_, S> {
        Form::Dense(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::laws;

    fn laws_of<S: Real>() {
        for (rows, cols) in [(1, 1), (3, 7), (7, 3), (5, 5), (20, 33)] {
            let a = laws::random::<S>(rows * cols, 7);
            let t = Dense::new(a.clone(), rows, cols).unwrap();
            let matrix = laws::check(&t);
            assert!(matrix.iter().zip(&a).all(|(m, a)| *m == a.f64()));
            assert_eq!(t.right_inverse().is_some(), rows <= cols);
        }
    }

    #[test]
    fn obeys_the_laws_in_both_precisions() {
        laws_of::<f32>();
        laws_of::<f64>();
    }

    /// Second differences of 70 numbers, as a matrix.
    #[test]
    fn zeros_are_left_out_and_nothing_changes() {
        let n = 70;
        let entry = |i: usize, j: usize| [1.0, -2.0, 1.0].get(j.wrapping_sub(i)).copied().unwrap_or(0.0);
        let a: Vec<f64> = (0..(n - 2) * n).map(|at| entry(at / n, at % n)).collect();
        let t = Dense::new(a.clone(), n - 2, n).unwrap();
        assert!(t.few.is_some());
        assert_eq!(laws::check(&t), a);
    }

    #[test]
    fn singular_values_are_tight_and_scale_with_the_matrix() {
        for c in [1.0, 1e-160, 1e150] {
            let t = Dense::new(vec![0.0, 3.0 * c, 0.0, 2.0 * c, 0.0, 0.0], 2, 3).unwrap(); // σ = 3c, 2c
            let inverse = t.right_inverse().unwrap();
            assert!((3.0..3.0 + 1e-12).contains(&(t.norm_bound() / c)));
            assert!((2.0 - 1e-12..=2.0).contains(&(inverse.sigma_min() / c)));
            let mut x = [f64::NAN; 3];
            inverse.right_inverse(&mut x, &[6.0 * c, 6.0 * c], &mut []);
            assert!(x.iter().zip([3.0, 2.0, 0.0]).all(|(a, b): (&f64, f64)| (a - b).abs() < 1e-14));
        }
    }

    #[test]
    fn no_right_inverse_without_full_row_rank() {
        assert!(Dense::new(vec![1.0, 2.0, 2.0, 4.0], 2, 2).unwrap().right_inverse().is_none());
        assert!(Dense::new(vec![1.0, 2.0], 2, 1).unwrap().right_inverse().is_none());
        assert!(Dense::new(vec![0.0f32; 6], 2, 3).unwrap().right_inverse().is_none());
        assert!(Dense::new(vec![1.0f64, 0.0, 0.0, 1e-7], 2, 2).unwrap().right_inverse().is_some());
        assert!(Dense::new(vec![1.0f32, 0.0, 0.0, 1e-7], 2, 2).unwrap().right_inverse().is_none());
    }

    #[test]
    fn large_matrices_take_the_bound_of_their_entries() {
        let n = DECOMPOSED + 1;
        let mut a = vec![0.0f32; n * n];
        (0..n).for_each(|i| a[i * n + i] = 2.0);
        let t = Dense::new(a, n, n).unwrap();
        assert!((2.0..2.001).contains(&t.norm_bound()) && t.right_inverse().is_none());
    }

    #[test]
    fn bad_input_is_refused() {
        assert!(matches!(Dense::new(vec![1.0; 5], 2, 3), Err(Error::Shape { expected: 6, got: 5, .. })));
        assert!(matches!(Dense::<f64>::new(vec![], 0, 3), Err(Error::EmptyBlock { .. })));
        assert!(matches!(Dense::<f64>::new(vec![], usize::MAX, 3), Err(Error::EmptyBlock { .. })));
        assert!(matches!(Dense::new(vec![1.0, f64::NAN], 1, 2), Err(Error::NotFinite { index: 1, .. })));
        assert!(matches!(Dense::new(vec![f64::MAX; 4], 2, 2), Err(Error::Parameter { .. })));
    }
}
