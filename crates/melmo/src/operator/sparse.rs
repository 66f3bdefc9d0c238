use std::ops::Range;

use crate::block::Layout;
use crate::error::Error;
use crate::operator::bound::{entries_bound, zeros};
use crate::operator::{Form, LinOp};
use crate::real::Real;
use crate::vector;

/// Tx = Ax for a sparse matrix A in compressed rows.
///
/// ‖T‖₂ ≤ min(√(‖A‖₁‖A‖_∞), ‖A‖_F), both proven (‖A‖₁ and ‖A‖_∞: the largest column and row sums of |A|).
#[derive(Clone, Debug)]
pub struct Sparse<S> {
    domain: Layout,
    range: Layout,
    row_starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<S>,
    norm_bound: f64,
}

impl<S: Real> Sparse<S> {
    /// Row i has `values[k]` in column `columns[k]` for k in `row_starts[i]..row_starts[i + 1]`, in any order, no column
    /// twice. x and Tx are vectors called `x` and `y`.
    pub fn new(
        rows: usize,
        cols: usize,
        row_starts: Vec<usize>,
        columns: Vec<usize>,
        values: Vec<S>,
    ) -> Result<Self, Error> {
        let (domain, range) = (Layout::vector(cols)?, Layout::new([("y", rows, 1)])?);
        Error::expect_len("values of a sparse matrix, one a column index", columns.len(), values.len())?;
        Error::expect_finite("values of a sparse matrix", &values)?;
        check_rows(rows, &row_starts, columns.len())?;
        check_columns(cols, &row_starts, &columns)?;
        let mut this = Self { domain, range, row_starts, columns, values, norm_bound: 0.0 };
        this.norm_bound = entries_bound(rows, cols, &this.values, |i| this.row(i))?;
        Ok(this)
    }

    /// Entries (row, column, value) in any order; entries of the same place are added up.
    pub fn from_triplets(
        rows: usize,
        cols: usize,
        triplets: impl IntoIterator<Item = (usize, usize, S)>,
    ) -> Result<Self, Error> {
        let mut triplets: Vec<_> = triplets.into_iter().collect();
        for &(i, j, _) in &triplets {
            if i >= rows || j >= cols {
                return Err(Error::Unsupported(format!("entry ({i}, {j}) lies outside a {rows}×{cols} matrix")));
            }
        }
        triplets.sort_by_key(|&(i, j, _)| (i, j)); // stable: duplicates are added in the order given
        let mut row_starts = zeros::<usize>("rows", rows.saturating_add(1))?;
        let (mut columns, mut values) = (Vec::with_capacity(triplets.len()), Vec::with_capacity(triplets.len()));
        for same_place in triplets.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (i, j, _) = same_place[0];
            row_starts[i + 1] += 1;
            columns.push(j);
            values.push(S::of(same_place.iter().map(|t| t.2.f64()).sum()));
        }
        (0..rows).for_each(|i| row_starts[i + 1] += row_starts[i]);
        Self::new(rows, cols, row_starts, columns, values)
    }

    /// Where row i stands in `columns` and `values`.
    fn span(&self, i: usize) -> Range<usize> {
        self.row_starts[i]..self.row_starts[i + 1]
    }

    /// Columns and values of row i.
    #[inline(always)]
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, &S)> {
        self.columns[self.span(i)].iter().copied().zip(&self.values[self.span(i)])
    }
}

fn check_rows(rows: usize, row_starts: &[usize], entries: usize) -> Result<(), Error> {
    Error::expect_len("row starts, one more than rows", rows.saturating_add(1), row_starts.len())?;
    Error::expect_len("first row start", 0, row_starts[0])?;
    Error::expect_len("last row start", entries, row_starts[rows])?;
    match row_starts.windows(2).position(|w| w[0] > w[1]) {
        None => Ok(()),
        Some(i) => Err(Error::Unsupported(format!(
            "row {i} starts at {} and ends at {}: row starts must not decrease",
            row_starts[i],
            row_starts[i + 1]
        ))),
    }
}

fn check_columns(cols: usize, row_starts: &[usize], columns: &[usize]) -> Result<(), Error> {
    let mut sorted = Vec::new();
    for (i, w) in row_starts.windows(2).enumerate() {
        let row = &columns[w[0]..w[1]];
        if let Some(j) = row.iter().find(|&&j| j >= cols) {
            return Err(Error::Unsupported(format!("row {i} has column {j}, but there are {cols} columns")));
        }
        if row.is_sorted_by(|a, b| a < b) {
            continue;
        }
        sorted.clear();
        sorted.extend_from_slice(row);
        sorted.sort_unstable();
        // A repeated entry would count as two small ones in ‖A‖_F, and the bound would be no bound.
        if let Some(w) = sorted.windows(2).find(|w| w[0] == w[1]) {
            return Err(Error::Unsupported(format!("row {i} has column {} twice: build it from triplets", w[0])));
        }
    }
    Ok(())
}

