//! Geometry: the norm in which steps are measured, its dual and its linear minimisation oracle.

mod bracket;
mod column;
mod l1;
mod l2;
mod linf;
mod norm;
mod nuclear;
mod product;
mod proof;
mod row;
mod spectral;

pub use bracket::Bracket;
pub use column::Column;
pub use l1::L1;
pub use l2::{L2, unit_factor};
pub use linf::Linf;
pub(crate) use norm::Between;
pub use norm::{BlockNorm, Norm, check_tiling, product_dual, product_dual_growth, product_equivalence, product_primal};
pub use nuclear::Nuclear;
pub use product::Product;
pub use row::Row;
pub use spectral::{Arithmetic, Found, Oracle, Polynomials, Quintic, Spectral};

use crate::block::{Block, Layout};
use crate::error::Error;
use crate::real::Real;
use crate::vector;

/// What the oracle found at φ, for the direction d that [`Geometry::advance`] moves along.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// lower ≤ ‖φ‖_* ≤ upper: what an iteration goes by. In ℓ1, ℓ2, ℓ∞, rows and columns it holds whatever rounding does; where
    /// there are singular values it leaves room for rounding of its usual size. What is claimed of a point is proven anew
    /// ([`Norm::dual`], docs/brackets.md).
    pub dual_norm: Bracket,
    /// ⟨φ, −d⟩ ≥ (1 − η)‖φ‖_*: the decrease that the direction promises per unit of length.
    pub decrease: f64,
    /// ‖d‖ ≤ 1 + ξ.
    pub excess: f64,
}

impl Answer {
    /// The answer of an oracle without error.
    pub fn exact(dual_norm: f64) -> Self {
        Self { dual_norm: Bracket::exact(dual_norm), decrease: dual_norm, excess: 0.0 }
    }

    /// The answer of an oracle without error but that of so many roundings, each by a relative 2⁻⁵³.
    pub fn rounded(dual_norm: f64, roundings: f64) -> Self {
        Self { dual_norm: Bracket::rounded(dual_norm, roundings), ..Self::exact(dual_norm) }
    }

    /// What holds of a direction d at φ whatever rounding does: ‖φ‖_* and ‖d‖ are proven anew, ⟨φ, −d⟩ is rounded down. `None` for a
    /// norm that is not in the catalogue. It costs decompositions, and allocates: for use outside iterations.
    pub fn proven<S: Real>(norms: &[BlockNorm], phi: &[S], d: &[S]) -> Option<Self> {
        let room = f64::EPSILON * vector::ROUNDINGS * vector::norm2(phi) * vector::norm2(d);
        let decrease = (-vector::dot(phi, d) - room).max(0.0);
        let excess = (product_primal(norms, d)?.upper - 1.0).max(0.0);
        Some(Self { dual_norm: product_dual(norms, phi)?, decrease, excess })
    }

    /// The largest η that the bracket allows: ⟨φ, d⟩ ≤ −(1 − η)‖φ‖_*.
    pub fn eta(&self) -> f64 {
        if self.dual_norm.upper > 0.0 { (1.0 - self.decrease / self.dual_norm.upper).max(0.0) } else { 0.0 }
    }
}

/// ⟨φ, d⟩ ≤ −(1 − η)‖φ‖_* and ‖d‖ ≤ 1 + ξ for every answer d of an oracle, whatever φ, as far as it is not below the range of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inexactness {
    /// η.
    pub eta: f64,
    /// ξ.
    pub excess: f64,
    /// Whether that holds whatever rounding does; else it holds for rounding of its usual size (docs/brackets.md).
    pub proven: bool,
}

impl Inexactness {
    /// An oracle whose every answer is exact.
    pub const NONE: Self = Self { eta: 0.0, excess: 0.0, proven: true };

    /// One that errs by the rounding of a vector of type S, divided by its norm.
    pub(crate) fn of_rounding<S: Real>() -> Self {
        let room = 2.0 * S::EPSILON + f64::EPSILON * vector::ROUNDINGS;
        Self { eta: room, excess: room, proven: true }
    }

    /// The worst of both.
    pub fn or(self, other: Self) -> Self {
        let (eta, excess) = (self.eta.max(other.eta), self.excess.max(other.excess));
        Self { eta, excess, proven: self.proven && other.proven }
    }

    /// θ = (1 − η)/(1 + ξ).
    pub fn theta(self) -> f64 {
        (1.0 - self.eta) / (1.0 + self.excess)
    }
}

