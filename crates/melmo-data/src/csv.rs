//! Tables of numbers as text: commas, semicolons, tabs or blanks between the cells, with or without a header.
//!
//! A first line with a cell that is neither blank nor a number is a header. Blank cells, `NA` and `NaN` are NaN. Blank
//! lines and lines that start with `#` are skipped. The delimiter is the first of tab, semicolon, comma that occurs in
//! the first line; with none of them, cells are what stands between blanks.

use crate::array::{Array, Kind};
use crate::error::{Error, Place, brief, quote};
use crate::file;
use std::path::Path;

/// Numbers with the names of their columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The header, if there is one.
    pub names: Option<Vec<String>>,
    /// rows × columns.
    pub array: Array,
}

/// Reads a table.
pub fn read(path: &Path) -> Result<Table, Error> {
    file::read_with(path, parse)
}

/// A table from the bytes of a text file in UTF-8.
pub fn parse(bytes: &[u8]) -> Result<Table, Error> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = Place::Line(line_of(bytes, error.valid_up_to()));
        Error::malformed(at, "bytes that are not text", "a table in UTF-8", "saving it as UTF-8 text")
    })?;
    let mut rows = Rows::default();
    let delimiter = text.lines().find(|line| !skipped(line)).and_then(delimiter);
    match delimiter {
        Some(delimiter) => delimited(text, delimiter, &mut rows)?,
        None => {
            for (at, line) in text.lines().enumerate().filter(|(_, line)| !skipped(line)) {
                rows.add(&line.split_whitespace().collect::<Vec<_>>(), || at + 1)?;
            }
        }
    }
    rows.finish()
}

fn skipped(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with('#')
}

fn delimiter(line: &str) -> Option<u8> {
    // What stands in quotes is text: every second piece between quotation marks.
    let outside = || line.split('"').step_by(2);
    let mark = [b'\t', b';', b','].into_iter().find(|&mark| outside().any(|piece| piece.contains(char::from(mark))));
    mark.or(line.contains('"').then_some(b','))
}

fn delimited(text: &str, delimiter: u8, rows: &mut Rows) -> Result<(), Error> {
    let mut reader = ::csv::ReaderBuilder::new();
    reader.has_headers(false).flexible(true).comment(Some(b'#')).delimiter(delimiter);
    for record in reader.from_reader(text.as_bytes()).records() {
        let record = record.map_err(|e| Error::malformed(Place::Whole, brief(&e), "a table", "checking the quotes"))?;
        if record.len() == 1 && record[0].trim().is_empty() {
            continue;
        }
        let start = record.position().map_or(0, |position| position.byte() as usize);
        rows.add(&record.iter().collect::<Vec<_>>(), || first_line_from(text, start))?;
    }
    Ok(())
}

/// The line a record stands on: its position may be that of skipped lines before it.
fn first_line_from(text: &str, start: usize) -> usize {
    let before = line_of(text.as_bytes(), start);
    before + text.get(start..).map_or(0, |rest| rest.lines().take_while(|line| skipped(line)).count())
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    1 + bytes[..at.min(bytes.len())].iter().filter(|&&byte| byte == b'\n').count()
}

#[derive(Default)]
struct Rows {
    cols: Option<usize>,
    names: Option<Vec<String>>,
    data: Vec<f64>,
}

impl Rows {
    fn add(&mut self, cells: &[&str], line: impl Fn() -> usize) -> Result<(), Error> {
        let first = self.cols.is_none();
        let cols = *self.cols.get_or_insert(cells.len());
        if cells.len() != cols {
            let (found, expected) = (format!("{} cells", cells.len()), format!("{cols}, as in the first line"));
            return Err(Error::malformed(Place::Line(line()), found, expected, "NA for each missing cell"));
        }
        if first && cells.iter().any(|cell| number(cell).is_none()) {
            self.names = Some(cells.iter().map(|cell| cell.trim().to_owned()).collect());
            return Ok(());
        }
        for cell in cells {
            let value = number(cell).ok_or_else(|| {
                let hint = "NA for a missing number, and a point (not a comma) before decimals";
                Error::malformed(Place::Line(line()), quote(cell), "a number", hint)
            })?;
            self.data.push(value);
        }
        Ok(())
    }

    fn finish(self) -> Result<Table, Error> {
        let cols = self.cols.unwrap_or(0);
        if self.data.is_empty() {
            return Err(Error::malformed(
                Place::Whole,
                "no row of numbers",
                "at least one",
                "checking that it is the right file",
            ));
        }
        let shape = vec![self.data.len() / cols, cols];
        Ok(Table { names: self.names, array: Array { shape, data: self.data, kind: Kind::F64 } })
    }
}

fn number(cell: &str) -> Option<f64> {
    match cell.trim() {
        "" | "NA" | "N/A" => Some(f64::NAN),
        cell => cell.parse().ok(),
    }
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

/// Names that read back as a header: as many as columns, not all of them numbers.
fn check_names(names: &[String], cols: usize) -> Result<(), Error> {
    let numbers = names.iter().all(|name| number(name).is_some());
    if names.len() == cols && !numbers {
        return Ok(());
    }
    let expected = format!("{cols} names, not all blank or numbers");
    Err(Error::unsupported(format!("the header {}", quote(&names.join(","))), expected, "no header, or other names"))
}
