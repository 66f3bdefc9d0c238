//! ‖φ‖_* = Σσᵢ to rounding: by Gram eigenvalues where they settle it, else by singular values.

use super::gram::{eigenvalue_error, root_sums};
use super::normalise;
use super::shape::Shape;
use crate::linalg::{Dense, Mat};
use crate::real::Real;

/// The relative width of Σ√(λᵢ ± δ) up to which the eigenvalues settle the sum.
const SETTLED: f64 = 1e-12;

pub(super) struct NuclearNorm {
    shape: Shape,
    x: Vec<f64>,
    g: Vec<f64>,
    values: Vec<f64>,
    work: Vec<f64>,
}

impl NuclearNorm {
    pub fn new(shape: Shape) -> Self {
        let work = f64::eigenvalues_work_len(shape.short());
        Self {
            shape,
            x: vec![0.0; shape.size()],
            g: vec![0.0; shape.square()],
            values: vec![0.0; shape.short()],
            work: vec![0.0; work.max(f64::singular_values_work_len(shape.rows, shape.cols))],
        }
    }

    /// Of a φ with finite ‖φ‖_F > 0; NaN when the iteration does not converge.
    pub fn of<S: Real>(&mut self, phi: &[S], frobenius: f64) -> f64 {
        normalise(&mut self.x, phi, frobenius);
        self.by_eigenvalues().or_else(|| self.by_singular_values()).unwrap_or(f64::NAN) * frobenius
    }

    fn by_eigenvalues(&mut self) -> Option<f64> {
        self.shape.gram(&mut self.g, &self.x);
        if !f64::eigenvalues(&mut self.values, &self.g, self.shape.short(), &mut self.work) {
            return None;
        }
        let roots = root_sums(&self.values, eigenvalue_error(self.shape, self.values.iter().sum()));
        (roots.upper - roots.lower <= SETTLED * roots.upper).then_some(0.5 * (roots.lower + roots.upper))
    }

    fn by_singular_values(&mut self) -> Option<f64> {
        let x = Mat::new(&self.x, self.shape.rows, self.shape.cols);
        f64::singular_values(&mut self.values, x, &mut self.work).then(|| self.values.iter().sum())
    }
}
