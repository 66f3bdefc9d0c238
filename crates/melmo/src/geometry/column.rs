use crate::block::Block;
use crate::geometry::l2::unit_factor;
use crate::geometry::{Answer, BlockNorm, Geometry, Inexactness, Norm};
use crate::real::Real;
use crate::vector::{self, Total, simd};

/// dⱼ = −φⱼ/‖φⱼ‖₂ on every column j, ‖φ‖_* = Σⱼ‖φⱼ‖₂: the unit ball of the largest column norm.
#[derive(Clone, Debug)]
pub struct Column<S> {
    block: Block,
    norms: Vec<f64>,
    /// Squares of a block of rows, and what is left of the sums of blocks.
    squares: Vec<f64>,
    totals: Vec<Total>,
    inverse: Vec<S>,
}

/// Rows whose squares are summed before they are added to those above: as many as a lane of a sum over a vector takes.
const ROWS: usize = 256;

impl<S: Real> Column<S> {
    /// On one block.
    pub fn new(block: &Block) -> Self {
        let zeros = || vec![0.0; block.cols];
        let (totals, inverse) = (vec![Total::default(); block.cols], vec![S::ZERO; block.cols]);
        Self { block: block.clone(), norms: zeros(), squares: zeros(), totals, inverse }
    }

    /// ‖φⱼ‖₂ for every column, row after row; a column whose squares leave the number range is done again, scaled.
    fn measure(&mut self, phi: &[S]) -> f64 {
        let Self { norms, squares, totals, .. } = self;
        let cols = self.block.cols;
        totals.fill(Total::default());
        simd(
            #[inline(always)]
            || {
                for rows in phi.chunks(ROWS * cols) {
                    squares.fill(0.0);
                    for row in rows.chunks_exact(cols) {
                        for (square, v) in squares.iter_mut().zip(row) {
                            *square += v.f64() * v.f64();
                        }
                    }
                    totals.iter_mut().zip(&*squares).for_each(|(total, &square)| total.add(square));
                }
            },
        );
        for (j, (norm, total)) in norms.iter_mut().zip(totals).enumerate() {
            let (column, squared) = (|| phi.chunks_exact(cols).map(|row| row[j].f64()), total.value());
            *norm = if (1e-280..1e280).contains(&squared) {
                squared.sqrt()
            } else {
                let largest = column().fold(0.0, |m: f64, v| if v.abs() > m { v.abs() } else { m });
                match largest {
                    0.0 => squared,
                    _ => largest * scaled_squares(column().map(|v| v / largest)).sqrt(),
                }
            };
        }
        vector::norm1(norms)
    }
}

/// Σv² with as few roundings of a term as over a vector.
fn scaled_squares(column: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut block) = (Total::default(), 0.0);
    for (i, v) in column.enumerate() {
        if i % ROWS == 0 {
            total.add(std::mem::take(&mut block));
        }
        block += v * v;
    }
    total.add(block);
    total.value()
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
        Answer::rounded(dual_norm, 2.0 * vector::ROUNDINGS)
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
        Some(Inexactness::of_rounding::<S>())
    }

    fn dual_norm(&mut self, phi: &[S]) -> f64 {
        self.measure(phi)
    }
}
