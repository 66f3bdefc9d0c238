//! m + aᵢ + bⱼ: what a row and a column say without each other.

use crate::complete::entries::Entries;
use crate::until::Until;

/// m + aᵢ + bⱼ, with m the mean and a, b minimising Σ (y − m − aᵢ − bⱼ)² + κ(‖a‖² + ‖b‖²).
///
/// A row with few entries is drawn to 0 by κ, one without any is 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Offsets {
    /// m.
    pub mean: f64,
    /// a, one a row.
    pub row: Vec<f64>,
    /// b, one a column.
    pub column: Vec<f64>,
}

impl Offsets {
    /// Nothing is taken off.
    pub fn none(entries: &Entries) -> Self {
        Self { mean: 0.0, row: vec![0.0; entries.rows], column: vec![0.0; entries.cols] }
    }

    /// The mean alone.
    pub fn mean(entries: &Entries) -> Self {
        let sum: f64 = entries.list.iter().map(|entry| entry.2).sum();
        Self { mean: sum / entries.list.len() as f64, ..Self::none(entries) }
    }

    /// The minimiser for κ = `weight` > 0: exact in a and in b by turns, until they rest or somebody ends it.
    pub fn fit(entries: &Entries, weight: f64, until: &Until) -> Self {
        const SWEEPS: usize = 200;
        let mut this = Self::mean(entries);
        let (mut of_row, mut of_column) = (vec![weight; entries.rows], vec![weight; entries.cols]);
        entries.list.iter().for_each(|&(i, j, _)| (of_row[i], of_column[j]) = (of_row[i] + 1.0, of_column[j] + 1.0));
        for _ in 0..SWEEPS {
            if until.is_over("offsets of rows and columns") {
                break;
            }
            let before = this.column.clone();
            this.column.fill(0.0);
            entries.list.iter().for_each(|&(i, j, y)| this.column[j] += y - this.mean - this.row[i]);
            this.column.iter_mut().zip(&of_column).for_each(|(b, count)| *b /= count);
            this.row.fill(0.0);
            entries.list.iter().for_each(|&(i, j, y)| this.row[i] += y - this.mean - this.column[j]);
            this.row.iter_mut().zip(&of_row).for_each(|(a, count)| *a /= count);
            let size = this.column.iter().fold(0.0, |size: f64, b| size.max(b.abs()));
            if this.column.iter().zip(&before).all(|(new, old)| (new - old).abs() <= 1e-9 * size) {
                break;
            }
        }
        this
    }

    /// m + aᵢ + bⱼ.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.mean + self.row[i] + self.column[j]
    }

    /// What is left of the entries without them.
    pub fn residual(&self, entries: &Entries) -> Entries {
        entries.map(|i, j, y| y - self.at(i, j))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_found_and_empty_rows_are_the_mean() {
        let list = (0..40).map(|k| (k / 8, k % 8, 3.0 + (k / 8) as f64 - 0.5 * (k % 8) as f64)).collect();
        let entries = Entries::new(6, 8, list).unwrap();
        let offsets = Offsets::fit(&entries, 1e-9, &Until::done());
        assert!(entries.score(|i, j| offsets.at(i, j)).rmse < 1e-7);
        assert_eq!(offsets.row[5], 0.0);
        assert!(Offsets::fit(&entries, 10.0, &Until::done()).row[0].abs() < offsets.row[0].abs());
        assert!(offsets.residual(&entries).list.iter().all(|entry| entry.2.abs() < 1e-6));
        let over = Until::after(Some(std::time::Duration::ZERO));
        assert_eq!(Offsets::fit(&entries, 10.0, &over), Offsets::mean(&entries));
    }
}
