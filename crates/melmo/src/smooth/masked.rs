use crate::block::Layout;
use crate::error::Error;
use crate::real::Real;
use crate::smooth::residual::{observed, residual};
use crate::smooth::{Form, Pointwise, Rounding, Sampled, Smooth};
use crate::vector::norm2;

/// f(X) = ½‖M⊙(X − Y)‖² with a mask M of zeros and ones, or none: denoising and completion.
///
/// L_f = 1. A sum over entries, so that it can be evaluated while an image streams by.
#[derive(Clone, Debug)]
pub struct MaskedLeastSquares<S> {
    layout: Layout,
    y: Vec<S>,
    mask: Option<Vec<S>>,
}

impl<S: Real> MaskedLeastSquares<S> {
    /// The data Y in the blocks of X, and which of its entries are observed (1) or not (0). What is not observed may be
    /// anything, NaN included.
    pub fn new(layout: Layout, y: Vec<S>, mask: Option<Vec<S>>) -> Result<Self, Error> {
        let y = observed(y, mask.as_deref(), layout.size())?;
        Ok(Self { layout, y, mask })
    }
}

impl<S: Real> Smooth<S> for MaskedLeastSquares<S> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn value_grad(&self, grad: &mut [S], x: &[S], _: &mut [S]) -> f64 {
        self.value_grad_at(grad, x, 0)
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(1.0)
    }

    fn strong_convexity(&self) -> Option<f64> {
        Some(if self.mask.as_ref().is_none_or(|mask| mask.iter().all(|&m| m == S::ONE)) { 1.0 } else { 0.0 })
    }

    fn lower_bound(&self) -> Option<f64> {
        Some(0.0)
    }

    fn rounding(&self, x: &[S], value: f64, grad: &[S]) -> Rounding {
        let _ = x;
        Rounding::of_proximity::<S>(value, norm2(grad), grad.len())
    }

    fn pointwise(&self) -> Option<&dyn Pointwise<S>> {
        Some(self)
    }

    fn sampled(&self) -> Option<&dyn Sampled<S>> {
        Some(self)
    }

    fn form(&self) -> Form<'_, S> {
        Form::Proximity { target: &self.y, mask: self.mask.as_deref() }
    }
}

impl<S: Real> Pointwise<S> for MaskedLeastSquares<S> {
    fn value_grad_at(&self, grad: &mut [S], x: &[S], first: usize) -> f64 {
        let range = first..first + x.len();
        let mask = self.mask.as_ref().map(|mask| &mask[range.clone()]);
        0.5 * residual(grad, [x], &self.y[range], mask)
    }
}

/// Its parts are the entries of Y.
impl<S: Real> Sampled<S> for MaskedLeastSquares<S> {
    fn samples(&self) -> usize {
        self.y.len()
    }

    fn batch_grad(&self, grad: &mut [S], x: &[S], batch: &[usize], _: &mut [S]) {
        let scale = S::of(self.y.len() as f64 / batch.len() as f64);
        grad.fill(S::ZERO);
        for &i in batch {
            let observed = self.mask.as_ref().map_or(S::ONE, |mask| mask[i]);
            grad[i] += scale * observed * (x[i] - self.y[i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smooth::laws;

    fn loss(masked: bool) -> MaskedLeastSquares<f64> {
        let mask = (0..35).map(|i| f64::from(i % 3 != 0)).collect();
        MaskedLeastSquares::new(Layout::matrix(5, 7).unwrap(), laws::noise(35, 1), masked.then_some(mask)).unwrap()
    }

    #[test]
    fn obeys_the_laws() {
        laws::check(&loss(false));
        laws::check(&loss(true));
    }

    #[test]
    fn stretches_add_up() {
        let (f, x) = (loss(true), laws::noise(35, 2));
        let (mut whole, mut parts) = ([0.0; 35], [9.0; 35]);
        let value = f.value_grad(&mut whole, &x, &mut []);
        let (a, b) = parts.split_at_mut(11);
        let sum = f.value_grad_at(a, &x[..11], 0) + f.value_grad_at(b, &x[11..], 11);
        assert!((sum - value).abs() < 1e-14 && whole == parts);
    }

    #[test]
    fn what_is_not_observed_may_be_nan() {
        let y = vec![1.0f32, f32::NAN, f32::INFINITY];
        let f = MaskedLeastSquares::new(Layout::vector(3).unwrap(), y.clone(), Some(vec![1.0, 0.0, 0.0])).unwrap();
        let mut grad = [9.0; 3];
        assert_eq!(f.value_grad(&mut grad, &[3.0, 5.0, 7.0], &mut []), 2.0);
        assert_eq!(grad, [2.0, 0.0, 0.0]);
        let seen = MaskedLeastSquares::new(Layout::vector(3).unwrap(), y, Some(vec![1.0, 1.0, 0.0]));
        assert!(matches!(seen, Err(Error::NotFinite { index: 1, .. })));
    }

    #[test]
    fn bad_data_are_refused() {
        let new = |y, mask| MaskedLeastSquares::<f64>::new(Layout::vector(2).unwrap(), y, mask);
        assert!(matches!(new(vec![0.0; 3], None), Err(Error::Shape { .. })));
        assert!(matches!(new(vec![0.0; 2], Some(vec![1.0; 3])), Err(Error::Shape { .. })));
        assert!(matches!(new(vec![0.0; 2], Some(vec![1.0, 0.5])), Err(Error::NotBinary { index: 1, .. })));
    }
}
