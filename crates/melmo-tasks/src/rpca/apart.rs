//! L, S and the noise's level together, from nothing but Y: the level falls, and what it makes visible goes to L or to S.
//!
//! Each round clips what L does not explain at 3s, for s the level so far, and L becomes what of L + clipped stands out of the singular
//! values of what was clipped (Gavish and Donoho 2014) and of λ_L at that level. Outliers weigh no more than 3s that way. s follows the median of what is left, by no more
//! than a factor a round: L follows large entries of its own before they are taken for outliers. At the end what is clipped is left out.

use std::time::Duration;

use melmo::clock::Instant;
use melmo::linalg::{Into, Mat};
use melmo::low_rank;
use melmo::patience;
use melmo::real::Real;
use melmo::statistics::median;
use melmo::vector;

use crate::until::Until;

/// Noise of standard deviation s passes 3s in one entry of 370.
pub(super) const ABOVE_NOISE: f64 = 3.0;
/// A normal number's standard deviation, of its median size.
const TO_DEVIATION: f64 = 1.4826;
/// By how much the level falls in a round, at most.
const FALL: f64 = 0.6;
/// The level of data without noise, of the first.
const LEAST: f64 = 1e-3;
/// Rounds, at most; a level falls by 10⁶ in 27.
const ROUNDS: usize = 60;
/// Both rest where the level falls and L moves by less: before outliers are left out, and at the end.
const RESTS: [f64; 2] = [1e-2, 1e-3];
/// Entries that a median is taken of, at most.
const SEEN: usize = 100_000;
/// What is being done, for whoever waits.
const DOING: &str = "L and S apart";

/// Y = L + S + noise.
pub(super) struct Apart<S> {
    /// L.
    pub low_rank: Vec<S>,
    /// S: what is left where that is above 3 times the noise.
    pub sparse: Vec<S>,
    /// The noise.
    pub noise: f64,
}

/// The parts, for a noise that is known or not; `None` where it was over before they were found, or Y is not finite.
///
/// Twice: outliers are left out from the beginning, which is right where the columns' medians are (a video), or at the end only. The
/// better of the two explains Y by fewer singular values and outliers, each counted as MCP does what is large.
pub(super) fn apart<S: Real>(y: &[S], rows: usize, cols: usize, given: Option<f64>, until: &Until) -> Option<Apart<S>> {
    let mut parts = Parts::new(y, rows, cols);
    let first = parts.found(given, true, until)?;
    parts.begin_again();
    let best = match parts.found(given, false, until) {
        None => first,
        Some(other) => {
            let level = first.noise.max(other.noise);
            let cost = |found: &Found<S>| found.cost(y, ABOVE_NOISE * level, rows.max(cols));
            if cost(&first) <= cost(&other) { first } else { other }
        }
    };
    // Room for S.
    drop(parts);
    Some(Apart::of(y, best.low_rank, best.noise))
}

/// L, its rank, and the level that its rounds ended with.
struct Found<S> {
    low_rank: Vec<S>,
    rank: usize,
    noise: f64,
}

impl<S: Real> Found<S> {
    /// ½‖rest‖² and 3λ²/2 for every singular value and outlier, λ_S = `lambda` and λ_L = λ_S·√longest.
    fn cost(&self, y: &[S], lambda: f64, longest: usize) -> f64 {
        const LARGE: f64 = 1.5;
        let each = LARGE * lambda * lambda;
        let rests = y.iter().zip(&self.low_rank).map(|(y, l)| (*y - *l).f64()).filter(|rest| !rest.is_nan());
        rests.map(|rest| (0.5 * rest * rest).min(each)).sum::<f64>() + self.rank as f64 * each * longest as f64
    }
}

impl<S: Real> Apart<S> {
    /// L = the columns' medians, where there is no time for more.
    pub(super) fn first(y: &[S], rows: usize, cols: usize, given: Option<f64>) -> Self {
        let parts = Parts::new(y, rows, cols);
        let level = parts.first_level();
        Self::of(y, parts.low_rank, given.unwrap_or(level))
    }

