//! A matrix as a list of its entries.

use crate::array::{Array, Kind, zeros};
use crate::error::{Error, Place};

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
    /// All rows×cols entries, unless those are more than `limit`. Repeated coordinates are added up; of truth values
    /// one is enough.
    pub fn dense(&self, limit: usize) -> Result<Array, Error> {
        let mut data = zeros(self.rows, self.cols, limit)?;
        for &(i, j, value) in &self.entries {
            if i >= self.rows || j >= self.cols {
                let found = format!("the entry ({i}, {j})");
                let expected = format!("indices within {}×{}", self.rows, self.cols);
                return Err(Error::malformed(Place::Whole, found, expected, "larger sizes"));
            }
            let entry = &mut data[i * self.cols + j];
            *entry = if self.kind == Kind::Bool { value } else { *entry + value };
        }
        Ok(Array { shape: vec![self.rows, self.cols], data, kind: self.kind })
    }
}
