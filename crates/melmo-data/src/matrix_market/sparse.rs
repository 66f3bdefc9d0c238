//! A matrix as a list of its entries.

use crate::array::{Array, Kind, zeros};
use crate::error::{Error, Place};
use crate::limits::Limits;

/// A matrix as a list of (row, column, value), counted from 0, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Sparse {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// What the values were in the file.
    pub kind: Kind,
    /// The entries; a coordinate that repeats stands for the sum.
    pub entries: Vec<(usize, usize, f64)>,
}

impl Sparse {
    /// All rows×cols entries, unless those are more than `limit`. Repeated coordinates are added up, which has to give
    /// a finite number, of integers an exact one; of truth values one is enough.
    pub fn dense(&self, limit: usize) -> Result<Array, Error> {
        self.spread(&Limits::entries(limit), 0)
    }

    /// The same for a file of so many bytes.
    pub(super) fn spread(&self, limits: &Limits, bytes: usize) -> Result<Array, Error> {
        let mut data = zeros(self.rows, self.cols, limits, bytes)?;
        for &(i, j, value) in &self.entries {
            if i >= self.rows || j >= self.cols {
                let found = format!("the entry ({i}, {j})");
                let expected = format!("indices within {}×{}", self.rows, self.cols);
                return Err(Error::malformed(Place::Whole, found, expected, "larger sizes"));
            }
            let entry = &mut data[i * self.cols + j];
            *entry = self.sum(*entry, value).ok_or_else(|| {
                let found = format!("values at ({}, {}) that add up to {}", i + 1, j + 1, *entry + value);
                Error::malformed(Place::Whole, found, format!("a number that {:?} holds", self.kind), "smaller values")
            })?;
        }
        Ok(Array { shape: vec![self.rows, self.cols], data, kind: self.kind })
    }

    /// The sum of two values of this kind, if that is one as well: 2⁵³ + 1 is not 2⁵³.
    fn sum(&self, a: f64, b: f64) -> Option<f64> {
        let sum = a + b;
        match self.kind {
            Kind::Bool => Some(b),
            kind => match kind.bounds() {
                Some((low, high)) => (low <= sum && sum <= high && sum - b == a).then_some(sum),
                None => sum.is_finite().then_some(sum),
            },
        }
    }
}
