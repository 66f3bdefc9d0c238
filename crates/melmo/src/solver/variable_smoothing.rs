//! Variable smoothing (Böhm & Wright 2021).

use crate::error::Error;
use crate::geometry::{Geometry, L2, Product};
use crate::problem::Problem;
use crate::real::Real;
use crate::schedule::Smoothness;
use crate::solver::Run;
use crate::solver::melmo::{Length, Melmo};
use crate::space::{Host, Space};

/// x_{k+1} = x_k − γ_kφ_k with γ_k = 1/(L_f + ‖T‖²/β_k), β_k = βk^{−1/3}; or the same length on normalised blocks.
///
/// It is [`Melmo`] in ℓ2 with these steps: over the whole variable and scaled by ‖φ_k‖₂, or (normalised, as in the paper's
/// experiments) block by block along −φ_b/‖φ_b‖₂.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VariableSmoothing {
    /// β.
    pub beta: f64,
    /// L_f; the loss's own constant when `None`.
    pub lipschitz: Option<f64>,
    /// Step along −φ_b/‖φ_b‖₂ in every block, instead of −φ.
    pub normalized: bool,
}

impl VariableSmoothing {
    /// The solver, at x₀. Refuses a problem whose L_f is neither known nor given.
    pub fn start<'p, S: Real>(&self, problem: &'p Problem<S>, x0: &[S]) -> Result<Run<Melmo<Host<'p, S>>>, Error> {
        if !self.normalized {
            return self.on(Host::euclidean(problem)?, x0);
        }
        let layout = problem.layout();
        let blocks = layout.blocks().iter().map(|b| Box::new(L2::new(b)) as Box<dyn Geometry<S>>).collect();
        self.on(Host::new(problem, Box::new(Product::new(layout, blocks)?))?, x0)
    }

    /// The same wherever x lives: in a space whose norm is one ℓ2 norm or, normalised, the product of the blocks' own.
    pub fn on<X: Space>(&self, space: X, x0: &[X::Real]) -> Result<Run<Melmo<X>>, Error> {
        let facts = space.facts();
        let lipschitz = self.lipschitz.or(facts.lipschitz_f).ok_or_else(|| {
            Error::Unsupported("variable smoothing needs L_f, and this loss has no global one: give a constant".into())
        })?;
        let (beta, operator_squared, normalized) = (self.beta, facts.operator_squared, self.normalized);
        let schedule = Box::new(Smoothness { beta, lipschitz, operator_squared, normalized });
        let length = if normalized { Length::Gamma } else { Length::GammaTimesDualNorm };
        Melmo::with_length(space, schedule, length, x0)
    }
}
