//! Where the separation starts: convex penalties of the same weights, exact in L and in S by turns.

use std::time::{Duration, Instant};

use melmo::block::Layout;
use melmo::catalogue::Lift;
use melmo::patience;
use melmo::penalty::Prox;
use melmo::real::Real;

use crate::choice::PenaltyChoice;
use crate::error::Error;
use crate::rpca::weights::{Weights, column_medians};
use crate::until::Until;

/// Rounds from each of the two beginnings, and from the better one.
const ROUNDS: [usize; 2] = [10, 40];
/// Rounds end when S moves by less than this share of Y.
const RESTS: f64 = 1e-5;
/// What is being done, for whoever waits.
const DOING: &str = "L and S by turns";

/// The two parts as they change.
struct Parts<'d, S> {
    y: &'d [S],
    mask: &'d [S],
    nuclear: Box<dyn Prox<S>>,
    l1: Box<dyn Prox<S>>,
    low_rank: Vec<S>,
    sparse: Vec<S>,
    target: Vec<S>,
    /// Where the next L is made.
    moved: Vec<S>,
    work: Vec<S>,
    value: f64,
}

/// [L | S]: from L = the columns' medians (a video's background) and from S = 0, whichever leads to the lower objective.
///
/// The weakly convex penalties do not pull back what is far above the noise: a part that starts in the wrong place stays
/// there. Their convex counterparts, of the same slopes, have no such places.
pub(super) fn start<S: Real>(
    y: &[S],
    mask: &[S],
    rows: usize,
    cols: usize,
    weights: &Weights,
    until: &Until,
) -> Result<Vec<S>, Error> {
    let layout = Layout::matrix(rows, cols)?;
    let slope = |penalty: &PenaltyChoice, lift| -> Result<_, Error> {
        let convex = PenaltyChoice::new("l1", &[("lambda", penalty.get("lambda").unwrap_or(1.0))])?;
        convex.build(&lift, &layout)
    };
    let medians = column_medians(y, cols);
    let background: Vec<S> = (0..y.len()).map(|at| S::of(medians[at % cols])).collect();
    let mut best: Option<Parts<'_, S>> = None;
    for low_rank in [background, vec![S::ZERO; y.len()]] {
        if best.is_some() && until.is_over(DOING) {
            break;
        }
        let nuclear = slope(&weights.low_rank, Lift::SingularValues)?;
        let l1 = slope(&weights.sparse, Lift::Entries)?;
        let still = low_rank.iter().all(|l| *l == S::ZERO);
        let work = vec![S::ZERO; nuclear.work_len().max(l1.work_len())];
        let [sparse, target, moved] = [(); 3].map(|()| vec![S::ZERO; y.len()]);
        let mut parts = Parts { y, mask, nuclear, l1, low_rank, sparse, target, moved, work, value: f64::INFINITY };
        if !still {
            parts.move_sparse();
        }
        parts.rounds(ROUNDS[0], until);
        if best.as_ref().is_none_or(|best| parts.value < best.value) {
            best = Some(parts);
        }
    }
    let Some(mut best) = best else { return Ok(vec![S::ZERO; 2 * y.len()]) };
    best.rounds(ROUNDS[1], until);
    Ok([best.low_rank, best.sparse].concat())
}

impl<S: Real> Parts<'_, S> {
    fn rounds(&mut self, most: usize, until: &Until) {
        let scale = melmo::vector::norm2(&self.low_rank) + melmo::vector::norm2(&self.sparse);
        let mut round = Duration::ZERO;
        for _ in 0..most {
            // A round is a decomposition. So is a step of the solver, for which time has to be left, and for a look at its end.
            if until.is_over(DOING) || until.left().is_some_and(|left| left < 4 * round) {
                break;
            }
            let begun = Instant::now();
            let before = self.sparse.clone();
            if !until.run(DOING, || self.move_low_rank()) {
                break;
            }
            self.move_sparse();
            let moved: f64 = before.iter().zip(&self.sparse).map(|(a, b)| (*a - *b).f64().powi(2)).sum();
            if moved.sqrt() <= RESTS * scale {
                break;
            }
            round = begun.elapsed();
        }
    }

    /// L ← prox(L + M⊙(Y − S − L)): its minimiser where nothing is missing. False, and L stays, where there was no time for it.
    fn move_low_rank(&mut self) -> bool {
        for (at, target) in self.target.iter_mut().enumerate() {
            let known = self.mask[at] > S::ZERO;
            *target = if known { self.y[at] - self.sparse[at] } else { self.low_rank[at] };
        }
        let value = self.nuclear.prox(&mut self.moved, &self.target, 1.0, &mut self.work);
        let done = !(value.is_nan() && patience::is_over());
        if done {
            std::mem::swap(&mut self.low_rank, &mut self.moved);
            self.value = value;
        }
        done
    }

    /// S ← its minimiser: 0 where nothing is known.
    fn move_sparse(&mut self) {
        for (at, target) in self.target.iter_mut().enumerate() {
            *target = if self.mask[at] > S::ZERO { self.y[at] - self.low_rank[at] } else { S::ZERO };
        }
        self.value += self.l1.prox(&mut self.sparse, &self.target, 1.0, &mut self.work);
        let squares = self.target.iter().zip(&self.sparse).map(|(t, s)| (*t - *s).f64().powi(2));
        self.value += 0.5 * squares.sum::<f64>();
    }
}
