use crate::error::Error;
use crate::operator::LinOp;
use crate::real::Real;
use crate::smooth::{LinearModel, Responses};

/// f(X) = Σᵢ log Σ_k exp((AX)_ik) − (AX)_ib for classes b = 0, 1, … of the rows, and a column of X a class: multinomial logistic regression.
///
/// L_f = ‖A‖²/2, from A's bound on its norm. Adding one vector to all columns of X changes nothing: a penalty decides.
pub type Multinomial<S> = LinearModel<S, ManyClasses>;

/// The kind of [`Multinomial`].
pub struct ManyClasses;

impl<S: Real> Multinomial<S> {
    /// The operator A, the class 0, 1, … of each entry of its range, and how many classes there are.
    pub fn new(a: Box<dyn LinOp<S>>, classes: Vec<S>, count: usize) -> Result<Self, Error> {
        Self::from_rows(a, Responses::of_classes(classes, count)?)
    }
}

/// y ← wᵢ(softmax(yᵢ) − e_b); returns Σᵢ wᵢ(log Σ_k exp(y_ik) − y_ib). y has a stretch of all rows for each class.
pub(super) fn slopes<S: Real>(y: &mut [S], target: &[S], weights: Option<&[S]>) -> f64 {
    let (n, mut total) = (target.len(), 0.0);
    for (i, b) in target.iter().enumerate() {
        let largest = y[i..].iter().step_by(n).fold(f64::NEG_INFINITY, |most, v| most.max(v.f64()));
        let own = y[b.f64() as usize * n + i].f64();
        let weight = weights.map_or(1.0, |weights| weights[i].f64());
        let sum: f64 = y[i..].iter().step_by(n).map(|v| (v.f64() - largest).exp()).sum();
        total += weight * (sum.ln() + largest - own);
        for v in y[i..].iter_mut().step_by(n) {
            *v = S::of(weight * (v.f64() - largest).exp() / sum);
        }
        y[b.f64() as usize * n + i] -= S::of(weight);
    }
    total
}

/// The least curvature that a quadratic model gives a row, where the class is certain.
const LEAST: f64 = 1e-7;

/// bends ← w·p(1 − p) from the slopes w(p − e_b): the diagonal of the Hessian.
pub(super) fn bends<S: Real>(bends: &mut [S], slopes: &[S], target: &[S], weights: Option<&[S]>) {
    let n = target.len();
    for (at, (bend, slope)) in bends.iter_mut().zip(slopes).enumerate() {
        let weight = weights.map_or(1.0, |weights| weights[at % n].f64());
        // |p − e_b| is p of another class, or 1 − p of the own: p(1 − p) either way.
        let p = if weight > 0.0 { (slope.f64() / weight).abs() } else { 0.0 };
        *bend = S::of(weight * (p * (1.0 - p)).max(LEAST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smooth::{Logistic, Smooth, laws};

    fn classes(n: usize, count: usize) -> Vec<f64> {
        (0..n).map(|i| (i * i % count) as f64).collect()
    }

    #[test]
    fn obeys_the_laws() {
        laws::check(&Multinomial::new(Box::new(laws::Table::noise(19, 4)), classes(19, 3), 3).unwrap());
        let f = Multinomial::new(Box::new(laws::Table::noise(19, 2)), classes(19, 4), 4).unwrap();
        let weights = (0..19).map(|i| f64::from(i % 3)).collect();
        laws::check(&f.weighted(weights).unwrap().shifted(laws::noise(76, 5)).unwrap());
    }

    /// With two classes only the difference of the columns counts.
    #[test]
    fn two_classes_are_logistic_regression() {
        let labels = classes(19, 2);
        let many = Multinomial::new(Box::new(laws::Table::noise(19, 3)), labels.clone(), 2).unwrap();
        let two = Logistic::new(Box::new(laws::Table::noise(19, 3)), labels).unwrap();
        let (x, mut grad, mut single) = ([0.3, -0.2, 0.5], [0.0; 6], [0.0; 3]);
        let wide: Vec<f64> = x.iter().flat_map(|v| [1.0, 1.0 + v]).collect();
        let values = [
            many.value_grad(&mut grad, &wide, &mut vec![0.0; many.work_len()]),
            two.value_grad(&mut single, &x, &mut vec![0.0; two.work_len()]),
        ];
        assert!((values[0] - values[1]).abs() < 1e-12, "{values:?}");
        for j in 0..3 {
            assert!((grad[2 * j + 1] - single[j]).abs() < 1e-12 && (grad[2 * j] + single[j]).abs() < 1e-12);
        }
    }

    #[test]
    fn bad_classes_are_refused() {
        for bad in [vec![0.0, 3.0], vec![0.5, 1.0], vec![-1.0, 1.0], vec![f64::NAN, 1.0]] {
            assert!(Multinomial::new(Box::new(laws::Table::noise(2, 2)), bad, 3).is_err());
        }
        assert!(Multinomial::new(Box::new(laws::Table::noise(2, 2)), vec![0.0, 0.0], 1).is_err());
    }
}
