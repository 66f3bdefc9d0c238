//! Alternating least squares on known entries: where factors start from, and how weights are tried out.

use melmo::seeded::Seeded;
use melmo::{cholesky, threads};

use crate::complete::entries::Entries;
use crate::until::Until;

/// Entries by row and by column.
pub struct Alternating {
    by_row: Lists,
    by_column: Lists,
}

/// W (rows×rank) and H (cols×rank: the transpose, so that both are read along rows).
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Columns of W.
    pub rank: usize,
    /// W.
    pub w: Vec<f64>,
    /// Hᵀ.
    pub ht: Vec<f64>,
}

/// Line i has the entries `of[start[i]..start[i + 1]]`: (place across, value).
struct Lists {
    start: Vec<usize>,
    of: Vec<(usize, f64)>,
}

impl Lists {
    fn new(lines: usize, entries: impl Iterator<Item = (usize, usize, f64)> + Clone) -> Self {
        let mut start = vec![0; lines + 1];
        entries.clone().for_each(|(line, ..)| start[line + 1] += 1);
        (0..lines).for_each(|line| start[line + 1] += start[line]);
        let (mut next, mut of) = (start.clone(), vec![(0, 0.0); start[lines]]);
        for (line, across, y) in entries {
            of[next[line]] = (across, y);
            next[line] += 1;
        }
        Self { start, of }
    }

    fn line(&self, i: usize) -> &[(usize, f64)] {
        &self.of[self.start[i]..self.start[i + 1]]
    }
}

impl Pair {
    /// W = 0 and a random H with entries of about this size.
    pub fn random(entries: &Entries, rank: usize, size: f64, seed: u64) -> Self {
        let ht: Vec<f64> = Seeded::new(seed).normals(entries.cols * rank);
        Self { rank, w: vec![0.0; entries.rows * rank], ht: ht.iter().map(|h| size * h).collect() }
    }