impl<S: Real> LinOp<S> for Sparse<S> {
    fn domain(&self) -> &Layout {
        &self.domain
    }

    fn range(&self) -> &Layout {
        &self.range
    }

    fn norm_bound(&self) -> f64 {
        self.norm_bound
    }

    /// |A| has the Frobenius norm of A; no sum is longer than there are entries, or than its longer side.
    fn rounding(&self) -> f64 {
        let longest = self.values.len().min(self.range.size().max(self.domain.size())) as f64;
        (longest + 1.0) * S::EPSILON * vector::norm2(&self.values)
    }

    fn apply(&self, y: &mut [S], x: &[S], _: &mut [S]) {
        for (i, y) in y.iter_mut().enumerate() {
            *y = S::of(self.row(i).map(|(j, v)| v.f64() * x[j].f64()).sum());
        }
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], _: &mut [S]) {
        for (i, &y) in y.iter().enumerate() {
            for (j, &v) in self.row(i) {
                x[j] += v * y;
            }
        }
    }

    fn form(&self) -> Form<'_, S> {
        Form::Sparse(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::laws;

    /// [[1, 0, 2], [0, 0, 0], [0, −3, 0], [4, 5, 6]]
    fn example<S: Real>() -> Sparse<S> {
        let values = [2.0, 1.0, -3.0, 4.0, 5.0, 6.0].map(S::of).to_vec();
        Sparse::new(4, 3, vec![0, 2, 2, 3, 6], vec![2, 0, 1, 0, 1, 2], values).unwrap()
    }

    #[test]
    fn obeys_the_laws_in_both_precisions() {
        let known = [1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, -3.0, 0.0, 4.0, 5.0, 6.0];
        assert_eq!(laws::check::<f32>(&example()), known);
        assert_eq!(laws::check::<f64>(&example()), known);
        let scattered = (0..400).map(|k| (k * 37 % 90, k * 53 % 70, (k as f64).sin()));
        laws::assert_adjoint(&Sparse::from_triplets(90, 70, scattered).unwrap());
    }

    #[test]
    fn triplets_of_one_place_are_added() {
        let t = Sparse::from_triplets(2, 2, [(1, 0, 2.0), (0, 1, 1.0), (1, 0, 3.0), (1, 1, 1.0)]).unwrap();
        assert_eq!(laws::check::<f64>(&t), [0.0, 1.0, 5.0, 1.0]);
        let empty = Sparse::<f64>::from_triplets(2, 3, []).unwrap();
        assert_eq!((laws::check(&empty), empty.norm_bound()), (vec![0.0; 6], 0.0));
    }

    #[test]
    fn malformed_rows_are_refused() {
        let build = |starts: &[usize], columns: &[usize], values: &[f64]| {
            Sparse::new(2, 3, starts.to_vec(), columns.to_vec(), values.to_vec()).unwrap_err()
        };
        let shape = |e: Error| matches!(e, Error::Shape { .. });
        let unsupported = |e: Error| matches!(e, Error::Unsupported(_));
        assert!(shape(build(&[0, 1], &[0], &[1.0])));
        assert!(shape(build(&[1, 1, 1], &[0], &[1.0])));
        assert!(shape(build(&[0, 1, 2], &[0], &[1.0])));
        assert!(shape(build(&[0, 1, 1], &[0], &[1.0, 2.0])));
        assert!(unsupported(build(&[0, 5, 1], &[0], &[1.0])));
        assert!(unsupported(build(&[0, 1, 1], &[3], &[1.0])));
        assert!(unsupported(build(&[0, 3, 3], &[1, 0, 1], &[1.0; 3])));
        assert!(matches!(build(&[0, 1, 1], &[0], &[f64::INFINITY]), Error::NotFinite { .. }));
    }

    #[test]
    fn bad_sizes_and_triplets_are_refused() {
        assert!(matches!(Sparse::<f64>::from_triplets(0, 3, []), Err(Error::EmptyBlock { .. })));
        assert!(matches!(Sparse::from_triplets(2, 3, [(2, 0, 1.0)]), Err(Error::Unsupported(_))));
        assert!(matches!(Sparse::from_triplets(1, 1, [(0, 0, f32::MAX); 2]), Err(Error::NotFinite { .. })));
        assert!(matches!(Sparse::<f64>::from_triplets(usize::MAX, 1, []), Err(Error::Unsupported(_))));
        assert!(matches!(Sparse::<f64>::new(1, usize::MAX, vec![0, 0], vec![], vec![]), Err(Error::Unsupported(_))));
    }
}
