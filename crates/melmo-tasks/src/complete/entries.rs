//! The entries of a matrix that are known, in row order.

use melmo::seeded::Seeded;
use melmo::sparse::Csr;
use melmo::threads;

use crate::error::Error;
use crate::magnitude;

/// Known entries of a matrix: by row and then by column, none twice, all finite, at least two.
#[derive(Clone, Debug, PartialEq)]
pub struct Entries {
    matrix: Csr<f64>,
}

/// More entries than these are many: what is chosen is chosen on a sample of so many, and what is fitted is fitted less closely.
pub const MANY: usize = 2_000_000;

impl Entries {
    /// The entries of Y that are numbers, and 1 in the mask where there is one. Refuses ±∞, and a matrix with fewer than two.
    pub fn of_matrix(y: &[f64], mask: Option<&[f64]>, rows: usize, cols: usize) -> Result<Self, Error> {
        melmo::error::Error::expect_len("Y", rows * cols, y.len())?;
        let observed = crate::recover::observed(y, mask)?;
        let known = y.iter().zip(&observed).enumerate().filter(|(_, (_, m))| **m > 0.0);
        Self::new(rows, cols, known.map(|(at, (&y, _))| (at / cols, at % cols, y)).collect())
    }

    /// Entries in any order; those that are given several times are averaged.
    pub fn new(rows: usize, cols: usize, list: Vec<(usize, usize, f64)>) -> Result<Self, Error> {
        let list = list.iter().map(|&(i, j, y)| (i as u32, j as u32, y));
        let mean = |_, _, values: &[f64]| Ok(values.iter().sum::<f64>() / values.len() as f64);
        let matrix = Csr::from_entries(rows, cols, list, mean);
        Self::of_sparse(matrix.map_err(|melmo::sparse::Misfit(why)| Error::input("known entries", why, "a matrix"))?)
    }

    /// What a sparse matrix stores.
    pub fn of_sparse(matrix: Csr<f64>) -> Result<Self, Error> {
        if let Some((i, j, y)) = matrix.iter().find(|(_, _, y)| !y.is_finite()) {
            let what = format!("the entry in row {}, column {}", i + 1, j + 1);
            return Err(Error::input(what, y.to_string(), "a finite number, or NaN where none is known"));
        }
        magnitude::check::<f64>("known entries", magnitude::largest(matrix.values().iter().copied()))?;
        if matrix.len() < 2 {
            let found = if matrix.is_empty() { "none: every entry is missing".into() } else { "one".to_string() };
            return Err(Error::input("known entries", found, "at least two"));
        }
        Ok(Self { matrix })
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.matrix.rows()
    }

    /// Columns of the matrix.
    pub fn cols(&self) -> usize {
        self.matrix.cols()
    }

    /// Number of known entries.
    pub fn count(&self) -> usize {
        self.matrix.len()
    }

    /// There are [`MANY`].
    pub fn are_many(&self) -> bool {
        self.count() > MANY
    }

    /// By rows.
    pub fn matrix(&self) -> &Csr<f64> {
        &self.matrix
    }

    /// (row, column, value) of each.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, f64)> + Clone + '_ {
        self.matrix.iter()
    }

    /// A random share of the entries, and the rest; both keep at least one.
    pub fn split(&self, share: f64, seed: u64) -> (Self, Self) {
        let n = self.count();
        let count = ((share * n as f64).round() as usize).clamp(1, n - 1);
        let held = drawn(n, count, seed);
        let part = |which: bool| {
            let mut at = held.iter();
            Self { matrix: self.matrix.filter(|_, _, _| at.next().is_some_and(|held| *held == which)) }
        };
        (part(true), part(false))
    }

    /// Random rows with about so many entries, without the others; all of them where there are no more.
    pub fn sample(&self, most: usize, seed: u64) -> Self {
        if self.count() <= most {
            return self.clone();
        }
        let share = most as f64 / self.count() as f64;
        let rows = ((share * self.rows() as f64).ceil() as usize).clamp(1, self.rows());
        let taken = drawn(self.rows(), rows, seed);
        let kept: Vec<usize> = (0..self.rows()).filter(|&i| taken[i]).collect();
        let entries = kept.iter().zip(0..).flat_map(|(&i, row)| {
            let (columns, values) = self.matrix.row(i);
            columns.iter().zip(values).map(move |(&j, &y)| (row, j, y))
        });
        let first = |_, _, values: &[f64]| Ok::<_, melmo::sparse::Misfit>(values[0]);
        match Csr::from_entries(kept.len(), self.cols(), entries, first) {
            Ok(matrix) if matrix.len() > 1 => Self { matrix },
            _ => self.clone(),
        }
    }

    /// Y, 0 where it is not known, and the mask of what is.
    pub fn dense(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut y, mut mask) = (vec![0.0; self.rows() * self.cols()], vec![0.0; self.rows() * self.cols()]);
        for (i, j, value) in self.iter() {
            (y[i * self.cols() + j], mask[i * self.cols() + j]) = (value, 1.0);
        }
        (y, mask)
    }

    /// The same places with other values.
    #[must_use]
    pub fn map(mut self, value: impl Fn(usize, usize, f64) -> f64) -> Self {
        let (mut i, starts) = (0, self.matrix.starts().to_vec());
        for at in 0..self.count() {
            while at >= starts[i + 1] {
                i += 1;
            }
            let j = self.matrix.columns()[at] as usize;
            let y = &mut self.matrix.values_mut()[at];
            *y = value(i, j, *y);
        }
        self
    }

    /// How many rows and columns have no entry.
    pub fn empty(&self) -> (usize, usize) {
        let mut cols = vec![true; self.cols()];
        self.matrix.columns().iter().for_each(|&j| cols[j as usize] = false);
        let rows = (0..self.rows()).filter(|&i| self.matrix.span(i).is_empty()).count();
        (rows, cols.iter().filter(|empty| **empty).count())
    }

    /// Whether predictions are better than 0 by more than chance: by two standard errors of the squares that they save.
    pub fn gains(&self, prediction: impl Fn(usize, usize) -> f64) -> bool {
        let saved: Vec<f64> = self.iter().map(|(i, j, y)| y * y - (y - prediction(i, j)).powi(2)).collect();
        let n = saved.len() as f64;
        let mean = saved.iter().sum::<f64>() / n;
        let variance = saved.iter().map(|saved| (saved - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        mean > 2.0 * (variance / n).sqrt()
    }

    /// How far predictions are from the values.
    pub fn score(&self, prediction: impl Fn(usize, usize) -> f64 + Sync) -> Score {
        let size = threads::block(self.rows(), 1, 1024);
        let blocks = (0..self.rows().div_ceil(size)).map(|block| block * size..((block + 1) * size).min(self.rows()));
        let [squares, sizes] = threads::sums(self.count() * 20, blocks, |rows| {
            let (mut squares, mut sizes) = (0.0, 0.0);
            for i in rows {
                let (columns, values) = self.matrix.row(i);
                for (&j, &y) in columns.iter().zip(values) {
                    let error = prediction(i, j as usize) - y;
                    (squares, sizes) = (squares + error * error, sizes + error.abs());
                }
            }
            [squares, sizes]
        });
        let n = self.count() as f64;
        Score { rmse: (squares / n).sqrt(), mae: sizes / n }
    }
}

/// `count` of n places, drawn without putting any back.
fn drawn(n: usize, count: usize, seed: u64) -> Vec<bool> {
    let mut seeded = Seeded::new(seed);
    let mut order: Vec<u32> = (0..n as u32).collect();
    for at in 0..count {
        let other = at + (seeded.bits() % (n - at) as u64) as usize;
        order.swap(at, other);
    }
    let mut held = vec![false; n];
    order[..count].iter().for_each(|&at| held[at as usize] = true);
    held
}

/// Errors of predictions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The root of the mean square.
    pub rmse: f64,
    /// The mean size.
    pub mae: f64,
}

