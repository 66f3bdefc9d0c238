use crate::block::Block;
use crate::geometry::l2::unit_factor;
use crate::geometry::{Answer, BlockNorm, Geometry, Inexactness, Norm};
use crate::real::Real;
use crate::vector;

/// dᵢ = −φᵢ/‖φᵢ‖₂ on every row i, ‖φ‖_* = Σᵢ‖φᵢ‖₂: the unit ball of the largest row norm.
#[derive(Clone, Debug)]
pub struct Row {
    block: Block,
    norms: Vec<f64>,
}

impl Row {
    /// On one block.
    pub fn new(block: &Block) -> Self {
        Self { block: block.clone(), norms: vec![0.0; block.rows] }
    }
}

impl<S: Real> Geometry<S> for Row {
    fn size(&self) -> usize {
        self.block.size()
    }

    fn norms(&self) -> Vec<BlockNorm> {
        vec![BlockNorm { block: self.block.clone(), norm: Norm::Row, radius: 1.0 }]
    }

    fn oracle(&mut self, phi: &[S]) -> Answer {
        Answer::rounded(Geometry::<S>::dual_norm(self, phi), 2.0 * vector::ROUNDINGS)
    }

    fn advance(&self, y: &mut [S], x: &[S], phi: &[S], gamma: f64) {
        let cols = self.block.cols;
        let rows = y.chunks_exact_mut(cols).zip(x.chunks_exact(cols)).zip(phi.chunks_exact(cols));
        for (((y, x), phi), &norm) in rows.zip(&self.norms) {
            vector::add_scaled(y, x, -unit_factor::<S>(gamma, norm), phi);
        }
    }

    fn inexactness(&self) -> Option<Inexactness> {
        Some(Inexactness::of_rounding::<S>())
    }

    fn dual_norm(&mut self, phi: &[S]) -> f64 {
        for (norm, row) in self.norms.iter_mut().zip(phi.chunks_exact(self.block.cols)) {
            *norm = vector::norm2(row);
        }
        vector::norm1(&self.norms)
    }
}
