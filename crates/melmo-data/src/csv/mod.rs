//! Tables of numbers as text: commas, semicolons, tabs or blanks between the cells, with or without a header.
//!
//! Blank lines and lines that start with `#` are skipped. The delimiter is the first of tab, semicolon, comma that occurs in
//! the first line; with none of them, cells are what stands between blanks. What a header is, what is missing, and how
//! decimals are written: [`frame`]. Missing cells are NaN.

mod lines;

pub(crate) use lines::Lines;

use crate::array::{Array, Kind};
use crate::error::{Error, quote};
use crate::{file, frame};
use std::path::Path;

/// Numbers with the names of their columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The header, if there is one.
    pub names: Option<Vec<String>>,
    /// rows × columns.
    pub array: Array,
    /// The names of the rows, if they have any. They are read, and not written.
    pub index: Option<Vec<String>>,
}

/// Reads a table.
pub fn read(path: &Path) -> Result<Table, Error> {
    file::read_with(path, parse)
}

/// A table from the bytes of a text file in UTF-8: that of [`frame::parse`], where every column holds numbers.
pub fn parse(bytes: &[u8]) -> Result<Table, Error> {
    frame::parse(bytes)?.numbers()
}

/// Writes a table; an existing file is refused unless `overwrite`.
pub fn write(path: &Path, table: &Table, overwrite: bool) -> Result<(), Error> {
    file::write_with(path, overwrite, || encode(table))
}

/// The text of a table with commas: the shortest digits that read back as the same number. A vector is one column.
pub fn encode(table: &Table) -> Result<Vec<u8>, Error> {
    table.array.check_shape()?;
    let Some((_, cols)) = table.array.rows_cols().filter(|_| !table.array.data.is_empty()) else {
        let found = format!("the shape {:?}", table.array.shape);
        return Err(Error::unsupported(found, "rows and columns, at least one of each", "npy for more axes"));
    };
    let mut writer = ::csv::WriterBuilder::new().quote_style(::csv::QuoteStyle::NonNumeric).from_writer(Vec::new());
    let failed = |e: ::csv::Error| Error::Io { file: "csv".into(), doing: "encode it", source: e.into() };
    if let Some(names) = &table.names {
        check_names(names, cols)?;
        writer.write_record(names).map_err(failed)?;
    }
    for row in table.array.data.chunks(cols) {
        writer.write_record(row.iter().map(|&v| digits(v, table.array.kind))).map_err(failed)?;
    }
    writer.into_inner().map_err(|e| failed(e.into_error().into()))
}

fn digits(v: f64, kind: Kind) -> String {
    let plain = v == 0.0 || (1e-5..1e16).contains(&v.abs()) || !v.is_finite();
    match (kind, plain) {
        (Kind::F32, true) => (v as f32).to_string(),
        (Kind::F32, false) => format!("{:e}", v as f32),
        (_, true) => v.to_string(),
        (_, false) => format!("{v:e}"),
    }
}

/// Names that read back as a header: as many as columns, not all of them numbers, and not the first alone without one.
fn check_names(names: &[String], cols: usize) -> Result<(), Error> {
    let numbers = names.iter().all(|name| frame::is_number(name));
    if names.len() == cols && !numbers && !frame::names_rows(names) {
        return Ok(());
    }
    let expected = format!("{cols} names, not all blank or numbers, the first not blank");
    Err(Error::unsupported(format!("the header {}", quote(&names.join(","))), expected, "no header, or other names"))
}
