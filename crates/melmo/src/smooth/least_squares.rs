use crate::block::Layout;
use crate::error::Error;
use crate::operator::LinOp;
use crate::real::Real;
use crate::smooth::sampled::{has_rows, rows_grad};
use crate::smooth::{Form, Link, Rounding, Sampled, Smooth, linear_model};

/// f(x) = ½‖Ax − b‖².
///
/// L_f = ‖A‖², from A's bound on its norm.
pub struct LeastSquares<S> {
    a: Box<dyn LinOp<S>>,
    b: Vec<S>,
}

impl<S: Real> LeastSquares<S> {
    /// The operator A and the data b in its range.
    pub fn new(a: Box<dyn LinOp<S>>, b: Vec<S>) -> Result<Self, Error> {
        Error::expect_len("b", a.range().size(), b.len())?;
        Error::expect_finite("b", &b)?;
        Ok(Self { a, b })
    }
}

impl<S: Real> Smooth<S> for LeastSquares<S> {
    fn layout(&self) -> &Layout {
        self.a.domain()
    }

    fn work_len(&self) -> usize {
        linear_model::work_len(&*self.a)
    }

    fn value_grad(&self, grad: &mut [S], x: &[S], work: &mut [S]) -> f64 {
        linear_model::value_grad(
            &*self.a,
            &self.b,
            grad,
            x,
            work,
            #[inline(always)]
            |y, b| Link::Squares.value_slope(y, b),
        )
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(self.a.norm_bound().powi(2))
    }

    fn strong_convexity(&self) -> Option<f64> {
        Some(self.a.lower_norm_bound().powi(2))
    }

    fn is_convex(&self) -> bool {
        true
    }

    fn lower_bound(&self) -> Option<f64> {
        Some(0.0)
    }

    fn rounding(&self, x: &[S], value: f64, _: &[S]) -> Rounding {
        linear_model::rounding(&*self.a, Link::Squares, x, value)
    }

    fn sampled(&self) -> Option<&dyn Sampled<S>> {
        has_rows(&*self.a).then_some(self)
    }

    fn form(&self) -> Form<'_, S> {
        Form::Linear { operator: &*self.a, target: &self.b, link: Link::Squares }
    }
}

/// Its parts are the rows of A.
impl<S: Real> Sampled<S> for LeastSquares<S> {
    fn samples(&self) -> usize {
        self.b.len()
    }

    fn batch_grad(&self, grad: &mut [S], x: &[S], batch: &[usize], _: &mut [S]) {
        rows_grad(&*self.a, &self.b, Link::Squares, grad, x, batch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smooth::laws;

    #[test]
    fn obeys_the_laws() {
        let a = laws::Table::noise(19, 4);
        laws::check(&LeastSquares::new(Box::new(a), laws::noise(19, 2)).unwrap());
    }

    #[test]
    fn known_value() {
        let a = laws::Table::new(vec![1.0f32, 2.0, 3.0, 4.0], 2, 2);
        let f = LeastSquares::new(Box::new(a), vec![1.0, 0.0]).unwrap();
        let mut grad = [9.0; 2];
        assert_eq!(f.value_grad(&mut grad, &[1.0, 1.0], &mut [0.0; 2]), 26.5);
        assert_eq!(grad, [23.0, 32.0]);
        assert!((f.lipschitz().unwrap() - 30.0).abs() < 1e-12); // the table's bound is the Frobenius norm
    }

    #[test]
    fn bad_data_are_refused() {
        let a = || Box::new(laws::Table::noise(3, 2));
        assert!(matches!(LeastSquares::new(a(), vec![0.0; 2]), Err(Error::Shape { expected: 3, got: 2, .. })));
        let nan = LeastSquares::new(a(), vec![0.0, f64::NAN, 0.0]);
        assert!(matches!(nan, Err(Error::NotFinite { index: 1, .. })));
    }
}
