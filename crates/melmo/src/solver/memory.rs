//! The two-loop recursion of L-BFGS: an inverse Hessian made of the last few moves and what they did to the gradient.

use crate::space::Space;

/// Up to m pairs s = x⁺ − x, y = φ⁺ − φ with ⟨s, y⟩ > 0 (Nocedal 1980), the oldest overwritten first.
pub(super) struct Memory<X: Space> {
    /// s and y, pair after pair; those from `count` on are not in use.
    pub pairs: Vec<X::Point>,
    pub count: usize,
    /// Where the next pair goes.
    pub at: usize,
    weights: Vec<f64>,
}

/// ⟨s, y⟩ has to exceed this part of ‖s‖‖y‖: flatter or bent the wrong way says nothing about curvature.
const CURVED: f64 = 1e-8;

impl<X: Space> Memory<X> {
    pub fn new(space: &mut X, m: usize) -> Self {
        Self { pairs: (0..2 * m).map(|_| space.point()).collect(), count: 0, at: 0, weights: vec![0.0; m] }
    }

    pub fn capacity(&self) -> usize {
        self.weights.len()
    }

    pub fn clear(&mut self) {
        (self.count, self.at) = (0, 0);
    }

    /// ⟨s, y⟩/‖y‖² of the newest pair: the curvature it saw, inverted.
    pub fn scale(&self, space: &mut X) -> Option<f64> {
        let newest = (self.at + self.capacity() - 1) % self.capacity();
        let (s, y) = (&self.pairs[2 * newest], &self.pairs[2 * newest + 1]);
        (self.count > 0).then(|| space.dot(s, y) / space.norm_squared(y))
    }

    /// Keeps s = x⁺ − x and y = φ⁺ − φ where they are curved.
    pub fn learn(&mut self, space: &mut X, [next, x]: [&X::Point; 2], [ahead, phi]: [&X::Point; 2]) {
        let [s, y] = &mut self.pairs[2 * self.at..2 * self.at + 2] else { unreachable!("pairs come in twos") };
        space.add_scaled(s, next, -1.0, x);
        space.add_scaled(y, ahead, -1.0, phi);
        if space.dot(s, y) > CURVED * space.norm(s) * space.norm(y) {
            self.at = (self.at + 1) % self.capacity();
            self.count = (self.count + 1).min(self.capacity());
        } else {
            // The slot held the oldest pair.
            self.count = self.count.min(self.capacity() - 1);
        }
    }

    /// d ← −Hφ; without pairs −φ times `scale`.
    pub fn direction(&mut self, space: &mut X, d: &mut X::Point, phi: &X::Point, scale: f64) {
        let (m, count, newest) = (self.capacity(), self.count, self.at + self.capacity() - 1);
        space.copy(d, phi);
        space.scale(d, -1.0);
        for back in 0..count {
            let slot = (newest - back) % m;
            let (s, y) = (&self.pairs[2 * slot], &self.pairs[2 * slot + 1]);
            let weight = space.dot(s, d) / space.dot(s, y);
            self.weights[slot] = weight;
            space.add(d, -weight, y);
        }
        let first = self.scale(space).unwrap_or(scale);
        space.scale(d, first);
        for back in (0..count).rev() {
            let slot = (newest - back) % m;
            let (s, y) = (&self.pairs[2 * slot], &self.pairs[2 * slot + 1]);
            let change = self.weights[slot] - space.dot(y, d) / space.dot(s, y);
            space.add(d, change, s);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Layout;
    use crate::operator::Identity;
    use crate::penalty::{Entrywise, L1};
    use crate::problem::Problem;
    use crate::smooth::MaskedLeastSquares;
    use crate::space::Host;

    fn problem(n: usize) -> Problem<f64> {
        let layout = Layout::vector(n).unwrap();
        let f = MaskedLeastSquares::new(layout.clone(), vec![0.0; n], None).unwrap();
        Problem::new(f, Entrywise::new(L1::new(1.0).unwrap(), n), Identity::new(layout)).unwrap()
    }

    /// After n independent moves on a quadratic the recursion solves it: d = −A⁻¹φ.
    #[test]
    fn a_quadratic_is_learned() {
        let a = [4.0, 1.0, 0.5];
        let gradient = |x: &[f64]| x.iter().zip(a).map(|(x, a)| a * x).collect::<Vec<_>>();
        let problem = problem(3);
        let mut space = Host::euclidean(&problem).unwrap();
        let mut memory = Memory::new(&mut space, 3);
        let origin = vec![0.0; 3];
        for i in 0..3 {
            let mut x = vec![0.0; 3];
            x[i] = 1.0;
            memory.learn(&mut space, [&x, &origin], [&gradient(&x), &gradient(&origin)]);
        }
        let (phi, mut d) = (gradient(&[1.0, -2.0, 3.0]), vec![0.0; 3]);
        memory.direction(&mut space, &mut d, &phi, 1.0);
        for (d, expected) in d.iter().zip([-1.0, 2.0, -3.0]) {
            assert!((d - expected).abs() < 1e-12, "{d} {expected}");
        }
    }

    #[test]
    fn the_oldest_goes_first_and_nothing_flat_is_kept() {
        let problem = problem(1);
        let mut space = Host::euclidean(&problem).unwrap();
        let mut memory = Memory::new(&mut space, 2);
        let (one, zero) = (vec![1.0], vec![0.0]);
        memory.learn(&mut space, [&one, &zero], [&zero, &zero]);
        assert_eq!(memory.count, 0);
        for slope in [1.0, 2.0, 4.0] {
            memory.learn(&mut space, [&one, &zero], [&vec![slope], &zero]);
        }
        assert_eq!(memory.count, 2);
        let mut d = vec![0.0];
        memory.direction(&mut space, &mut d, &one, 1.0);
        assert!((d[0] + 0.25).abs() < 1e-15, "{}", d[0]);
    }
}
