//! A completed matrix, which need never be written down as a whole.

use melmo::linalg::{Into, Mat};
use melmo::real::Real;

use crate::complete::fit::Model;
use crate::complete::offsets::Offsets;

/// m + aᵢ + bⱼ + (WH)ᵢⱼ, or + Xᵢⱼ.
#[derive(Clone, Debug, PartialEq)]
pub struct Completed<S> {
    /// m, a and b.
    pub offsets: Offsets,
    rest: Rest<S>,
}

#[derive(Clone, Debug, PartialEq)]
enum Rest<S> {
    /// W, and the transpose of H.
    Factors { w: Vec<S>, ht: Vec<S>, rank: usize },
    /// X.
    Matrix(Vec<S>),
}

impl<S: Real> Completed<S> {
    pub(super) fn new(model: &Model, offsets: Offsets, x: &[S], z: &[S]) -> Self {
        let (rows, cols) = (offsets.row.len(), offsets.column.len());
        let rest = match *model {
            Model::Factors { rank, .. } => {
                let (w, h) = (z.to_vec(), &x[rows * rank..]);
                let ht = (0..cols * rank).map(|at| h[at % rank * cols + at / rank]).collect();
                Rest::Factors { w, ht, rank }
            }
            Model::SingularValues(_) => Rest::Matrix(z.to_vec()),
        };
        Self { offsets, rest }
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.offsets.row.len(), self.offsets.column.len())
    }

    /// What stands in row i, column j.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        let rest = match &self.rest {
            Rest::Factors { w, ht, rank } => {
                let (w, h) = (&w[i * rank..][..*rank], &ht[j * rank..][..*rank]);
                w.iter().zip(h).map(|(w, h)| w.f64() * h.f64()).sum()
            }
            Rest::Matrix(x) => x[i * self.offsets.column.len() + j].f64(),
        };
        self.offsets.at(i, j) + rest
    }

    /// Some rows from `first` on, whole: as many as `out` has room for.
    pub fn rows(&self, first: usize, out: &mut [S]) {
        let cols = self.offsets.column.len();
        let count = out.len() / cols;
        match &self.rest {
            Rest::Factors { w, ht, rank } => {
                let (w, ht) = (Mat::new(&w[first * rank..], count, *rank), Mat::new(ht, cols, *rank));
                S::gemm(out, Into::Replace, S::ONE, w, ht.t());
            }
            Rest::Matrix(x) => out.copy_from_slice(&x[first * cols..][..count * cols]),
        }
        for (i, row) in out.chunks_exact_mut(cols).enumerate() {
            row.iter_mut().enumerate().for_each(|(j, v)| *v = S::of(self.offsets.at(first + i, j) + v.f64()));
        }
    }

    /// The whole matrix.
    pub fn matrix(&self) -> Vec<f64> {
        let (rows, cols) = self.shape();
        let mut all = vec![S::ZERO; rows * cols];
        self.rows(0, &mut all);
        all.into_iter().map(|v| v.f64()).collect()
    }
}
