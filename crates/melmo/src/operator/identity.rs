use crate::block::Layout;
use crate::operator::{Form, LinOp, RightInverse};
use crate::real::Real;
use crate::vector;

/// Tx = x.
///
/// ‖T‖₂ = 1; its own right inverse, σ_min = 1.
#[derive(Clone, Debug)]
pub struct Identity {
    layout: Layout,
}

impl Identity {
    /// The identity on these blocks.
    pub fn new(layout: Layout) -> Self {
        Self { layout }
    }
}

impl<S: Real> LinOp<S> for Identity {
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
        1.0
    }

    fn rounding(&self) -> f64 {
        S::EPSILON // copies; T*y is added to what is there
    }

    fn apply(&self, y: &mut [S], x: &[S], _: &mut [S]) {
        y.copy_from_slice(x);
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], _: &mut [S]) {
        vector::axpy(x, 1.0, y);
    }

    fn right_inverse(&self) -> Option<&dyn RightInverse<S>> {
        Some(self)
    }

    fn form(&self) -> Form<'_, S> {
        Form::Identity
    }
}

impl<S: Real> RightInverse<S> for Identity {
    fn right_inverse(&self, x: &mut [S], y: &[S], _: &mut [S]) {
        x.copy_from_slice(y);
    }

    fn sigma_min(&self) -> f64 {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::laws;

    fn is_the_identity<S: Real>() {
        let t = Identity::new(Layout::new([("W", 2, 2), ("H", 1, 3)]).unwrap());
        let matrix = laws::check::<S>(&t);
        assert!((0..49).all(|k| matrix[k] == f64::from(k / 7 == k % 7)));
        assert_eq!(LinOp::<S>::right_inverse(&t).unwrap().sigma_min(), 1.0);
    }

    #[test]
    fn is_the_identity_in_both_precisions() {
        is_the_identity::<f32>();
        is_the_identity::<f64>();
    }
}
