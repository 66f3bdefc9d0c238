use crate::block::Layout;
use crate::error::Error;
use crate::operator::bound::finite;
use crate::operator::{LinOp, RightInverse};
use crate::real::Real;

/// (AB)x = A(Bx): `outer` A after `inner` B.
///
/// ‖AB‖₂ ≤ ‖A‖₂‖B‖₂. R_B R_A is a right inverse where both parts have one, with σ_min ≥ σ_min(A)σ_min(B).
pub struct Compose<S> {
    outer: Box<dyn LinOp<S>>,
    inner: Box<dyn LinOp<S>>,
    norm_bound: f64,
}

impl<S: Real> Compose<S> {
    /// A after B. The sizes must agree; the names and shapes of the blocks between them need not.
    pub fn new(outer: Box<dyn LinOp<S>>, inner: Box<dyn LinOp<S>>) -> Result<Self, Error> {
        Error::expect_len("domain of the outer operator", inner.range().size(), outer.domain().size())?;
        let norm_bound = finite(outer.norm_bound() * inner.norm_bound())?;
        Ok(Self { outer, inner, norm_bound })
    }

    /// (between A and B, scratch): the parts run one after another and share the scratch.
    fn split<'a>(&self, work: &'a mut [S]) -> (&'a mut [S], &'a mut [S]) {
        work.split_at_mut(self.inner.range().size())
    }
}

impl<S: Real> LinOp<S> for Compose<S> {
    fn domain(&self) -> &Layout {
        self.inner.domain()
    }

    fn range(&self) -> &Layout {
        self.outer.range()
    }

    fn norm_bound(&self) -> f64 {
        self.norm_bound
    }

    fn lower_norm_bound(&self) -> f64 {
        self.outer.lower_norm_bound() * self.inner.lower_norm_bound()
    }

    fn rounding(&self) -> f64 {
        let (a, b) = (&self.outer, &self.inner);
        a.rounding() * (b.norm_bound() + b.rounding()) + a.norm_bound() * b.rounding()
    }

    /// Bx, then what the parts need one after another.
    fn work_len(&self) -> usize {
        self.inner.range().size() + self.inner.work_len().max(self.outer.work_len())
    }

    fn apply(&self, y: &mut [S], x: &[S], work: &mut [S]) {
        let (between, work) = self.split(work);
        self.inner.apply(between, x, &mut work[..self.inner.work_len()]);
        self.outer.apply(y, between, &mut work[..self.outer.work_len()]);
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], work: &mut [S]) {
        let (between, work) = self.split(work);
        between.fill(S::ZERO);
        self.outer.adjoint_add(between, y, &mut work[..self.outer.work_len()]);
        self.inner.adjoint_add(x, between, &mut work[..self.inner.work_len()]);
    }

    fn right_inverse(&self) -> Option<&dyn RightInverse<S>> {
        self.outer.right_inverse().and(self.inner.right_inverse()).map(|_| self as _)
    }
}

/// Meant to be reached through [`LinOp::right_inverse`]: without one of both parts, σ_min is 0 and x becomes NaN.
impl<S: Real> RightInverse<S> for Compose<S> {
    fn right_inverse(&self, x: &mut [S], y: &[S], work: &mut [S]) {
        let (between, work) = self.split(work);
        let (Some(outer), Some(inner)) = (self.outer.right_inverse(), self.inner.right_inverse()) else {
            return x.fill(S::of(f64::NAN));
        };
        outer.right_inverse(between, y, &mut work[..self.outer.work_len()]);
        inner.right_inverse(x, between, &mut work[..self.inner.work_len()]);
    }

    fn sigma_min(&self) -> f64 {
        let sigma = |t: &dyn LinOp<S>| t.right_inverse().map_or(0.0, |inverse| inverse.sigma_min());
        sigma(&*self.outer) * sigma(&*self.inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::{Boundary, Convolution, Dense, Difference2d, Sample, Scale, Select, laws};

    fn boxed<S: Real>(t: impl LinOp<S> + 'static) -> Box<dyn LinOp<S>> {
        Box::new(t)
    }

    fn laws_of<S: Real>() {
        let blocks = Layout::new([("W", 3, 4), ("H", 4, 2)]).unwrap();
        let w = || boxed::<S>(Select::new(&blocks, &["W"]).unwrap());
        let differences = Compose::new(boxed(Difference2d::new(3, 4).unwrap()), w()).unwrap();
        laws::check(&differences);
        assert_eq!(differences.domain().size(), 20);
        assert_eq!(differences.range().blocks()[1].name, "dy");
        assert!(LinOp::right_inverse(&differences).is_none());

        let sample = Sample::new(Layout::matrix(3, 4).unwrap(), vec![2, 9, 5]).unwrap();
        let surjective = Compose::new(boxed(Scale::new(4.0, boxed(sample)).unwrap()), w()).unwrap();
        laws::check(&surjective);
        assert_eq!(LinOp::right_inverse(&surjective).unwrap().sigma_min(), 4.0);

        let kernel = [1.0, 2.0, -1.0].map(S::of);
        let blur = Convolution::new((3, 4), &kernel, (1, 3), Boundary::Periodic).unwrap();
        laws::check(&Compose::new(boxed(blur), w()).unwrap());

        let into_blocks = Dense::new(laws::random(40, 3), 20, 2).unwrap();
        laws::check(&Compose::new(boxed(differences), boxed(into_blocks)).unwrap());
    }

    #[test]
    fn obeys_the_laws_in_both_precisions() {
        laws_of::<f32>();
        laws_of::<f64>();
    }

    #[test]
    fn is_the_product_of_the_matrices() {
        let outer = Dense::new(vec![1.0, 2.0], 1, 2).unwrap();
        let inner = Dense::new(vec![1.0, 0.0, 3.0, 0.0, 1.0, 5.0], 2, 3).unwrap();
        let t = Compose::new(boxed(outer), boxed(inner)).unwrap();
        assert_eq!(laws::check(&t), [1.0, 2.0, 13.0]);
    }

    #[test]
    fn sizes_that_do_not_meet_are_refused() {
        let d = || boxed::<f64>(Difference2d::new(2, 2).unwrap());
        assert!(matches!(Compose::new(d(), d()), Err(Error::Shape { expected: 8, got: 4, .. })));
    }
}