impl Score {
    /// Of some errors; NaN of none.
    pub fn of(errors: impl Iterator<Item = f64>) -> Self {
        let (mut squares, mut sizes, mut n) = (0.0, 0.0, 0.0);
        for error in errors {
            (squares, sizes, n) = (squares + error * error, sizes + error.abs(), n + 1.0);
        }
        Self { rmse: (squares / n).sqrt(), mae: sizes / n }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_masked_entries_are_left_out() {
        let y = [1.0, f64::NAN, 3.0, 4.0];
        let entries = Entries::of_matrix(&y, Some(&[1.0, 1.0, 0.0, 1.0]), 2, 2).unwrap();
        assert!(entries.iter().eq([(0, 0, 1.0), (1, 1, 4.0)]));
        assert_eq!(entries.dense(), (vec![1.0, 0.0, 0.0, 4.0], vec![1.0, 0.0, 0.0, 1.0]));
        assert!(Entries::of_matrix(&[f64::NAN; 4], None, 2, 2).unwrap_err().to_string().contains("every entry"));
        assert!(Entries::of_matrix(&[1.0, f64::INFINITY, 0.0, 0.0], None, 2, 2).is_err());
    }

    #[test]
    fn a_gain_is_more_than_chance() {
        let list = (0..40).map(|k| (k / 8, k % 8, if k % 2 == 0 { 1.0 } else { -1.0 })).collect();
        let entries = Entries::new(5, 8, list).unwrap();
        assert!(entries.gains(|_, j| if j % 2 == 0 { 0.3 } else { -0.2 }));
        assert!(!entries.gains(|_, _| 0.0) && !entries.gains(|i, _| if i < 3 { 0.3 } else { -0.3 }));
    }

    #[test]
    fn repeated_entries_are_averaged() {
        let entries = Entries::new(2, 3, vec![(1, 2, 4.0), (0, 0, 1.0), (1, 2, 2.0)]).unwrap();
        assert!(entries.iter().eq([(0, 0, 1.0), (1, 2, 3.0)]));
        assert_eq!(entries.empty(), (0, 1));
    }

    #[test]
    fn a_split_takes_the_share_and_loses_nothing() {
        let entries = Entries::new(10, 10, (0..100).map(|k| (k / 10, k % 10, k as f64)).collect()).unwrap();
        let (held, rest) = entries.split(0.2, 3);
        assert_eq!((held.count(), rest.count()), (20, 80));
        let mut all: Vec<_> = held.iter().chain(rest.iter()).collect();
        all.sort_by_key(|entry| (entry.0, entry.1));
        assert!(entries.iter().eq(all));
        assert_ne!(held, entries.split(0.2, 4).0);
        let score = held.score(|i, j| (10 * i + j) as f64 + 2.0);
        assert_eq!((score.rmse, score.mae), (2.0, 2.0));
    }

    #[test]
    fn a_sample_has_whole_rows() {
        let entries = Entries::new(50, 10, (0..500).map(|k| (k / 10, k % 10, k as f64)).collect()).unwrap();
        let sample = entries.sample(120, 1);
        assert_eq!((sample.rows(), sample.cols(), sample.count()), (12, 10, 120));
        assert_eq!(entries.sample(500, 1), entries);
    }
}
