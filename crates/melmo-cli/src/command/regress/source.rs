//! A table as its file has it: cells, or entries alone.

use std::path::Path;

use melmo_data::svmlight::Labelled;
use melmo_data::{Csr, Frame};

use crate::error::Error;
use crate::input::Inputs;

/// Entries are kept as such where they are at most this share of the cells.
const SPARSE: f64 = 0.25;

/// The columns of a regression, and perhaps what they are to predict.
pub enum Source {
    /// Cells with numbers and words.
    Frame(Frame),
    /// Numbers that are not 0, in columns x1, x2, …; of SVMlight also what its lines begin with.
    Sparse { matrix: Csr<f64>, labels: Option<Vec<f64>> },
}

impl Source {
    /// Reads a file. One that stores entries alone stays as it is, unless more than a quarter of its cells is stored (an SVMlight file
    /// always does) or some are missing.
    pub fn read(inputs: &mut Inputs, path: &Path) -> Result<Self, Error> {
        let (matrix, labels) = match inputs.labelled(path)? {
            Some(Labelled { matrix, targets }) => (Some(matrix), Some(targets)),
            None => (inputs.sparse(path)?, None),
        };
        let few = |matrix: &Csr<f64>| matrix.len() as f64 <= SPARSE * matrix.rows() as f64 * matrix.cols() as f64;
        let known = |matrix: &Csr<f64>| matrix.values().iter().all(|value| value.is_finite());
        match matrix.filter(|matrix| !matrix.is_empty() && known(matrix) && (labels.is_some() || few(matrix))) {
            Some(matrix) => Ok(Self::Sparse { matrix, labels }),
            None => inputs.frame(path).map(Self::Frame),
        }
    }

    pub fn rows(&self) -> usize {
        match self {
            Self::Frame(frame) => frame.size().0,
            Self::Sparse { matrix, .. } => matrix.rows(),
        }
    }

    /// The names of the columns where they have a header.
    pub fn header(&self) -> &[String] {
        match self {
            Self::Frame(frame) => frame.names.as_deref().unwrap_or_default(),
            Self::Sparse { .. } => &[],
        }
    }

    /// The names of the columns: x1, x2, … where there is no header.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Frame(frame) => frame.column_names(),
            Self::Sparse { matrix, .. } => (1..=matrix.cols()).map(|column| format!("x{column}")).collect(),
        }
    }

    /// The names of the rows.
    pub fn index(&self) -> Option<&[String]> {
        match self {
            Self::Frame(frame) => frame.index.as_deref(),
            Self::Sparse { .. } => None,
        }
    }

    /// The numbers of a column, NaN where one is missing; refuses words.
    pub fn numbers_of(&self, column: usize, path: &Path) -> Result<Vec<f64>, Error> {
        match self {
            Self::Frame(frame) => match frame.words_of(column).and_then(|words| words.first.as_ref()) {
                Some((line, word)) => {
                    let name = &frame.column_names()[column];
                    let message = format!("line {line}: column `{name}` is `{word}`; expected a number");
                    Err(Error::input(path, message))
                }
                None => Ok(frame.numbers_of(column).collect()),
            },
            Self::Sparse { matrix, .. } => {
                let mut numbers = vec![0.0; matrix.rows()];
                matrix.iter().filter(|(_, j, _)| *j == column).for_each(|(i, _, value)| numbers[i] = value);
                Ok(numbers)
            }
        }
    }
}
