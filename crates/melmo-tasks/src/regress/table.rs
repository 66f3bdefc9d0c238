use melmo::real::Real;
use melmo::solver::Columns;

use super::Design;
use crate::error::Error;

/// The columns of a regression as they come: full or compressed, row by row or column by column.
#[derive(Clone, Copy, Debug)]
pub enum Table<'d, S> {
    /// rows×cols numbers, row after row.
    Full(&'d [S]),
    /// The same, column after column.
    FullColumns(&'d [S]),
    /// Row i has `values[k]` in column `places[k]` for k in `starts[i]..starts[i + 1]`.
    Compressed(Compressed<'d, S>),
    /// Column j has `values[k]` in row `places[k]` for k in `starts[j]..starts[j + 1]`.
    CompressedColumns(Compressed<'d, S>),
}

/// What is not 0 of a matrix.
#[derive(Clone, Copy, Debug)]
pub struct Compressed<'d, S> {
    /// One more than rows, or than columns.
    pub starts: &'d [usize],
    /// A column a value, or a row.
    pub places: &'d [usize],
    /// What is not 0.
    pub values: &'d [S],
}

impl<S: Real> Compressed<'_, S> {
    /// Refuses starts that do not rise from 0 to the number of values in `lines` steps, and places from `most` on.
    fn check(&self, lines: usize, most: usize) -> Result<(), Error> {
        let wrong = |found: &str| Err(Error::input("X, compressed,", found, "starts, places and values of one matrix"));
        melmo::error::Error::expect_len("starts of X", lines + 1, self.starts.len())?;
        melmo::error::Error::expect_len("places of X", self.values.len(), self.places.len())?;
        if self.starts[0] != 0 || self.starts[lines] != self.values.len() || !self.starts.is_sorted() {
            return wrong("starts that leave the values");
        }
        if self.places.iter().any(|&place| place >= most) {
            return wrong("a place beyond the last");
        }
        Ok(())
    }

    /// Row by row: columns and values.
    fn line(&self, i: usize) -> impl Iterator<Item = (usize, S)> {
        let span = self.starts[i]..self.starts[i + 1];
        self.places[span.clone()].iter().copied().zip(self.values[span].iter().copied())
    }
}

impl<'d, S: Real> Table<'d, S> {
    /// How columns are centred and scaled. Compressed ones are not centred, since that would fill them; an intercept makes up for
    /// it.
    pub fn design(&self, rows: usize, cols: usize, intercept: bool, standardize: bool) -> Result<Design, Error> {
        let expect = |x: &[S]| melmo::error::Error::expect_len("X", rows.saturating_mul(cols), x.len());
        match self {
            Self::Full(x) => {
                expect(x)?;
                Design::new(x, rows, cols, intercept, standardize)
            }
            Self::FullColumns(x) => {
                expect(x)?;
                Design::of_columns(x, rows, cols, intercept, standardize)
            }
            Self::Compressed(x) => {
                x.check(rows, cols)?;
                let entries = (0..rows).flat_map(|i| x.line(i).map(move |(j, v)| (i, j, v)));
                Design::of_entries(entries, rows, cols, intercept, standardize)
            }
            Self::CompressedColumns(x) => {
                x.check(cols, rows)?;
                let entries = (0..cols).flat_map(|j| x.line(j).map(move |(i, v)| (i, j, v)));
                Design::of_entries(entries, rows, cols, intercept, standardize)
            }
        }
    }

    /// The columns of that design: borrowed where nothing has to be done to them.
    pub fn columns(&self, design: &Design) -> Result<Columns<'d, S>, Error> {
        let Design { rows, cols, intercept, ref means, ref scales } = *design;
        let (width, plain) = (design.width(), design.is_plain());
        let scaled = |j: usize, v: S| S::of((v.f64() - means[j]) / scales[j]);
        Ok(match *self {
            Self::Full(x) if plain => Columns::from_rows(x, rows, cols, width, |_, v| v),
            Self::Full(x) => Columns::from_rows(x, rows, cols, width, scaled),
            Self::FullColumns(x) if plain && !intercept => Columns::full(x, rows, cols)?,
            Self::FullColumns(x) => {
                let mut values = vec![S::ONE; rows * width];
                for (j, (out, x)) in values.chunks_exact_mut(rows).zip(x.chunks_exact(rows)).enumerate() {
                    out.iter_mut().zip(x).for_each(|(out, &x)| *out = scaled(j, x));
                }
                Columns::full(values, rows, width)?
            }
            Self::Compressed(x) => {
                let one = intercept.then_some((cols, S::ONE));
                Columns::from_sparse_rows(rows, width, |i| x.line(i).map(|(j, v)| (j, scaled(j, v))).chain(one))
            }
            Self::CompressedColumns(x) if plain && !intercept => {
                Columns::compressed(rows, x.starts, x.places, x.values)?
            }
            Self::CompressedColumns(x) => {
                let (mut starts, mut places) = (x.starts.to_vec(), x.places.to_vec());
                let mut values: Vec<S> = (0..cols).flat_map(|j| x.line(j).map(move |(_, v)| scaled(j, v))).collect();
                if intercept {
                    places.extend(0..rows);
                    values.resize(places.len(), S::ONE);
                    starts.push(places.len());
                }
                Columns::compressed(rows, starts, places, values)?
            }
        })
    }
}