    /// S is what L leaves above 3 times the noise.
    fn of(y: &[S], low_rank: Vec<S>, noise: f64) -> Self {
        let outlier = |(&y, &l): (&S, &S)| if (y - l).f64().abs() > ABOVE_NOISE * noise { y - l } else { S::ZERO };
        let sparse = y.iter().zip(&low_rank).map(outlier).collect();
        Self { low_rank, sparse, noise }
    }
}

struct Parts<'d, S> {
    y: &'d [S],
    rows: usize,
    cols: usize,
    /// So many entries of Y are.
    known: usize,
    /// Singular values of noise of level 1 lie below.
    edge: f64,
    medians: Vec<f64>,
    low_rank: Vec<S>,
    /// What L is made of, then L itself.
    target: Vec<S>,
    /// ‖ΔL‖/‖L‖ of the last round, and the rank of L.
    moved: f64,
    rank: usize,
    values: Vec<S>,
    u: Vec<S>,
    v: Vec<S>,
    work: Vec<S>,
}

impl<'d, S: Real> Parts<'d, S> {
    /// L = the columns' medians: a video's background.
    fn new(y: &'d [S], rows: usize, cols: usize) -> Self {
        let size = rows.min(cols);
        let columns = low_rank::columns_above(rows, cols).unwrap_or(size);
        let zeros = |length: usize| vec![S::ZERO; length];
        let work = match low_rank::columns_above(rows, cols) {
            Some(_) => low_rank::svd_above_work_len::<S>(rows, cols),
            None => low_rank::svd_work_len::<S>(rows, cols),
        };
        let mut parts = Self {
            y,
            rows,
            cols,
            known: y.iter().filter(|y| !y.f64().is_nan()).count(),
            edge: edge(rows, cols),
            medians: super::weights::column_medians(y, cols),
            low_rank: Vec::new(),
            target: zeros(y.len()),
            moved: f64::INFINITY,
            rank: 1,
            values: zeros(size),
            u: zeros(rows * columns),
            v: zeros(cols * columns),
            work: zeros(work),
        };
        parts.begin_again();
        parts
    }

    fn begin_again(&mut self) {
        let Self { medians, rows, low_rank, .. } = self;
        low_rank.clear();
        low_rank.reserve_exact(*rows * medians.len());
        (0..*rows).for_each(|_| low_rank.extend(medians.iter().map(|&median| S::of(median))));
        (self.moved, self.rank) = (f64::INFINITY, 1);
    }

    /// What the rounds come to; `None` where it was over before they rested.
    fn found(&mut self, given: Option<f64>, left_out: bool, until: &Until) -> Option<Found<S>> {
        let noise = self.rounds(given, left_out, until)?;
        Some(Found { low_rank: std::mem::take(&mut self.low_rank), rank: self.rank, noise })
    }

    /// Rounds until all rests, and the level that they end with.
    fn rounds(&mut self, given: Option<f64>, mut left_out: bool, until: &Until) -> Option<f64> {
        let first = self.first_level();
        let least = given.unwrap_or(LEAST * first).max(f64::MIN_POSITIVE.sqrt());
        let (mut level, mut round) = (first.max(least), Duration::ZERO);
        for _ in 0..ROUNDS {
            // A round is a decomposition. So is a step of the solver, for which time has to be left, and for a look at its end.
            if until.is_over(DOING) || until.left().is_some_and(|left| left < 4 * round) {
                return None;
            }
            let begun = Instant::now();
            if !until.run(DOING, || self.move_low_rank(level, left_out)) {
                return None;
            }
            let found = self.level(left_out.then_some(level)).max(least);
            let still = found >= (1.0 - RESTS[0]) * level;
            let rests = still && self.moved <= RESTS[usize::from(left_out)];
            level = found.max(FALL * level);
            if rests && left_out {
                break;
            }
            left_out |= rests;
            round = begun.elapsed();
        }
        Some(level)
    }

    /// |Y − L| of some of the known entries, spread evenly over these.
    fn rests(&self) -> Vec<f64> {
        let step = self.known.div_ceil(SEEN).max(1);
        let rests = self.y.iter().zip(&self.low_rank).map(|(y, l)| (*y - *l).f64().abs());
        rests.filter(|rest| !rest.is_nan()).step_by(step).collect()
    }

