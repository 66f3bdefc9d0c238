//! Nesterov's extrapolation with gradient restart; that it pays is for a guard to see (`guard.rs`).

use crate::real::Real;
use crate::vector::{self, simd};

/// y_{k+1} = x_{k+1} + θ_k(x_{k+1} − x_k), θ_k = (t_k − 1)/t_{k+1}, t_{k+1} = (1 + √(1 + 4t_k²))/2, t₁ = 1.
///
/// t goes back to 1 when the last move climbs, ⟨∇, x_{k+1} − x_k⟩ > 0 (O'Donoghue & Candès 2015).
pub(super) struct Momentum<S> {
    /// x_k.
    pub landed: Vec<S>,
    /// x_{k+1}, to be written before [`Momentum::extrapolate`].
    pub next: Vec<S>,
    /// t_k.
    pub t: f64,
}

impl<S: Real> Momentum<S> {
    pub fn new(x0: &[S]) -> Self {
        Self { landed: x0.to_vec(), next: x0.to_vec(), t: 1.0 }
    }

    /// Forgets the speed, not the place.
    pub fn reset(&mut self) {
        self.t = 1.0;
    }

    /// y ← y_{k+1} for the x_{k+1} in `next`, which becomes the point that the next move is measured from.
    pub fn extrapolate(&mut self, y: &mut [S], gradient: &[S]) {
        if self.climbs(gradient) {
            self.t = 1.0;
        }
        let after = 0.5 * (1.0 + (1.0 + 4.0 * self.t * self.t).sqrt());
        let theta = S::of((self.t - 1.0) / after);
        self.t = after;
        simd(
            #[inline(always)]
            || {
                for ((y, &next), &landed) in y.iter_mut().zip(&self.next).zip(&self.landed) {
                    *y = next + theta * (next - landed);
                }
            },
        );
        std::mem::swap(&mut self.next, &mut self.landed);
    }

    /// ⟨∇, x_{k+1} − x_k⟩ > 0.
    fn climbs(&self, gradient: &[S]) -> bool {
        vector::dot(gradient, &self.next) > vector::dot(gradient, &self.landed)
    }
}
