use crate::block::Layout;
use crate::error::Error;
use crate::operator::LinOp;
use crate::real::Real;
use crate::smooth::sampled::{has_rows, rows_grad};
use crate::smooth::{Form, Link, Rounding, Sampled, Smooth, linear_model};

/// f(x) = Σᵢ h_δ((Ax − b)ᵢ) with h_δ(r) = r²/2 for |r| ≤ δ, else δ|r| − δ²/2: least squares that outliers cannot pull far.
///
/// L_f = ‖A‖², from A's bound on its norm. Huber, "Robust estimation of a location parameter" (1964).
pub struct HuberRegression<S> {
    a: Box<dyn LinOp<S>>,
    b: Vec<S>,
    delta: f64,
}

impl<S: Real> HuberRegression<S> {
    /// The operator A, the data b in its range, and the residual δ > 0 from which on the loss grows linearly.
    pub fn new(a: Box<dyn LinOp<S>>, b: Vec<S>, delta: f64) -> Result<Self, Error> {
        Error::expect_len("b", a.range().size(), b.len())?;
        Error::expect_finite("b", &b)?;
        Ok(Self { a, b, delta: Error::expect_positive("delta", delta)? })
    }
}

impl<S: Real> Smooth<S> for HuberRegression<S> {
    fn layout(&self) -> &Layout {
        self.a.domain()
    }

    fn work_len(&self) -> usize {
        linear_model::work_len(&*self.a)
    }

    fn value_grad(&self, grad: &mut [S], x: &[S], work: &mut [S]) -> f64 {
        let link = Link::Huber(self.delta);
        linear_model::value_grad(
            &*self.a,
            &self.b,
            grad,
            x,
            work,
            #[inline(always)]
            |y, b| link.value_slope(y, b),
        )
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(self.a.norm_bound().powi(2))
    }

    fn strong_convexity(&self) -> Option<f64> {
        Some(0.0)
    }

    fn lower_bound(&self) -> Option<f64> {
        Some(0.0)
    }

    fn rounding(&self, x: &[S], value: f64, _: &[S]) -> Rounding {
        linear_model::rounding(&*self.a, Link::Huber(self.delta), x, value)
    }

    fn sampled(&self) -> Option<&dyn Sampled<S>> {
        has_rows(&*self.a).then_some(self)
    }

    fn form(&self) -> Form<'_, S> {
        Form::Linear { operator: &*self.a, target: &self.b, link: Link::Huber(self.delta) }
    }
}

/// Its parts are the rows of A.
impl<S: Real> Sampled<S> for HuberRegression<S> {
    fn samples(&self) -> usize {
        self.b.len()
    }

    fn batch_grad(&self, grad: &mut [S], x: &[S], batch: &[usize], _: &mut [S]) {
        rows_grad(&*self.a, &self.b, Link::Huber(self.delta), grad, x, batch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smooth::laws;

    #[test]
    fn obeys_the_laws() {
        for delta in [0.1, 0.7, 100.0] {
            let a = Box::new(laws::Table::noise(19, 4));
            laws::check(&HuberRegression::new(a, laws::noise(19, 2), delta).unwrap());
        }
    }

    #[test]
    fn known_value() {
        let a = laws::Table::new(vec![1.0f32; 3], 3, 1);
        let f = HuberRegression::new(Box::new(a), vec![0.5, -3.0, 5.0], 2.0).unwrap();
        let mut grad = [9.0];
        assert_eq!(f.value_grad(&mut grad, &[1.0], &mut [0.0; 3]), 0.125 + 6.0 + 6.0);
        assert_eq!(grad, [0.5]);
        assert!((f.lipschitz().unwrap() - 3.0).abs() < 1e-12);
    }

    #[test]
    fn bad_data_are_refused() {
        let a = || Box::new(laws::Table::noise(3, 2));
        assert!(matches!(HuberRegression::new(a(), vec![0.0; 4], 1.0), Err(Error::Shape { .. })));
        assert!(matches!(HuberRegression::new(a(), vec![f64::INFINITY; 3], 1.0), Err(Error::NotFinite { .. })));
        for delta in [0.0, -1.0, f64::NAN] {
            let built = HuberRegression::new(a(), vec![0.0; 3], delta);
            assert!(matches!(built, Err(Error::Parameter { name: "delta", .. })));
        }
    }
}
