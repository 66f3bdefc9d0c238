//! Reading inputs, and remembering which they were.

use std::path::{Path, PathBuf};

use melmo::real::Real;
use melmo_data::{Array, Data, bundled};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::Error;

/// A file that a job read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    pub path: PathBuf,
    /// SHA-256 of its bytes; of a bundled set, its name.
    pub digest: String,
}

/// What was read so far.
#[derive(Default)]
pub struct Inputs {
    /// The files, where they are to be known again.
    pub sources: Vec<Source>,
    known_again: bool,
}

/// A matrix with real entries, NaN where it has none.
pub struct Matrix {
    pub rows: usize,
    pub cols: usize,
    pub data: Vec<f64>,
    /// Column names, of a table.
    pub names: Option<Vec<String>>,
}

impl Matrix {
    /// The entries in the precision of the run.
    pub fn entries<S: Real>(&self) -> Vec<S> {
        convert(&self.data)
    }
}

/// Numbers in the precision of the run.
pub fn convert<S: Real>(data: &[f64]) -> Vec<S> {
    data.iter().map(|&value| S::of(value)).collect()
}

impl Inputs {
    /// Inputs whose digests go into a file: only then are they worth their time.
    pub fn known_again(known_again: bool) -> Self {
        Self { sources: Vec::new(), known_again }
    }

    fn remember(&mut self, path: &Path, digest: impl FnOnce() -> String) {
        if self.known_again {
            self.sources.push(Source { path: path.into(), digest: digest() });
        }
    }

    /// Whatever the file holds. A name of `melmo list data`, where no such file exists, is the bundled set.
    pub fn open(&mut self, path: &Path) -> Result<Data, Error> {
        let set = bundled::sets().iter().find(|set| Path::new(set.name) == path);
        if let (Some(set), false) = (set, path.exists()) {
            self.remember(path, || format!("bundled {}", set.name));
            return Ok(Data::Array((set.load)()?));
        }
        Ok(melmo_data::open_seen(path, |bytes| self.remember(path, || digest(bytes)))?)
    }

    /// A matrix; a vector is one column.
    pub fn matrix(&mut self, path: &Path) -> Result<Matrix, Error> {
        let (names, array) = match self.open(path)? {
            Data::Table(table) => (table.names, table.array),
            other => (None, other.into_array()),
        };
        let Some((rows, cols)) = array.rows_cols() else {
            return Err(Error::input(path, format!("found an array of shape {:?}; expected a matrix", array.shape)));
        };
        if rows == 0 || cols == 0 {
            return Err(Error::input(path, format!("found a {rows}×{cols} matrix; expected at least one entry")));
        }
        Ok(Matrix { rows, cols, data: array.data, names })
    }

    /// A matrix of a shape that is known already.
    pub fn matrix_of(&mut self, path: &Path, rows: usize, cols: usize) -> Result<Vec<f64>, Error> {
        let found = self.matrix(path)?;
        // A vector may lie down or stand.
        let vector = rows.min(cols) == 1 && found.rows.min(found.cols) == 1;
        if (found.rows, found.cols) != (rows, cols) && !(vector && found.data.len() == rows * cols) {
            let message = format!("found a {}×{} matrix; expected {rows}×{cols}", found.rows, found.cols);
            return Err(Error::input(path, message));
        }
        Ok(found.data)
    }

    /// A mask of zeros and ones.
    pub fn mask(&mut self, path: &Path, rows: usize, cols: usize) -> Result<Vec<f64>, Error> {
        let mask = self.matrix_of(path, rows, cols)?;
        match mask.iter().position(|&m| m != 0.0 && m != 1.0) {
            None => Ok(mask),
            Some(at) => {
                let (row, column) = (at / cols + 1, at % cols + 1);
                let message = format!("row {row}, column {column} is {}; a mask holds 0 and 1 only", mask[at]);
                Err(Error::input(path, message))
            }
        }
    }
}

/// SHA-256, as hexadecimal digits.
fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An array of rows×cols in the precision of the run.
pub fn array<S: Real>(shape: Vec<usize>, data: &[S]) -> Array {
    let kind = if S::NAME == "f32" { melmo_data::Kind::F32 } else { melmo_data::Kind::F64 };
    Array { shape, data: data.iter().map(|value| value.f64()).collect(), kind }
}
