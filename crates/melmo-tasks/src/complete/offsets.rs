//! m + aᵢ + bⱼ: what a row and a column say without each other.

use crate::complete::entries::Entries;
use crate::until::Until;

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
        Self::swept(entries, weight, Self::balance, until)
    }

    /// As results of before have them: turns of a and b alone. With a small weight these are far from the minimiser after all sweeps.
    pub fn fit_by_turns(entries: &Entries, weight: f64, until: &Until) -> Self {
        Self::swept(entries, weight, |_, _, _| (), until)
    }

    /// Turns of a and b, with what comes after each.
    fn swept(entries: &Entries, weight: f64, after: impl Fn(&mut Self, [&[f64]; 2], f64), until: &Until) -> Self {
        const SWEEPS: usize = 200;
        let mut this = Self::mean(entries);
        let (mut of_row, mut of_column) = (vec![weight; entries.rows()], vec![weight; entries.cols()]);
        let rest = if entries.are_many() { 1e-6 } else { 1e-9 };
        entries.iter().for_each(|(i, j, _)| (of_row[i], of_column[j]) = (of_row[i] + 1.0, of_column[j] + 1.0));
        for _ in 0..SWEEPS {
            if until.is_over("offsets of rows and columns") {
                break;
            }
            let before = this.column.clone();
            this.column.fill(0.0);
            entries.iter().for_each(|(i, j, y)| this.column[j] += y - this.mean - this.row[i]);
            this.column.iter_mut().zip(&of_column).for_each(|(b, count)| *b /= count);
            this.row.fill(0.0);
            entries.iter().for_each(|(i, j, y)| this.row[i] += y - this.mean - this.column[j]);
            this.row.iter_mut().zip(&of_row).for_each(|(a, count)| *a /= count);
            after(&mut this, [&of_row, &of_column], weight);
            let size = this.column.iter().fold(0.0, |size: f64, b| size.max(b.abs()));
            if this.column.iter().zip(&before).all(|(new, old)| (new - old).abs() <= rest * size) {
                break;
            }
        }
        this
    }

    /// a + c, b − c for the best c, where there are entries: aᵢ + bⱼ stays, and the weight alone decides. By turns that would take hundreds of
    /// sweeps.
    fn balance(&mut self, [of_row, of_column]: [&[f64]; 2], weight: f64) {
        let known = |of: &[f64]| of.iter().filter(|&&count| count > weight).count() as f64;
        let sum = |offsets: &[f64]| offsets.iter().sum::<f64>();
        let c = (sum(&self.column) - sum(&self.row)) / (known(of_row) + known(of_column));
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
