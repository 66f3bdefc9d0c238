//! The entries of a file, and what kind of numbers they are.

use melmo_base::sparse::Csr;

use crate::array::{Array, Kind, zeros};
use crate::error::{Error, Place};
use crate::limits::Limits;

/// A matrix of which only entries are stored, and what those were in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Sparse {
    /// What the values were in the file.
    pub kind: Kind,
    /// The entries.
    pub matrix: Csr<f64>,
}

impl Sparse {
    /// Entries of one place are added up, which has to give a finite number, of integers an exact one; of truth values one is
    /// enough.
    pub(super) fn of(rows: usize, cols: usize, kind: Kind, pieces: &[Vec<(u32, u32, f64)>]) -> Result<Self, Error> {
        let sum = |i: usize, j: usize, values: &[f64]| {
            values[1..].iter().try_fold(values[0], |total, &value| {
                self::sum(kind, total, value).ok_or_else(|| {
                    let found = format!("values at ({}, {}) that add up to {}", i + 1, j + 1, total + value);
                    Error::malformed(Place::Whole, found, format!("a number that {kind:?} holds"), "smaller values")
                })
            })
        };
        Ok(Self { kind, matrix: Csr::from_entries(rows, cols, pieces.iter().flatten().copied(), sum)? })
    }

    /// All rows×cols entries, unless those are more than `limit`.
    pub fn dense(&self, limit: usize) -> Result<Array, Error> {
        self.spread(&Limits::entries(limit), 0)
    }

    /// The same for a file of so many bytes.
    pub(super) fn spread(&self, limits: &Limits, bytes: usize) -> Result<Array, Error> {
        Ok(Array { kind: self.kind, ..spread(&self.matrix, limits, bytes)? })
    }
}

/// All entries of a sparse matrix that a file of so many bytes held, zeros included.
pub(crate) fn spread(matrix: &Csr<f64>, limits: &Limits, bytes: usize) -> Result<Array, Error> {
    let mut data = zeros(matrix.rows(), matrix.cols(), limits, bytes)?;
    matrix.iter().for_each(|(i, j, value)| data[i * matrix.cols() + j] = value);
    Ok(Array { shape: vec![matrix.rows(), matrix.cols()], data, kind: Kind::F64 })
}

/// The sum of two values of a kind, if that is one as well: 2⁵³ + 1 is not 2⁵³.
fn sum(kind: Kind, a: f64, b: f64) -> Option<f64> {
    let sum = a + b;
    match kind {
        Kind::Bool => Some(b),
        kind => match kind.bounds() {
            Some((low, high)) => (low <= sum && sum <= high && sum - b == a).then_some(sum),
            None => sum.is_finite().then_some(sum),
        },
    }
}
