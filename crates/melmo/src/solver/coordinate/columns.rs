//! A design by columns, whatever order its operator keeps.

use std::borrow::Cow;

use crate::error::Error;
use crate::operator::{Form, LinOp};
use crate::real::Real;
use crate::threads;
use crate::vector::{self, simd};

/// The columns a_j of a dense or sparse matrix, each in one stretch of memory; borrowed where they lie so already.
#[derive(Clone, Debug)]
pub struct Columns<'d, S: Clone> {
    rows: usize,
    cols: usize,
    /// Column after column.
    values: Cow<'d, [S]>,
    /// For a sparse matrix: where each column starts in `values`, and the row of each value.
    sparse: Option<[Cow<'d, [usize]>; 2]>,
}

impl<S: Real> Columns<'static, S> {
    /// A copy of the operator's matrix. Refuses an operator that is not one.
    pub fn of(operator: &dyn LinOp<S>) -> Result<Self, Error> {
        let (rows, cols) = (operator.range().size(), operator.domain().size());
        match operator.form() {
            Form::Dense(a) => Ok(Self::from_rows(a.entries(), rows, cols, cols, |_, v| v)),
            Form::Sparse(a) => Ok(Self::from_sparse_rows(rows, cols, |i| a.row(i).map(|(j, &v)| (j, v)))),
            _ => Err(Error::Unsupported("coordinate descent needs a dense or sparse design matrix".into())),
        }
    }

    /// map(j, aᵢⱼ) of a full rows×cols matrix, row after row; the columns from `cols` to `width` are ones.
    pub fn from_rows(a: &[S], rows: usize, cols: usize, width: usize, map: impl Fn(usize, S) -> S + Sync) -> Self {
        let mut values = vec![S::ONE; rows * width];
        transpose(&mut values[..rows * cols], a, rows, cols, map);
        Self { rows, cols: width, values: values.into(), sparse: None }
    }

    /// Of a sparse matrix whose row i is `row(i)`: columns and values.
    pub fn from_sparse_rows<I: Iterator<Item = (usize, S)>>(
        rows: usize,
        cols: usize,
        row: impl Fn(usize) -> I,
    ) -> Self {
        let mut starts = vec![0; cols + 1];
        (0..rows).flat_map(&row).for_each(|(j, _)| starts[j + 1] += 1);
        (0..cols).for_each(|j| starts[j + 1] += starts[j]);
        let (mut next, count) = (starts.clone(), starts[cols]);
        let (mut values, mut row_of) = (vec![S::ZERO; count], vec![0; count]);
        for i in 0..rows {
            for (j, v) in row(i) {
                (values[next[j]], row_of[next[j]]) = (v, i);
                next[j] += 1;
            }
        }
        Self { rows, cols, values: values.into(), sparse: Some([starts.into(), row_of.into()]) }
    }
}

impl<'d, S: Real> Columns<'d, S> {
    /// A full matrix, column after column.
    pub fn full(values: impl Into<Cow<'d, [S]>>, rows: usize, cols: usize) -> Result<Self, Error> {
        let values = values.into();
        Error::expect_len("columns of the design", rows.saturating_mul(cols), values.len())?;
        Ok(Self { rows, cols, values, sparse: None })
    }

    /// A sparse matrix in compressed columns: column j has `values[k]` in row `row_of[k]` for k in `starts[j]..starts[j + 1]`.
    pub fn compressed(
        rows: usize,
        starts: impl Into<Cow<'d, [usize]>>,
        row_of: impl Into<Cow<'d, [usize]>>,
        values: impl Into<Cow<'d, [S]>>,
    ) -> Result<Self, Error> {
        let (starts, row_of, values) = (starts.into(), row_of.into(), values.into());
        let wrong = |what: &str| Err(Error::Unsupported(format!("compressed columns with {what}")));
        Error::expect_len("rows of the values", values.len(), row_of.len())?;
        let rises = starts.windows(2).all(|pair| pair[0] <= pair[1]);
        if !rises || starts.first() != Some(&0) || starts.last() != Some(&values.len()) {
            return wrong("starts that do not rise from 0 to the number of values");
        }
        if row_of.iter().any(|&i| i >= rows) {
            return wrong("a row beyond the last");
        }
        Ok(Self { rows, cols: starts.len() - 1, values, sparse: Some([starts, row_of]) })
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// Entries that are kept.
    pub(super) fn entries(&self) -> usize {
        self.values.len()
    }

    /// Only some entries are stored.
    pub fn is_sparse(&self) -> bool {
        self.sparse.is_some()
    }

    /// Column j: its values, and their rows when it is sparse.
    #[inline(always)]
    fn column(&self, j: usize) -> (&[S], Option<&[usize]>) {
        match &self.sparse {
            None => (&self.values[j * self.rows..(j + 1) * self.rows], None),
            Some([starts, row_of]) => {
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

    /// ⟨a_j, r⟩ and ‖a_j‖², in one pass.
    pub fn dot_and_square(&self, j: usize, r: &[S]) -> (f64, f64) {
        match self.column(j) {
            (a, None) => vector::dot_and_square(r, a),
            (a, Some(rows)) => a
                .iter()
                .zip(rows)
                .fold((0.0, 0.0), |(dot, square), (a, &i)| (dot + a.f64() * r[i].f64(), square + a.f64() * a.f64())),
        }
    }

    /// Σ wᵢaᵢⱼ².
    pub fn weighted_square(&self, j: usize, w: &[S]) -> f64 {
        let term = |a: S, w: S| w.f64() * a.f64() * a.f64();
        match self.column(j) {
            (a, None) => simd(
                #[inline(always)]
                || {
                    let ((a, rest_a), (w, rest_w)) = (a.as_chunks::<LANES>(), w.as_chunks::<LANES>());
                    let mut lanes = [0.0; LANES];
                    for (a, w) in a.iter().zip(w) {
                        for l in 0..LANES {
                            lanes[l] += term(a[l], w[l]);
                        }
                    }
                    lanes.iter().sum::<f64>() + rest_a.iter().zip(rest_w).map(|(&a, &w)| term(a, w)).sum::<f64>()
                },
            ),
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

/// Sums that are kept side by side.
const LANES: usize = 16;

/// out ← map of the cols×rows transpose of a rows×cols matrix, tile by tile so that both sides stay in cache.
fn transpose<S: Real>(out: &mut [S], a: &[S], rows: usize, cols: usize, map: impl Fn(usize, S) -> S + Sync) {
    const TILE: usize = 64;
    threads::share(a.len(), out.chunks_mut(TILE * rows).enumerate(), |(k, out)| {
        for top in (0..rows).step_by(TILE) {
            for (j, column) in (k * TILE..).zip(out.chunks_exact_mut(rows)) {
                for (i, out) in column[top..].iter_mut().take(TILE).enumerate() {
                    *out = map(j, a[(top + i) * cols + j]);
                }
            }
        }
    });
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
