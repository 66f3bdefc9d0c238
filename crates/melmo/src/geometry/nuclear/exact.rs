//! σ₁ = √λ_max(G), G = XᵀX, in `f64`: squaring costs the leading singular value no digits.

use super::Shape;
use crate::geometry::spectral::eigenvalue_error;
use crate::linalg::Dense;
use crate::real::Real;

pub(super) struct Leading {
    shape: Shape,
    x: Vec<f64>,
    g: Vec<f64>,
    vectors: Vec<f64>,
    values: Vec<f64>,
    work: Vec<f64>,
}

impl Leading {
    /// For the leading value, and for its vector too when `vectors` says so.
    pub fn new(shape: Shape, vectors: bool) -> Self {
        let n = shape.short();
        let work = [
            f64::eigenvalues_work_len(n),
            f64::positive_definite_work_len(n),
            if vectors { f64::eigen_work_len(n) } else { 0 },
        ];
        Self {
            shape,
            x: vec![0.0; shape.size()],
            g: vec![0.0; n * n],
            vectors: vec![0.0; if vectors { n * n } else { 0 }],
            values: vec![0.0; n],
            work: vec![0.0; work.into_iter().fold(0, usize::max)],
        }
    }

    /// σ₁.
    pub fn largest<S: Real>(&mut self, x: &[S]) -> Option<f64> {
        self.gram(x);
        let n = self.shape.short();
        let found = f64::eigenvalues(&mut self.values, &self.g, n, &mut self.work);
        found.then(|| self.values[n - 1].max(0.0).sqrt())
    }

    /// q ← the leading singular vector of the short side; an upper bound of σ₁ is returned.
    pub fn pair<S: Real>(&mut self, q: &mut [f64], x: &[S]) -> Option<f64> {
        self.gram(x);
        let n = self.shape.short();
        if !f64::eigen(&mut self.values, &mut self.vectors, &self.g, n, &mut self.work) {
            return None;
        }
        q.copy_from_slice(&self.vectors[(n - 1) * n..]);
        Some(self.upper(self.values[n - 1], self.values.iter().sum()))
    }

    /// An upper bound of σ₁ near the guess `squared` of σ₁²: proved when squared·I − G has a Cholesky factor, a
    /// fraction of the cost of eigenvalues; by these when it has none.
    pub fn upper_near<S: Real>(&mut self, squared: f64, x: &[S]) -> Option<f64> {
        self.gram(x);
        let n = self.shape.short();
        let trace = self.g.iter().step_by(n + 1).sum();
        self.g.iter_mut().for_each(|g| *g = -*g);
        self.g.iter_mut().step_by(n + 1).for_each(|g| *g += squared);
        let proved = f64::positive_definite(&mut self.g, n, &mut self.work);
        let squared = if proved { squared } else { self.largest(x)?.powi(2) };
        Some(self.upper(squared, trace))
    }

    /// σ₁ for an eigenvalue of the computed G: its error, and that of a factorisation, on top.
    fn upper(&self, squared: f64, trace: f64) -> f64 {
        let factorisation = f64::EPSILON * (16 + self.shape.short()) as f64 * squared;
        (squared + eigenvalue_error(self.shape, trace) + factorisation).sqrt()
    }

    fn gram<S: Real>(&mut self, x: &[S]) {
        self.x.iter_mut().zip(x).for_each(|(to, from)| *to = from.f64());
        self.shape.gram(&mut self.g, &self.x);
    }
}
