//! The observed entries of a matrix, row by row, and what masked factorisation does with each row.

use crate::cholesky;
use crate::real::Real;

/// Observed entries of one row after another: where they are, and what they are.
pub(super) struct Observed<S> {
    starts: Vec<usize>,
    places: Vec<usize>,
    values: Vec<S>,
}

impl<S: Real> Observed<S> {
    /// The entries of the rows×cols matrix y (or of its transpose) where the mask is not 0.
    pub fn new(y: &[S], mask: &[S], rows: usize, cols: usize, transposed: bool) -> Self {
        let (outer, inner) = if transposed { (cols, rows) } else { (rows, cols) };
        let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..outer {
            for j in 0..inner {
                let at = if transposed { j * cols + i } else { i * cols + j };
                if mask[at] != S::ZERO {
                    places.push(j);
                    values.push(y[at]);
                }
            }
            starts.push(places.len());
        }
        Self { starts, places, values }
    }

    /// (j, y_ij) over the observed entries of row i.
    fn row(&self, i: usize) -> impl Iterator<Item = (usize, S)> {
        let span = self.starts[i]..self.starts[i + 1];
        self.places[span.clone()].iter().copied().zip(self.values[span].iter().copied())
    }

    /// out ← scale·Σ_j (⟨a_i, b_j⟩ − y_ij)b_j in every row i of rank numbers; with `linear`, without the y_ij.
    pub fn gradient(&self, out: &mut [S], a: &[S], b: &[S], rank: usize, scale: f64, linear: bool) {
        for (i, (out, a)) in out.chunks_exact_mut(rank).zip(a.chunks_exact(rank)).enumerate() {
            out.fill(S::ZERO);
            for (j, y) in self.row(i) {
                let b = &b[j * rank..(j + 1) * rank];
                let fit: S = a.iter().zip(b).fold(S::ZERO, |sum, (&a, &b)| sum + a * b);
                let residual = S::of(scale) * (fit - if linear { S::ZERO } else { y });
                out.iter_mut().zip(b).for_each(|(out, &b)| *out += residual * b);
            }
        }
    }

    /// gram ← scale·Σ_j b_jb_jᵀ (its lower triangle) and right ← scale·Σ_j y_ijb_j of row i.
    fn normal_equations(&self, i: usize, b: &[S], scale: S, gram: &mut [S], right: &mut [S]) {
        let rank = right.len();
        gram.fill(S::ZERO);
        right.fill(S::ZERO);
        for (j, y) in self.row(i) {
            let b = &b[j * rank..(j + 1) * rank];
            for (p, &left) in b.iter().enumerate() {
                let left = scale * left;
                right[p] += left * y;
                gram[p * rank..].iter_mut().zip(&b[..=p]).for_each(|(g, &right)| *g += left * right);
            }
        }
    }

    /// The normal equations of row i, both triangles of the Gram matrix filled.
    pub fn row_equations(&self, i: usize, b: &[S], scale: f64, gram: &mut [S], right: &mut [S]) {
        let rank = right.len();
        self.normal_equations(i, b, S::of(scale), gram, right);
        (0..rank).for_each(|p| (0..p).for_each(|q| gram[q * rank + p] = gram[p * rank + q]));
    }

    /// Σ_ij (⟨a_i, b_j⟩ − y_ij)².
    pub fn squares(&self, a: &[S], b: &[S], rank: usize) -> f64 {
        let row = |(i, a): (usize, &[S])| {
            let square = |(j, y): (usize, S)| {
                let fit: S = a.iter().zip(&b[j * rank..]).fold(S::ZERO, |sum, (&a, &b)| sum + a * b);
                (fit - y).f64().powi(2)
            };
            self.row(i).map(square).sum::<f64>()
        };
        a.chunks_exact(rank).enumerate().map(row).sum()
    }

    /// a_i ← argmin scale/2·Σ_j (⟨a_i, b_j⟩ − y_ij)² + ridge/2·‖a_i − a_i(before)‖² in every row i, towards 0 when not
    /// `near`. `work` holds rank·(rank + 1) numbers.
    pub fn ridge(&self, a: &mut [S], b: &[S], rank: usize, (scale, ridge, near): (f64, f64, bool), work: &mut [S]) {
        let (scale, ridge) = (S::of(scale), S::of(ridge));
        let (gram, right) = work[..rank * (rank + 1)].split_at_mut(rank * rank);
        for (i, a) in a.chunks_exact_mut(rank).enumerate() {
            self.normal_equations(i, b, scale, gram, right);
            (0..rank).for_each(|p| gram[p * rank + p] += ridge);
            a.iter_mut().zip(&*right).for_each(|(a, &right)| *a = right + if near { ridge * *a } else { S::ZERO });
            cholesky::solve(gram, a, S::ZERO);
        }
    }
}