    /// What the medians leave; where most of it is 0, its standard deviation.
    fn first_level(&self) -> f64 {
        let rests = self.rests();
        let level = TO_DEVIATION * median(&rests);
        let deviation = (rests.iter().map(|rest| rest * rest).sum::<f64>() / rests.len().max(1) as f64).sqrt();
        if level > 0.0 { level } else { deviation }
    }

    /// The noise's level by what L leaves, of entries within 3 of the last where outliers are left out.
    fn level(&self, last: Option<f64>) -> f64 {
        let mut rests = self.rests();
        rests.retain(|rest| last.is_none_or(|last| *rest <= ABOVE_NOISE * last));
        if rests.is_empty() { 0.0 } else { TO_DEVIATION * median(&rests) }
    }

    /// L ← what of L + clipped rest stands out; false, and L stays, where there was no time for it or it has no decomposition.
    fn move_low_rank(&mut self, level: f64, left_out: bool) -> bool {
        let most = S::of(ABOVE_NOISE * level);
        let (mut squares, mut known) = (0.0, 0usize);
        for ((target, &y), &l) in self.target.iter_mut().zip(self.y).zip(&self.low_rank) {
            let rest = y - l;
            let clipped = if left_out && rest.abs() > most { S::ZERO } else { rest.larger(-most).smaller(most) };
            let is_known = !rest.f64().is_nan();
            *target = if is_known { l + clipped } else { l };
            if is_known {
                squares += clipped.f64().powi(2);
                known += 1;
            }
        }
        // As high as λ_L, for what moves stands out a little even where it is clipped; and clipped outliers are noise for L, too.
        let as_weight = ABOVE_NOISE * (self.rows.max(self.cols) as f64).sqrt() * level;
        let threshold = as_weight.max(self.edge * (squares / known.max(1) as f64).sqrt());
        let Some(k) = self.decompose(threshold) else { return false };
        self.rank = k;
        self.u.chunks_mut(k.max(1)).take(self.rows).for_each(|row| {
            row.iter_mut().zip(&self.values).for_each(|(u, &value)| *u *= value);
        });
        let next = &mut self.target;
        match k {
            0 => next.fill(S::ZERO),
            _ => {
                let (u, v) = (Mat::new(&self.u, self.rows, k), Mat::new(&self.v, self.cols, k));
                S::gemm(next, Into::Replace, S::ONE, u, v.t());
            }
        }
        let squares = next.iter().zip(&self.low_rank).map(|(a, b)| (*a - *b).f64().powi(2)).sum::<f64>();
        self.moved = squares.sqrt() / vector::norm2(next).max(f64::MIN_POSITIVE);
        std::mem::swap(&mut self.low_rank, &mut self.target);
        true
    }

    /// The singular values of the target above the threshold, with vectors, at most half of them; their number.
    fn decompose(&mut self, threshold: f64) -> Option<usize> {
        let Self { rows, cols, .. } = *self;
        let a = Mat::new(&self.target, rows, cols);
        if let Some(k) = low_rank::svd_above(&mut self.values, &mut self.u, &mut self.v, a, threshold, &mut self.work) {
            return Some(k);
        }
        let size = rows.min(cols);
        for (vectors, length) in [(&mut self.u, rows * size), (&mut self.v, cols * size)] {
            vectors.resize(length, S::ZERO);
        }
        self.work.resize(low_rank::svd_work_len::<S>(rows, cols).max(self.work.len()), S::ZERO);
        let found = low_rank::svd(&mut self.values, &mut self.u, &mut self.v, a, &mut self.work)?;
        if patience::is_over() {
            return None;
        }
        let above = self.values.iter().filter(|value| value.f64() > threshold).count();
        let kept = above.min(size / 2).min(found);
        for (vectors, length) in [(&mut self.u, rows), (&mut self.v, cols)] {
            (0..length).for_each(|row| vectors.copy_within(row * found..row * found + kept, row * kept));
        }
        Some(kept)
    }
}

/// The best threshold for singular values of a rows×cols matrix with noise of standard deviation 1.
fn edge(rows: usize, cols: usize) -> f64 {
    let (short, long) = (rows.min(cols) as f64, rows.max(cols) as f64);
    let ratio = short / long;
    let root = (ratio * ratio + 14.0 * ratio + 1.0).sqrt();
    (2.0 * (ratio + 1.0) + 8.0 * ratio / (ratio + 1.0 + root)).sqrt() * long.sqrt()
}
