use melmo::real::Real;

use crate::error::Error;
use crate::magnitude;

/// The columns of a regression, centred and scaled, with a last column of ones for the intercept.
#[derive(Clone, Debug)]
pub struct Design {
    /// Rows.
    pub rows: usize,
    /// Columns of the data.
    pub cols: usize,
    /// There is a column of ones.
    pub intercept: bool,
    /// What was subtracted from each column.
    pub means: Vec<f64>,
    /// What each column was divided by; 1 for a constant column.
    pub scales: Vec<f64>,
}

/// Refuses a column whose largest number is too large or too small for its squares to be numbers.
pub(super) fn check_columns<D: Real>(sizes: &[f64]) -> Result<(), Error> {
    sizes.iter().enumerate().try_for_each(|(j, &size)| magnitude::check::<D>(&format!("column {j} of X"), size))
}

impl Design {
    /// Means and standard deviations of rows×cols data. Without an intercept nothing is centred, and a column is divided by
    /// its root mean square.
    pub fn new<D: Real>(x: &[D], rows: usize, cols: usize, intercept: bool, standardize: bool) -> Result<Self, Error> {
        if let Some(at) = x.iter().position(|x| !x.is_finite()) {
            let found = format!("{} in row {}, column {}", x[at], at / cols + 1, at % cols + 1);
            return Err(Error::input("X", found, "a number in every cell: fill in or drop what is missing"));
        }
        let mut sizes = vec![0.0f64; cols];
        x.chunks_exact(cols.max(1))
            .for_each(|row| sizes.iter_mut().zip(row).for_each(|(size, x)| *size = size.max(x.f64().abs())));
        check_columns::<D>(&sizes)?;
        let count = rows as f64;
        let mut means = vec![0.0; cols];
        if intercept {
            x.chunks_exact(cols)
                .for_each(|row| means.iter_mut().zip(row).for_each(|(mean, x)| *mean += x.f64() / count));
        }
        let mut scales = vec![1.0; cols];
        if standardize {
            scales.fill(0.0);
            for row in x.chunks_exact(cols) {
                scales
                    .iter_mut()
                    .zip(row)
                    .zip(&means)
                    .for_each(|((s, x), mean)| *s += (x.f64() - mean).powi(2) / count);
            }
            let size = means.iter().map(|mean| mean.abs()).fold(1e-300, f64::max);
            // What is left of a constant column is rounding.
            let deviation = |square: &f64| if square.sqrt() > 1e-12 * size { square.sqrt() } else { 1.0 };
            scales = scales.iter().map(deviation).collect();
        }
        Ok(Self { rows, cols, intercept, means, scales })
    }

    /// Coefficients to solve for: one a column, and the intercept.
    pub fn width(&self) -> usize {
        self.cols + usize::from(self.intercept)
    }

    /// The matrix of some rows: (x − mean)/scale, then 1.
    pub fn matrix<S: Real, D: Real>(&self, x: &[D], rows: &[usize]) -> Vec<S> {
        let mut matrix = Vec::with_capacity(rows.len() * self.width());
        for &row in rows {
            let cells = x[row * self.cols..(row + 1) * self.cols].iter().zip(&self.means).zip(&self.scales);
            matrix.extend(cells.map(|((x, mean), scale)| S::of((x.f64() - mean) / scale)));
            matrix.extend(self.intercept.then_some(S::ONE));
        }
        matrix
    }

    /// Intercept and coefficients in the data's own units.
    pub fn unscaled<S: Real>(&self, solution: &[S]) -> (f64, Vec<f64>) {
        let own: Vec<f64> = solution.iter().zip(&self.scales).map(|(b, scale)| b.f64() / scale).collect();
        let shift: f64 = own.iter().zip(&self.means).map(|(b, mean)| b * mean).sum();
        let intercept = if self.intercept { solution[self.cols].f64() } else { 0.0 };
        (intercept - shift, own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_come_back_in_the_data_s_units() {
        let x = [1.0, 10.0, 3.0, 30.0, 5.0, 20.0, 7.0, 7.0];
        let design = Design::new(&x, 4, 2, true, true).unwrap();
        let scaled: Vec<f64> = design.matrix::<f64, f64>(&x, &[0, 1, 2, 3]);
        let solution = [0.7, -1.3, 2.0];
        let (intercept, own) = design.unscaled(&solution);
        for (row, cells) in scaled.chunks_exact(3).zip(x.chunks_exact(2)) {
            let by_scaled: f64 = row.iter().zip(&solution).map(|(a, b)| a * b).sum();
            let by_own = intercept + cells[0] * own[0] + cells[1] * own[1];
            assert!((by_scaled - by_own).abs() < 1e-12);
        }
        let squares: f64 = scaled.chunks_exact(3).map(|row| row[0] * row[0]).sum();
        assert!((squares - 4.0).abs() < 1e-12, "a column's square is the number of rows");
    }

    #[test]
    fn constant_columns_and_missing_cells() {
        let design = Design::new(&[0.1, 1.0, 0.1, 2.0, 0.1, 3.0], 3, 2, true, true).unwrap();
        assert_eq!(design.scales[0], 1.0);
        let error = Design::new(&[1.0, f64::NAN], 1, 2, true, true).unwrap_err().to_string();
        assert!(error.contains("row 1, column 2"), "{error}");
    }
}
