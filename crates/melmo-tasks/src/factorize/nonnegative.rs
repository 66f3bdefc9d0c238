//! Both factors without negative entries.

use melmo::catalogue::Lift;
use melmo::error::Error as Refused;
use melmo::operator::Identity;
use melmo::penalty::Blocks;
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::Smooth;

use super::Factors;
use super::rows::{Rows, row_penalty, units};
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

impl<S: Real> Factors<'_, S> {
    /// The problem with W ≥ 0 and H ≥ 0, from a start whose signs are dropped. W and H are improved by turns first, entry by
    /// entry: the solver's own steps then mostly earn the certificate.
    ///
    /// What is over before that start is found begins from where it got to.
    pub fn prepare_nonnegative(&self, mut w: Vec<S>, mut h: Vec<S>, until: &Until) -> Result<Prepared<S>, Error> {
        let Self { rows, cols, rank, .. } = *self;
        Refused::expect_len("the start of W", rows * rank, w.len())?;
        Refused::expect_len("the start of H", rank * cols, h.len())?;
        w.iter_mut().chain(&mut h).for_each(|v| *v = v.abs());
        let f = self.loss()?;
        let layout = f.layout().clone();
        let block = |name: &str| melmo::block::Layout::new([(name, 1, layout.require(name).map_or(0, |b| b.size()))]);
        let on_w = self.penalty.build(&Lift::Nonnegative, &block("W")?)?;
        let nonnegative = PenaltyChoice::new("nonnegative", &[])?;
        let on_h = nonnegative.build(&Lift::Entries, &block("H")?)?;
        let g = Blocks::new(&layout, vec![("W", 1.0, on_w), ("H", 1.0, on_h)])?;
        self.alternate(&mut w, &mut h, &nonnegative, until)?;
        let problem = Problem::from_boxes(Box::new(f), Box::new(g), Box::new(Identity::new(layout)))?;
        let defaults = Defaults { iterations: 500, tuned: Some(TUNED), ..Defaults::default() };
        Ok(Prepared { problem, start: [w, h].concat(), defaults, optimum: None })
    }

    fn alternate(&self, w: &mut [S], h: &mut [S], nonnegative: &PenaltyChoice, until: &Until) -> Result<(), Error> {
        let Self { rows, cols, rank, ridge, .. } = *self;
        let (phi, floor) = (row_penalty(self.penalty, rank, true)?, row_penalty(nonnegative, rank, false)?);
        let (phi, floor) = (units(&*phi)?, units(&*floor)?);
        let mask = crate::recover::observed(self.y, self.mask)?;
        let y: Vec<S> =
            self.y.iter().zip(&mask).map(|(&y, &m)| if m > S::ZERO { y } else { S::of(f64::NAN) }).collect();
        let turned = transposed(&y, rows, cols);
        let (mut before, mut h_turned, mut w_turned);
        for _ in 0..ROUNDS {
            if until.is_over("W and H by turns") {
                break;
            }
            before = w.to_vec();
            Rows { y: &y, basis: h, cols, rank, ridge: 0.0 }.improve(phi, w, SWEEPS);
            w_turned = transposed(w, rows, rank);
            h_turned = transposed(h, rank, cols);
            Rows { y: &turned, basis: &w_turned, cols: rows, rank, ridge }.improve(floor, &mut h_turned, SWEEPS);
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
        let prepared = factors.prepare_nonnegative(draw(rows * rank), draw(rank * cols), &Until::done()).unwrap();
        let solved = solve(&prepared, &Settings::default(), Watch::default()).unwrap();
        // z has the signs and the zeros; x is the point that the certificate speaks of.
        let (w, h) = solved.report.z.split_at(rows * rank);
        assert!(solved.report.z.iter().all(|v| *v >= 0.0));
        assert!(super::super::relative_error(&factors, w, h).unwrap() < 1e-4);
    }
}
