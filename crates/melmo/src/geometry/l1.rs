use crate::block::Block;
use crate::geometry::{Answer, BlockNorm, Geometry, Inexactness, Norm};
use crate::real::Real;
use crate::vector;

/// d = −sign(φᵢ)eᵢ at the first entry of largest |φᵢ|, ‖φ‖_* = ‖φ‖_∞: Gauss–Southwell, one coordinate a step.
#[derive(Clone, Debug)]
pub struct L1 {
    block: Block,
    largest: Option<usize>,
}

impl L1 {
    /// On one block, over all its entries.
    pub fn new(block: &Block) -> Self {
        Self { block: block.clone(), largest: None }
    }
}

impl<S: Real> Geometry<S> for L1 {
    fn size(&self) -> usize {
        self.block.size()
    }

    fn norms(&self) -> Vec<BlockNorm> {
        vec![BlockNorm { block: self.block.clone(), norm: Norm::L1, radius: 1.0 }]
    }

    fn oracle(&mut self, phi: &[S]) -> Answer {
        let largest = vector::norm_inf(phi);
        self.largest = phi.iter().position(|v| v.abs().f64() == largest).filter(|_| largest > 0.0);
        Answer::exact(largest)
    }

    fn advance(&self, y: &mut [S], x: &[S], phi: &[S], gamma: f64) {
        y.copy_from_slice(x);
        if let Some(i) = self.largest {
            y[i] -= S::of(gamma) * phi[i].sign();
        }
    }

    fn inexactness(&self) -> Option<Inexactness> {
        Some(Inexactness::NONE)
    }

    fn dual_norm(&mut self, phi: &[S]) -> f64 {
        vector::norm_inf(phi)
    }
}
