//! The two-loop recursion of L-BFGS: an inverse Hessian made of the last few moves and what they did to the gradient.

use crate::real::Real;
use crate::vector;

/// Up to m pairs s = x⁺ − x, y = φ⁺ − φ with ⟨s, y⟩ > 0 (Nocedal 1980), the oldest overwritten first.
pub(super) struct Memory<S> {
    /// s and y, pair after pair; those from `count` on are not in use.
    pub pairs: Vec<Vec<S>>,
    pub count: usize,
    /// Where the next pair goes.
    pub at: usize,
    weights: Vec<f64>,
}

/// ⟨s, y⟩ has to exceed this part of ‖s‖‖y‖: flatter or bent the wrong way says nothing about curvature.
const CURVED: f64 = 1e-8;

impl<S: Real> Memory<S> {
    pub fn new(m: usize, n: usize) -> Self {
        Self { pairs: vec![vec![S::ZERO; n]; 2 * m], count: 0, at: 0, weights: vec![0.0; m] }
    }

    fn capacity(&self) -> usize {
        self.weights.len()
    }

    pub fn clear(&mut self) {
        (self.count, self.at) = (0, 0);
    }

    /// Takes up saved pairs.
    pub fn resume(&mut self, pairs: &[Vec<S>], count: usize, at: usize) {
        self.pairs.iter_mut().zip(pairs).for_each(|(own, saved)| own.copy_from_slice(saved));
        (self.count, self.at) = (count.min(self.capacity()), at % self.capacity());
    }

    /// ⟨s, y⟩/‖y‖² of the newest pair: the curvature it saw, inverted.
    pub fn scale(&self) -> Option<f64> {
        let newest = (self.at + self.capacity() - 1) % self.capacity();
        let (s, y) = (&self.pairs[2 * newest], &self.pairs[2 * newest + 1]);
        (self.count > 0).then(|| vector::dot(s, y) / vector::norm2_squared(y))
    }

    /// Keeps s = x⁺ − x and y = φ⁺ − φ where they are curved.
    pub fn learn(&mut self, [next, x]: [&[S]; 2], [ahead, phi]: [&[S]; 2]) {
        let [s, y] = &mut self.pairs[2 * self.at..2 * self.at + 2] else { unreachable!("pairs come in twos") };
        vector::add_scaled(s, next, -1.0, x);
        vector::add_scaled(y, ahead, -1.0, phi);
        if vector::dot(s, y) > CURVED * vector::norm2(s) * vector::norm2(y) {
            self.at = (self.at + 1) % self.capacity();
            self.count = (self.count + 1).min(self.capacity());
        } else {
            // The slot held the oldest pair.
            self.count = self.count.min(self.capacity() - 1);
        }
    }

    /// d ← −Hφ; without pairs −φ times `scale`.
    pub fn direction(&mut self, d: &mut [S], phi: &[S], scale: f64) {
        let (m, count, newest) = (self.capacity(), self.count, self.at + self.capacity() - 1);
        vector::scale_into(d, -1.0, phi);
        for back in 0..count {
            let slot = (newest - back) % m;
            let (s, y) = (&self.pairs[2 * slot], &self.pairs[2 * slot + 1]);
            let weight = vector::dot(s, d) / vector::dot(s, y);
            self.weights[slot] = weight;
            vector::axpy(d, -weight, y);
        }
        let first = S::of(self.scale().unwrap_or(scale));
        d.iter_mut().for_each(|d| *d *= first);
        for back in (0..count).rev() {
            let slot = (newest - back) % m;
            let (s, y) = (&self.pairs[2 * slot], &self.pairs[2 * slot + 1]);
            let change = self.weights[slot] - vector::dot(y, d) / vector::dot(s, y);
            vector::axpy(d, change, s);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After n independent moves on a quadratic the recursion solves it: d = −A⁻¹φ.
    #[test]
    fn a_quadratic_is_learned() {
        let a = [4.0, 1.0, 0.5];
        let gradient = |x: &[f64]| x.iter().zip(a).map(|(x, a)| a * x).collect::<Vec<_>>();
        let mut memory = Memory::<f64>::new(3, 3);
        let origin = [0.0; 3];
        for i in 0..3 {
            let mut x = [0.0; 3];
            x[i] = 1.0;
            memory.learn([&x, &origin], [&gradient(&x), &gradient(&origin)]);
        }
        let (phi, mut d) = (gradient(&[1.0, -2.0, 3.0]), [0.0; 3]);
        memory.direction(&mut d, &phi, 1.0);
        for (d, expected) in d.iter().zip([-1.0, 2.0, -3.0]) {
            assert!((d - expected).abs() < 1e-12, "{d} {expected}");
        }
    }

    #[test]
    fn the_oldest_goes_first_and_nothing_flat_is_kept() {
        let mut memory = Memory::<f64>::new(2, 1);
        memory.learn([&[1.0], &[0.0]], [&[0.0], &[0.0]]);
        assert_eq!(memory.count, 0);
        for slope in [1.0, 2.0, 4.0] {
            memory.learn([&[1.0], &[0.0]], [&[slope], &[0.0]]);
        }
        assert_eq!(memory.count, 2);
        let mut d = [0.0];
        memory.direction(&mut d, &[1.0], 1.0);
        assert!((d[0] + 0.25).abs() < 1e-15, "{}", d[0]);
    }
}
