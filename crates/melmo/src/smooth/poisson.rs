use crate::error::Error;
use crate::operator::LinOp;
use crate::real::Real;
use crate::smooth::{LinearModel, Link};

/// f(x) = Σᵢ exp((Ax)ᵢ) − bᵢ(Ax)ᵢ − bᵢ + bᵢ·log bᵢ for counts bᵢ ≥ 0 whose means are exp(Ax): Poisson regression, half its deviance.
///
/// Convex, 0 at least, with no L_f: exp bends without bound.
pub type Poisson<S> = LinearModel<S, Counts>;

/// The kind of [`Poisson`].
pub struct Counts;

impl<S: Real> Poisson<S> {
    /// The operator A and a count for each entry of its range: any number from 0 on.
    pub fn new(a: Box<dyn LinOp<S>>, counts: Vec<S>) -> Result<Self, Error> {
        Self::of(a, counts, Link::Poisson)
    }
}

/// exp(y) − by − b + b·log b and its derivative in y: as slope − b(y − log b), whose parts vanish together.
#[inline(always)]
pub(super) fn poisson<S: Real>(y: S, b: S) -> (S, S) {
    let mean = y.exp();
    let slope = mean - b;
    if b > S::ZERO { (slope - b * (y - S::of(b.f64().ln())), slope) } else { (mean, slope) }
}

/// An interval outside of which exp(y) − by − b + b·log b > `most`: outwards from log b, by steps that double.
pub(super) fn level(b: f64, most: f64) -> [f64; 2] {
    let value = |y: f64| poisson(y, b).0;
    let middle = if b > 0.0 { b.ln() } else { most.max(1e-300).ln() };
    let outwards = |sign: f64| {
        let steps = std::iter::successors(Some(1.0), |step| Some(2.0 * step)).take(1100);
        steps.map(|step| middle + sign * step).find(|&y| value(y) > most).unwrap_or(sign * f64::INFINITY)
    };
    [if b > 0.0 { outwards(-1.0) } else { f64::NEG_INFINITY }, outwards(1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smooth::{Smooth, laws};

    #[test]
    fn obeys_the_laws() {
        let counts: Vec<f64> = (0..19).map(|i| f64::from(i % 5)).collect();
        laws::check(&Poisson::new(Box::new(laws::Table::noise(19, 4)), counts).unwrap());
    }

    #[test]
    fn the_best_constant_is_the_logarithm_of_the_mean() {
        let f = Poisson::new(Box::new(laws::Table::new(vec![1.0; 3], 3, 1)), vec![1.0, 2.0, 6.0]).unwrap();
        let mut grad = [9.0];
        let value = f.value_grad(&mut grad, &[3f64.ln()], &mut [0.0; 3]);
        assert!(grad[0].abs() < 1e-14);
        let half_deviance: f64 = [1.0, 2.0, 6.0].iter().map(|b: &f64| b * (b / 3.0).ln() - (b - 3.0)).sum();
        assert!((value - half_deviance).abs() < 1e-14);
        assert_eq!((f.lipschitz(), f.lower_bound()), (None, Some(0.0)));
    }

    #[test]
    fn intervals_hold_what_costs_little() {
        for (b, most) in [(0.0, 2.0), (0.3, 1.0), (5.0, 0.1), (1e6, 40.0)] {
            let [low, high] = level(b, most);
            assert!(poisson(high, b).0 > most && (low == f64::NEG_INFINITY || poisson(low, b).0 > most));
            assert_eq!(low == f64::NEG_INFINITY, b == 0.0);
        }
    }

    #[test]
    fn negative_counts_are_refused() {
        let built = Poisson::new(Box::new(laws::Table::noise(2, 2)), vec![1.0, -1.0]);
        assert!(matches!(built, Err(Error::Parameter { name: "count", .. })));
    }
}
