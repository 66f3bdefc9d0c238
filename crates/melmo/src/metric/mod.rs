//! M: metrics made of the problem, M ⪰ ∇²f(x) + T*T/β, in which a step needs no length: x ← x − M⁻¹∇F_β(x).
//!
//! F_β(x − d) ≤ F_β(x) − ⟨∇F_β(x), d⟩ + ½‖d‖²_M when M bounds the Hessian of f and β < 1/ρ (`docs/theory.md`). Worth it where M⁻¹ is cheap: differences of
//! an image ⇒ cosine transforms, T = I and a loss on entries ⇒ a diagonal, a sparse T ⇒ its factor, few entries ⇒ a decomposition, linear models ⇒ conjugate gradients.

mod conjugate_gradients;
mod cosine;
mod decomposed;
mod diagonal;
mod factored;
mod weighted;

pub use conjugate_gradients::ConjugateGradients;
pub use cosine::Cosine;
pub use decomposed::Decomposed;
pub use diagonal::Diagonal;
pub use factored::Factored;
pub(crate) use weighted::Weighted;

use crate::error::Error;
use crate::operator::{self, LinOp};
use crate::problem::Problem;
use crate::real::Real;
use crate::smooth;

/// A symmetric positive definite M with a cheap inverse. Owned by a solver: it may keep scratch and factors.
///
/// What it answers depends on the last `prepare` and on v alone, so that a resumed run is the same run.
pub trait Metric<S: Real>: Send {
    /// M ← a bound on ∇²f + T*T/β near x.
    fn prepare(&mut self, x: &[S], beta: f64);

    /// v ← M⁻¹v. An inexact inverse still satisfies ⟨v, M⁻¹v⟩ > 0 for v ≠ 0.
    fn solve(&mut self, v: &mut [S]);
}

/// A bound on ∇²f.
pub enum Hessian<'p, S> {
    /// c.
    Constant(f64),
    /// c·A*A.
    Normal(f64, &'p dyn LinOp<S>),
}

/// The cheapest metric that the terms of a problem allow, and its name.
///
/// | f | T | M |
/// |---|---|---|
/// | any with a known L_f | differences of an image or a volume | `cosine`: L_f + T*T/β |
/// | ½‖M⊙(x − y)‖² | identity | `diagonal`: M + 1/β |
/// | Σhᵢ((Ax)ᵢ), or any with a known L_f | any with few entries, and A too | `factored`: the same as LDLᵀ, which stays sparse |
/// | Σhᵢ((Ax)ᵢ), or any with a known L_f | any, on at most 768 entries | `decomposed`: sup h″·A*A + T*T/β, or L_f + T*T/β |
/// | Σhᵢ((Ax)ᵢ) | any | `conjugate-gradients`: sup h″·A*A + T*T/β |
/// | any with a known L_f | any | `conjugate-gradients`: L_f + T*T/β |
pub fn for_problem<'p, S: Real>(problem: &'p Problem<S>) -> Result<(&'static str, Box<dyn Metric<S> + 'p>), Error> {
    use operator::Form::{Difference2d, Difference3d, Identity};
    let known = problem.f().lipschitz();
    Ok(match (problem.f().form(), problem.t().form(), known) {
        (_, Difference2d(t), Some(curvature)) => {
            let (rows, cols) = t.shape();
            ("cosine", Box::new(Cosine::new(&[rows, cols], curvature)?))
        }
        (_, Difference3d(t), Some(curvature)) => {
            let (depth, rows, cols) = t.shape();
            ("cosine", Box::new(Cosine::new(&[depth, rows, cols], curvature)?))
        }
        (smooth::Form::Proximity { mask, .. }, Identity, _) => {
            ("diagonal", Box::new(Diagonal::new(problem.layout().size(), mask)))
        }
        (smooth::Form::Linear { operator, rows }, ..) if rows.curvature().is_finite() => {
            general(Hessian::Normal(rows.curvature(), operator), problem)
        }
        (.., Some(curvature)) => general(Hessian::Constant(curvature), problem),
        _ => {
            let message =
                "no metric is known for this loss and operator: it needs a loss whose L_f or structure is known";
            return Err(Error::Unsupported(message.into()));
        }
    })
}

/// Whether [`for_problem`] solves exactly with the metric of a problem whose operator has no structure: factored or decomposed.
pub fn is_direct<S: Real>(problem: &Problem<S>) -> bool {
    let known = problem.f().lipschitz().is_some();
    let few = problem.layout().size() <= decomposed::LARGEST;
    known && (few || matches!(for_problem(problem), Ok(("factored", _))))
}

/// H + T*T/β for operators without structure: factored where it is sparse, decomposed where there are few entries, by conjugate
/// gradients elsewhere.
fn general<'p, S: Real>(hessian: Hessian<'p, S>, problem: &'p Problem<S>) -> (&'static str, Box<dyn Metric<S> + 'p>) {
    if let Some(metric) = Factored::new(&hessian, problem.t()) {
        return ("factored", Box::new(metric));
    }
    let few = problem.layout().size() <= decomposed::LARGEST;
    match few.then(|| Decomposed::new(&hessian, problem.t())).flatten() {
        Some(metric) => ("decomposed", Box::new(metric)),
        None => ("conjugate-gradients", Box::new(ConjugateGradients::new(hessian, problem.t()))),
    }
}
