use crate::block::Block;
use crate::geometry::{Answer, BlockNorm, Geometry, Inexactness, Norm};
use crate::real::Real;
use crate::vector;

/// d = −φ/‖φ‖₂, ‖φ‖_* = ‖φ‖₂: normalised gradient descent (Frobenius for a matrix).
#[derive(Clone, Debug)]
pub struct L2 {
    block: Block,
    norm: f64,
}

impl L2 {
    /// On one block.
    pub fn new(block: &Block) -> Self {
        Self { block: block.clone(), norm: 0.0 }
    }
}

/// γ/norm as a factor in S: 0 for a gradient that is 0, and never ∞ where the norm is subnormal.
pub fn unit_factor<S: Real>(gamma: f64, norm: f64) -> f64 {
    let largest = if S::EPSILON > 1e-10 { f32::MAX as f64 } else { f64::MAX };
    if norm == 0.0 { 0.0 } else { (gamma / norm).min(largest) }
}

impl<S: Real> Geometry<S> for L2 {
    fn size(&self) -> usize {
        self.block.size()
    }

    fn norms(&self) -> Vec<BlockNorm> {
        vec![BlockNorm { block: self.block.clone(), norm: Norm::L2, radius: 1.0 }]
    }

    fn oracle(&mut self, phi: &[S]) -> Answer {
        self.oracle_knowing(phi, vector::norm2_squared(phi))
    }

    fn oracle_knowing(&mut self, phi: &[S], squared: f64) -> Answer {
        self.norm = vector::norm2_knowing(phi, squared);
        Answer::rounded(self.norm, vector::ROUNDINGS)
    }

    fn multiple(&self, gamma: f64) -> Option<f64> {
        Some(-unit_factor::<S>(gamma, self.norm))
    }

    fn advance(&self, y: &mut [S], x: &[S], phi: &[S], gamma: f64) {
        vector::add_scaled(y, x, -unit_factor::<S>(gamma, self.norm), phi);
    }

    fn inexactness(&self) -> Option<Inexactness> {
        Some(Inexactness::of_rounding::<S>())
    }

    fn dual_norm(&mut self, phi: &[S]) -> f64 {
        vector::norm2(phi)
    }
}
