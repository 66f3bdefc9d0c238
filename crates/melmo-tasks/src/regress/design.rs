use melmo::real::Real;
use melmo::vector;

use crate::error::Error;
use crate::magnitude;
use crate::regress::Coefficients;

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
    let wrong = sizes.iter().position(|&size| !magnitude::is_usual::<D>(size));
    wrong.map_or(Ok(()), |j| magnitude::check::<D>(&format!("column {j} of X"), sizes[j]))
}

/// Names a cell of row i, column j that is not a number.
fn missing<D: Real>(x: D, i: usize, j: usize) -> Error {
    let found = format!("{x} in row {}, column {}", i + 1, j + 1);
    Error::input("X", found, "a number in every cell: fill in or drop what is missing")
}

/// What columns are divided by, from their mean squares around their means.
pub(super) fn deviations(squares: &[f64], means: &[f64]) -> Vec<f64> {
    let size = means.iter().map(|mean| mean.abs()).fold(1e-300, f64::max);
    // What is left of a constant column is rounding.
    let deviation = |square: &f64| if square.sqrt() > 1e-12 * size { square.sqrt() } else { 1.0 };
    squares.iter().map(deviation).collect()
}

/// What is known of the columns of a table whose zeros are not stored.
pub(super) struct Moments {
    /// The largest number of every column.
    pub sizes: Vec<f64>,
    pub sums: Vec<f64>,
    pub squares: Vec<f64>,
}

impl Moments {
    pub fn new(cols: usize) -> Self {
        let [sizes, sums, squares] = [(); 3].map(|()| vec![0.0f64; cols]);
        Self { sizes, sums, squares }
    }

    pub fn add(&mut self, j: usize, v: f64) {
        self.sizes[j] = self.sizes[j].max(v.abs());
        self.sums[j] += v;
        self.squares[j] += v * v;
    }

    /// The standard deviation of every column, or with no intercept its root mean square; 1 where that is 0.
    pub fn deviations(&self, rows: usize, centred: bool) -> Vec<f64> {
        let count = rows as f64;
        let deviation = |(square, sum): (&f64, &f64)| {
            let (square, mean) = (square / count, sum / count);
            let variance = square - if centred { mean * mean } else { 0.0 };
            if variance > 1e-24 * square { variance.sqrt() } else { 1.0 }
        };
        self.squares.iter().zip(&self.sums).map(deviation).collect()
    }
}

impl Design {
    /// Means and standard deviations of rows×cols data, row after row. Without an intercept nothing is centred, and a column is
    /// divided by its root mean square.
    pub fn new<D: Real>(x: &[D], rows: usize, cols: usize, intercept: bool, standardize: bool) -> Result<Self, Error> {
        if let Some(at) = x.iter().position(|x| !x.is_finite()) {
            return Err(missing(x[at], at / cols, at % cols));
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
            scales = deviations(&scales, &means);
        }
        Ok(Self { rows, cols, intercept, means, scales })
    }

    /// The same of data that come column after column.
    pub fn of_columns<D: Real>(
        x: &[D],
        rows: usize,
        cols: usize,
        intercept: bool,
        standardize: bool,
    ) -> Result<Self, Error> {
        let columns = || x.chunks_exact(rows.max(1));
        let sizes: Vec<f64> = columns().map(vector::norm_inf).collect();
        if let Some(j) = sizes.iter().position(|size| !size.is_finite()) {
            let i = (0..rows).find(|i| !x[j * rows + i].is_finite()).unwrap_or(0);
            return Err(missing(x[j * rows + i], i, j));
        }
        check_columns::<D>(&sizes)?;
        let (count, mut means, mut scales) = (rows as f64, vec![0.0; cols], vec![1.0; cols]);
        if intercept {
            means = columns().map(|column| vector::sum(column, D::f64) / count).collect();
        }
        if standardize {
            let square = |(column, mean): (&[D], &f64)| vector::sum(column, |x| (x.f64() - mean).powi(2)) / count;
            let squares: Vec<f64> = columns().zip(&means).map(square).collect();
            scales = deviations(&squares, &means);
        }
        Ok(Self { rows, cols, intercept, means, scales })
    }