/// c₁ and c₃ of the certificate's theorem: ‖·‖₂ ≤ c₁‖·‖_* and ‖·‖ ≤ c₃‖·‖₂.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equivalence {
    /// ‖·‖₂ ≤ c₁‖·‖_*.
    pub c1: f64,
    /// ‖·‖ ≤ c₃‖·‖₂.
    pub c3: f64,
}

/// A norm ‖·‖ with its oracle. Owned by a solver: it may keep scratch and start from its last answer.
///
/// Looking and moving are two calls: `oracle` brackets ‖φ‖_* and remembers what the direction needs; `advance` moves along
/// it in one pass over memory, without ever writing the direction down where it need not be (ℓ2, ℓ1, ℓ∞, rows, columns).
pub trait Geometry<S: Real>: Send {
    /// Number of entries of φ.
    fn size(&self) -> usize;

    /// The norm, as data: what a certificate stores and a verifier reads.
    fn norms(&self) -> Vec<BlockNorm>;

    /// Finds d with ⟨φ, d⟩ = min over ‖d‖ ≤ 1, as nearly as this oracle can. φ = 0 gives d = 0 and dual norm 0.
    fn oracle(&mut self, phi: &[S]) -> Answer;

    /// The same where ‖φ‖₂² is known.
    fn oracle_knowing(&mut self, phi: &[S], _squared: f64) -> Answer {
        self.oracle(phi)
    }

    /// The a with γd = aφ for the φ of the last oracle, where the direction is a multiple of the gradient.
    fn multiple(&self, _gamma: f64) -> Option<f64> {
        None
    }

    /// y ← x + γd for the direction d found by the last call of `oracle`, which saw this same φ.
    fn advance(&self, y: &mut [S], x: &[S], phi: &[S], gamma: f64);

    /// d ← the oracle's direction itself.
    fn lmo(&mut self, d: &mut [S], phi: &[S]) -> Answer {
        let answer = self.oracle(phi);
        let origin = vec![S::ZERO; phi.len()];
        self.advance(d, &origin, phi, 1.0);
        answer
    }

    /// η and ξ that no answer exceeds, whatever φ of this shape; `None` where that is not known, as for a norm of your own.
    fn inexactness(&self) -> Option<Inexactness> {
        None
    }

    /// ‖φ‖_* to rounding, by Gram eigenvalues or the SVD where it takes one: for recorded rows and certificates.
    fn dual_norm(&mut self, phi: &[S]) -> f64;

    /// What the next call starts from, so that a resumed run is the same run. Empty for an oracle without memory.
    fn warm_start(&self) -> Vec<S> {
        Vec::new()
    }

    /// Takes up what `warm_start` gave; nothing at all takes it back to where it was when new.
    fn resume(&mut self, _warm_start: &[S]) {}
}

/// The geometry of a norm on one block; the oracle matters to the spectral norm alone.
pub fn for_block<S: Real>(norm: Norm, block: &Block, oracle: Oracle) -> Result<Box<dyn Geometry<S>>, Error> {
    Ok(match norm {
        Norm::L1 => Box::new(L1::new(block)),
        Norm::L2 => Box::new(L2::new(block)),
        Norm::Linf => Box::new(Linf::new(block)),
        Norm::Spectral => Box::new(Spectral::new(block, oracle)?),
        Norm::Nuclear => Box::new(Nuclear::new(block)?),
        Norm::Column => Box::new(Column::new(block)),
        Norm::Row => Box::new(Row::new(block)),
        Norm::Other => return Err(Error::Unsupported("a norm of your own brings its own geometry".into())),
    })
}

/// One ℓ2 norm over all blocks: what methods that step in no norm are measured in, unless another was asked for.
pub fn euclidean<S: Real>(layout: &Layout) -> Box<dyn Geometry<S>> {
    Box::new(L2::new(&Block { name: "x".into(), rows: layout.size(), cols: 1, start: 0 }))
}

/// The same norm on every block: the block's own geometry when there is one, else their product with radii 1.
pub fn for_layout<S: Real>(norm: Norm, layout: &Layout, oracle: Oracle) -> Result<Box<dyn Geometry<S>>, Error> {
    match layout.blocks() {
        [block] => for_block(norm, block, oracle),
        blocks => {
            let parts = blocks.iter().map(|block| for_block(norm, block, oracle)).collect::<Result<_, _>>()?;
            Ok(Box::new(Product::new(layout, parts)?))
        }
    }
}
