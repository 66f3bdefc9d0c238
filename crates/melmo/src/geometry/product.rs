use crate::block::{Block, Layout};
use crate::error::Error;
use crate::geometry::{Answer, BlockNorm, Bracket, Geometry, Inexactness};
use crate::real::Real;

/// ‖x‖ = max_b ‖x_b‖/r_b: a geometry for every block, d_b = r_b·lmo_b(φ_b), ‖φ‖_* = Σ_b r_b‖φ_b‖_*.
pub struct Product<S> {
    layout: Layout,
    parts: Vec<Part<S>>,
}

struct Part<S> {
    radius: f64,
    geometry: Box<dyn Geometry<S>>,
}

impl<S: Real> Product<S> {
    /// One geometry for each block of the layout, in its order, all with radius 1.
    pub fn new(layout: &Layout, geometries: Vec<Box<dyn Geometry<S>>>) -> Result<Self, Error> {
        let radii = vec![1.0; geometries.len()];
        Self::with_radii(layout, geometries, &radii)
    }

    /// One geometry and one radius for each block of the layout, in its order.
    pub fn with_radii(layout: &Layout, geometries: Vec<Box<dyn Geometry<S>>>, radii: &[f64]) -> Result<Self, Error> {
        let blocks = layout.blocks();
        Error::expect_len("geometries of a product (one a block)", blocks.len(), geometries.len())?;
        Error::expect_len("radii of a product (one a block)", blocks.len(), radii.len())?;
        let mut parts = Vec::new();
        for ((block, geometry), &radius) in blocks.iter().zip(geometries).zip(radii) {
            Error::expect_len("a block's geometry", block.size(), geometry.size())?;
            if let [BlockNorm { block: own, .. }] = &geometry.norms()[..] {
                Error::expect_len("rows of a block's geometry", block.rows, own.rows)?;
            }
            parts.push(Part { radius: Error::expect_positive("radius", radius)?, geometry });
        }
        Ok(Self { layout: layout.clone(), parts })
    }
}

impl<S: Real> Geometry<S> for Product<S> {
    fn size(&self) -> usize {
        self.layout.size()
    }

    fn norms(&self) -> Vec<BlockNorm> {
        let blocks = self.layout.blocks().iter().zip(&self.parts);
        blocks
            .flat_map(|(block, part)| {
                let inner = part.geometry.norms();
                // A geometry counts from its own first entry, or from the block's place in the variable.
                let base = inner.iter().map(|b| b.block.start).min().unwrap_or(0);
                inner.into_iter().map(move |b| BlockNorm {
                    block: Block { start: block.start + (b.block.start - base), ..b.block },
                    norm: b.norm,
                    radius: part.radius * b.radius,
                })
            })
            .collect()
    }

    fn oracle(&mut self, phi: &[S]) -> Answer {
        let mut total = Answer { dual_norm: Bracket::default(), decrease: 0.0, excess: 0.0 };
        let parts = self.layout.blocks().iter().zip(&mut self.parts).map(|(block, part)| {
            let answer = part.geometry.oracle(&phi[block.range()]);
            total.decrease += part.radius * answer.decrease;
            total.excess = total.excess.max(answer.excess);
            answer.dual_norm.times(part.radius)
        });
        total.dual_norm = Bracket::sum(parts);
        total
    }

    fn advance(&self, y: &mut [S], x: &[S], phi: &[S], gamma: f64) {
        for (block, part) in self.layout.blocks().iter().zip(&self.parts) {
            let range = block.range();
            part.geometry.advance(&mut y[range.clone()], &x[range.clone()], &phi[range], gamma * part.radius);
        }
    }

    fn inexactness(&self) -> Option<Inexactness> {
        let parts = self.parts.iter().map(|part| part.geometry.inexactness());
        parts.reduce(|worst, part| Some(worst?.or(part?))).flatten()
    }

    fn dual_norm(&mut self, phi: &[S]) -> f64 {
        let blocks = self.layout.blocks().iter().zip(&mut self.parts);
        blocks.map(|(block, part)| part.radius * part.geometry.dual_norm(&phi[block.range()])).sum()
    }

    fn warm_start(&self) -> Vec<S> {
        self.parts.iter().flat_map(|part| part.geometry.warm_start()).collect()
    }

    fn resume(&mut self, warm_start: &[S]) {
        let mut rest = warm_start;
        for part in &mut self.parts {
            let (own, others) = rest.split_at(part.geometry.warm_start().len().min(rest.len()));
            part.geometry.resume(own);
            rest = others;
        }
    }
}
