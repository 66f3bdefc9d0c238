//! What ranks agree on: sums in one order, the largest of all, and rows of neighbours.

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use melmo::real::Real;

use crate::ranks::Ranks;

/// What talking took so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Time, waiting for others included.
    pub time: Duration,
    /// How often everybody had to meet.
    pub meetings: u64,
    /// Numbers, of eight bytes, that this rank sent.
    pub sent: u64,
}

/// [`Spent`], for those who look at it while a solver has the space.
pub type Meter = Arc<Mutex<Spent>>;

/// Up to so many numbers from all ranks together are sent to everybody and added there: one meeting. Longer ones are added in parts,
/// each by one rank: two meetings, and no rank receives more than twice what it has.
const SHORT: usize = 1 << 12;

/// The ranks, room for messages, and whether one was lost. Sums are taken in the order of the ranks, so that everybody has the same bits,
/// and has them again in another run on as many ranks. After a loss every number is NaN.
pub(crate) struct Talk {
    ranks: Box<dyn Ranks>,
    counts: Vec<usize>,
    from: Vec<usize>,
    own: Vec<f64>,
    all: Vec<f64>,
    part: Vec<f64>,
    pub spent: Meter,
    pub lost: bool,
}

impl Talk {
    pub fn new(ranks: Box<dyn Ranks>) -> Self {
        let [counts, from] = [vec![0; ranks.size()], vec![0; ranks.size()]];
        let [own, all, part] = [Vec::new(), Vec::new(), Vec::new()];
        Self { ranks, counts, from, own, all, part, spent: Meter::default(), lost: false }
    }

    pub fn rank(&self) -> usize {
        self.ranks.rank()
    }

    pub fn size(&self) -> usize {
        self.ranks.size()
    }

    /// Does something together; what it took is counted.
    fn meet(&mut self, sent: usize, act: impl FnOnce(&mut Self) -> bool) -> bool {
        if self.lost {
            return false;
        }
        let begun = Instant::now();
        self.lost = !act(self);
        if let Ok(mut spent) = self.spent.lock() {
            spent.time += begun.elapsed();
            spent.meetings += 1;
            spent.sent += sent as u64;
        }
        !self.lost
    }

    /// `all` ← the numbers of all ranks, so many of each; NaN where one was lost.
    pub fn gather(&mut self, own: &[f64], counts: &[usize], all: &mut [f64]) {
        if !self.meet(own.len(), |talk| talk.ranks.gather(own, counts, all).is_ok()) {
            all.fill(f64::NAN);
        }
    }

    /// The numbers of all ranks, N of each, one array a rank. Not kept: for a few.
    pub fn each<const N: usize>(&mut self, own: [f64; N]) -> impl Iterator<Item = [f64; N]> {
        let mut all = std::mem::take(&mut self.all);
        all.resize(N * self.size(), 0.0);
        let mut counts = std::mem::take(&mut self.counts);
        counts.fill(N);
        self.gather(&own, &counts, &mut all);
        (self.all, self.counts) = (all, counts);
        self.all.chunks_exact(N).map(|part| std::array::from_fn(|i| part[i]))
    }

    /// Sums over all ranks.
    pub fn sums<const N: usize>(&mut self, own: [f64; N]) -> [f64; N] {
        let add = |total: [f64; N], part: [f64; N]| std::array::from_fn(|i| total[i] + part[i]);
        self.each(own).reduce(add).unwrap_or(own)
    }

    pub fn sum(&mut self, own: f64) -> f64 {
        let [total] = self.sums([own]);
        total
    }

    /// The largest of all; NaN where one is.
    pub fn largest(&mut self, own: f64) -> f64 {
        self.each([own]).fold(f64::NEG_INFINITY, |most, [part]| if part > most || part.is_nan() { part } else { most })
    }

    /// √Σ of squares of what is ≥ 0, without leaving the range of numbers on the way.
    pub fn hypot(&mut self, own: f64) -> f64 {
        let most = self.largest(own);
        if most == 0.0 || !most.is_finite() {
            return most;
        }
        most * self.sum((own / most).powi(2)).sqrt()
    }

    /// Replaces numbers, and the entries of x in these ranges, by their sums over all ranks.
    pub fn sum_all<S: Real>(&mut self, scalars: &mut [f64], x: &mut [S], ranges: &[Range<usize>]) {
        let mut own = std::mem::take(&mut self.own);
        own.clear();
        own.extend_from_slice(scalars);
        ranges.iter().for_each(|range| own.extend(x[range.clone()].iter().map(|v| v.f64())));
        self.sum_buffer(&mut own);
        let (first, mut rest) = own.split_at(scalars.len());
        scalars.copy_from_slice(first);
        for range in ranges {
            let (part, others) = rest.split_at(range.len());
            x[range.clone()].iter_mut().zip(part).for_each(|(to, &sum)| *to = S::of(sum));
            rest = others;
        }
        self.own = own;
    }

    fn sum_buffer(&mut self, own: &mut [f64]) {
        let (size, n) = (self.size(), own.len());
        let (mut all, mut part) = (std::mem::take(&mut self.all), std::mem::take(&mut self.part));
        let mut counts = std::mem::take(&mut self.counts);
        if n * size <= SHORT {
            counts.fill(n);
            all.resize(n * size, 0.0);
            self.gather(own, &counts, &mut all);
            own.fill(0.0);
            all.chunks_exact(n.max(1)).for_each(|part| add(own, part));
        } else {
            counts.iter_mut().enumerate().for_each(|(rank, count)| *count = share(n, rank, size).len());
            let mine = counts[self.rank()];
            all.resize(mine * size, 0.0);
            self.from.fill(mine);
            if !self.meet(n - mine, |talk| talk.ranks.trade(own, &counts, &mut all, &talk.from).is_ok()) {
                all.fill(f64::NAN);
            }
            part.clear();
            part.resize(mine, 0.0);
            all.chunks_exact(mine.max(1)).for_each(|numbers| add(&mut part, numbers));
            self.gather(&part, &counts, own);
        }
        (self.all, self.part, self.counts) = (all, part, counts);
    }

    /// Rows of one's own go to the neighbours, theirs come here: `send` and `receive` are (to and from) the rank before and the one after,
    /// as ranges of `x`; empty where there is nobody.
    pub fn beside<S: Real>(&mut self, x: &mut [S], send: &[Range<usize>; 2], receive: &[Range<usize>; 2]) {
        let (mut own, mut all) = (std::mem::take(&mut self.own), std::mem::take(&mut self.all));
        own.clear();
        send.iter().for_each(|range| own.extend(x[range.clone()].iter().map(|v| v.f64())));
        all.resize(receive[0].len() + receive[1].len(), 0.0);
        let (first, second) = own.split_at(send[0].len());
        let (before, after) = all.split_at_mut(receive[0].len());
        if !self.meet(own.len(), |talk| talk.ranks.beside([first, second], [before, after]).is_ok()) {
            all.fill(f64::NAN);
        }
        let (before, after) = all.split_at(receive[0].len());
        for (range, numbers) in receive.iter().zip([before, after]) {
            x[range.clone()].iter_mut().zip(numbers).for_each(|(to, &v)| *to = S::of(v));
        }
        (self.own, self.all) = (own, all);
    }
}

fn add(total: &mut [f64], part: &[f64]) {
    total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
}

/// The part of n things that a rank has: the first ranks have one more where they cannot be shared equally.
pub fn share(n: usize, rank: usize, size: usize) -> Range<usize> {
    let (each, more) = (n / size, n % size);
    let start = rank * each + rank.min(more);
    start..start + each + usize::from(rank < more)
}