    /// Standard deviations alone, of cells that are not 0: centring would fill the others. What an intercept would take is left out of
    /// them all the same.
    pub fn of_entries<D: Real>(
        entries: impl Iterator<Item = (usize, usize, D)>,
        rows: usize,
        cols: usize,
        intercept: bool,
        standardize: bool,
    ) -> Result<Self, Error> {
        let mut moments = Moments::new(cols);
        for (i, j, x) in entries {
            if !x.is_finite() {
                return Err(missing(x, i, j));
            }
            moments.add(j, x.f64());
        }
        check_columns::<D>(&moments.sizes)?;
        let scales = if standardize { moments.deviations(rows, intercept) } else { vec![1.0; cols] };
        Ok(Self { rows, cols, intercept, means: vec![0.0; cols], scales })
    }

    /// Nothing is subtracted from columns, and nothing divides them.
    pub(super) fn is_plain(&self) -> bool {
        self.means.iter().all(|mean| *mean == 0.0) && self.scales.iter().all(|scale| *scale == 1.0)
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

    /// A solution in the data's own units, for each of some outputs: x has `outputs` numbers a column.
    pub(super) fn coefficients<S: Real>(&self, solution: &[S], outputs: usize) -> Vec<Coefficients> {
        let of_output = |k: usize| {
            let own: Vec<S> = solution[k..].iter().step_by(outputs).copied().collect();
            let (intercept, values) = self.unscaled(&own);
            Coefficients { intercept, values }
        };
        (0..outputs).map(of_output).collect()
    }

    /// The point that stands for coefficients in the data's own units: the other way.
    pub(super) fn point<S: Real>(&self, coefficients: &[Coefficients]) -> Vec<S> {
        let outputs = coefficients.len();
        let mut point = vec![S::ZERO; self.width() * outputs];
        for (k, Coefficients { intercept, values }) in coefficients.iter().enumerate() {
            let own = values.iter().zip(&self.scales).map(|(b, scale)| b * scale);
            let shift: f64 = values.iter().zip(&self.means).map(|(b, mean)| b * mean).sum();
            let all = own.chain(self.intercept.then_some(intercept + shift));
            all.enumerate().for_each(|(j, v)| point[j * outputs + k] = S::of(v));
        }
        point
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
        let back: Vec<f64> = design.point(&design.coefficients(&solution, 1));
        assert!(back.iter().zip(&solution).all(|(a, b)| (a - b).abs() < 1e-12));
        let squares: f64 = scaled.chunks_exact(3).map(|row| row[0] * row[0]).sum();
        assert!((squares - 4.0).abs() < 1e-12, "a column's square is the number of rows");
    }

    #[test]
    fn columns_and_rows_have_the_same_design() {
        let (x, turned) = ([1.0, 10.0, 3.0, 30.0, 5.0, 7.0], [1.0, 3.0, 5.0, 10.0, 30.0, 7.0]);
        for (intercept, standardize) in [(true, true), (true, false), (false, true), (false, false)] {
            let by_rows = Design::new(&x, 3, 2, intercept, standardize).unwrap();
            let by_columns = Design::of_columns(&turned, 3, 2, intercept, standardize).unwrap();
            let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-13);
            assert!(near(&by_rows.means, &by_columns.means) && near(&by_rows.scales, &by_columns.scales));
        }
        let error = Design::of_columns(&[1.0, 2.0, 3.0, f64::NAN], 2, 2, true, true).unwrap_err().to_string();
        assert!(error.contains("row 2, column 2"), "{error}");
    }

    #[test]
    fn constant_columns_and_missing_cells() {
        let design = Design::new(&[0.1, 1.0, 0.1, 2.0, 0.1, 3.0], 3, 2, true, true).unwrap();
        assert_eq!(design.scales[0], 1.0);
        let error = Design::new(&[1.0, f64::NAN], 1, 2, true, true).unwrap_err().to_string();
        assert!(error.contains("row 1, column 2"), "{error}");
    }
}
