//! Both factors without negative entries.

use melmo::catalogue::Lift;
use melmo::operator::Identity;
use melmo::penalty::Blocks;
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::{Factorization, Smooth};

use super::rows::{Rows, row_penalty, units};
use super::start;
use crate::choice::PenaltyChoice;
use crate::error::Error;
use crate::prepared::{Defaults, Prepared, Tuned};
use crate::until::Until;

/// Rounds of the start: W, then H.
const ROUNDS: usize = 300;
/// Sweeps over a factor in one round.
const SWEEPS: usize = 3;
/// The start is found when a round moves the factors by less than this share.
const RESTS: f64 = 1e-6;

const TUNED: Tuned = Tuned {
    method: "proximal-gradient",
    arguments: Vec::new(),
    reason: "projected steps whose length is found by trial, from where exact steps entry by entry ended",
};

/// The problem of any Y with W ≥ 0 and H ≥ 0, from a start whose signs are dropped. Where entries are missing, W and H are improved
/// by turns first, entry by entry: the solver's own steps then mostly earn the certificate.
///
/// What is over before that start is found begins from where it got to.
pub fn nonnegative<S: Real>(
    f: Factorization<S>,
    penalty: &PenaltyChoice,
    w: Vec<S>,
    h: Vec<S>,
    until: &Until,
) -> Result<Prepared<S>, Error> {
    let mut start = start(&f, w, h)?;
    start.iter_mut().for_each(|v| *v = v.abs());
    let layout = f.layout().clone();
    let block = |name: &str| melmo::block::Layout::new([(name, 1, layout.require(name).map_or(0, |b| b.size()))]);
    let on_w = penalty.build(&Lift::Nonnegative, &block("W")?)?;
    let signed = PenaltyChoice::new("nonnegative", &[])?;
    let on_h = signed.build(&Lift::Entries, &block("H")?)?;
    let g = Blocks::new(&layout, vec![("W", 1.0, on_w), ("H", 1.0, on_h)])?;
    let mut defaults = Defaults::default();
    if let Some(mask) = f.mask() {
        Missing::new(&f, mask).alternate(&mut start, [penalty, &signed], until)?;
        defaults = Defaults { iterations: 500, tuned: Some(TUNED), ..defaults };
    }
    let problem = Problem::from_boxes(Box::new(f), Box::new(g), Box::new(Identity::new(layout)))?;
    Ok(Prepared { problem, start, defaults, optimum: None })
}

/// Y with entries that are missing, NaN, by rows and by columns.
struct Missing<S> {
    y: Vec<S>,
    turned: Vec<S>,
    shape: (usize, usize, usize),
    ridge: f64,
}

impl<S: Real> Missing<S> {
    fn new(f: &Factorization<S>, mask: &[S]) -> Self {
        let (rows, cols, _) = f.shape();
        let known = f.data().dense().unwrap_or_default().iter().zip(mask);
        let y: Vec<S> = known.map(|(&y, &m)| if m > S::ZERO { y } else { S::of(f64::NAN) }).collect();
        let turned = transposed(&y, rows, cols);
        Self { y, turned, shape: f.shape(), ridge: f.weights().1 }
    }

    fn alternate(&self, x: &mut [S], penalties: [&PenaltyChoice; 2], until: &Until) -> Result<(), Error> {
        let (rows, cols, rank) = self.shape;
        let (w, h) = x.split_at_mut(rows * rank);
        let (psi, floor) = (row_penalty(penalties[0], rank, true)?, row_penalty(penalties[1], rank, false)?);
        let (psi, floor) = (units(&*psi)?, units(&*floor)?);
        let (mut before, mut h_turned, mut w_turned);
        for _ in 0..ROUNDS {
            if until.is_over("W and H by turns") {
                break;
            }
            before = w.to_vec();
            Rows { y: &self.y, basis: h, cols, rank, ridge: 0.0 }.improve(psi, w, SWEEPS);
            w_turned = transposed(w, rows, rank);
            h_turned = transposed(h, rank, cols);
            let columns = Rows { y: &self.turned, basis: &w_turned, cols: rows, rank, ridge: self.ridge };
            columns.improve(floor, &mut h_turned, SWEEPS);
            h.copy_from_slice(&transposed(&h_turned, cols, rank));
            let moved: f64 = before.iter().zip(&*w).map(|(a, b)| (*a - *b).f64().powi(2)).sum::<f64>().sqrt();
            if moved <= RESTS * melmo::vector::norm2(w) {
                break;
            }
        }
        Ok(())
    }
}

/// The cols×rows transpose of a rows×cols matrix.
fn transposed<S: Real>(a: &[S], rows: usize, cols: usize) -> Vec<S> {
    (0..rows * cols).map(|at| a[at % rows * cols + at / rows]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factorize::Factors;
    use crate::{Settings, Watch, solve};
    use melmo::seeded::Seeded;

    #[test]
    fn products_of_nonnegative_factors_are_found_again() {
        let (rows, cols, rank) = (20, 15, 2);
        let mut seeded = Seeded::new(8);
        let mut draw = |n: usize| -> Vec<f64> { (0..n).map(|_| seeded.uniform()).collect() };
        let (a, b) = (draw(rows * rank), draw(rank * cols));
        let entry = |at: usize| (0..rank).map(|k| a[at / cols * rank + k] * b[k * cols + at % cols]).sum();
        let mut y: Vec<f64> = (0..rows * cols).map(entry).collect();
        y[7] = f64::NAN;
        let penalty = "l1:lambda=1e-4".parse().unwrap();
        let factors = Factors { y: &y, mask: None, rows, cols, rank, penalty: &penalty, ridge: 1e-4 };
        let (w, h) = (draw(rows * rank), draw(rank * cols));
        let prepared = nonnegative(factors.loss().unwrap(), &penalty, w, h, &Until::done()).unwrap();
        let solved = solve(&prepared, &Settings::default(), Watch::default()).unwrap();
        // z has the signs and the zeros; x is the point that the certificate speaks of.
        let (w, h) = solved.report.z.split_at(rows * rank);
        assert!(solved.report.z.iter().all(|v| *v >= 0.0));
        assert!(super::super::relative_error(&factors.loss().unwrap(), w, h).unwrap() < 1e-4);
    }
}
