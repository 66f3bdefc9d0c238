use crate::error::Error;
use crate::operator::LinOp;
use crate::real::Real;
use crate::smooth::{LinearModel, Link};

/// f(x) = Σᵢ log(1 + exp(−bᵢ(Ax)ᵢ)) with labels bᵢ = ±1: logistic regression.
///
/// L_f = ‖A‖²/4, from A's bound on its norm. Exact for margins of any size: nothing overflows.
pub type Logistic<S> = LinearModel<S, TwoClasses>;

/// The kind of [`Logistic`].
pub struct TwoClasses;

impl<S: Real> Logistic<S> {
    /// The operator A and a label for each entry of its range: −1 and 1, or 0 and 1.
    pub fn new(a: Box<dyn LinOp<S>>, mut labels: Vec<S>) -> Result<Self, Error> {
        Error::expect_len("labels", a.range().size(), labels.len())?;
        if labels.contains(&S::ZERO) {
            for label in &mut labels {
                let holds = *label == S::ZERO || *label == S::ONE;
                Error::expect_parameter("label", label.f64(), holds, LABELS)?;
                *label = S::of(2.0) * *label - S::ONE;
            }
        }
        Self::of(a, labels, Link::Logistic)
    }
}

/// What labels may be.
pub(super) const LABELS: &str = "−1 or 1 (all of them), or 0 or 1 (all of them)";

/// log(1 + exp(−by)) and its derivative in y, both through exp(−|by|) ≤ 1.
#[inline(always)]
pub(super) fn logistic<S: Real>(y: S, b: S) -> (S, S) {
    let margin = b * y;
    let e = (-margin.abs()).exp();
    (e.ln_1p() + (-margin).larger(S::ZERO), wrong(margin, e) * -b)
}

/// The derivative alone: no logarithm.
#[inline(always)]
pub(super) fn logistic_slope<S: Real>(y: S, b: S) -> S {
    let margin = b * y;
    wrong(margin, (-margin.abs()).exp()) * -b
}

/// 1/(1 + exp(margin)) from e = exp(−|margin|).
#[inline(always)]
fn wrong<S: Real>(margin: S, e: S) -> S {
    (if margin < S::ZERO { S::ONE } else { e }) / (S::ONE + e)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smooth::{Smooth, laws};

    fn labels(n: usize) -> Vec<f64> {
        (0..n).map(|i| if i % 3 == 0 { -1.0 } else { 1.0 }).collect()
    }

    #[test]
    fn obeys_the_laws() {
        laws::check(&Logistic::new(Box::new(laws::Table::noise(19, 4)), labels(19)).unwrap());
        let one = Logistic::new(Box::new(laws::Table::new(vec![2.0], 1, 1)), vec![1.0]).unwrap();
        assert_eq!(one.lipschitz(), Some(1.0)); // the curvature at x = 0
    }

    #[test]
    fn zero_one_labels_mean_the_same() {
        let zero_one = labels(10).iter().map(|b| (b + 1.0) / 2.0).collect();
        let signs = Logistic::new(Box::new(laws::Table::noise(10, 2)), labels(10)).unwrap();
        let zero_one = Logistic::new(Box::new(laws::Table::noise(10, 2)), zero_one).unwrap();
        assert_eq!(signs.rows().target(), zero_one.rows().target());
    }

    #[test]
    fn large_margins_neither_overflow_nor_vanish() {
        assert_eq!(logistic(1e4, -1.0), (1e4, 1.0));
        assert_eq!(logistic(1e4f32, 1.0), (0.0, -0.0));
        assert_eq!(logistic(0.0, 1.0), (2f64.ln(), -0.5));
        let (value, slope) = logistic(40.0, 1.0);
        assert!((value / (-40f64).exp() - 1.0).abs() < 1e-14 && (slope / -(-40f64).exp() - 1.0).abs() < 1e-14);
        assert!(logistic(f64::NAN, 1.0).0.is_nan());
    }

    #[test]
    fn bad_labels_are_refused() {
        let a = || Box::new(laws::Table::noise(3, 2));
        for bad in [vec![0.0, 1.0, -1.0], vec![1.0, 2.0, -1.0], vec![1.0, f64::NAN, -1.0]] {
            assert!(matches!(Logistic::new(a(), bad), Err(Error::Parameter { name: "label", .. })));
        }
        assert!(matches!(Logistic::new(a(), vec![1.0; 4]), Err(Error::Shape { .. })));
    }
}
