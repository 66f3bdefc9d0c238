//! The entries of a matrix that are known, in row order.

use melmo::seeded::Seeded;

use crate::error::Error;
use crate::magnitude;

/// Known entries of a rows×cols matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Entries {
    /// Rows of the matrix.
    pub rows: usize,
    /// Columns of the matrix.
    pub cols: usize,
    /// (row, column, value), by row and then by column, none twice.
    pub list: Vec<(usize, usize, f64)>,
}

impl Entries {
    /// The entries of Y that are numbers, and 1 in the mask where there is one. Refuses ±∞, and a matrix with fewer than two.
    pub fn of_matrix(y: &[f64], mask: Option<&[f64]>, rows: usize, cols: usize) -> Result<Self, Error> {
        melmo::error::Error::expect_len("Y", rows * cols, y.len())?;
        let observed = crate::recover::observed(y, mask)?;
        let known = y.iter().zip(&observed).enumerate().filter(|(_, (_, m))| **m > 0.0);
        Self::new(rows, cols, known.map(|(at, (&y, _))| (at / cols, at % cols, y)).collect())
    }

    /// Entries in any order; those that are given several times are averaged.
    pub fn new(rows: usize, cols: usize, mut list: Vec<(usize, usize, f64)>) -> Result<Self, Error> {
        if let Some((i, j, y)) = list.iter().find(|(_, _, y)| !y.is_finite()) {
            let what = format!("the entry in row {}, column {}", i + 1, j + 1);
            return Err(Error::input(what, y.to_string(), "a finite number, or NaN where none is known"));
        }
        magnitude::check::<f64>("known entries", magnitude::largest(list.iter().map(|entry| entry.2)))?;
        list.sort_by_key(|&(i, j, _)| (i, j));
        let mut merged: Vec<(usize, usize, f64)> = Vec::with_capacity(list.len());
        for group in list.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let mean = group.iter().map(|entry| entry.2).sum::<f64>() / group.len() as f64;
            merged.push((group[0].0, group[0].1, mean));
        }
        if merged.len() < 2 {
            let found = if merged.is_empty() { "none: every entry is missing".into() } else { "one".to_string() };
            return Err(Error::input("known entries", found, "at least two"));
        }
        Ok(Self { rows, cols, list: merged })
    }

    /// A random share of the entries, and the rest; both keep at least one.
    pub fn split(&self, share: f64, seed: u64) -> (Self, Self) {
        let n = self.list.len();
        let count = ((share * n as f64).round() as usize).clamp(1, n - 1);
        let mut seeded = Seeded::new(seed);
        let mut order: Vec<usize> = (0..n).collect();
        for at in 0..count {
            let other = at + (seeded.bits() % (n - at) as u64) as usize;
            order.swap(at, other);
        }
        let mut held = vec![false; n];
        order[..count].iter().for_each(|&at| held[at] = true);
        let part = |which: bool| {
            let list = self.list.iter().zip(&held).filter(|(_, held)| **held == which).map(|(entry, _)| *entry);
            Self { rows: self.rows, cols: self.cols, list: list.collect() }
        };
        (part(true), part(false))
    }

    /// Y, 0 where it is not known, and the mask of what is.
    pub fn dense(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut y, mut mask) = (vec![0.0; self.rows * self.cols], vec![0.0; self.rows * self.cols]);
        for &(i, j, value) in &self.list {
            (y[i * self.cols + j], mask[i * self.cols + j]) = (value, 1.0);
        }
        (y, mask)
    }

    /// The same places with other values.
    pub fn map(&self, value: impl Fn(usize, usize, f64) -> f64) -> Self {
        let list = self.list.iter().map(|&(i, j, y)| (i, j, value(i, j, y))).collect();
        Self { list, ..*self }
    }

    /// How many rows and columns have no entry.
    pub fn empty(&self) -> (usize, usize) {
        let (mut rows, mut cols) = (vec![true; self.rows], vec![true; self.cols]);
        self.list.iter().for_each(|&(i, j, _)| (rows[i], cols[j]) = (false, false));
        (rows.iter().filter(|empty| **empty).count(), cols.iter().filter(|empty| **empty).count())
    }

    /// Whether predictions are better than 0 by more than chance: by two standard errors of the squares that they save.
    pub fn gains(&self, prediction: impl Fn(usize, usize) -> f64) -> bool {
        let saved: Vec<f64> = self.list.iter().map(|&(i, j, y)| y * y - (y - prediction(i, j)).powi(2)).collect();
        let n = saved.len() as f64;
        let mean = saved.iter().sum::<f64>() / n;
        let variance = saved.iter().map(|saved| (saved - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        mean > 2.0 * (variance / n).sqrt()
    }

    /// How far predictions are from the values.
    pub fn score(&self, prediction: impl Fn(usize, usize) -> f64) -> Score {
        Score::of(self.list.iter().map(|&(i, j, y)| prediction(i, j) - y))
    }
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
        assert_eq!(entries.list, [(0, 0, 1.0), (1, 1, 4.0)]);
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
        assert_eq!(entries.list, [(0, 0, 1.0), (1, 2, 3.0)]);
        assert_eq!(entries.empty(), (0, 1));
    }

    #[test]
    fn a_split_takes_the_share_and_loses_nothing() {
        let entries = Entries::new(10, 10, (0..100).map(|k| (k / 10, k % 10, k as f64)).collect()).unwrap();
        let (held, rest) = entries.split(0.2, 3);
        assert_eq!((held.list.len(), rest.list.len()), (20, 80));
        let mut all = [held.list.clone(), rest.list].concat();
        all.sort_by_key(|entry| (entry.0, entry.1));
        assert_eq!(all, entries.list);
        assert_ne!(held, entries.split(0.2, 4).0);
        let score = held.score(|i, j| (10 * i + j) as f64 + 2.0);
        assert_eq!((score.rmse, score.mae), (2.0, 2.0));
    }
}
