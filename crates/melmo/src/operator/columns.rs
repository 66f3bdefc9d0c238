use crate::block::Layout;
use crate::error::Error;
use crate::operator::{LinOp, RightInverse};
use crate::real::Real;

/// (TX)_·j = A x_·j: an operator on every column of a matrix X.
///
/// ‖T‖₂ = ‖A‖₂, since ‖TX‖² = Σ‖A x_·j‖², and the same holds from below. A block of A's of p entries is one of p rows here. Least squares
/// with several right-hand sides, ½‖AX − B‖², need it.
pub struct Columns<S> {
    a: Box<dyn LinOp<S>>,
    count: usize,
    domain: Layout,
    range: Layout,
}

impl<S: Real> Columns<S> {
    /// A on each of `count` columns.
    pub fn new(a: Box<dyn LinOp<S>>, count: usize) -> Result<Self, Error> {
        let wide = |layout: &Layout| Layout::new(layout.blocks().iter().map(|b| (b.name.clone(), b.size(), count)));
        Ok(Self { count, domain: wide(a.domain())?, range: wide(a.range())?, a })
    }

    /// Entries of a column of X and of TX.
    fn lengths(&self) -> (usize, usize) {
        (self.a.domain().size(), self.a.range().size())
    }

    /// A column of X, one of TX, and A's own scratch.
    fn rooms<'w>(&self, work: &'w mut [S]) -> (&'w mut [S], &'w mut [S], &'w mut [S]) {
        let (n, m) = self.lengths();
        let (x, rest) = work.split_at_mut(n);
        let (y, rest) = rest.split_at_mut(m);
        (x, y, rest)
    }
}

fn take<S: Real>(column: &mut [S], matrix: &[S], j: usize, count: usize) {
    column.iter_mut().zip(matrix.chunks_exact(count)).for_each(|(v, row)| *v = row[j]);
}

fn put<S: Real>(matrix: &mut [S], column: &[S], j: usize, count: usize) {
    matrix.chunks_exact_mut(count).zip(column).for_each(|(row, &v)| row[j] = v);
}

impl<S: Real> LinOp<S> for Columns<S> {
    fn domain(&self) -> &Layout {
        &self.domain
    }

    fn range(&self) -> &Layout {
        &self.range
    }

    fn norm_bound(&self) -> f64 {
        self.a.norm_bound()
    }

    fn lower_norm_bound(&self) -> f64 {
        self.a.lower_norm_bound()
    }

    /// Columns are rounded by themselves.
    fn rounding(&self) -> f64 {
        self.a.rounding()
    }

    fn work_len(&self) -> usize {
        let (n, m) = self.lengths();
        n + m + self.a.work_len()
    }

    fn apply(&self, y: &mut [S], x: &[S], work: &mut [S]) {
        let (from, to, work) = self.rooms(work);
        for j in 0..self.count {
            take(from, x, j, self.count);
            self.a.apply(to, from, work);
            put(y, to, j, self.count);
        }
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], work: &mut [S]) {
        let (to, from, work) = self.rooms(work);
        for j in 0..self.count {
            take(from, y, j, self.count);
            take(to, x, j, self.count);
            self.a.adjoint_add(to, from, work);
            put(x, to, j, self.count);
        }
    }

    fn right_inverse(&self) -> Option<&dyn RightInverse<S>> {
        self.a.right_inverse().map(|_| self as _)
    }
}

/// Meant to be reached through [`LinOp::right_inverse`]: without a right inverse of A, σ_min is 0 and x becomes NaN.
impl<S: Real> RightInverse<S> for Columns<S> {
    fn right_inverse(&self, x: &mut [S], y: &[S], work: &mut [S]) {
        let Some(inverse) = self.a.right_inverse() else { return x.fill(S::of(f64::NAN)) };
        let (to, from, work) = self.rooms(work);
        for j in 0..self.count {
            take(from, y, j, self.count);
            inverse.right_inverse(to, from, work);
            put(x, to, j, self.count);
        }
    }

    fn sigma_min(&self) -> f64 {
        self.a.right_inverse().map_or(0.0, |inverse| inverse.sigma_min())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::{Dense, Difference2d, laws};

    fn laws_of<S: Real>() {
        let a = || Box::new(Dense::new([1.0, 2.0, 3.0, 4.0, 5.0, 7.0].map(S::of).to_vec(), 2, 3).unwrap());
        let t = Columns::new(a(), 2).unwrap();
        let by_hand = [
            [1.0, 0.0, 2.0, 0.0, 3.0, 0.0],
            [0.0, 1.0, 0.0, 2.0, 0.0, 3.0],
            [4.0, 0.0, 5.0, 0.0, 7.0, 0.0],
            [0.0, 4.0, 0.0, 5.0, 0.0, 7.0],
        ];
        assert_eq!(laws::check(&t), by_hand.concat());
        assert!(LinOp::right_inverse(&t).is_some() && t.norm_bound() == a().norm_bound());
        let d = Columns::<S>::new(Box::new(Difference2d::new(3, 4).unwrap()), 3).unwrap();
        laws::check(&d);
        let shapes: Vec<_> = d.range().blocks().iter().map(|b| (b.name.as_str(), b.rows, b.cols)).collect();
        assert_eq!(shapes, [("dx", 12, 3), ("dy", 12, 3)]);
    }

    #[test]
    fn obeys_the_laws_in_both_precisions() {
        laws_of::<f32>();
        laws_of::<f64>();
    }

    #[test]
    fn no_columns_are_refused() {
        let a = Box::new(Dense::new(vec![1.0], 1, 1).unwrap());
        assert!(matches!(Columns::<f64>::new(a, 0), Err(Error::EmptyBlock { .. })));
    }
}
