//! The norm that certificates speak of, for methods whose steps need none.

use crate::error::Error;
use crate::geometry::{
    BlockNorm, Bracket, Geometry, check_tiling, euclidean, product_dual_growth, product_equivalence,
};
use crate::problem::Problem;
use crate::real::Real;

/// One ℓ2 norm over all blocks.
pub(super) fn whole<S: Real>(problem: &Problem<S>) -> Box<dyn Geometry<S>> {
    euclidean(problem.layout())
}

/// ‖·‖_* of what a method measures in ℓ2: ℓ2 itself unless another norm was asked for.
pub(super) struct Measure<S> {
    geometry: Option<Box<dyn Geometry<S>>>,
    norms: Vec<BlockNorm>,
    /// a and b with a‖·‖₂ ≤ ‖·‖_* ≤ b‖·‖₂.
    between: [f64; 2],
    /// ‖v₁‖_* (its upper bound) and ‖Tx₁ − z₁‖₂ at the very start, once it was evaluated.
    pub start: Option<[f64; 2]>,
}

impl<S: Real> Measure<S> {
    /// In ℓ2.
    pub fn new(problem: &Problem<S>) -> Self {
        let geometry = whole(problem);
        Self { norms: geometry.norms(), geometry: Some(geometry), between: [1.0; 2], start: None }
    }

    /// In a norm that fits the variable.
    pub fn in_norm(problem: &Problem<S>, geometry: Box<dyn Geometry<S>>) -> Result<Self, Error> {
        Error::expect_len("the geometry measures the variable", problem.layout().size(), geometry.size())?;
        let norms = geometry.norms();
        Ok(Self { geometry: Some(geometry), ..Self::bounds(problem, norms)? })
    }

    /// Bounds alone, by the norm's constants: somebody else has the geometry.
    pub fn bounds(problem: &Problem<S>, norms: Vec<BlockNorm>) -> Result<Self, Error> {
        check_tiling(&norms, problem.layout().size())?;
        // A norm of the user's own has no constants: only its own answer counts.
        let lower = product_equivalence(&norms).map_or(0.0, |c| c.c1.recip());
        let upper = product_dual_growth(&norms).unwrap_or(f64::INFINITY);
        Ok(Self { geometry: None, norms, between: [lower, upper], start: None })
    }

    /// What `lower ≤ ‖v‖₂ ≤ upper` says about ‖v‖_*.
    pub fn bracket(&self, lower: f64, upper: f64) -> Bracket {
        let [a, b] = self.between;
        // A largest number stays one: a method that has not looked yet knows nothing.
        Bracket { lower: a * lower, upper: if upper == 0.0 { 0.0 } else { (b * upper).min(f64::MAX) } }
    }

    /// ‖v‖_*; NaN where it has bounds alone.
    pub fn norm(&mut self, v: &[S]) -> f64 {
        self.geometry.as_mut().map_or(f64::NAN, |geometry| geometry.dual_norm(v))
    }

    /// The norm, as data.
    pub fn norms(&self) -> Vec<BlockNorm> {
        self.norms.clone()
    }
}
