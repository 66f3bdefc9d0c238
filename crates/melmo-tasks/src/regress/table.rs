use melmo::operator::{Dense, LinOp, Sparse};
use melmo::real::Real;

use super::Design;
use super::design::check_columns;
use crate::error::Error;
use crate::magnitude;

/// The columns of a regression as they come: full, or in compressed rows.
#[derive(Clone, Copy, Debug)]
pub enum Table<'d, S> {
    /// rows×cols numbers.
    Full(&'d [S]),
    /// Row i has `values[k]` in column `columns[k]` for k in `starts[i]..starts[i + 1]`.
    Compressed {
        /// One more than rows.
        starts: &'d [usize],
        /// A column a value.
        columns: &'d [usize],
        /// What is not 0.
        values: &'d [S],
    },
}

impl<S: Real> Table<'_, S> {
    /// How columns are centred and scaled. Compressed rows are not centred, since that would fill them; an intercept makes up for
    /// it.
    pub fn design(&self, rows: usize, cols: usize, intercept: bool, standardize: bool) -> Result<Design, Error> {
        match *self {
            Self::Full(x) => {
                melmo::error::Error::expect_len("X", rows.saturating_mul(cols), x.len())?;
                Design::new(x, rows, cols, intercept, standardize)
            }
            Self::Compressed { columns, values, .. } => {
                check_columns::<S>(&sizes(cols, columns, values)?)?;
                let scales =
                    if standardize { deviations(rows, cols, columns, values, intercept)? } else { vec![1.0; cols] };
                Ok(Design { rows, cols, intercept, means: vec![0.0; cols], scales })
            }
        }
    }

    /// The matrix of that design.
    pub fn operator(&self, design: &Design) -> Result<Box<dyn LinOp<S>>, Error> {
        let Design { rows, cols, intercept, ref scales, .. } = *design;
        match *self {
            Self::Full(x) => {
                let all: Vec<usize> = (0..rows).collect();
                Ok(Box::new(Dense::design(design.matrix(x, &all), rows, design.width())?))
            }
            Self::Compressed { starts, columns, values } => {
                melmo::error::Error::expect_len("row starts of X", rows + 1, starts.len())?;
                let count = values.len() + if intercept { rows } else { 0 };
                let (mut all, mut scaled) = (Vec::with_capacity(count), Vec::with_capacity(count));
                let mut ends = vec![0];
                for row in starts.windows(2) {
                    let span = row[0]..row[1];
                    let known = columns.get(span.clone()).zip(values.get(span));
                    let (columns, values) = known.ok_or_else(|| wrong("row starts that leave the values"))?;
                    for (&j, &v) in columns.iter().zip(values) {
                        let scale = scales.get(j).ok_or_else(|| wrong("a column beyond the last"))?;
                        all.push(j);
                        scaled.push(S::of(v.f64() / scale));
                    }
                    all.extend(intercept.then_some(cols));
                    scaled.extend(intercept.then_some(S::ONE));
                    ends.push(all.len());
                }
                Ok(Box::new(Sparse::new(rows, design.width(), ends, all, scaled)?))
            }
        }
    }
}

fn wrong(found: &str) -> Error {
    Error::input("X in compressed rows", found, "row starts, columns and values of one matrix")
}

/// The largest number of every column.
fn sizes<S: Real>(cols: usize, columns: &[usize], values: &[S]) -> Result<Vec<f64>, Error> {
    let mut sizes = vec![0.0f64; cols];
    for (&j, v) in columns.iter().zip(values) {
        let size = sizes.get_mut(j).ok_or_else(|| wrong("a column beyond the last"))?;
        *size = magnitude::largest([*size, v.f64()].into_iter());
    }
    Ok(sizes)
}

/// The standard deviation of every column, or with no intercept its root mean square; 1 where that is 0.
fn deviations<S: Real>(
    rows: usize,
    cols: usize,
    columns: &[usize],
    values: &[S],
    centred: bool,
) -> Result<Vec<f64>, Error> {
    let (mut means, mut squares) = (vec![0.0; cols], vec![0.0; cols]);
    let count = rows as f64;
    for (&j, v) in columns.iter().zip(values) {
        let (mean, square) =
            means.get_mut(j).zip(squares.get_mut(j)).ok_or_else(|| wrong("a column beyond the last"))?;
        *mean += v.f64() / count;
        *square += v.f64().powi(2) / count;
    }
    let deviation = |(square, mean): (&f64, &f64)| {
        let variance = square - if centred { mean * mean } else { 0.0 };
        if variance > 1e-24 * square { variance.sqrt() } else { 1.0 }
    };
    Ok(squares.iter().zip(&means).map(deviation).collect())
}
