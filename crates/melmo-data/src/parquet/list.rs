//! A table as a list of entries: three of its columns are row, column and value.

use melmo_base::threads;

use super::column::{Kind, Value};
use super::{Opened, calmly};
use crate::error::{Error, Place, quote};
use crate::limits::Limits;
use crate::list::{Duplicates, Fields, Found, Ids, List, Piece, gather};

/// Stands for an id that a row does not have.
const NONE: u32 = u32::MAX;

/// A list from the bytes of such a file; `given` are the names, or the numbers from 1, of its three columns.
pub(crate) fn parse(bytes: &[u8], limits: &Limits, given: &[String], duplicates: Duplicates) -> Result<List, Error> {
    let opened = Opened::memory(bytes)?;
    opened.check(1, limits)?;
    let fields = Fields::find(&[opened.names()], given)?;
    let places = fields.places;
    if opened.kind(places[2])? == Kind::Text {
        let found = format!("words in the column {}", quote(&opened.names()[places[2]]));
        return Err(Error::unsupported(found, "values that are numbers", "saying so: --fields row,column,value"));
    }
    let groups = 0..opened.group_rows.len();
    let pieces =
        threads::map(groups.clone(), |group| piece(&opened, group, places)).into_iter().collect::<Result<_, _>>()?;
    let rows_of = |asked: &mut dyn FnMut([&str; 2]) -> bool| {
        let mut found = Vec::new();
        for group in groups.clone() {
            let sides = [0, 1].map(|side| ids(&opened, group, places[side]));
            let [Ok((rows, row_of)), Ok((columns, column_of))] = sides else { break }; // was said before
            let called = |ids: &Ids, code: u32| ids.texts.get(code as usize).map_or("", |text| text).to_owned();
            for (at, (&i, &j)) in row_of.iter().zip(&column_of).enumerate() {
                if asked([&called(&rows, i), &called(&columns, j)]) {
                    found.push(first_row(&opened, group) + at);
                }
            }
        }
        found
    };
    gather(pieces, fields, duplicates, &Found { unit: "row", place: Place::Row, lines_of: &rows_of })
}

/// The number of a group's first row, from 1.
fn first_row(opened: &Opened, group: usize) -> usize {
    1 + opened.group_rows[..group].iter().sum::<usize>()
}

fn piece(opened: &Opened, group: usize, [row, column, value]: [usize; 3]) -> Result<Piece, Error> {
    let (rows, row_of) = ids(opened, group, row)?;
    let (columns, column_of) = ids(opened, group, column)?;
    let mut values = Vec::with_capacity(row_of.len());
    let mut reader = opened.column(group, value)?;
    calmly(|| reader.read(opened.group_rows[group], |value| values.push(value.number())))?;
    let mut piece = Piece { ids: [rows, columns], entries: Vec::with_capacity(values.len()), commas: false };
    for (at, ((&i, &j), &value)) in row_of.iter().zip(&column_of).zip(&values).enumerate() {
        let place = || Place::Row(first_row(opened, group) + at);
        if let Some(side) = [i, j].iter().position(|code| *code == NONE) {
            let found = format!("no {}", ["row", "column"][side]);
            return Err(Error::malformed(place(), found, "a whole number or a name", HINT));
        }
        if value.is_infinite() {
            return Err(Error::malformed(place(), format!("the value {value}"), "a finite number", HINT));
        }
        if !value.is_nan() {
            piece.entries.push((i, j, value));
        }
    }
    Ok(piece)
}

const HINT: &str = "one row an entry: row, column, value";

/// What a column calls rows or columns, and the place of each of its values there.
fn ids(opened: &Opened, group: usize, column: usize) -> Result<(Ids, Vec<u32>), Error> {
    let (mut ids, mut codes, mut text, mut bad) = (Ids::default(), Vec::new(), String::new(), None);
    let (mut last, mut reader) = (None, opened.column(group, column)?);
    calmly(|| {
        reader.read(opened.group_rows[group], |value| {
            use std::fmt::Write as _;
            text.clear();
            let code = match value {
                Value::Missing => NONE,
                Value::Whole(number) if last == Some(number) => ids.last(),
                Value::Whole(number) => {
                    last = Some(number);
                    write!(text, "{number}").expect("room for a number");
                    ids.place(&text)
                }
                Value::Real(number) if number.is_nan() => NONE,
                Value::Real(number) => {
                    write!(text, "{number}").expect("room for a number");
                    ids.place(&text)
                }
                Value::Text(bytes) => match std::str::from_utf8(bytes) {
                    Ok(name) => ids.place(name.trim()),
                    Err(_) => {
                        bad = bad.or(Some(codes.len()));
                        NONE
                    }
                },
            };
            codes.push(code);
        })
    })?;
    match bad {
        None => Ok((ids, codes)),
        Some(at) => {
            let place = Place::Row(first_row(opened, group) + at);
            Err(Error::malformed(place, "bytes that are no text", "a whole number or a name", HINT))
        }
    }
}
