//! A whole table: its numbers, and its words.

use std::path::Path;

use melmo_base::threads;

use super::column::{Kind, Value};
use super::{Opened, calmly};
use crate::array::Array;
use crate::csv::Table;
use crate::error::{Error, Place, quote};
use crate::file;
use crate::frame::{Collected, Frame};
use crate::limits::Limits;

/// The names of the rows, as pandas writes them.
const INDEX: &str = "__index_level_0__";

/// Reads a table.
pub fn read(path: &Path) -> Result<Frame, Error> {
    file::read_with(path, |bytes| parse(bytes, &Limits::default()))
}

/// A table from the bytes of such a file.
pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Frame, Error> {
    let opened = Opened::memory(bytes)?;
    let mut names = opened.names();
    opened.check(names.len().max(1), limits)?;
    let mut read =
        threads::map(0..names.len(), |column| of_column(&opened, column)).into_iter().collect::<Result<Vec<_>, _>>()?;
    let index = names.iter().position(|name| name == INDEX).filter(|_| names.len() > 1).map(|at| {
        names.remove(at);
        read.remove(at).texts()
    });
    let (rows, cols) = (opened.rows, names.len());
    let mut data = vec![f64::NAN; rows * cols];
    let mut words = Vec::new();
    for (at, column) in read.into_iter().enumerate() {
        match column {
            Read::Numbers(numbers) => {
                data.iter_mut().skip(at).step_by(cols.max(1)).zip(numbers).for_each(|(to, number)| *to = number);
            }
            Read::Words(texts, first) => words.push(texts.finish(at, 0, first, 0)),
        }
    }
    Ok(Frame { names: Some(names), array: Array::new([rows, cols], data)?, words, index, commas: false })
}

/// The numbers alone, with the names of their columns; refuses the first word.
pub fn parse_numbers(bytes: &[u8], limits: &Limits) -> Result<Table, Error> {
    let frame = parse(bytes, limits)?;
    match frame.words.iter().filter_map(|words| words.first.as_ref()).min_by_key(|(row, _)| *row) {
        Some((row, word)) => {
            Err(Error::malformed(Place::Row(*row), quote(word), "a number", "leaving columns of words out"))
        }
        None => frame.numbers(),
    }
}

enum Read {
    Numbers(Vec<f64>),
    /// With the row, counted from 1, and the text of the first.
    Words(Collected, Option<(usize, String)>),
}

impl Read {
    /// What rows are called by this column.
    fn texts(self) -> Vec<String> {
        match self {
            Self::Numbers(numbers) => numbers.iter().map(f64::to_string).collect(),
            Self::Words(texts, _) => {
                let words = texts.finish(0, 0, None, 0);
                (0..words.codes().len()).map(|row| words.at(row).unwrap_or_default().to_owned()).collect()
            }
        }
    }
}

fn of_column(opened: &Opened, at: usize) -> Result<Read, Error> {
    let text = opened.kind(at)? == Kind::Text;
    let (mut numbers, mut texts, mut first, mut bad) = (Vec::new(), Collected::default(), None, false);
    for (group, &rows) in opened.group_rows.iter().enumerate() {
        let mut column = opened.column(group, at)?;
        calmly(|| {
            column.read(rows, |value| match value {
                Value::Text(bytes) => match std::str::from_utf8(bytes) {
                    Ok(text) => {
                        first = first.take().or_else(|| Some((texts.len() + 1, text.to_owned())));
                        texts.push(Some(text));
                    }
                    Err(_) => bad = true,
                },
                _ if text => texts.push(None),
                value => numbers.push(value.number()),
            })
        })?;
    }
    if bad {
        let found = format!("bytes that are no text in the column {}", quote(&opened.names()[at]));
        return Err(Error::unsupported(found, "numbers or words", "leaving the column out"));
    }
    Ok(if text { Read::Words(texts, first) } else { Read::Numbers(numbers) })
}
