//! Parquet: a table by columns, in groups of rows. Columns hold numbers or words; pages may be packed by snappy, gzip or zstd.
//!
//! A table of numbers is a matrix, one with words is a [`Frame`](crate::Frame), and three of its columns may be a list of row, column and value.
//! [`Rows`] reads a matrix a few rows at a time. A column `__index_level_0__`, as pandas writes it, holds the names of the rows.

mod column;
mod header;
mod list;
mod pages;
mod rows;
mod table;

pub(crate) use list::parse as parse_list;
pub use rows::Rows;
pub use table::{parse, parse_numbers, read};

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::Length;

use crate::error::{Error, Place, brief, quote};
use crate::limits::{Limits, RAISE};
use column::{Column, Kind};
use pages::Pages;

const HINT: &str = "writing it again with snappy, gzip or zstd: pandas' to_parquet does";

/// Where the bytes are.
#[derive(Debug)]
enum Store {
    Memory(Bytes),
    Disk(Mutex<File>),
}

impl Store {
    fn read(&self, start: u64, length: u64) -> Result<Bytes, ParquetError> {
        match self {
            Self::Memory(bytes) => Ok(bytes.slice(start as usize..(start + length) as usize)),
            Self::Disk(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let mut bytes = vec![0; length as usize];
                file.seek(SeekFrom::Start(start))?;
                file.read_exact(&mut bytes)?;
                Ok(bytes.into())
            }
        }
    }
}

/// A file that was opened: what it says of itself, and its bytes.
#[derive(Debug)]
struct Opened {
    about: ParquetMetaData,
    store: Store,
    length: u64,
    rows: usize,
    /// Of every group.
    group_rows: Vec<usize>,
}

impl Opened {
    fn memory(bytes: &[u8]) -> Result<Self, Error> {
        let bytes = Bytes::copy_from_slice(bytes);
        Self::new(
            calmly(|| ParquetMetaDataReader::new().parse_and_finish(&bytes))?,
            Store::Memory(bytes.clone()),
            bytes.len(),
        )
    }

    fn disk(file: File) -> Result<Self, Error> {
        let length = file.len() as usize;
        let about = calmly(|| ParquetMetaDataReader::new().parse_and_finish(&file))?;
        Self::new(about, Store::Disk(Mutex::new(file)), length)
    }

    fn new(about: ParquetMetaData, store: Store, length: usize) -> Result<Self, Error> {
        let group_rows: Option<Vec<usize>> =
            about.row_groups().iter().map(|group| usize::try_from(group.num_rows()).ok()).collect();
        let counted = group_rows.and_then(|group_rows| {
            let rows = group_rows.iter().try_fold(0_usize, |sum, rows| sum.checked_add(*rows))?;
            Some((rows, group_rows))
        });
        let (rows, group_rows) = counted.ok_or_else(|| wrong("groups of fewer than no rows"))?;
        Ok(Self { about, store, length: length as u64, rows, group_rows })
    }

    /// `Ok` where it may become so many numbers a row.
    fn check(&self, a_row: usize, limits: &Limits) -> Result<(), Error> {
        let bytes = self.length as usize;
        match self.rows.checked_mul(a_row) {
            Some(count) if count <= limits.of(bytes) => Ok(()),
            _ => {
                let claimed = format!("{} rows and {} columns", self.rows, self.names().len());
                Err(Error::too_large(Place::Whole, claimed, limits.because(bytes), RAISE))
            }
        }
    }

    /// What the columns are called.
    fn names(&self) -> Vec<String> {
        let columns = self.about.file_metadata().schema_descr().columns();
        columns.iter().map(|column| column.path().parts().join(".")).collect()
    }

    /// What a column holds; refuses what is neither numbers nor words.
    fn kind(&self, column: usize) -> Result<Kind, Error> {
        let about = self.about.file_metadata().schema_descr().column(column);
        Kind::of(&about).map_err(|found| {
            let found = format!("{found} in the column {}", quote(&about.path().parts().join(".")));
            Error::unsupported(found, "columns of numbers or words", "leaving the column out, or writing it as numbers")
        })
    }

    /// A column of a group of rows.
    fn column(&self, group: usize, column: usize) -> Result<Column, Error> {
        let kind = self.kind(column)?;
        calmly(|| {
            let about = self.about.row_group(group).column(column);
            let start = about.dictionary_page_offset().filter(|start| *start > 0).unwrap_or(about.data_page_offset());
            let range = u64::try_from(start).ok().zip(u64::try_from(about.compressed_size()).ok());
            let inside =
                range.filter(|(start, length)| start.checked_add(*length).is_some_and(|end| end <= self.length));
            let Some((start, length)) = inside else {
                return Err(ParquetError::General("a column beyond the end of the file".into()));
            };
            let pages = Pages::new(self.store.read(start, length)?, about.compression());
            Ok(Column::new(about.column_descr_ptr(), kind, pages))
        })
    }
}

fn wrong(found: impl Into<String>) -> Error {
    Error::malformed(Place::Whole, found, "a Parquet file", HINT)
}

/// What the decoders answer. They take for granted what a broken file need not hold to, and may panic where it does not.
fn calmly<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, Error> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(answer) => answer.map_err(|error| wrong(brief(&error))),
        Err(_) => Err(wrong("numbers that contradict each other")),
    }
}
