//! Anderson acceleration: the affine combination of the last points whose steps cancel best.

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
        let gram = std::array::from_fn(|i| std::array::from_fn(|j| if j <= i { product(i, j) } else { 0.0 }));
        let Some(c) = solve_ones(gram) else { return false };
        let total: f64 = c.iter().sum();
        for (at, out) in out.iter_mut().enumerate() {
            *out = S::of((0..MEMORY).map(|i| c[i] / total * self.points[i + 1][at].f64()).sum());
        }
        total.is_finite() && total != 0.0
    }
}

/// c with Gc = (1, …, 1), by Cholesky from the lower triangle; `None` when G is not safely positive definite.
fn solve_ones(mut g: [[f64; MEMORY]; MEMORY]) -> Option<[f64; MEMORY]> {
    let largest = (0..MEMORY).map(|i| g[i][i]).fold(0.0, f64::max);
    let mut c = [1.0; MEMORY];
    for i in 0..MEMORY {
        for j in 0..=i {
            let rest = g[i][j] - (0..j).map(|k| g[i][k] * g[j][k]).sum::<f64>();
            if i > j {
                g[i][j] = rest / g[j][j];
            } else if rest > 1e-14 * largest {
                g[i][i] = rest.sqrt();
            } else {
                return None;
            }
        }
        c[i] = (c[i] - (0..i).map(|k| g[i][k] * c[k]).sum::<f64>()) / g[i][i];
    }
    for i in (0..MEMORY).rev() {
        c[i] = (c[i] - (i + 1..MEMORY).map(|k| g[k][i] * c[k]).sum::<f64>()) / g[i][i];
    }
    Some(c)
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
