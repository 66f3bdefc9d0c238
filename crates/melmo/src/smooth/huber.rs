use crate::error::Error;
use crate::operator::LinOp;
use crate::real::Real;
use crate::smooth::{LinearModel, Link};

/// f(x) = Σᵢ h_δ((Ax − b)ᵢ) with h_δ(r) = r²/2 for |r| ≤ δ, else δ|r| − δ²/2: least squares that outliers cannot pull far.
///
/// L_f = ‖A‖², from A's bound on its norm. Huber, "Robust estimation of a location parameter" (1964).
pub type HuberRegression<S> = LinearModel<S, Huber>;

/// The kind of [`HuberRegression`].
pub struct Huber;

impl<S: Real> HuberRegression<S> {
    /// The operator A, the data b in its range, and the residual δ > 0 from which on the loss grows linearly.
    pub fn new(a: Box<dyn LinOp<S>>, b: Vec<S>, delta: f64) -> Result<Self, Error> {
        Self::of(a, b, Link::Huber(Error::expect_positive("delta", delta)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smooth::{Smooth, laws};

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
