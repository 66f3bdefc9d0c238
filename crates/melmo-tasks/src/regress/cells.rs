use melmo::operator::{Dense, LinOp, Sparse};
use melmo::real::Real;
use melmo::sparse::Csr;

use super::{Coefficients, Design};
use crate::error::Error;

/// The cells of X that a regression keeps.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// All of them, row after row.
    Full(Vec<f64>),
    /// Those that are not 0.
    Sparse(Csr<f64>),
}

impl From<Vec<f64>> for Cells {
    fn from(cells: Vec<f64>) -> Self {
        Self::Full(cells)
    }
}

impl From<Csr<f64>> for Cells {
    fn from(cells: Csr<f64>) -> Self {
        Self::Sparse(cells)
    }
}

impl Cells {
    /// How the columns of rows×cols cells are centred and scaled. Sparse ones are scaled alike and not centred, since that would fill
    /// them: where there is an intercept, it makes up for that.
    pub fn design(&self, rows: usize, cols: usize, intercept: bool, standardize: bool) -> Result<Design, Error> {
        match self {
            Self::Full(x) => Design::new(x, rows, cols, intercept, standardize),
            Self::Sparse(x) => Design::of_entries(x.iter(), rows, cols, intercept, standardize),
        }
    }

    /// The matrix of some rows: (x − mean)/scale, then 1.
    pub(super) fn matrix<S: Real>(&self, design: &Design, rows: &[usize]) -> Result<Box<dyn LinOp<S>>, Error> {
        let x = match self {
            Self::Full(x) => {
                return Ok(Box::new(Dense::new(design.matrix(x, rows), rows.len(), design.width())?));
            }
            Self::Sparse(x) => x,
        };
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for &row in rows {
            let (places, cells) = x.row(row);
            columns.extend(places.iter().map(|&j| j as usize));
            values.extend(places.iter().zip(cells).map(|(&j, cell)| S::of(cell / design.scales[j as usize])));
            if design.intercept {
                columns.push(design.cols);
                values.push(S::ONE);
            }
            starts.push(columns.len());
        }
        Ok(Box::new(Sparse::new(rows.len(), design.width(), starts, columns, values)?))
    }

    /// The predictions of all rows, output after output.
    pub fn predict(&self, coefficients: &[Coefficients]) -> Vec<f64> {
        let x = match self {
            Self::Full(x) => return coefficients.iter().flat_map(|of| of.predict(x)).collect(),
            Self::Sparse(x) => x,
        };
        let of_row = |of: &Coefficients, row: usize| {
            let (places, cells) = x.row(row);
            of.intercept + places.iter().zip(cells).map(|(&j, cell)| cell * of.values[j as usize]).sum::<f64>()
        };
        coefficients.iter().flat_map(|of| (0..x.rows()).map(move |row| of_row(of, row))).collect()
    }

    /// Some of the rows.
    pub fn some(&self, rows: &[usize], cols: usize) -> Result<Self, Error> {
        let x = match self {
            Self::Full(x) => {
                let cells = rows.iter().flat_map(|&row| &x[row * cols..(row + 1) * cols]);
                return Ok(Self::Full(cells.copied().collect()));
            }
            Self::Sparse(x) => x,
        };
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for &row in rows {
            columns.extend_from_slice(x.row(row).0);
            values.extend_from_slice(x.row(row).1);
            starts.push(columns.len());
        }
        let made = Csr::new(rows.len(), cols, starts, columns, values);
        made.map(Self::Sparse).map_err(|misfit| Error::input("X", misfit.to_string(), "a sparse matrix"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regress::{Loss, Regression};
    use crate::until::Until;
    use melmo::seeded::Seeded;

    const ROWS: usize = 60;
    const COLS: usize = 9;

    fn regression(x: Cells, y: &[f64], loss: Loss, standardize: bool) -> Regression {
        let design = x.design(ROWS, COLS, true, standardize).unwrap();
        Regression { x, y: y.to_vec(), design, loss, ..Regression::plain("l1".parse().unwrap()) }
    }

    /// Scaling alone and an intercept give what centring gives, along the whole path and in every fold.
    #[test]
    fn sparse_and_full_cells_have_the_same_regression() {
        let mut seeded = Seeded::new(4);
        let mut draw = || if seeded.uniform() < 0.7 { 0.0 } else { 1.0 + seeded.normal() };
        let full: Vec<f64> = (0..ROWS * COLS).map(|_| draw()).collect();
        let entry = |(at, &v): (usize, &f64)| (v != 0.0).then_some(((at / COLS) as u32, (at % COLS) as u32, v));
        let entries: Vec<(u32, u32, f64)> = full.iter().enumerate().filter_map(entry).collect();
        let none = |_: usize, _: usize, values: &[f64]| Ok::<f64, melmo::sparse::Misfit>(values[0]);
        let sparse = Csr::from_entries(ROWS, COLS, entries.into_iter(), none).unwrap();
        let y: Vec<f64> = full.chunks_exact(COLS).map(|row| 3.0 + 2.0 * row[1] - row[4] + 0.1 * row[0].sin()).collect();
        for (loss, standardize) in [(Loss::Squares, true), (Loss::Squares, false), (Loss::Huber(Some(0.5)), true)] {
            let both = [Cells::from(full.clone()), sparse.clone().into()];
            let [a, b] = both.map(|x| regression(x, &y, loss, standardize));
            assert_eq!(a.design.scales.len(), b.design.scales.len());
            let chosen = [&a, &b].map(|r| r.cross_validate::<f64>(12, 1e-2, 4, 0, &Until::done()).unwrap());
            let near = |a: f64, b: f64| (a - b).abs() < 2e-3 * (1.0 + a.abs());
            for (a, b) in chosen[0].points.iter().zip(&chosen[1].points) {
                assert!(near(a.lambda, b.lambda) && near(a.mean, b.mean), "{a:?} {b:?}");
            }
            let last = chosen.map(|path| path.coefficients[11].clone());
            let told = [a.x.predict(&last[0]), b.x.predict(&last[1])];
            assert!(told[0].iter().zip(&told[1]).all(|(a, b)| near(*a, *b)), "{loss}");
        }
    }
}