    /// (WH)ᵢⱼ.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        dot(&self.w[i * self.rank..][..self.rank], &self.ht[j * self.rank..][..self.rank])
    }

    /// H, rank×cols.
    pub fn h(&self) -> Vec<f64> {
        let cols = self.ht.len() / self.rank;
        (0..self.ht.len()).map(|at| self.ht[at % cols * self.rank + at / cols]).collect()
    }

    /// Wakes what has died out: W = H = 0 is a saddle that alternating steps never leave.
    pub fn stir(&mut self, size: f64, seed: u64) {
        let noise: Vec<f64> = Seeded::new(seed).normals(self.ht.len());
        self.ht.iter_mut().zip(noise).for_each(|(h, n)| *h += size * n);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Alternating {
    /// Sorts the entries.
    pub fn new(entries: &Entries) -> Self {
        let list = entries.list.iter().copied();
        Self {
            by_row: Lists::new(entries.rows, list.clone()),
            by_column: Lists::new(entries.cols, list.map(|(i, j, y)| (j, i, y))),
        }
    }

    /// Lowers ½Σ (y − (WH)ᵢⱼ)² + ν/2·(‖W‖² + ‖H‖²): exact in W and in H by turns, until it falls by less than `tolerance`
    /// of itself or `sweeps` are done, or somebody ends it. The same on any number of threads: every line is solved by one.
    pub fn lower(&self, pair: &mut Pair, ridge: f64, sweeps: usize, tolerance: f64, until: &Until) {
        let mut last = f64::INFINITY;
        for _ in 0..sweeps {
            if until.is_over("alternating least squares") {
                break;
            }
            half(&self.by_row, &mut pair.w, &pair.ht, pair.rank, ridge);
            let loss = half(&self.by_column, &mut pair.ht, &pair.w, pair.rank, ridge);
            let value = loss + 0.5 * ridge * dot(&pair.w, &pair.w);
            if last - value <= tolerance * value {
                break;
            }
            last = value;
        }
    }

    /// ‖M⊙Y‖₂, from below and nearly: by power iteration. From this ridge on W = H = 0 is the minimiser.
    pub fn norm(&self, seed: u64) -> f64 {
        const STEPS: usize = 30;
        let (rows, cols) = (self.by_row.start.len() - 1, self.by_column.start.len() - 1);
        let mut v: Vec<f64> = Seeded::new(seed).normals(cols);
        let times = |lists: &Lists, lines: usize, v: &[f64]| -> Vec<f64> {
            (0..lines).map(|i| lists.line(i).iter().map(|&(at, y)| y * v[at]).sum()).collect()
        };
        let mut norm = 0.0;
        for _ in 0..STEPS {
            let size = dot(&v, &v).sqrt();
            v.iter_mut().for_each(|v| *v /= size);
            let u = times(&self.by_row, rows, &v);
            norm = dot(&u, &u).sqrt();
            v = times(&self.by_column, cols, &u);
            if norm == 0.0 {
                break;
            }
        }
        norm
    }
}

/// Lines that a thread takes at a time.
const LINES: usize = 32;

/// Each line of `out` becomes the minimiser of ½Σ (y − ⟨line, across⟩)² + ν/2·‖line‖²; returns the sum of the minima.
fn half(lists: &Lists, out: &mut [f64], across: &[f64], rank: usize, ridge: f64) -> f64 {
    let solve = |(i, line): (usize, &mut [f64])| {
        let entries = lists.line(i);
        let mut gram = vec![0.0; rank * rank];
        let mut target = vec![0.0; rank];
        normal_equations(&mut gram, &mut target, entries, across);
        (0..rank).for_each(|k| gram[k * rank + k] += ridge);
        line.copy_from_slice(&target);
        // A pivot that rounding took below 0 (no ridge, too few entries) leaves its coordinate at 0.
        let least = f64::EPSILON * cholesky::largest_pivot(&gram, rank);
        cholesky::solve(&mut gram, line, least);
        let squares: f64 = entries.iter().map(|entry| entry.1 * entry.1).sum();
        0.5 * (squares - dot(&target, line)).max(0.0)
    };
    let mut minima = vec![0.0; lists.start.len() - 1];
    let blocks = out.chunks_mut(LINES * rank).zip(minima.chunks_mut(LINES)).enumerate();
    threads::share(lists.of.len() * rank * rank / 4, blocks, |(block, (out, minima))| {
        for (i, (line, minimum)) in out.chunks_mut(rank).zip(minima).enumerate() {
            *minimum = solve((block * LINES + i, line));
        }
    });
    minima.iter().sum() // in order, whoever computed them
}

/// G += Σ hhᵀ (its lower triangle), b += Σ yh over the entries of a line.
fn normal_equations(gram: &mut [f64], target: &mut [f64], entries: &[(usize, f64)], across: &[f64]) {
    let rank = target.len();
    for &(at, y) in entries {
        let h = &across[at * rank..][..rank];
        for k in 0..rank {
            target[k] += y * h[k];
            let (row, scale) = (&mut gram[k * rank..][..=k], h[k]);
            row.iter_mut().zip(h).for_each(|(g, h)| *g += scale * h);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn low_rank(rows: usize, cols: usize, rank: usize) -> Entries {
        let (w, h): (Vec<f64>, Vec<f64>) = (Seeded::new(1).normals(rows * rank), Seeded::new(2).normals(cols * rank));
        let pair = Pair { rank, w, ht: h };
        let all = (0..rows * cols).map(|at| (at / cols, at % cols, pair.at(at / cols, at % cols)));
        Entries::new(rows, cols, all.collect()).unwrap()
    }

    #[test]
    fn factors_are_found_from_some_of_the_entries() {
        let (rest, known) = low_rank(40, 30, 2).split(0.4, 5);
        let alternating = Alternating::new(&known);
        let mut pair = Pair::random(&known, 2, 1.0, 3);
        // Straight at a small ridge a random start can run off; from larger ones it does not.
        [1.0, 1e-2, 1e-4, 1e-8]
            .into_iter()
            .for_each(|ridge| alternating.lower(&mut pair, ridge, 200, 0.0, &Until::done()));
        let rmse = rest.score(|i, j| pair.at(i, j)).rmse;
        assert!(rmse < 1e-4, "{rmse}");
    }

    #[test]
    fn a_large_ridge_leaves_nothing_and_a_smaller_one_something() {
        let entries = low_rank(12, 9, 2);
        let alternating = Alternating::new(&entries);
        let norm = alternating.norm(1);
        let size = |ridge: f64| {
            let mut pair = Pair::random(&entries, 2, 1.0, 3);
            alternating.lower(&mut pair, ridge, 300, 0.0, &Until::done());
            dot(&pair.w, &pair.w)
        };
        assert!(size(1.05 * norm) < 1e-6 && size(0.9 * norm) > 1e-2);
    }

    #[test]
    fn h_is_the_transpose() {
        let pair = Pair { rank: 2, w: vec![0.0; 2], ht: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] };
        assert_eq!(pair.h(), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    }
}
