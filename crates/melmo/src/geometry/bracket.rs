//! Two ends around a number that is not known exactly.

use serde::{Deserialize, Serialize};

/// lower ≤ ‖φ‖_* ≤ upper. NaN at both ends: nothing is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bracket {
    /// A lower bound.
    pub lower: f64,
    /// An upper bound: what tests against ε use.
    pub upper: f64,
}

impl Bracket {
    /// A number that is known.
    pub fn exact(value: f64) -> Self {
        Self { lower: value, upper: value }
    }

    /// A number ≥ 0 known up to so many roundings, each by a relative 2⁻⁵³, or by the least number there is below the normal range.
    pub fn rounded(value: f64, roundings: f64) -> Self {
        if value == 0.0 {
            return Self::exact(0.0);
        }
        let room = 0.505 * f64::EPSILON * roundings;
        Self { lower: (value * (1.0 - room)).next_down(), upper: (value * (1.0 + room)).next_up() }
    }

    /// Times a positive number that is itself rounded.
    pub fn times(self, factor: f64) -> Self {
        Self { lower: self.lower * factor, upper: self.upper * factor }.widened(2.0)
    }

    /// The sum of brackets of numbers ≥ 0.
    pub fn sum(parts: impl Iterator<Item = Self>) -> Self {
        let (mut count, mut total) = (0.0, Self::default());
        for part in parts {
            total = Self { lower: total.lower + part.lower, upper: total.upper + part.upper };
            count += 1.0;
        }
        if count <= 1.0 { total } else { total.widened(count) }
    }

    /// The number in its middle: the best guess, and no bound.
    pub fn middle(self) -> f64 {
        0.5 * (self.lower + self.upper)
    }

    fn widened(self, roundings: f64) -> Self {
        Self { lower: Self::rounded(self.lower, roundings).lower, upper: Self::rounded(self.upper, roundings).upper }
    }
}
