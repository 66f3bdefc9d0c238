//! What is minimised: the penalty of an image's differences, and how strong it is.

use melmo::block::Layout;
use melmo::catalogue::Lift;
use melmo::operator::{Jet, LinOp};
use melmo::penalty::{Blocks, Group, LogSum, Prox};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::MaskedLeastSquares;

use super::Grid;
use crate::choice::PenaltyChoice;
use crate::error::Error;

/// Second differences are halved, so that both kinds are about as large a map.
const HALVED: f64 = 0.5;
/// The slope of the penalty of ‖∇x‖ at 0, in units of the noise, before the local weight.
const FIRST: f64 = 0.48;
/// The same of ‖∇²x‖.
const SECOND: f64 = 0.32;
/// Where the penalty of ‖∇x‖ begins to level off, in units of the noise: edges above it cost little more.
const EDGE: f64 = 2.0;
/// The same of ‖∇²x‖.
const BEND: f64 = 8.0;
/// λ of plain total variation, in units of the noise.
const PLAIN: f64 = 0.7;

/// ½‖X − Y‖² + Σₚ wₚ(λ₁θ₁ log(1 + ‖∇X‖ₚ/θ₁) + λ₂θ₂ log(1 + ‖∇²X‖ₚ/θ₂)) in units of the noise, norms over all channels of a pixel.
///
/// First differences alone turn slopes into stairs; second ones alone blur edges; logarithms spare what is clearly an edge.
pub(super) fn automatic<S: Real>(
    y: Vec<S>,
    weights: Vec<S>,
    shape: [usize; 3],
    strength: f64,
) -> Result<Problem<S>, Error> {
    let [rows, cols, channels] = shape;
    let t = Jet::new(rows, cols, channels, HALVED)?;
    let columns = |slope: f64, theta: f64, components: usize| -> Result<Box<dyn Prox<S>>, Error> {
        let psi = LogSum::new(strength * slope * theta, theta)?;
        let layout = Layout::matrix(components * channels, rows * cols)?;
        Ok(Box::new(Group::columns(psi, &layout)?.weighted(weights.clone())?))
    };
    let first = columns(FIRST, EDGE, 2)?;
    let second = columns(SECOND / HALVED, BEND * HALVED, 3)?;
    let g = Blocks::new(LinOp::<S>::range(&t), vec![("first", 1.0, first), ("second", 1.0, second)])?;
    let f = MaskedLeastSquares::new(LinOp::<S>::domain(&t).clone(), y, None)?;
    Ok(Problem::new(f, g, t)?)
}

/// ½‖X − Y‖² + Σ ψ of the first differences: of each of them, or of their norm at each place.
pub(super) fn chosen<S: Real>(
    y: Vec<S>,
    grid: Grid,
    penalty: &PenaltyChoice,
    isotropic: bool,
) -> Result<Problem<S>, Error> {
    let (t, places) = grid.operator::<S>()?;
    let g = penalty.build(if isotropic { &places } else { &Lift::Entries }, t.range())?;
    let f = MaskedLeastSquares::new(t.domain().clone(), y, None)?;
    Ok(Problem::from_boxes(Box::new(f), g, t)?)
}

/// The penalty with what was left open: λ for a slope of 0.7 of the noise at 0, θ and δ in units of the noise, MCP and SCAD level well above
/// the differences of noise; λ times the strength. Norms over C channels are √C times as large: then it is √C times the noise that is given.
pub(super) fn complete(penalty: &PenaltyChoice, noise: f64, strength: f64) -> PenaltyChoice {
    let penalty = penalty.clone().or("theta", EDGE * noise).or("delta", 0.1 * noise).or("mu", 8.0).or("a", 8.0);
    let slope = PLAIN * noise;
    let lambda = match penalty.name() {
        "log-sum" => slope * penalty.get("theta").unwrap_or(EDGE * noise),
        _ => slope,
    };
    let penalty = penalty.or("lambda", lambda);
    match penalty.get("lambda") {
        Some(lambda) => penalty.with("lambda", strength * lambda),
        None => penalty,
    }
}

/// The automatic penalty in one line, for reports.
pub(super) fn describe(strength: f64) -> String {
    let (first, second) = (strength * FIRST, strength * SECOND);
    format!(
        "log-sum of ∇ (slope {first:.3}, θ = {EDGE}) and of ∇² (slope {second:.3}, θ = {BEND}) in units of the noise, locally weighted"
    )
}

/// The slope of the automatic penalty of ‖∇x‖ at 0, in the image's units.
pub(super) fn slope(noise: f64, strength: f64) -> f64 {
    strength * FIRST * noise
}
