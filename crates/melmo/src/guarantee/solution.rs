//! Where the minimisers are: what the rates of convex methods are multiples of.

use crate::operator::Form;
use crate::penalty::Prox;
use crate::problem::Problem;
use crate::real::Real;
use crate::vector;

/// Bounds that hold for every minimiser x* of a convex F. They are `None` where F is not known to be convex.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solutions {
    /// On ‖x*‖₂.
    pub norm: Option<f64>,
    /// On ‖x₁ − x*‖₂.
    pub distance: Option<f64>,
}

impl Solutions {
    /// For the start x₁ = `x` with F(x₁) = `objective`:
    ///
    /// - F − m/2‖·‖² convex: m/2‖x₁ − x*‖² ≤ F(x₁) − inf F.
    /// - T = I and ‖u‖₂ ≤ q·g(u): ‖x*‖ ≤ q(F(x₁) − inf f). T = I and g = ∞ outside a ball: its radius.
    /// - a `radius` that is given.
    pub fn of<S: Real>(problem: &Problem<S>, x: &[S], objective: f64, radius: Option<f64>) -> Self {
        let (f, g, t) = (problem.f(), problem.g(), problem.t());
        let rho = g.weak_convexity();
        let Some(of_f) = f.strong_convexity().filter(|_| f.is_convex() && rho == 0.0) else { return Self::default() };
        let (identity, fall) = (matches!(t.form(), Form::Identity), f.lower_bound().map(|least| objective - least));
        let held = |bound: Option<f64>| bound.filter(|_| identity);
        let by_norm = held(above_a_norm(g)).zip(fall).map(|(q, fall)| q * fall);
        let size = vector::norm2(x);
        let curved = of_f + held(Some(g.strong_convexity())).unwrap_or(0.0);
        let near = fall.filter(|_| curved > 0.0).map(|fall| (2.0 * fall / curved).sqrt());
        let norm = least([radius, held(g.reach()), by_norm, near.map(|near| size + near)]);
        Self { norm, distance: least([near, norm.map(|norm| size + norm), None, None]) }
    }
}

fn least(of: [Option<f64>; 4]) -> Option<f64> {
    let known = of.into_iter().flatten().filter(|bound| bound.is_finite() && *bound >= 0.0);
    known.reduce(f64::min).map(|bound| bound * (1.0 + 1e-9))
}

/// q with ‖u‖₂ ≤ q·g(u), where there is one: sup of the polar over the unit ball. A unit of v is no larger than v, and no entry
/// of v is larger than 1.
pub(crate) fn above_a_norm<S: Real>(g: &dyn Prox<S>) -> Option<f64> {
    let ones = vec![S::ONE; g.size()];
    let of_ones = g.polar(&ones, &mut vec![S::ZERO; g.work_len()])?;
    let of_units = g.coordinates().map(|g| (0..g.units()).map(|c| 1.0 / g.threshold_of(c)).fold(0.0, f64::max));
    Some(of_units.unwrap_or(of_ones)).filter(|q| q.is_finite())
}
