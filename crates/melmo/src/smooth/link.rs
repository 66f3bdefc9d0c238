use crate::error::Error;
use crate::real::Real;
use crate::smooth::logistic::{LABELS, logistic, logistic_slope};
use crate::smooth::{poisson, quantile};

/// h(y; b) of a row of a linear model, for the datum b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Link {
    /// ½(y − b)².
    Squares,
    /// log(1 + exp(−by)), b = ±1.
    Logistic,
    /// h_δ(y − b): ½r² up to |r| = δ, linear from there.
    Huber(f64),
    /// exp(y) − by − b + b·log b, b ≥ 0: half the deviance of a count b whose mean is exp(y).
    Poisson,
    /// The pinball loss of b − y at a level, smoothed over a width.
    Quantile {
        /// τ: a unit below b costs τ, a unit above it 1 − τ.
        level: f64,
        /// s > 0: its Moreau envelope, no more than s/2 below it.
        width: f64,
    },
}

/// `$body` with `$h` the link, in a copy for each: loops that are compiled for one link have no branches.
macro_rules! for_link {
    ($link:expr, $h:ident => $body:expr) => {
        match $link {
            Link::Squares => {
                let $h = Link::Squares;
                $body
            }
            Link::Logistic => {
                let $h = Link::Logistic;
                $body
            }
            Link::Huber(delta) => {
                let $h = Link::Huber(delta);
                $body
            }
            Link::Poisson => {
                let $h = Link::Poisson;
                $body
            }
            Link::Quantile { level, width } => {
                let $h = Link::Quantile { level, width };
                $body
            }
        }
    };
}
pub(super) use for_link;

impl Link {
    /// Refuses parameters that are none, and data that it does not take.
    pub(super) fn check<S: Real>(self, target: &[S]) -> Result<(), Error> {
        let refused = |name: &'static str, holds: fn(S) -> bool, expected: &'static str| {
            let wrong = target.iter().find(|b| !holds(**b));
            wrong.map_or(Ok(()), |b| Error::expect_parameter(name, b.f64(), false, expected).map(drop))
        };
        match self {
            Self::Squares => Ok(()),
            Self::Logistic => refused("label", |b| b.abs() == S::ONE, LABELS),
            Self::Huber(delta) => Error::expect_positive("delta", delta).map(drop),
            Self::Poisson => refused("count", |b| b >= S::ZERO, "0 or more"),
            Self::Quantile { level, width } => {
                Error::expect_parameter("level", level, 0.0 < level && level < 1.0, "between 0 and 1")?;
                Error::expect_positive("width", width).map(drop)
            }
        }
    }

    /// sup h″: what ‖A‖² is multiplied by in L_f, and ‖a_j‖² in the curvature along coordinate j. ∞ where there is none.
    pub fn curvature(self) -> f64 {
        match self {
            Self::Logistic => 0.25,
            Self::Squares | Self::Huber(_) => 1.0,
            Self::Poisson => f64::INFINITY,
            Self::Quantile { width, .. } => 1.0 / width,
        }
    }

    /// The least curvature that a quadratic model gives a row: one that is fitted well, or far away, keeps some. Huber's h″ and that of a
    /// quantile jump to 0 and back, that of the logistic loss goes there slowly, where classes can be told apart.
    pub(super) fn least_bend(self) -> f64 {
        match self {
            Self::Logistic | Self::Poisson => 1e-7,
            Self::Squares | Self::Huber(_) => 1e-3,
            Self::Quantile { width, .. } => 1e-2 / width,
        }
    }

    /// The interval of y in which h(y) ≤ `most`, for the datum b, or one around it; an end may be infinite.
    pub fn level(self, b: f64, most: f64) -> [f64; 2] {
        let room = 1.0 + 1e-12;
        match self {
            Self::Squares => [b - (2.0 * most).sqrt() * room, b + (2.0 * most).sqrt() * room],
            // ½r² up to δ, δ|r| − δ²/2 from there.
            Self::Huber(delta) => {
                let far = (2.0 * most).sqrt().max(most / delta + 0.5 * delta) * room;
                [b - far, b + far]
            }
            // log(1 + exp(−by)) ≥ −by.
            Self::Logistic if b > 0.0 => [-most * room, f64::INFINITY],
            Self::Logistic => [f64::NEG_INFINITY, most * room],
            Self::Poisson => poisson::level(b, most),
            Self::Quantile { level, width } => quantile::interval(b, most, level, width),
        }
    }

    /// h′(y) for the datum b.
    #[inline(always)]
    pub fn slope<S: Real>(self, y: S, b: S) -> S {
        match self {
            Self::Logistic => logistic_slope(y, b),
            Self::Poisson => y.exp() - b,
            Self::Squares | Self::Huber(_) | Self::Quantile { .. } => self.value_slope(y, b).1,
        }
    }

    /// h″ where h′ is `slope`.
    #[inline(always)]
    pub fn bend<S: Real>(self, slope: S, b: S) -> S {
        match self {
            Self::Squares => S::ONE,
            Self::Logistic => slope.abs() * (S::ONE - slope.abs()),
            Self::Huber(delta) if slope.abs() < S::of(delta) => S::ONE,
            Self::Huber(_) => S::ZERO,
            Self::Poisson => slope + b,
            Self::Quantile { level, width } => quantile::bend(slope, level, width),
        }
    }

    /// h(y) and h′(y) for the datum b.
    #[inline(always)]
    pub fn value_slope<S: Real>(self, y: S, b: S) -> (S, S) {
        match self {
            Self::Squares => (S::of(0.5) * (y - b) * (y - b), y - b),
            Self::Logistic => logistic(y, b),
            Self::Huber(delta) => {
                let (r, delta) = (y - b, S::of(delta));
                let clipped = delta.smaller((-delta).larger(r));
                (clipped * (r - S::of(0.5) * clipped), clipped)
            }
            Self::Poisson => poisson::poisson(y, b),
            Self::Quantile { level, width } => quantile::pinball(y, b, level, width),
        }
    }
}
