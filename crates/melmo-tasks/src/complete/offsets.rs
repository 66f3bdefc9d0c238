//! m + aᵢ + bⱼ: what a row and a column say without each other.

use std::convert::Infallible;

use melmo::sparse::Csr;

use crate::complete::entries::{Entries, MANY};
use crate::until::Until;

/// How many lines have an entry, where these are the weight and their entries.
fn known(of: &[f64], weight: f64) -> f64 {
    of.iter().filter(|&&count| count > weight).count() as f64
}

/// m + aᵢ + bⱼ, with m the mean and a, b minimising Σ (y − m − aᵢ − bⱼ)² + weight·(‖a‖² + ‖b‖²).
///
/// A row with few entries is drawn to 0 by the weight, one without any is 0.
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
        Self { mean: 0.0, row: vec![0.0; entries.rows()], column: vec![0.0; entries.cols()] }
    }

    /// The mean alone.
    pub fn mean(entries: &Entries) -> Self {
        let sum: f64 = entries.matrix().values().iter().sum();
        Self { mean: sum / entries.count() as f64, ..Self::none(entries) }
    }

    /// The minimiser for a weight > 0: exact in a, in b and in what can be moved from one to the other by turns, until they
    /// rest or somebody ends it.
    pub fn fit(entries: &Entries, weight: f64, until: &Until) -> Self {
        Self::alone(entries, weight, true, until)
    }

    /// As results of before have them: turns of a and b alone. With a small weight these are far from the minimiser after all sweeps.
    pub fn fit_by_turns(entries: &Entries, weight: f64, until: &Until) -> Self {
        Self::alone(entries, weight, false, until)
    }

    fn alone(entries: &Entries, weight: f64, balanced: bool, until: &Until) -> Self {
        let ask = |_: &mut [f64]| Ok::<_, Infallible>(until.is_over("offsets of rows and columns"));
        let Ok(found) = Self::swept(entries.matrix(), weight, balanced, ask);
        found
    }

    /// The same of a matrix whose rows lie in parts, of which these are one: a of these rows, b of all. `sum` replaces numbers by their
    /// sums over the parts, in one order, and says whether it is time to end; every part asks for as much.
    pub fn fit_part<E>(
        rows: &Csr<f64>,
        weight: f64,
        sum: impl FnMut(&mut [f64]) -> Result<bool, E>,
    ) -> Result<Self, E> {
        Self::swept(rows, weight, true, sum)
    }

    /// Turns of a and b, where it is `balanced` with what can be moved between them after each.
    fn swept<E>(
        entries: &Csr<f64>,
        weight: f64,
        balanced: bool,
        mut sum: impl FnMut(&mut [f64]) -> Result<bool, E>,
    ) -> Result<Self, E> {
        const SWEEPS: usize = 200;
        let (rows, cols) = (entries.rows(), entries.cols());
        let mut of_row = vec![weight; rows];
        // Of all parts: entries of every column, the sum and the number of all entries, and rows that have one.
        let mut told = vec![0.0; cols + 3];
        entries.iter().for_each(|(i, j, y)| {
            (of_row[i], told[j], told[cols]) = (of_row[i] + 1.0, told[j] + 1.0, told[cols] + y);
        });
        (told[cols + 1], told[cols + 2]) = (entries.len() as f64, known(&of_row, weight));
        let over = sum(&mut told)?;
        let (count, known_rows) = (told[cols + 1], told[cols + 2]);
        let mut this = Self { mean: told[cols] / count, row: vec![0.0; rows], column: vec![0.0; cols] };
        let of_column: Vec<f64> = told[..cols].iter().map(|count| count + weight).collect();
        let known_lines = known_rows + known(&of_column, weight);
        let rest = if count > MANY as f64 { 1e-6 } else { 1e-9 };
        let mut column = vec![0.0; cols];
        for _ in 0..if over { 0 } else { SWEEPS } {
            column.fill(0.0);
            entries.iter().for_each(|(i, j, y)| column[j] += y - this.mean - this.row[i]);
            if sum(&mut column)? {
                break;
            }
            column.iter_mut().zip(&of_column).for_each(|(b, count)| *b /= count);
            std::mem::swap(&mut this.column, &mut column);
            this.row.fill(0.0);
            entries.iter().for_each(|(i, j, y)| this.row[i] += y - this.mean - this.column[j]);
            this.row.iter_mut().zip(&of_row).for_each(|(a, count)| *a /= count);
            if balanced {
                let mut of_rows = [this.row.iter().sum::<f64>()];
                sum(&mut of_rows)?;
                let c = (this.column.iter().sum::<f64>() - of_rows[0]) / known_lines;
                this.balance([&of_row, &of_column], weight, c);
            }
            let size = this.column.iter().fold(0.0, |size: f64, b| size.max(b.abs()));
            if this.column.iter().zip(&column).all(|(new, old)| (new - old).abs() <= rest * size) {
                break;
            }
        }
        Ok(this)
    }

    /// a + c, b − c where there are entries: aᵢ + bⱼ stays, and the weight alone decides which c is best. By turns that would take hundreds of
    /// sweeps.
    fn balance(&mut self, [of_row, of_column]: [&[f64]; 2], weight: f64, c: f64) {
        let shift = |offsets: &mut [f64], of: &[f64], c: f64| {
            offsets.iter_mut().zip(of).filter(|(_, count)| **count > weight).for_each(|(offset, _)| *offset += c);
        };
        shift(&mut self.row, of_row, c);
        shift(&mut self.column, of_column, -c);
    }

    /// m + aᵢ + bⱼ.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.mean + self.row[i] + self.column[j]
    }

    /// What is left of the entries without them.
    pub fn residual(&self, entries: Entries) -> Entries {
        entries.map(|i, j, y| y - self.at(i, j))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The gradient of Σ (y − m − aᵢ − bⱼ)² + weight·(‖a‖² + ‖b‖²) is 0 after the sweeps that there are: with a small weight turns alone were far
    /// from there, after 200.
    #[test]
    fn offsets_are_the_minimiser() {
        let list: Vec<_> = (0..60).flat_map(|i| (0..50).map(move |j| (i, j))).collect();
        let list = list.into_iter().filter(|(i, j)| (i * 7 + j * 3) % 5 != 0);
        let list = list.map(|(i, j)| (i, j, (i as f64).sin() + 3.0 * ((j * j) as f64).cos() + ((i * j) as f64).sin()));
        let entries = Entries::new(61, 50, list.collect()).unwrap();
        let (weight, offsets) = (0.01, Offsets::fit(&entries, 0.01, &Until::done()));
        let mut of_row: Vec<f64> = offsets.row.iter().map(|a| weight * a).collect();
        let mut of_column: Vec<f64> = offsets.column.iter().map(|b| weight * b).collect();
        for (i, j, y) in entries.iter() {
            let rest = y - offsets.at(i, j);
            (of_row[i], of_column[j]) = (of_row[i] - rest, of_column[j] - rest);
        }
        let largest = of_row.iter().chain(&of_column).fold(0.0, |most: f64, v| most.max(v.abs()));
        assert!(largest < 1e-7, "{largest}");
    }

    #[test]
    fn sums_are_found_and_empty_rows_are_the_mean() {
        let list = (0..40).map(|k| (k / 8, k % 8, 3.0 + (k / 8) as f64 - 0.5 * (k % 8) as f64)).collect();
        let entries = Entries::new(6, 8, list).unwrap();
        let offsets = Offsets::fit(&entries, 1e-9, &Until::done());
        assert!(entries.score(|i, j| offsets.at(i, j)).rmse < 1e-7);
        assert_eq!(offsets.row[5], 0.0);
        assert!(Offsets::fit(&entries, 10.0, &Until::done()).row[0].abs() < offsets.row[0].abs());
        assert!(offsets.residual(entries.clone()).iter().all(|entry| entry.2.abs() < 1e-6));
        let over = Until::after(Some(std::time::Duration::ZERO));
        assert_eq!(Offsets::fit(&entries, 10.0, &over), Offsets::mean(&entries));
    }
}
