//! Matrix Market's `.mtx`: coordinate and array, real, integer and pattern, general, symmetric and skew-symmetric.
//!
//! Repeated coordinates are added up. A symmetric file holds the lower triangle, a skew-symmetric one without its
//! diagonal, as the format says. NaN and ∞ are refused.

mod header;
mod part;
mod sparse;

pub use part::Part;
pub use sparse::Sparse;
pub(crate) use sparse::spread;

use crate::array::{Array, Kind, check_size};
use crate::error::{Error, Place, quote};
use crate::file;
use crate::limits::Limits;
use crate::pieces;
use header::{Field, Header, Layout, Symmetry};
use std::path::Path;

const HINT: &str = "writing the file again with a Matrix Market writer";

/// Reads a matrix and spreads it out.
pub fn read(path: &Path) -> Result<Array, Error> {
    file::read_with(path, parse)
}

/// A dense matrix from the bytes of a Matrix Market file.
pub fn parse(bytes: &[u8]) -> Result<Array, Error> {
    parse_within(bytes, &Limits::default())
}

/// The same, of as many entries as a limit says.
pub fn parse_within(bytes: &[u8], limits: &Limits) -> Result<Array, Error> {
    read_entries(bytes, |rows, cols| check_size(rows, cols, limits, bytes.len()))?.spread(limits, bytes.len())
}

/// The entries of a Matrix Market file, without zeros for the others.
pub fn parse_sparse(bytes: &[u8]) -> Result<Sparse, Error> {
    parse_sparse_within(bytes, &Limits::default())
}

/// The same, of as many rows and columns as a limit says.
pub fn parse_sparse_within(bytes: &[u8], limits: &Limits) -> Result<Sparse, Error> {
    read_entries(bytes, |rows, cols| limits.sides(rows, cols, bytes.len()))
}

/// The entries of a matrix whose shape is allowed.
fn read_entries(bytes: &[u8], allowed: impl Fn(usize, usize) -> Result<(), Error>) -> Result<Sparse, Error> {
    let text = std::str::from_utf8(bytes)
        .map_err(|e| Error::malformed(Place::Byte(e.valid_up_to()), "bytes that are not text", "UTF-8", HINT))?;
    let header = Header::parse(text.lines().next().unwrap_or_default())?;
    let (at, size, rest) = sizes(text)?;
    let [rows, cols, stored] = header.sizes(at, size)?;
    check_length(at, &header, stored, bytes.len())?;
    allowed(rows, cols)?;
    let body = Body { header, rows, cols, stored, before: at };
    let pieces = match body.header.layout {
        Layout::Coordinate => body.coordinates(rest)?,
        Layout::Array => vec![body.columns(rest)?],
    };
    Sparse::of(rows, cols, body.header.kind(), &pieces)
}

/// The line of sizes with its number, and the text after it.
fn sizes(text: &str) -> Result<(usize, &str, &str), Error> {
    let mut rest = text;
    for at in 1.. {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        if at > 1 && !skipped(line) {
            return Ok((at, line, after));
        }
        if after.is_empty() {
            break;
        }
        rest = after;
    }
    Err(wrong(2, "the end of the file", "the line of sizes"))
}

fn skipped(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with('%')
}

/// An entry takes at least two bytes for each of its words: a digit and what follows it.
fn check_length(at: usize, header: &Header, stored: usize, bytes: usize) -> Result<(), Error> {
    let least = stored.checked_mul(2 * header.words());
    if least.is_some_and(|least| least <= bytes + 1) {
        return Ok(());
    }
    let limit = format!("the file has {bytes} bytes");
    Err(Error::too_large(Place::Line(at), format!("{stored} entries"), limit, "copying the file again"))
}

/// What is known before the entries are read.
struct Body {
    header: Header,
    rows: usize,
    cols: usize,
    stored: usize,
    /// Lines up to that of the sizes.
    before: usize,
}

/// Entries, counted from 0.
type Entries = Vec<(u32, u32, f64)>;

impl Body {
    /// One entry a line, read by all threads.
    fn coordinates(&self, text: &str) -> Result<Vec<Entries>, Error> {
        let read = pieces::read(text, |_, piece| {
            let (mut entries, mut found) = (Vec::new(), 0);
            for (at, line) in piece.lines().enumerate().filter(|(_, line)| !skipped(line)) {
                let (i, j, value) = self.coordinate(at + 1, line)?;
                self.push(&mut entries, i, j, value);
                found += 1;
            }
            Ok((entries, found))
        });
        let read = read.map_err(|error| error.after(self.before))?;
        let found = read.iter().map(|(_, found)| found).sum();
        if found > self.stored {
            let extra = text.lines().enumerate().filter(|(_, line)| !skipped(line)).nth(self.stored);
            let line = self.before + extra.map_or(0, |(at, _)| at + 1);
            return Err(wrong(line, "more entries", format!("{}, as the sizes say", self.stored)));
        }
        check_all(found, self.stored)?;
        Ok(read.into_iter().map(|(entries, _)| entries).collect())
    }

