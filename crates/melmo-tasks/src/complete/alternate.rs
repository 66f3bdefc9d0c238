//! Alternating least squares on known entries: where factors start from, and how weights are tried out.

use melmo::known::{Feedback, Known, Scratch, Side};
use melmo::seeded::Seeded;
use melmo::sparse::Csr;

use crate::complete::entries::Entries;
use crate::until::Until;

/// Entries by row and by column.
pub struct Alternating {
    known: Known<f64>,
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

impl Pair {
    /// W = 0 and a random H with entries of about this size.
    pub fn random(entries: &Entries, rank: usize, size: f64, seed: u64) -> Self {
        Self::of_sides([entries.rows(), entries.cols()], rank, size, seed)
    }

    /// The same for so many rows and columns.
    pub fn of_sides([rows, cols]: [usize; 2], rank: usize, size: f64, seed: u64) -> Self {
        let ht: Vec<f64> = Seeded::new(seed).normals(cols * rank);
        Self { rank, w: vec![0.0; rows * rank], ht: ht.iter().map(|h| size * h).collect() }
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
        Self { known: Known::new(entries.matrix().clone(), Feedback::Explicit).expect("entries are finite") }
    }

    /// Lowers ½Σ (y − (WH)ᵢⱼ)² + ν/2·(‖W‖² + ‖H‖²): exact in W and in H by turns, until it falls by less than `tolerance`
    /// of itself or `sweeps` are done, or somebody ends it. The same on any number of threads: every line is solved by one.
    pub fn lower(&self, pair: &mut Pair, ridge: f64, sweeps: usize, tolerance: f64, until: &Until) {
        let (mut last, mut scratch) = (f64::INFINITY, Scratch::new(pair.rank));
        for _ in 0..sweeps {
            if until.is_over("alternating least squares") {
                break;
            }
            self.known.ridge(Side::Rows, &mut pair.w, &pair.ht, ridge, None, &mut scratch);
            let loss = self.known.ridge(Side::Columns, &mut pair.ht, &pair.w, ridge, None, &mut scratch);
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
        let [by_row, by_column] = [Side::Rows, Side::Columns].map(|side| self.known.lines(side));
        let mut v: Vec<f64> = Seeded::new(seed).normals(by_row.cols());
        let mut norm = 0.0;
        for _ in 0..STEPS {
            let size = dot(&v, &v).sqrt();
            v.iter_mut().for_each(|v| *v /= size);
            let u = times(by_row, &v);
            norm = dot(&u, &u).sqrt();
            v = times(by_column, &u);
            if norm == 0.0 {
                break;
            }
        }
        norm
    }
}

fn times(lines: &Csr<f64>, v: &[f64]) -> Vec<f64> {
    let line = |(at, values): (&[u32], &[f64])| at.iter().zip(values).map(|(&at, y)| y * v[at as usize]).sum();
    (0..lines.rows()).map(|i| line(lines.row(i))).collect()
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
