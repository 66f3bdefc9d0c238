//! Nesterov's extrapolation with gradient restart; that it pays is for a guard to see (`guard.rs`).

use crate::space::Space;

/// y_{k+1} = x_{k+1} + θ_k(x_{k+1} − x_k), θ_k = (t_k − 1)/t_{k+1}, t_{k+1} = (1 + √(1 + 4t_k²))/2, t₁ = 1.
///
/// t goes back to 1 when the last move climbs, ⟨∇, x_{k+1} − x_k⟩ > 0 (O'Donoghue & Candès 2015).
pub(super) struct Momentum<X: Space> {
    /// x_k.
    pub landed: X::Point,
    /// x_{k+1}, to be written before [`Momentum::extrapolate`].
    pub next: X::Point,
    /// t_k.
    pub t: f64,
}

impl<X: Space> Momentum<X> {
    pub fn new(space: &mut X, x0: &X::Point) -> Self {
        let [mut landed, mut next] = [(); 2].map(|()| space.point());
        space.copy(&mut landed, x0);
        space.copy(&mut next, x0);
        Self { landed, next, t: 1.0 }
    }

    /// Forgets the speed, not the place.
    pub fn reset(&mut self) {
        self.t = 1.0;
    }

    /// y ← y_{k+1} for the x_{k+1} in `next`, which becomes the point that the next move is measured from.
    pub fn extrapolate(&mut self, space: &mut X, y: &mut X::Point, gradient: &X::Point) {
        if self.climbs(space, gradient) {
            self.t = 1.0;
        }
        let after = 0.5 * (1.0 + (1.0 + 4.0 * self.t * self.t).sqrt());
        let theta = (self.t - 1.0) / after;
        self.t = after;
        space.extrapolate(y, &self.next, &self.landed, theta);
        std::mem::swap(&mut self.next, &mut self.landed);
    }

    /// ⟨∇, x_{k+1} − x_k⟩ > 0.
    fn climbs(&self, space: &mut X, gradient: &X::Point) -> bool {
        space.dot(gradient, &self.next) > space.dot(gradient, &self.landed)
    }
}
