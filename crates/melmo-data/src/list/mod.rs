//! A sparse matrix as a list of its entries: a line for each, with what its row, its column and its value are.
//!
//! Cells stand between tabs, semicolons, commas, `::` or blanks. Rows and columns are called by whole numbers of any length or by
//! names; what they are called, in order, makes their places. A line without a value says nothing about its entry. Other columns,
//! such as times, are not looked at. Long lists are read by all threads.
//!
//! ```
//! use melmo_data::list::{Duplicates, parse};
//!
//! let text = b"user,item,rating,time\nann,tea,5,881250949\nbob,milk,3,891717742\nann,milk,1,878887116\n";
//! let list = parse(text, &[], Duplicates::Refuse)?;
//! assert_eq!((list.rows, list.columns), (vec!["ann".into(), "bob".into()], vec!["milk".into(), "tea".to_string()]));
//! assert_eq!(list.matrix.row(0), (&[0, 1][..], &[1.0, 5.0][..]));
//! assert_eq!(list.fields.ignored, ["time"]);
//! # Ok::<(), melmo_data::Error>(())
//! ```

mod fields;
mod names;
mod piece;
mod text;

pub use fields::Fields;
pub(crate) use piece::{Ids, Piece};

use std::path::Path;

use melmo_base::sparse::Csr;

use crate::error::{Error, Place, quote};
use crate::limits::Limits;
use crate::{file, format, parquet};
use names::Named;
use text::Text;

/// What several values of one entry mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// A mistake.
    Refuse,
    /// Their mean.
    #[default]
    Mean,
}

/// A list that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    /// The entries, by the places of their rows and columns.
    pub matrix: Csr<f64>,
    /// What the rows are called, ascending; as numbers where all of them are.
    pub rows: Vec<String>,
    /// What the columns are called.
    pub columns: Vec<String>,
    /// Lines whose entry had been given before.
    pub repeated: usize,
    /// Values had decimal commas.
    pub commas: bool,
    /// Where everything stood.
    pub fields: Fields,
}

/// Reads a list; `given` are the names, or the numbers from 1, of its three columns, where they are not to be found.
pub fn read(
    path: &Path,
    limits: &Limits,
    given: &[String],
    duplicates: Duplicates,
    see: impl FnOnce(&[u8]),
) -> Result<List, Error> {
    file::read_seen(path, limits, see, |bytes| match format::is_parquet(path) {
        true => parquet::parse_list(bytes, limits, given, duplicates),
        false => parse(bytes, given, duplicates),
    })
}

/// A list from the bytes of a text in UTF-8.
pub fn parse(bytes: &[u8], given: &[String], duplicates: Duplicates) -> Result<List, Error> {
    let text = Text::of(bytes, given)?;
    let pieces = text.read()?;
    let lines_of =
        |asked: &mut dyn FnMut([&str; 2]) -> bool| text.lines_of(|[row, column, _]| asked([row, column])).collect();
    gather(pieces, text.fields.clone(), duplicates, &Found { unit: "line", place: Place::Line, lines_of: &lines_of })
}

/// Whether a row and a column, by their ids, are those that are asked for.
type Asked<'a> = &'a mut dyn FnMut([&str; 2]) -> bool;

/// How an entry is found again: for a message.
pub(crate) struct Found<'f> {
    /// What a line is called.
    pub unit: &'static str,
    pub place: fn(usize) -> Place,
    /// The numbers of the lines of which row and column are asked for.
    pub lines_of: &'f dyn Fn(Asked<'_>) -> Vec<usize>,
}

/// The matrix of which the pieces hold the entries.
pub(crate) fn gather(
    mut pieces: Vec<Piece>,
    fields: Fields,
    duplicates: Duplicates,
    found: &Found<'_>,
) -> Result<List, Error> {
    let commas = pieces.iter().any(|piece| piece.commas);
    let (rows, columns) = (side(found, &mut pieces, 0)?, side(found, &mut pieces, 1)?);
    let entries = pieces.iter().enumerate().flat_map(|(at, piece)| {
        let (rows, columns) = (&rows.places[at], &columns.places[at]);
        piece.entries.iter().map(|&(i, j, value)| (rows[i as usize], columns[j as usize], value))
    });
    let mut repeated = 0;
    let merge = |i: usize, j: usize, values: &[f64]| match duplicates {
        Duplicates::Refuse => Err(twice(found, &rows.names[i], &columns.names[j])),
        Duplicates::Mean => {
            repeated += values.len() - 1;
            Ok(values.iter().sum::<f64>() / values.len() as f64)
        }
    };
    let matrix = Csr::from_entries(rows.names.len(), columns.names.len(), entries, merge)?;
    Ok(List { matrix, rows: rows.names, columns: columns.names, repeated, commas, fields })
}

/// What the rows (0) or the columns (1) are called.
fn side(found: &Found<'_>, pieces: &mut [Piece], which: usize) -> Result<Named, Error> {
    let ids = pieces.iter_mut().map(|piece| std::mem::take(&mut piece.ids[which])).collect();
    Named::of(ids).map_err(|id| {
        let lines = (found.lines_of)(&mut |cells| cells[which] == id);
        let place = (found.place)(lines.first().copied().unwrap_or_default());
        let hint = "a letter in front of each, where they are names";
        let id = format!("{} as the {}", quote(&id), ["row", "column"][which]);
        Error::malformed(place, id, "a whole number or a name", hint)
    })
}

/// Two lines are about one entry.
fn twice(found: &Found<'_>, row: &str, column: &str) -> Error {
    let is = |cell: &str, name: &str| cell == name || names::name(cell) == name;
    let mut lines = (found.lines_of)(&mut |cells| is(cells[0], row) && is(cells[1], column)).into_iter();
    let (first, second) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let what = format!("row {}, column {} again, as in {} {first}", quote(row), quote(column), found.unit);
    let hint = "--duplicates mean, where their mean is wanted";
    Error::malformed((found.place)(second), what, "every entry once", hint)
}
