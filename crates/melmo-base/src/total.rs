//! A sum of partial sums that keeps what rounding takes.

/// The sum of the blocks' sums so far, and what rounding took from it (Neumaier): off by no more than 2u·|sum| + (ku)²·Σ|bᵢ|
/// after k blocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Total {
    sum: f64,
    lost: f64,
}

impl Total {
    /// Adds the sum of the next block.
    #[inline(always)]
    pub fn add(&mut self, block: f64) {
        let sum = self.sum + block;
        let added = sum - self.sum;
        self.lost += (self.sum - (sum - added)) + (block - added);
        self.sum = sum;
    }

    /// The sum; what was lost is NaN where it is infinite.
    #[inline(always)]
    pub fn value(&self) -> f64 {
        if self.lost.is_finite() { self.sum + self.lost } else { self.sum }
    }
}
