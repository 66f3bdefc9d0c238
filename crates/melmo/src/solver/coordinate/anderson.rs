//! Anderson acceleration: the affine combination of the last points whose steps cancel best.

use crate::cholesky;
use crate::real::Real;

/// Points that are combined.
const MEMORY: usize = 5;

/// The last points of a sequence, on the entries that move. Bertrand and Massias, "Anderson acceleration of coordinate
/// descent" (2021).
pub(super) struct Anderson<S> {
    /// MEMORY + 1 points, each with room for all entries.
    points: Vec<Vec<S>>,
    count: usize,
}

impl<S: Real> Anderson<S> {
    pub fn new(size: usize) -> Self {
        Self { points: vec![vec![S::ZERO; size]; MEMORY + 1], count: 0 }
    }

    /// Forgets every point.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Remembers a point; true when there are enough for [`Anderson::combine`].
    pub fn push(&mut self, point: impl Iterator<Item = S>) -> bool {
        self.points[self.count].iter_mut().zip(point).for_each(|(kept, v)| *kept = v);
        self.count += 1;
        self.count == MEMORY + 1
    }

    /// out ← Σ cᵢxᵢ₊₁ with Σ cᵢ = 1 and ‖Σ cᵢ(xᵢ₊₁ − xᵢ)‖ least, and forgets the points. False when the steps depend on one
    /// another too much to tell.
    pub fn combine(&mut self, out: &mut [S]) -> bool {
        self.clear();
        let step = |i: usize, at: usize| self.points[i + 1][at].f64() - self.points[i][at].f64();
        let product = |i: usize, j: usize| (0..out.len()).map(|at| step(i, at) * step(j, at)).sum::<f64>();
        // c with Gc = (1, …, 1), where G is safely positive definite.
        let lower = |at: usize| if at % MEMORY <= at / MEMORY { product(at / MEMORY, at % MEMORY) } else { 0.0 };
        let (mut gram, mut c): ([f64; MEMORY * MEMORY], _) = (std::array::from_fn(lower), [1.0; MEMORY]);
        let least = 1e-14 * cholesky::largest_pivot(&gram, MEMORY);
        if !cholesky::solve(&mut gram, &mut c, least) {
            return false;
        }
        let total: f64 = c.iter().sum();
        for (at, out) in out.iter_mut().enumerate() {
            *out = S::of((0..MEMORY).map(|i| c[i] / total * self.points[i + 1][at].f64()).sum());
        }
        total.is_finite() && total != 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_sequence_is_extrapolated_to_its_limit() {
        // Five points cancel four rates; the fifth is there so that the steps are not dependent.
        let modes = [(0.9, 1.0), (0.5, 1.0), (-0.3, 1.0), (0.7, 1.0), (0.2, 1e-5)];
        let mut anderson = Anderson::new(5);
        let mut ready = false;
        for k in 0..=MEMORY {
            ready = anderson.push(modes.iter().map(|(rate, size): &(f64, f64)| 3.0 + size * rate.powi(k as i32)));
        }
        let mut limit = [0.0; 5];
        assert!(ready && anderson.combine(&mut limit));
        assert!(limit.iter().all(|v| (v - 3.0).abs() < 1e-4), "{limit:?}");
        assert!(!anderson.push([0.0; 5].into_iter()));
    }

    #[test]
    fn steps_that_repeat_are_left_alone() {
        let mut anderson = Anderson::new(2);
        for k in 0..=MEMORY {
            anderson.push([k as f64, 1.0].into_iter());
        }
        assert!(!anderson.combine(&mut [0.0f64; 2]));
    }
}
