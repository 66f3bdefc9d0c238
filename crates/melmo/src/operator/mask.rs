use crate::block::Layout;
use crate::error::Error;
use crate::operator::{Form, Identity, LinOp, RightInverse};
use crate::real::Real;
use crate::vector::simd;

/// Tx = M⊙x for a mask M of zeros and ones.
///
/// ‖T‖₂ ≤ 1: T is diagonal with entries 0 and 1, and its own adjoint. Surjective only when every entry is 1; then T is
/// the identity, its own right inverse, σ_min = 1. [`Sample`](super::Sample) keeps the observed entries alone and is surjective.
#[derive(Clone, Debug)]
pub struct Mask<S> {
    layout: Layout,
    mask: Vec<S>,
    /// What the mask is when it hides nothing.
    identity: Option<Identity>,
}

impl<S: Real> Mask<S> {
    /// One entry, 0 or 1, for each entry of x.
    pub fn new(layout: Layout, mask: Vec<S>) -> Result<Self, Error> {
        layout.check("mask", &mask)?;
        Error::expect_mask("mask", &mask)?;
        let hides_nothing = mask.iter().all(|&m| m == S::ONE);
        let identity = hides_nothing.then(|| Identity::new(layout.clone()));
        Ok(Self { layout, mask, identity })
    }

    /// M.
    pub fn mask(&self) -> &[S] {
        &self.mask
    }
}

impl<S: Real> LinOp<S> for Mask<S> {
    fn domain(&self) -> &Layout {
        &self.layout
    }

    fn range(&self) -> &Layout {
        &self.layout
    }

    fn norm_bound(&self) -> f64 {
        1.0
    }

    fn lower_norm_bound(&self) -> f64 {
        if self.identity.is_some() { 1.0 } else { 0.0 }
    }

    fn rounding(&self) -> f64 {
        S::EPSILON // copies; T*y is added to what is there
    }

    fn apply(&self, y: &mut [S], x: &[S], _: &mut [S]) {
        simd(
            #[inline(always)]
            || {
                for ((y, &x), &m) in y.iter_mut().zip(x).zip(&self.mask) {
                    *y = m * x;
                }
            },
        )
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], _: &mut [S]) {
        simd(
            #[inline(always)]
            || {
                for ((x, &y), &m) in x.iter_mut().zip(y).zip(&self.mask) {
                    *x += m * y;
                }
            },
        )
    }

    fn right_inverse(&self) -> Option<&dyn RightInverse<S>> {
        self.identity.as_ref().map(|r| r as _)
    }

    fn form(&self) -> Form<'_, S> {
        Form::Mask(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::laws;

    fn laws_of<S: Real>() {
        let mask = [1.0, 0.0, 1.0, 1.0, 0.0, 0.0].map(S::of);
        let t = Mask::new(Layout::matrix(2, 3).unwrap(), mask.to_vec()).unwrap();
        let matrix = laws::check(&t);
        assert!((0..36).all(|k| matrix[k] == if k / 6 == k % 6 { mask[k % 6].f64() } else { 0.0 }));
        assert!(t.right_inverse().is_none());
        let all = Mask::new(Layout::vector(4).unwrap(), vec![S::ONE; 4]).unwrap();
        laws::check(&all);
        assert_eq!(all.right_inverse().unwrap().sigma_min(), 1.0);
    }

    #[test]
    fn obeys_the_laws_in_both_precisions() {
        laws_of::<f32>();
        laws_of::<f64>();
    }

    #[test]
    fn bad_masks_are_refused() {
        let layout = Layout::vector(3).unwrap();
        assert!(matches!(Mask::new(layout.clone(), vec![1.0; 2]), Err(Error::Shape { .. })));
        assert!(matches!(Mask::new(layout.clone(), vec![1.0, 0.5, 0.0]), Err(Error::NotBinary { index: 1, .. })));
        assert!(matches!(Mask::new(layout, vec![f64::NAN; 3]), Err(Error::NotBinary { index: 0, .. })));
    }
}
