//! Geometries and the oracles of the spectral one.

use crate::block::Block;
use crate::catalogue::Entry;
use crate::error::Error;
use crate::geometry::{Geometry, Norm, Oracle, for_block};
use crate::real::Real;

/// Builds a geometry on a block.
pub type BuildGeometry<S> = fn(&Block, Oracle) -> Result<Box<dyn Geometry<S>>, Error>;

/// One geometry.
pub struct GeometryRow<S> {
    /// Its text.
    pub entry: Entry,
    /// The norm.
    pub norm: Norm,
    /// Builds it on a block; the oracle matters to `spectral` alone.
    pub build: BuildGeometry<S>,
}

impl<S> AsRef<Entry> for GeometryRow<S> {
    fn as_ref(&self) -> &Entry {
        &self.entry
    }
}

/// Every geometry of one block; [`Product`](crate::geometry::Product) combines them.
pub(super) fn rows<S: Real>() -> Vec<GeometryRow<S>> {
    macro_rules! row {
        ($norm:expr, $formula:expr, $about:expr) => {
            GeometryRow {
                entry: Entry { name: $norm.name(), formula: $formula, about: $about, parameters: &[] },
                norm: $norm,
                build: |block, oracle| for_block($norm, block, oracle),
            }
        };
    }
    vec![
        row!(Norm::L2, "d = −φ/‖φ‖₂", "normalised gradient descent"),
        row!(Norm::L1, "d = −sign(φᵢ)eᵢ, i = argmax|φᵢ|", "Gauss–Southwell: one coordinate a step"),
        row!(Norm::Linf, "d = −sign(φ)", "sign descent"),
        row!(Norm::Spectral, "d = −UVᵀ", "spectral descent: every singular direction moves equally far"),
        row!(Norm::Nuclear, "d = −u₁v₁ᵀ", "rank-one steps along the leading singular pair"),
        row!(Norm::Column, "dⱼ = −φⱼ/‖φⱼ‖₂", "every column moves equally far"),
        row!(Norm::Row, "dᵢ = −φᵢ/‖φᵢ‖₂", "every row moves equally far"),
    ]
}

/// The ways to the polar factor UVᵀ that the spectral geometry offers.
pub fn oracles() -> Vec<(Oracle, Entry)> {
    let entry = |name, formula, about| Entry { name, formula, about, parameters: &[] };
    vec![
        (Oracle::Auto, entry("auto", "", "chosen by shape and precision")),
        (
            Oracle::NewtonSchulz(6),
            entry("newton-schulz:6", "X ← X(aI + bG + cG²), G = XᵀX", "the paper's six triples, or the first 1–5"),
        ),
        (
            Oracle::Minimax { steps: 8 },
            entry("minimax:8", "greedy optimal quintics on [l, 1]", "composite minimax polynomials, by Remez"),
        ),
        (
            Oracle::MinimaxSingle { steps: 8 },
            entry("minimax32:8", "the same in single precision", "twice the speed, a direction good to 10⁻⁶"),
        ),
        (Oracle::Gram, entry("gram", "d = −φQΛ^{−1/2}Qᵀ, φᵀφ = QΛQᵀ", "exact for tall-skinny blocks")),
        (Oracle::Svd, entry("svd", "d = −UVᵀ", "the reference")),
    ]
}
