//! The rows of a matrix in a Parquet file, read a few at a time: of a file that does not fit into memory.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::column::{Column, Kind};
use super::{Opened, calmly, wrong};
use crate::error::{Error, quote};
use crate::file::io_error;

/// Rows that are put together at a time.
const STRIP: usize = 64;

/// A matrix of an open file. Its groups of rows are decoded one after another, each once a pass; memory goes with the largest.
#[derive(Debug)]
pub struct Rows {
    path: PathBuf,
    opened: Opened,
    cols: usize,
    standing: Mutex<Standing>,
}

/// Where the last reading ended: a group, decoded as far as this row of the matrix.
#[derive(Default)]
struct Standing {
    columns: Vec<Column>,
    next: usize,
    /// Rows of the group that are left.
    left: usize,
    group: usize,
    strip: Vec<f64>,
}

impl std::fmt::Debug for Standing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "row {} in group {}", self.next, self.group)
    }
}

impl Rows {
    /// Looks at what the file says of itself. Refuses columns that are no numbers.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(io_error(path, "open it"))?;
        Self::of(Opened::disk(file), path).map_err(|error| error.about(path))
    }

    fn of(opened: Result<Opened, Error>, path: &Path) -> Result<Self, Error> {
        let opened = opened?;
        let names = opened.names();
        for (at, name) in names.iter().enumerate() {
            if opened.kind(at)? == Kind::Text {
                let found = format!("words in the column {}", quote(name));
                return Err(Error::unsupported(found, "columns of numbers", "leaving the column out"));
            }
        }
        Ok(Self { path: path.into(), cols: names.len(), opened, standing: Mutex::default() })
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.opened.rows, self.cols)
    }

    /// What the columns are called.
    pub fn names(&self) -> Vec<String> {
        self.opened.names()
    }

    /// The bytes that reading takes at most: of the largest group, packed and unpacked.
    pub fn memory(&self) -> usize {
        let groups = self.opened.about.row_groups().iter();
        let sizes = groups.map(|group| group.total_byte_size().max(0).saturating_add(group.compressed_size().max(0)));
        sizes.max().unwrap_or(0) as usize
    }

    /// Hands on the numbers of `count` rows from `first` on, piece by piece.
    pub fn read(&self, first: usize, count: usize, mut each: impl FnMut(&[f64])) -> Result<(), Error> {
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        let read = self.go_on(&mut standing, first, count, &mut each);
        if read.is_err() {
            *standing = Standing::default();
        }
        read.map_err(|error| error.about(&self.path))
    }

    fn go_on(&self, at: &mut Standing, first: usize, count: usize, each: &mut dyn FnMut(&[f64])) -> Result<(), Error> {
        if at.columns.is_empty() || first != at.next {
            self.seek(at, first)?;
        }
        let mut left = count;
        while left > 0 {
            while at.left == 0 {
                self.enter(at, at.group + 1)?;
            }
            let rows = left.min(at.left).min(STRIP);
            at.strip.resize(STRIP * self.cols, 0.0);
            let strip = &mut at.strip[..rows * self.cols];
            for (j, column) in at.columns.iter_mut().enumerate() {
                let mut places = strip.iter_mut().skip(j).step_by(self.cols);
                calmly(|| {
                    column.read(rows, |value| {
                        if let Some(place) = places.next() {
                            *place = value.number();
                        }
                    })
                })?;
            }
            each(strip);
            (at.next, at.left, left) = (at.next + rows, at.left - rows, left - rows);
        }
        Ok(())
    }

    /// Stands before the first row of a group.
    fn enter(&self, at: &mut Standing, group: usize) -> Result<(), Error> {
        let Some(&rows) = self.opened.group_rows.get(group) else { return Err(wrong("fewer rows than it says")) };
        at.columns.clear();
        for column in 0..self.cols {
            at.columns.push(self.opened.column(group, column)?);
        }
        (at.group, at.left) = (group, rows);
        Ok(())
    }

    fn seek(&self, at: &mut Standing, row: usize) -> Result<(), Error> {
        let (mut group, mut before) = (0, 0);
        while self.opened.group_rows.get(group).is_some_and(|rows| before + rows <= row) {
            before += self.opened.group_rows[group];
            group += 1;
        }
        self.enter(at, group)?;
        for column in &mut at.columns {
            calmly(|| column.read(row - before, |_| ()))?;
        }
        (at.next, at.left) = (row, at.left - (row - before));
        Ok(())
    }
}
