//! Matrix Market's `.mtx`: coordinate and array, real, integer and pattern, general, symmetric and skew-symmetric.
//!
//! Repeated coordinates are added up. A symmetric file holds the lower triangle, a skew-symmetric one without its
//! diagonal, as the format says. NaN and ∞ are refused.

mod header;
mod sparse;

pub use sparse::Sparse;

use crate::array::{Array, Kind};
use crate::error::{Error, Place, quote};
use crate::file;
use crate::limits::Limits;
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
    parse_sparse(bytes)?.spread(limits, bytes.len())
}

/// The entries of a Matrix Market file, without zeros for the others.
pub fn parse_sparse(bytes: &[u8]) -> Result<Sparse, Error> {
    let text = std::str::from_utf8(bytes)
        .map_err(|e| Error::malformed(Place::Byte(e.valid_up_to()), "bytes that are not text", "UTF-8", HINT))?;
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let header = Header::parse(lines.next().map_or("", |(_, line)| line))?;
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('%'));
    let (at, size) = lines.next().ok_or_else(|| wrong(2, "the end of the file", "the line of sizes"))?;
    let [rows, cols, stored] = header.sizes(at, size)?;
    check_length(at, &header, stored, bytes.len())?;
    let mut sparse = Sparse { rows, cols, kind: header.kind(), entries: Vec::with_capacity(stored) };
    match header.layout {
        Layout::Coordinate => coordinates(&header, lines, stored, &mut sparse)?,
        Layout::Array => columns(&header, lines, stored, &mut sparse)?,
    }
    Ok(sparse)
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

fn coordinates<'a>(
    header: &Header,
    lines: impl Iterator<Item = (usize, &'a str)>,
    stored: usize,
    sparse: &mut Sparse,
) -> Result<(), Error> {
    let mut found = 0;
    for (at, line) in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.len() != header.words() {
            return Err(wrong(at, format!("{} words", words.len()), format!("{} words", header.words())));
        }
        let i = index(at, words[0], sparse.rows)?;
        let j = index(at, words[1], sparse.cols)?;
        let value = words.get(2).map_or(Ok(1.0), |word| number(at, word, header.field))?;
        header.check_triangle(at, i, j)?;
        found += 1;
        check_count(at, found, stored)?;
        push(sparse, header.symmetry, i, j, value);
    }
    check_all(found, stored)
}

fn columns<'a>(
    header: &Header,
    lines: impl Iterator<Item = (usize, &'a str)>,
    stored: usize,
    sparse: &mut Sparse,
) -> Result<(), Error> {
    let first_row = |j: usize| match header.symmetry {
        Symmetry::General => 0,
        Symmetry::Symmetric => j,
        Symmetry::Skew => j + 1,
    };
    let (mut i, mut j, mut found) = (first_row(0), 0, 0);
    for (at, line) in lines {
        for word in line.split_whitespace() {
            let value = number(at, word, header.field)?;
            found += 1;
            check_count(at, found, stored)?;
            if value != 0.0 {
                push(sparse, header.symmetry, i, j, value);
            }
            i += 1;
            if i == sparse.rows {
                j += 1;
                i = first_row(j);
            }
        }
    }
    check_all(found, stored)
}

fn push(sparse: &mut Sparse, symmetry: Symmetry, i: usize, j: usize, value: f64) {
    sparse.entries.push((i, j, value));
    match symmetry {
        Symmetry::Symmetric if i != j => sparse.entries.push((j, i, value)),
        Symmetry::Skew if i != j => sparse.entries.push((j, i, -value)),
        _ => {}
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

fn check_count(at: usize, found: usize, stored: usize) -> Result<(), Error> {
    if found <= stored { Ok(()) } else { Err(wrong(at, "more entries", format!("{stored}, as the sizes say"))) }
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
