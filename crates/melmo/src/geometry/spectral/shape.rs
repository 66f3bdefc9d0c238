//! The long and the short side of a row-major matrix: G = XᵀX and XP live on the short one, without a transposition.

use crate::linalg::{Into, Mat};
use crate::real::Real;

/// rows×cols, row-major.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub rows: usize,
    pub cols: usize,
}

impl Shape {
    pub fn long(&self) -> usize {
        self.rows.max(self.cols)
    }

    /// r = min(rows, cols), the largest rank there is.
    pub fn short(&self) -> usize {
        self.rows.min(self.cols)
    }

    pub fn size(&self) -> usize {
        self.rows * self.cols
    }

    /// Entries of a matrix on the short side.
    pub fn square(&self) -> usize {
        self.short() * self.short()
    }

    /// The matrix, or its transpose when it is wide: never fewer rows than columns.
    pub fn tall<'a, S>(&self, x: &'a [S]) -> Mat<'a, S> {
        let x = Mat::new(x, self.rows, self.cols);
        if self.rows >= self.cols { x } else { x.t() }
    }

    /// G ← XᵀX of the tall matrix.
    pub fn gram<S: Real>(&self, g: &mut [S], x: &[S]) {
        S::gram(g, self.tall(x));
    }

    /// Y ← αXP of the tall matrix X, stored like X: Y ← αPX for a wide one, P being symmetric.
    pub fn times<S: Real>(&self, y: &mut [S], alpha: f64, x: &[S], p: &[S]) {
        let x = Mat::new(x, self.rows, self.cols);
        let p = Mat::new(p, self.short(), self.short());
        let (left, right) = if self.rows >= self.cols { (x, p) } else { (p.t(), x) }; // Pᵀ = P, and AᵀB is quicker
        S::gemm(y, Into::Replace, S::of(alpha), left, right);
    }
}
