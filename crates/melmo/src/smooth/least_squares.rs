use crate::error::Error;
use crate::operator::LinOp;
use crate::real::Real;
use crate::smooth::{LinearModel, Link};

/// f(x) = ½‖Ax − b‖².
///
/// L_f = ‖A‖², from A's bound on its norm.
pub type LeastSquares<S> = LinearModel<S, Squares>;

/// The kind of [`LeastSquares`].
pub struct Squares;

impl<S: Real> LeastSquares<S> {
    /// The operator A and the data b in its range.
    pub fn new(a: Box<dyn LinOp<S>>, b: Vec<S>) -> Result<Self, Error> {
        Self::of(a, b, Link::Squares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smooth::{Smooth, laws};

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
