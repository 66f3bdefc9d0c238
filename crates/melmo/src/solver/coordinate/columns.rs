//! A design by columns, whatever order its operator keeps.

use crate::error::Error;
use crate::operator::{Form, LinOp};
use crate::real::Real;
use crate::threads;
use crate::vector::{self, simd};

/// The columns a_j of a dense or sparse matrix, each in one stretch of memory.
#[derive(Clone, Debug)]
pub struct Columns<S> {
    rows: usize,
    cols: usize,
    /// Column after column.
    values: Vec<S>,
    /// For a sparse matrix: where each column starts in `values`, and the row of each value.
    sparse: Option<(Vec<usize>, Vec<usize>)>,
}

impl<S: Real> Columns<S> {
    /// A copy of the operator's matrix. Refuses an operator that is not one.
    pub fn of(operator: &dyn LinOp<S>) -> Result<Self, Error> {
        let (rows, cols) = (operator.range().size(), operator.domain().size());
        match operator.form() {
            Form::Dense(a) => Ok(Self { rows, cols, values: transposed(a.entries(), rows, cols), sparse: None }),
            Form::Sparse(a) => {
                let mut starts = vec![0; cols + 1];
                (0..rows).flat_map(|i| a.row(i)).for_each(|(j, _)| starts[j + 1] += 1);
                (0..cols).for_each(|j| starts[j + 1] += starts[j]);
                let (mut next, count) = (starts.clone(), starts[cols]);
                let (mut values, mut row_of) = (vec![S::ZERO; count], vec![0; count]);
                for i in 0..rows {
                    for (j, &v) in a.row(i) {
                        (values[next[j]], row_of[next[j]]) = (v, i);
                        next[j] += 1;
                    }
                }
                Ok(Self { rows, cols, values, sparse: Some((starts, row_of)) })
            }
            _ => Err(Error::Unsupported("coordinate descent needs a dense or sparse design matrix".into())),
        }
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// Entries that are kept.
    pub(super) fn entries(&self) -> usize {
        self.values.len()
    }

    /// Column j: its values, and their rows when it is sparse.
    #[inline(always)]
    fn column(&self, j: usize) -> (&[S], Option<&[usize]>) {
        match &self.sparse {
            None => (&self.values[j * self.rows..(j + 1) * self.rows], None),
            Some((starts, row_of)) => {
                let span = starts[j]..starts[j + 1];
                (&self.values[span.clone()], Some(&row_of[span]))
            }
        }
    }

    /// ⟨a_j, r⟩.
    #[inline]
    pub fn dot(&self, j: usize, r: &[S]) -> f64 {
        match self.column(j) {
            (a, None) => vector::dot(a, r),
            (a, Some(rows)) => a.iter().zip(rows).map(|(a, &i)| a.f64() * r[i].f64()).sum(),
        }
    }

    /// y ← y + t·a_j.
    #[inline]
    pub fn axpy(&self, j: usize, t: f64, y: &mut [S]) {
        match self.column(j) {
            (a, None) => vector::axpy(y, t, a),
            (a, Some(rows)) => {
                let t = S::of(t);
                a.iter().zip(rows).for_each(|(&a, &i)| y[i] += t * a);
            }
        }
    }

    /// Σ wᵢaᵢⱼ².
    pub fn weighted_square(&self, j: usize, w: &[S]) -> f64 {
        let term = |a: S, w: S| w.f64() * a.f64() * a.f64();
        match self.column(j) {
            (a, None) => a.iter().zip(w).map(|(&a, &w)| term(a, w)).sum(),
            (a, Some(rows)) => a.iter().zip(rows).map(|(&a, &i)| term(a, w[i])).sum(),
        }
    }

    /// y ← y + t·w⊙a_j.
    #[inline]
    pub fn axpy_weighted(&self, j: usize, t: f64, w: &[S], y: &mut [S]) {
        let t = S::of(t);
        match self.column(j) {
            (a, None) => simd(
                #[inline(always)]
                || {
                    for ((y, &w), &a) in y.iter_mut().zip(w).zip(a) {
                        *y += t * w * a;
                    }
                },
            ),
            (a, Some(rows)) => a.iter().zip(rows).for_each(|(&a, &i)| y[i] += t * w[i] * a),
        }
    }

    /// The rows in which a_j may differ from zero; `None` for all of them.
    pub fn rows_of(&self, j: usize) -> Option<&[usize]> {
        self.column(j).1
    }

    /// ⟨a_i, a_j⟩. `scratch` has an entry a row.
    pub fn product(&self, i: usize, j: usize, scratch: &mut [S]) -> f64 {
        match self.column(i) {
            (a, None) => self.dot(j, a),
            (a, Some(rows)) => {
                a.iter().zip(rows).for_each(|(&a, &i)| scratch[i] = a);
                let product = self.dot(j, scratch);
                rows.iter().for_each(|&i| scratch[i] = S::ZERO);
                product
            }
        }
    }
}

/// The cols×rows transpose of a rows×cols matrix, tile by tile so that both sides stay in cache.
fn transposed<S: Real>(a: &[S], rows: usize, cols: usize) -> Vec<S> {
    const TILE: usize = 64;
    let mut out = vec![S::ZERO; a.len()];
    threads::share(a.len(), out.chunks_mut(TILE * rows).enumerate(), |(k, out)| {
        for top in (0..rows).step_by(TILE) {
            for (j, column) in (k * TILE..).zip(out.chunks_exact_mut(rows)) {
                for (i, out) in column[top..].iter_mut().take(TILE).enumerate() {
                    *out = a[(top + i) * cols + j];
                }
            }
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::{Dense, Identity, Sparse};

    #[test]
    fn dense_and_sparse_columns_agree() {
        let (rows, cols) = (70, 67);
        let entry = |i: usize, j: usize| if (i * 7 + j * 3) % 5 < 2 { ((i * cols + j) as f64).sin() } else { 0.0 };
        let all: Vec<f64> = (0..rows * cols).map(|at| entry(at / cols, at % cols)).collect();
        let triplets = (0..rows * cols).map(|at| (at / cols, at % cols, all[at])).filter(|t| t.2 != 0.0);
        let sparse = Columns::of(&Sparse::from_triplets(rows, cols, triplets).unwrap()).unwrap();
        let dense = Columns::of(&Dense::new(all.clone(), rows, cols).unwrap()).unwrap();
        let r: Vec<f64> = (0..rows).map(|i| (i as f64).cos()).collect();
        let mut scratch = vec![0.0; rows];
        for j in 0..cols {
            let plain: f64 = (0..rows).map(|i| entry(i, j) * r[i]).sum();
            assert!((dense.dot(j, &r) - plain).abs() < 1e-13 && (sparse.dot(j, &r) - plain).abs() < 1e-13);
            let (mut a, mut b) = (r.clone(), r.clone());
            dense.axpy(j, 0.7, &mut a);
            sparse.axpy(j, 0.7, &mut b);
            assert!((0..rows).all(|i| (a[i] - b[i]).abs() < 1e-15 && (a[i] - r[i] - 0.7 * entry(i, j)).abs() < 1e-15));
            let products = [&dense, &sparse].map(|a| a.product(j, (j + 3) % cols, &mut scratch));
            assert!((products[0] - products[1]).abs() < 1e-13);
        }
        assert!(Columns::of(&Identity::new(crate::block::Layout::vector(3).unwrap()) as &dyn LinOp<f64>).is_err());
    }
}
