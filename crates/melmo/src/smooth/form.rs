use crate::operator::LinOp;
use crate::real::Real;
use crate::smooth::logistic::{logistic, logistic_slope};
use crate::smooth::{EntryFactors, Factorization, KnownFactors};

/// What a loss is made of, for the methods that can use it: a variable metric, alternating or coordinate steps.
#[non_exhaustive]
pub enum Form<'a, S> {
    /// Nothing that a method knows of.
    General,
    /// f(x) = ½‖M⊙(x − y)‖².
    Proximity {
        /// y; anything where it is not observed.
        target: &'a [S],
        /// M, of zeros and ones; all ones when there is none.
        mask: Option<&'a [S]>,
    },
    /// f(x) = Σᵢ hᵢ((Ax)ᵢ).
    Linear {
        /// A.
        operator: &'a dyn LinOp<S>,
        /// b: the datum of each row.
        target: &'a [S],
        /// h.
        link: Link,
    },
    /// f(W, H) = c‖M⊙(Y − WH)‖² + ν/2·‖H‖².
    Factors(&'a Factorization<S>),
    /// f(W, H) = ½Σ (y − (WH)ᵢⱼ)² + ν/2·‖H‖² over known entries.
    Known(&'a KnownFactors<S>),
    /// f(W, H) = Σ h((WH)ᵢⱼ) + ν/2·‖H‖² over the entries of a sparse Y: counts, or yes and no.
    Entries(&'a EntryFactors<S>),
    /// f(L, S) = ½‖M⊙(Y − L − S)‖².
    Sum {
        /// Y.
        target: &'a [S],
        /// M, of zeros and ones; all ones when there is none.
        mask: Option<&'a [S]>,
    },
}

/// hᵢ(y) of a linear model, for the datum bᵢ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Link {
    /// ½(y − b)².
    Squares,
    /// log(1 + exp(−by)), b = ±1.
    Logistic,
    /// h_δ(y − b): ½r² up to |r| = δ, linear from there.
    Huber(f64),
}

impl Link {
    /// sup h″: what ‖A‖² is multiplied by in L_f, and ‖a_j‖² in the curvature along coordinate j.
    pub fn curvature(self) -> f64 {
        match self {
            Self::Logistic => 0.25,
            Self::Squares | Self::Huber(_) => 1.0,
        }
    }

    /// The interval of y in which h(y) ≤ `most`, for the datum b; an end may be infinite.
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
        }
    }

    /// h′(y) for the datum b.
    #[inline(always)]
    pub fn slope<S: Real>(self, y: S, b: S) -> S {
        match self {
            Self::Logistic => logistic_slope(y, b),
            Self::Squares | Self::Huber(_) => self.value_slope(y, b).1,
        }
    }

    /// h″ where h′ is `slope`.
    #[inline(always)]
    pub fn bend<S: Real>(self, slope: S) -> S {
        match self {
            Self::Squares => S::ONE,
            Self::Logistic => slope.abs() * (S::ONE - slope.abs()),
            Self::Huber(delta) if slope.abs() < S::of(delta) => S::ONE,
            Self::Huber(_) => S::ZERO,
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
        }
    }
}
