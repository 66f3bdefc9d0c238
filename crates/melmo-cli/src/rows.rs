//! Matrices in files of which some rows can be read.

use std::ops::Range;
use std::path::Path;

use melmo_data::{Kind, npy, parquet};

use crate::error::Error;
use crate::nearest;

/// A matrix of which some rows can be read.
#[derive(Debug)]
pub enum File {
    Npy(npy::Rows),
    Parquet(parquet::Rows),
}

impl File {
    /// None where its format is another.
    pub fn open(path: &Path) -> Result<Option<Self>, Error> {
        let is = |known: &[&str]| path.extension().is_some_and(|end| known.iter().any(|e| end.eq_ignore_ascii_case(e)));
        if !path.is_file() {
            return Ok(None);
        }
        Ok(match (is(&["npy"]), is(&["parquet", "pq"])) {
            (true, _) => Some(Self::Npy(npy::Rows::open(path)?)),
            (_, true) => Some(Self::Parquet(parquet::Rows::open(path)?)),
            _ => None,
        })
    }

    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::Npy(rows) => rows.shape(),
            Self::Parquet(rows) => rows.shape(),
        }
    }

    /// What the columns are called; empty where the file does not say.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Npy(_) => Vec::new(),
            Self::Parquet(rows) => rows.names(),
        }
    }

    /// What reading takes beside the numbers that are read.
    pub fn memory(&self) -> usize {
        match self {
            Self::Npy(_) => 0,
            Self::Parquet(rows) => rows.memory(),
        }
    }

    pub fn read(&self, first: usize, count: usize, each: impl FnMut(&[f64])) -> Result<(), melmo_data::Error> {
        match self {
            Self::Npy(rows) => rows.read(first, count, each),
            Self::Parquet(rows) => rows.read(first, count, each),
        }
    }

    /// What the numbers are, and will be when a picture is written.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Npy(rows) => rows.kind(),
            Self::Parquet(_) => Kind::F64,
        }
    }

    /// The same for ranks, which read nothing else.
    pub fn of_ranks(path: &Path) -> Result<Self, Error> {
        if !path.exists() {
            return Err(Error::input(path, nearest::missing(path)));
        }
        let other = "ranks read their rows of an .npy or a .parquet file: write it as one of those";
        Self::open(path)?.ok_or_else(|| Error::input(path, other))
    }

    /// The same of an array of any number of axes: a row is what lies under one place of the first.
    pub fn stack_of_ranks(path: &Path) -> Result<Self, Error> {
        match path.is_file() && path.extension().is_some_and(|end| end.eq_ignore_ascii_case("npy")) {
            true => Ok(Self::Npy(npy::Rows::of_stack(path)?)),
            false => Self::of_ranks(path),
        }
    }

    /// Hands on some rows, or of every row some columns, row after row.
    pub fn read_part(
        &self,
        lines: &Range<usize>,
        are_columns: bool,
        mut each: impl FnMut(&[f64]),
    ) -> Result<(), melmo_data::Error> {
        let (rows, cols) = self.shape();
        match self {
            Self::Npy(npy) if are_columns => {
                (0..rows).try_for_each(|row| npy.read_entries(row * cols + lines.start, lines.len(), &mut each))
            }
            _ => self.read(lines.start, lines.len(), each),
        }
    }

    /// All axes, rows first.
    pub fn axes(&self) -> Vec<usize> {
        match self {
            Self::Npy(rows) => rows.axes().to_vec(),
            Self::Parquet(rows) => vec![rows.shape().0, rows.shape().1],
        }
    }
}
