//! (W_j, H_j) → (tW_j, H_j/t): the direction in which the loss of a factorisation does not change.

use crate::error::Error;
use crate::penalty::Coordinates;
use crate::problem::Problem;
use crate::real::Real;
use crate::vector;

/// log t is looked for in [−REACH, REACH].
const REACH: f64 = 0.5;
/// Halvings of that range by the golden section.
const LOOKS: u32 = 20;

/// Finds the best t for every column of W.
pub(super) struct Rescale<S> {
    /// Every so many sweeps.
    pub every: u64,
    column: Vec<S>,
}

impl<S: Real> Rescale<S> {
    /// Refuses a penalty that is not a sum over the entries of W.
    pub fn new(problem: &Problem<S>, every: u64) -> Result<Self, Error> {
        let entries = problem.g().coordinates().filter(|g| g.units() == problem.g().size());
        let message = "rescaling columns needs a penalty that is a sum over the entries of W";
        entries.ok_or_else(|| Error::Unsupported(message.into()))?;
        Ok(Self { every, column: vec![S::ZERO; problem.layout().blocks()[0].rows] })
    }

    /// x = (W, H) ← (tW_j, H_j/t) with the t that minimises g_β(tW_j) + ν/2·‖H_j‖²/t², within REACH, for every j; g itself
    /// without a β. The point before x goes along, so that the move from it to x keeps its meaning.
    pub fn apply(
        &mut self,
        problem: &Problem<S>,
        [x, before]: [&mut [S]; 2],
        rank: usize,
        ridge: f64,
        beta: Option<f64>,
    ) {
        let Some(g) = problem.g().coordinates() else { return };
        let rows = self.column.len();
        let (w, h) = x.split_at_mut(rows * rank);
        let cols = h.len() / rank;
        for j in 0..rank {
            for (i, entry) in self.column.iter_mut().enumerate() {
                *entry = w[i * rank + j];
            }
            let h_j = &mut h[j * cols..(j + 1) * cols];
            let ridge_j = 0.5 * ridge * vector::norm2_squared(h_j);
            let cost = |log_t: f64| self.penalty(g, j, rank, log_t.exp(), beta) + ridge_j * (-2.0 * log_t).exp();
            let t = golden(cost).exp();
            let (t, inverse) = (S::of(t), S::of(1.0 / t));
            h_j.iter_mut().for_each(|h| *h *= inverse);
            for i in (0..rows).map(|i| i * rank + j) {
                (w[i], before[i]) = (t * w[i], t * before[i]);
            }
            before[rows * rank..][j * cols..(j + 1) * cols].iter_mut().for_each(|h| *h *= inverse);
        }
    }

    /// g_β(tW_j), or g(tW_j).
    fn penalty(&self, g: &dyn Coordinates<S>, j: usize, rank: usize, t: f64, beta: Option<f64>) -> f64 {
        let entry = |(i, &w): (usize, &S)| {
            let (c, u) = (i * rank + j, [S::of(t * w.f64())]);
            let Some(beta) = beta else { return g.value_of(c, &mut { u }) };
            let mut z = u;
            g.prox_of(c, &mut z, beta);
            g.value_of(c, &mut { z }) + 0.5 / beta * (u[0] - z[0]).f64().powi(2)
        };
        self.column.iter().enumerate().map(entry).sum()
    }
}

/// A minimiser of `cost` in [−REACH, REACH] by the golden section; 0 unless something is better.
fn golden(cost: impl Fn(f64) -> f64) -> f64 {
    let ratio = 0.5 * (5f64.sqrt() - 1.0);
    let (mut low, mut high) = (-REACH, REACH);
    let (mut a, mut b) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_a, mut at_b) = (cost(a), cost(b));
    for _ in 0..LOOKS {
        if at_a < at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - ratio * (high - low);
            at_a = cost(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + ratio * (high - low);
            at_b = cost(b);
        }
    }
    let (best, least) = if at_a < at_b { (a, at_a) } else { (b, at_b) };
    if least < cost(0.0) { best } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_golden_section_finds_a_minimum_inside_and_at_the_end() {
        assert!((golden(|t| (t - 0.2).powi(2)) - 0.2).abs() < 1e-4);
        assert!((golden(|t| t) + REACH).abs() < 1e-4);
        assert_eq!(golden(|t| t.abs()), 0.0);
    }
}
