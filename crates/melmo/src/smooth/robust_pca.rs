use std::sync::Arc;

use crate::block::Layout;
use crate::error::Error;
use crate::real::Real;
use crate::smooth::residual::{observed, residual};
use crate::smooth::{Form, Rounding, Smooth};
use crate::vector::norm2;

/// f(L, S) = ½‖M⊙(Y − L − S)‖²: a low-rank plus a sparse matrix, with a mask M of zeros and ones, or none.
///
/// L_f = 2. Candès, Li, Ma and Wright, "Robust principal component analysis?" (2011).
#[derive(Clone, Debug)]
pub struct RobustPca<S> {
    layout: Layout,
    y: Arc<Vec<S>>,
    mask: Option<Vec<S>>,
}

impl<S: Real> RobustPca<S> {
    /// The rows×cols data Y, and which of its entries are observed (1) or not (0). What is not observed may be anything,
    /// NaN included. The blocks are called `L` and `S`.
    pub fn new(y: Vec<S>, rows: usize, cols: usize, mask: Option<Vec<S>>) -> Result<Self, Error> {
        Self::shared(Arc::new(y), rows, cols, mask)
    }

    /// The same with data that others read too: they are copied only where some of them are not observed.
    pub fn shared(y: Arc<Vec<S>>, rows: usize, cols: usize, mask: Option<Vec<S>>) -> Result<Self, Error> {
        let layout = Layout::new([("L", rows, cols), ("S", rows, cols)])?;
        let y = match &mask {
            Some(mask) => Arc::new(observed(Arc::unwrap_or_clone(y), Some(mask), rows * cols)?),
            None => {
                Error::expect_len("Y", rows * cols, y.len())?;
                Error::expect_finite("Y", &y)?;
                y
            }
        };
        Ok(Self { layout, y, mask })
    }
}

impl<S: Real> Smooth<S> for RobustPca<S> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn value_grad(&self, grad: &mut [S], x: &[S], _: &mut [S]) -> f64 {
        let (low_rank, sparse) = x.split_at(self.y.len());
        let (grad_low_rank, grad_sparse) = grad.split_at_mut(self.y.len());
        let squared = residual(grad_low_rank, [low_rank, sparse], &self.y, self.mask.as_deref());
        grad_sparse.copy_from_slice(grad_low_rank);
        0.5 * squared
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(2.0)
    }

    fn strong_convexity(&self) -> Option<f64> {
        Some(0.0)
    }

    fn lower_bound(&self) -> Option<f64> {
        Some(0.0)
    }

    fn rounding(&self, x: &[S], value: f64, grad: &[S]) -> Rounding {
        Rounding::of_sum::<S>(value, norm2(grad), norm2(x), grad.len())
    }

    fn form(&self) -> Form<'_, S> {
        Form::Sum { target: &self.y, mask: self.mask.as_deref() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smooth::laws;

    #[test]
    fn obeys_the_laws() {
        let mask = (0..20).map(|i| f64::from(i % 4 != 1)).collect();
        laws::check(&RobustPca::new(laws::noise(20, 1), 4, 5, None).unwrap());
        laws::check(&RobustPca::new(laws::noise(20, 1), 4, 5, Some(mask)).unwrap());
    }

    #[test]
    fn known_value() {
        let f = RobustPca::new(vec![1.0f32, f32::NAN], 1, 2, Some(vec![1.0, 0.0])).unwrap();
        let mut grad = [9.0; 4];
        assert_eq!(f.value_grad(&mut grad, &[2.0, 5.0, 3.0, 5.0], &mut []), 8.0);
        assert_eq!(grad, [4.0, 0.0, 4.0, 0.0]);
    }

    #[test]
    fn bad_data_are_refused() {
        assert!(matches!(RobustPca::new(vec![0.0; 5], 2, 3, None), Err(Error::Shape { .. })));
        assert!(matches!(RobustPca::new(vec![f64::NAN; 6], 2, 3, None), Err(Error::NotFinite { .. })));
        assert!(matches!(RobustPca::new(vec![0.0; 6], 2, 3, Some(vec![2.0; 6])), Err(Error::NotBinary { .. })));
        assert!(matches!(RobustPca::<f64>::new(vec![], 0, 3, None), Err(Error::EmptyBlock { .. })));
    }
}
