//! How far rounding can have moved the numbers of a certificate: bounds, term by term, not their usual size.

use crate::certificate::look::Seen;
use crate::geometry::{BlockNorm, product_dual_growth};
use crate::guarantee::{Facts, Numerics};
use crate::real::Real;
use crate::vector::sum_error;

/// With ϑ the rounding of T, c that of the prox, and h = 1/(1 − βρ), the Lipschitz constant of prox_{βg}:
///
/// ```text
/// ‖δ(Tx)‖ ≤ ϑ‖x‖      ‖δz‖ ≤ h(c‖u‖ + ‖δu‖)      ‖δw‖ ≤ (‖δu‖ + ‖δz‖)/β + 2ε‖w‖      ‖δv‖ ≤ ‖δ∇f‖ + ‖T‖‖δw‖ + ϑ‖w‖ + ε‖v‖
/// ```
///
/// where δu = 0 for a stored u, and δu = δ(Tx) for u = Tx. A small β makes ‖δw‖ large: it proves nothing.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// Of v, in ℓ2.
    pub v: f64,
    /// Of ‖Tx − z‖₂.
    pub gap: f64,
    /// Of F(x) and of the lower bound, each.
    pub value: f64,
}

impl Allowance {
    /// For arrays of `S`.
    pub fn new<S: Real>(facts: &Facts, seen: &Seen) -> Self {
        let Numerics { operator_norm, of_operator, of_prox, size, range: m } = facts.numerics;
        let unit = S::EPSILON;
        let applied = product(of_operator, seen.x_norm);
        let of_u = if seen.stored { 0.0 } else { applied };
        let steep = 1.0 / (1.0 - seen.beta * facts.rho);
        let of_z = steep * (product(of_prox, seen.u_norm) + of_u);
        let of_w = (of_u + of_z) / seen.beta + 2.0 * unit * seen.w_norm;
        let gap = applied + of_z + (sum_error(m) + unit) * seen.prox_gap;
        let pulled = product(operator_norm, of_w) + product(of_operator, seen.w_norm);
        let v = seen.rounding.grad + pulled + (unit + sum_error(size)) * seen.of_sum;
        // |g(a) − g(b)| ≤ L_g‖a − b‖; where there is no L_g, the slope that was found stands for it.
        let slope = facts.lipschitz_g.unwrap_or(0.0).max(seen.w_norm);
        let at = if seen.at_tx.is_finite() { seen.at_tx.abs() } else { 0.0 };
        let sums = (sum_error(m) + 8.0 * unit) * (seen.at_z.abs() + at + seen.w_norm * seen.prox_gap);
        let value = seen.rounding.value + product(slope, applied + of_z) + sums;
        let value = value + product(seen.w_norm, gap) + product(of_w, seen.prox_gap);
        // Where constants leave the range of numbers nothing is known, and any rounding is possible.
        let [v, gap, value] = [v, gap, value].map(|room: f64| if room.is_nan() { f64::INFINITY } else { room });
        Self { v, gap, value }
    }

    /// For numbers that were computed in `S`, where they were seen again in a precision `R` that may be finer: what the terms lose is
    /// `R`'s, and is more in `S`.
    pub(super) fn of_stored<S: Real, R: Real>(facts: &Facts, seen: &Seen) -> Self {
        let coarser = S::EPSILON / R::EPSILON;
        let (mut facts, mut seen) = (*facts, *seen);
        for lost in [
            &mut facts.numerics.of_operator,
            &mut facts.numerics.of_prox,
            &mut seen.rounding.value,
            &mut seen.rounding.grad,
        ] {
            *lost *= coarser;
        }
        Self::new::<S>(&facts, &seen)
    }

    /// Of ‖v‖_*: ‖δv‖_* ≤ c‖δv‖₂. What computing the norm itself loses is in its bracket.
    pub fn dual(&self, norms: &[BlockNorm]) -> f64 {
        product(product_dual_growth(norms).unwrap_or(f64::NAN), self.v)
    }
}

/// ab, where a constant may have left the range of numbers: it is finite all the same, and nothing times it is nothing.
pub(super) fn product(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}
