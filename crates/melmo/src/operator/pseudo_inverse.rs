//! A⁺ = VΣ⁻¹Uᵀ and sure bounds on the largest and the smallest singular value, from one decomposition of a dense matrix.

use crate::linalg::{Dense as _, Into, Mat};
use crate::operator::RightInverse;
use crate::operator::bound::rounded_up;
use crate::real::Real;
use crate::vector;

/// c·A = U diag(values) Vᵀ, in f64 whatever the entries are; c is a power of two that keeps squares in range.
pub(super) struct Decomposition {
    scale: f64,
    values: Vec<f64>,
    /// U and V, for a matrix that may have a right inverse.
    vectors: Option<(Vec<f64>, Vec<f64>)>,
    rows: usize,
    cols: usize,
}

impl Decomposition {
    pub(super) fn of<S: Real>(a: &[S], rows: usize, cols: usize) -> Option<Self> {
        let largest = vector::norm_inf(a);
        let scale = if largest > 0.0 { vector::power_of_two_scale::<f64>(largest) } else { 1.0 };
        let scaled: Vec<f64> = a.iter().map(|v| v.f64() * scale).collect();
        let (size, a) = (rows.min(cols), Mat::new(&scaled, rows, cols));
        let mut values = vec![0.0; size];
        let mut vectors = (rows <= cols).then(|| (vec![0.0; rows * size], vec![0.0; cols * size]));
        let converged = match &mut vectors {
            Some((u, v)) => f64::svd(&mut values, u, v, a, &mut vec![0.0; f64::svd_work_len(rows, cols)]),
            None => f64::singular_values(&mut values, a, &mut vec![0.0; f64::singular_values_work_len(rows, cols)]),
        };
        converged.then_some(Self { scale, values, vectors, rows, cols })
    }

    /// Backward error of a computed singular value, relative to the largest: a modest multiple of the dimensions.
    fn error(&self) -> f64 {
        4.0 * (self.rows + self.cols) as f64 * f64::EPSILON * self.values[0]
    }

    /// An upper bound on σ₁(A).
    pub(super) fn largest(&self) -> f64 {
        rounded_up((self.values[0] + self.error()) / self.scale, 1)
    }

    /// A⁺ when A has full row rank, as far as numbers of type S can tell.
    pub(super) fn pseudo_inverse<S: Real>(self) -> Option<PseudoInverse<S>> {
        let rank_tolerance = if S::EPSILON > 1e-10 { 1e-5 } else { 1e-10 };
        let smallest = self.values[self.values.len() - 1] - self.error();
        let (u, mut v) = self.vectors?;
        if smallest.is_nan() || smallest <= rank_tolerance * self.values[0] {
            return None;
        }
        for row in v.chunks_exact_mut(self.rows) {
            row.iter_mut().zip(&self.values).for_each(|(v, sigma)| *v *= self.scale / sigma);
        }
        let mut matrix = vec![0.0; self.cols * self.rows];
        let (v, u) = (Mat::new(&v, self.cols, self.rows), Mat::new(&u, self.rows, self.rows));
        f64::gemm(&mut matrix, Into::Replace, 1.0, v, u.t());
        let matrix: Vec<S> = matrix.into_iter().map(S::of).collect();
        let fits = matrix.iter().all(|v| v.is_finite());
        fits.then_some(PseudoInverse { matrix, sigma_min: smallest / self.scale })
    }
}

/// A⁺ = VΣ⁻¹Uᵀ, cols×rows.
#[derive(Clone, Debug)]
pub(super) struct PseudoInverse<S> {
    matrix: Vec<S>,
    sigma_min: f64,
}

impl<S: Real> RightInverse<S> for PseudoInverse<S> {
    fn right_inverse(&self, x: &mut [S], y: &[S], _: &mut [S]) {
        S::gemm(x, Into::Replace, S::ONE, Mat::new(&self.matrix, x.len(), y.len()), Mat::new(y, y.len(), 1));
    }

    fn sigma_min(&self) -> f64 {
        self.sigma_min
    }
}
