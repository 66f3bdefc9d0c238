use crate::error::Error;
use crate::operator::LinOp;
use crate::real::Real;
use crate::smooth::{LinearModel, Link};

/// f(x) = Σᵢ q_s((Ax − b)ᵢ), the smoothed pinball loss: quantile regression at a level τ.
///
/// q(u) = (1 − τ)u for u ≥ 0, −τu below; q_s is its Moreau envelope: u²/(2s) for −τs ≤ u ≤ (1 − τ)s, and linear with the slopes of q
/// outside, no more than s/2·max(τ, 1 − τ)² below q. L_f = ‖A‖²/s. Koenker and Bassett, "Regression quantiles" (1978).
pub type Quantile<S> = LinearModel<S, Level>;

/// The kind of [`Quantile`].
pub struct Level;

impl<S: Real> Quantile<S> {
    /// The operator A, the data b in its range, the level 0 < τ < 1 and the width s > 0.
    pub fn new(a: Box<dyn LinOp<S>>, b: Vec<S>, level: f64, width: f64) -> Result<Self, Error> {
        Self::of(a, b, Link::Quantile { level, width })
    }
}

/// q_s(y − b) and its derivative.
#[inline(always)]
pub(super) fn pinball<S: Real>(y: S, b: S, level: f64, width: f64) -> (S, S) {
    let u = y - b;
    let clipped = S::of(1.0 - level).smaller(S::of(-level).larger(u * S::of(1.0 / width)));
    (clipped * (u - S::of(0.5 * width) * clipped), clipped)
}

/// q_s″ where q_s′ is `slope`.
#[inline(always)]
pub(super) fn bend<S: Real>(slope: S, level: f64, width: f64) -> S {
    if S::of(-level) < slope && slope < S::of(1.0 - level) { S::of(1.0 / width) } else { S::ZERO }
}

/// The interval of y in which q_s(y − b) ≤ `most`, or one around it: q_s ≥ c|u| − sc²/2 for the slope c of that side.
pub(super) fn interval(b: f64, most: f64, level: f64, width: f64) -> [f64; 2] {
    let far = |c: f64| (most / c + 0.5 * width * c) * (1.0 + 1e-12);
    [b - far(level), b + far(1.0 - level)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smooth::{Smooth, laws};

    #[test]
    fn obeys_the_laws() {
        for (level, width) in [(0.5, 0.3), (0.9, 2.0), (0.05, 1.0)] {
            let a = Box::new(laws::Table::noise(19, 4));
            laws::check(&Quantile::new(a, laws::noise(19, 2), level, width).unwrap());
        }
    }

    #[test]
    fn known_values() {
        let f =
            Quantile::new(Box::new(laws::Table::new(vec![1.0; 3], 3, 1)), vec![0.0, 10.0, -10.0], 0.8, 0.5).unwrap();
        let mut grad = [9.0];
        let value = f.value_grad(&mut grad, &[0.05], &mut [0.0; 3]);
        let far = [0.8 * (9.95 - 0.2), 0.2 * (10.05 - 0.05)];
        assert!((value - 0.0025 - far[0] - far[1]).abs() < 1e-14 && (grad[0] - (0.1 - 0.8 + 0.2)).abs() < 1e-14);
        let [low, high] = interval(1.0, 3.0, 0.8, 0.5);
        assert!(
            (pinball(low, 1.0, 0.8, 0.5).0 - 3.0).abs() < 1e-9 && (pinball(high, 1.0, 0.8, 0.5).0 - 3.0).abs() < 1e-9
        );
    }

    #[test]
    fn bad_levels_are_refused() {
        for (level, width) in [(0.0, 1.0), (1.0, 1.0), (f64::NAN, 1.0), (0.5, 0.0)] {
            assert!(Quantile::new(Box::new(laws::Table::noise(2, 2)), vec![1.0, -1.0], level, width).is_err());
        }
    }
}
