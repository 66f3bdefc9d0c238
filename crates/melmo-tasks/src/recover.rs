//! Masked recovery: ½‖M⊙(X − Y)‖² + Σ ψ(Xᵢⱼ), the paper's separable problem.

use melmo::block::Layout;
use melmo::catalogue::Lift;
use melmo::operator::Identity;
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::MaskedLeastSquares;

use crate::choice::PenaltyChoice;
use crate::error::Error;
use crate::prepared::{Defaults, Prepared, Tuned};

/// The penalty of the paper's experiments.
pub const PENALTY: &str = "mcp:lambda=0.05,mu=3";

/// The problem for rows×cols data Y; entries that are NaN, or 0 in the mask, are not observed. Starts at X = 0.
///
/// The objective is a sum over entries. Where an entry is not observed the least of ψ is ψ(0) = 0; where it is,
/// min ½(x − y)² + ψ(x) is attained at prox_ψ(y), whenever ψ is ρ-weakly convex with ρ < 1: then F* is known.
pub fn prepare<S: Real>(
    y: &[S],
    mask: Option<&[S]>,
    rows: usize,
    cols: usize,
    penalty: &PenaltyChoice,
) -> Result<Prepared<S>, Error> {
    let layout = Layout::matrix(rows, cols)?;
    let mask = observed(y, mask)?;
    let f = MaskedLeastSquares::new(layout.clone(), y.to_vec(), Some(mask.clone()))?;
    let g = penalty.build(&Lift::Entries, &layout)?;
    let mut optimum = None;
    if g.weak_convexity() < 1.0 {
        let data: Vec<S> = y.iter().zip(&mask).map(|(&y, &m)| if m > S::ZERO { y } else { S::ZERO }).collect();
        let (mut best, mut work) = (vec![S::ZERO; y.len()], vec![S::ZERO; g.work_len()]);
        let g_best = g.prox(&mut best, &data, 1.0, &mut work);
        let squares = best.iter().zip(&data).zip(&mask).map(|((&x, &y), &m)| (m * (x - y)).f64().powi(2));
        optimum = Some(g_best + 0.5 * squares.sum::<f64>());
    }
    let problem = Problem::from_boxes(Box::new(f), g, Box::new(Identity::new(layout)))?;
    let start = vec![S::ZERO; y.len()];
    let tuned = Tuned {
        method: "metric",
        arguments: Vec::new(),
        reason: "∇²f + I/β is diagonal: steps in that metric solve the smoothed problem at once",
    };
    let defaults = Defaults { iterations: 10_000, tuned: Some(tuned), ..Defaults::default() };
    Ok(Prepared { problem, start, defaults, optimum })
}

/// Which entries are observed: those that are numbers, and 1 in the mask where there is one.
pub fn observed<S: Real>(y: &[S], mask: Option<&[S]>) -> Result<Vec<S>, Error> {
    let Some(mask) = mask else {
        return Ok(y.iter().map(|y| if y.f64().is_nan() { S::ZERO } else { S::ONE }).collect());
    };
    melmo::error::Error::expect_len("mask", y.len(), mask.len())?;
    Ok(y.iter().zip(mask).map(|(y, &m)| if y.f64().is_nan() { S::ZERO } else { m }).collect())
}
