use crate::block::Block;
use crate::geometry::l2::unit_factor;
use crate::geometry::{Answer, BlockNorm, Geometry, Inexactness, Norm};
use crate::real::Real;
use crate::vector::simd;

/// dⱼ = −φⱼ/‖φⱼ‖₂ on every column j, ‖φ‖_* = Σⱼ‖φⱼ‖₂: the unit ball of the largest column norm.
#[derive(Clone, Debug)]
pub struct Column<S> {
    block: Block,
    norms: Vec<f64>,
    inverse: Vec<S>,
}

impl<S: Real> Column<S> {
    /// On one block.
    pub fn new(block: &Block) -> Self {
        Self { block: block.clone(), norms: vec![0.0; block.cols], inverse: vec![S::ZERO; block.cols] }
    }

    /// ‖φⱼ‖₂ for every column, row after row; a column whose squares leave the number range is done again, scaled.
    fn measure(&mut self, phi: &[S]) -> f64 {
        let (norms, cols) = (&mut self.norms, self.block.cols);
        norms.fill(0.0);
        simd(
            #[inline(always)]
            || {
                for row in phi.chunks_exact(cols) {
                    for (norm, v) in norms.iter_mut().zip(row) {
                        *norm += v.f64() * v.f64();
                    }
                }
            },
        );
        for (j, norm) in norms.iter_mut().enumerate() {
            let column = || phi.chunks_exact(cols).map(|row| row[j].f64());
            *norm = if (1e-280..1e280).contains(norm) {
                norm.sqrt()
            } else {
                let largest = column().fold(0.0, |m: f64, v| if v.abs() > m { v.abs() } else { m });
                match largest {
                    0.0 => *norm,
                    _ => largest * column().map(|v| (v / largest).powi(2)).sum::<f64>().sqrt(),
                }
            };
        }
        norms.iter().sum()
    }
}

impl<S: Real> Geometry<S> for Column<S> {
    fn size(&self) -> usize {
        self.block.size()
    }

    fn norms(&self) -> Vec<BlockNorm> {
        vec![BlockNorm { block: self.block.clone(), norm: Norm::Column, radius: 1.0 }]
    }

    fn oracle(&mut self, phi: &[S]) -> Answer {
        let dual_norm = self.measure(phi);
        for (inverse, &norm) in self.inverse.iter_mut().zip(&self.norms) {
            *inverse = S::of(unit_factor::<S>(1.0, norm));
        }
        Answer::exact(dual_norm)
    }

    fn advance(&self, y: &mut [S], x: &[S], phi: &[S], gamma: f64) {
        let (cols, gamma) = (self.block.cols, S::of(gamma));
        let rows = y.chunks_exact_mut(cols).zip(x.chunks_exact(cols)).zip(phi.chunks_exact(cols));
        simd(
            #[inline(always)]
            || {
                for ((y, x), phi) in rows {
                    for (((y, &x), &phi), &inverse) in y.iter_mut().zip(x).zip(phi).zip(&self.inverse) {
                        *y = x - gamma * (phi * inverse);
                    }
                }
            },
        );
    }

    fn inexactness(&self) -> Option<Inexactness> {
        Some(Inexactness::default())
    }

    fn dual_norm(&mut self, phi: &[S]) -> f64 {
        self.measure(phi)
    }
}