    fn coordinate(&self, at: usize, line: &str) -> Result<(usize, usize, f64), Error> {
        let (mut words, expected) = (line.split_ascii_whitespace(), self.header.words());
        let [i, j, value, more] = std::array::from_fn(|_| words.next());
        let complete = if expected == 2 { j.is_some() && value.is_none() } else { value.is_some() && more.is_none() };
        let (Some(i), Some(j), true) = (i, j, complete) else {
            return Err(wrong(
                at,
                format!("{} words", line.split_ascii_whitespace().count()),
                format!("{expected} words"),
            ));
        };
        let (i, j) = (index(at, i, self.rows)?, index(at, j, self.cols)?);
        let value = value.map_or(Ok(1.0), |word| number(at, word, self.header.field))?;
        self.header.check_triangle(at, i, j)?;
        Ok((i, j, value))
    }

    /// Everything, column by column.
    fn columns(&self, text: &str) -> Result<Entries, Error> {
        let first_row = |j: usize| match self.header.symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric => j,
            Symmetry::Skew => j + 1,
        };
        let (mut i, mut j, mut found, mut entries) = (first_row(0), 0, 0, Vec::new());
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !skipped(line)) {
            let at = self.before + at + 1;
            for word in line.split_whitespace() {
                let value = number(at, word, self.header.field)?;
                found += 1;
                if found > self.stored {
                    return Err(wrong(at, "more entries", format!("{}, as the sizes say", self.stored)));
                }
                self.push(&mut entries, i, j, value);
                i += 1;
                if i == self.rows {
                    j += 1;
                    i = first_row(j);
                }
            }
        }
        check_all(found, self.stored)?;
        Ok(entries)
    }

    fn push(&self, entries: &mut Entries, i: usize, j: usize, value: f64) {
        let (i, j) = (i as u32, j as u32); // the sides were checked
        entries.push((i, j, value));
        match self.header.symmetry {
            Symmetry::Symmetric if i != j => entries.push((j, i, value)),
            Symmetry::Skew if i != j => entries.push((j, i, -value)),
            _ => {}
        }
    }
}

fn index(at: usize, word: &str, size: usize) -> Result<usize, Error> {
    match word.parse::<usize>() {
        Ok(index) if (1..=size).contains(&index) => Ok(index - 1),
        _ => Err(wrong(at, format!("the index {}", quote(word)), format!("a whole number from 1 to {size}"))),
    }
}

fn number(at: usize, word: &str, field: Field) -> Result<f64, Error> {
    let exact = |v: i64| (v.unsigned_abs() <= 1 << 53).then_some(v as f64);
    let (value, expected) = match field {
        Field::Integer => (word.parse().ok().and_then(exact), "an integer within ±2^53"),
        Field::Real | Field::Pattern => (word.parse().ok().filter(|v: &f64| v.is_finite()), "a finite number"),
    };
    value.ok_or_else(|| wrong(at, quote(word), expected))
}

fn check_all(found: usize, stored: usize) -> Result<(), Error> {
    if found == stored {
        return Ok(());
    }
    let expected = format!("{stored}, as the sizes say");
    Err(Error::malformed(Place::Whole, format!("{found} entries"), expected, "copying the file again"))
}

fn wrong(line: usize, found: impl Into<String>, expected: impl Into<String>) -> Error {
    Error::malformed(Place::Line(line), found, expected, HINT)
}

/// Writes a matrix in the array layout; an existing file is refused unless `overwrite`.
pub fn write(path: &Path, array: &Array, overwrite: bool) -> Result<(), Error> {
    file::write_with(path, overwrite, || encode(array))
}

/// The text of a Matrix Market file in the array layout. Every entry has to be finite.
pub fn encode(array: &Array) -> Result<Vec<u8>, Error> {
    array.check_shape()?;
    array.check_kind()?;
    let Some((rows, cols)) = array.rows_cols() else {
        return Err(Error::unsupported(format!("the shape {:?}", array.shape), "one or two axes", "npy for more axes"));
    };
    if let Some(entry) = array.data.iter().position(|v| !v.is_finite()) {
        let hint = "csv or npy, which hold NaN and infinity";
        return Err(Error::malformed(Place::Entry(entry), array.data[entry].to_string(), "a finite number", hint));
    }
    let real = matches!(array.kind, Kind::F32 | Kind::F64);
    let field = if real { "real" } else { "integer" };
    let mut text = format!("%%MatrixMarket matrix array {field} general\n{rows} {cols}\n");
    for j in 0..cols {
        for i in 0..rows {
            let v = array.data[i * cols + j];
            text.push_str(&if real { format!("{v:e}\n") } else { format!("{v}\n") });
        }
    }
    Ok(text.into_bytes())
}
