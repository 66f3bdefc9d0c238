use crate::block::Block;
use crate::geometry::{Answer, BlockNorm, Geometry, Inexactness, Norm};
use crate::real::Real;
use crate::vector;

/// d = −sign(φ) with sign(0) = 0, ‖φ‖_* = ‖φ‖₁: sign descent.
#[derive(Clone, Debug)]
pub struct Linf {
    block: Block,
}

impl Linf {
    /// On one block, over all its entries.
    pub fn new(block: &Block) -> Self {
        Self { block: block.clone() }
    }
}

impl<S: Real> Geometry<S> for Linf {
    fn size(&self) -> usize {
        self.block.size()
    }

    fn norms(&self) -> Vec<BlockNorm> {
        vec![BlockNorm { block: self.block.clone(), norm: Norm::Linf, radius: 1.0 }]
    }

    fn oracle(&mut self, phi: &[S]) -> Answer {
        Answer::rounded(vector::norm1(phi), vector::ROUNDINGS)
    }

    fn advance(&self, y: &mut [S], x: &[S], phi: &[S], gamma: f64) {
        let gamma = S::of(gamma);
        vector::simd(
            #[inline(always)]
            || {
                for ((y, &x), &phi) in y.iter_mut().zip(x).zip(phi) {
                    *y = x - gamma * phi.sign();
                }
            },
        );
    }

    fn inexactness(&self) -> Option<Inexactness> {
        Some(Inexactness::NONE)
    }

    fn dual_norm(&mut self, phi: &[S]) -> f64 {
        vector::norm1(phi)
    }
}
