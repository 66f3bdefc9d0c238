//! Some lines of a list, by names of their own.

use std::collections::HashMap;

use crate::error::{Error, Place, quote};
use crate::frame::{Cell, ambiguous};

pub(super) const HINT: &str = "one line an entry: row, column, value";

/// What was found in a line, and what was expected.
pub(super) struct Wrong {
    found: String,
    expected: String,
}

impl Wrong {
    pub fn new(found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { found: found.into(), expected: expected.into() }
    }

    fn value(found: &str, expected: &str) -> Self {
        Self::new(format!("the value {}", quote(found)), expected)
    }

    /// In this line.
    pub fn at(self, line: usize) -> Error {
        Error::malformed(Place::Line(line), self.found, self.expected, HINT)
    }
}

/// Entries by the places of their ids among those of this piece.
#[derive(Default)]
pub(crate) struct Piece {
    /// Ids of rows and of columns.
    pub ids: [Ids; 2],
    pub entries: Vec<(u32, u32, f64)>,
    pub commas: bool,
}

/// Texts in the order in which they came, each once.
#[derive(Default)]
pub(crate) struct Ids {
    pub texts: Vec<Box<str>>,
    places: HashMap<Box<str>, u32>,
    /// The place of the last one: lists are often in order.
    last: u32,
}

impl Ids {
    /// The place of the one that came last.
    pub fn last(&self) -> u32 {
        self.last
    }

    pub fn place(&mut self, text: &str) -> u32 {
        if self.texts.get(self.last as usize).is_some_and(|last| **last == *text) {
            return self.last;
        }
        self.last = match self.places.get(text) {
            Some(&place) => place,
            None => {
                let place = self.texts.len() as u32;
                self.texts.push(text.into());
                self.places.insert(text.into(), place);
                place
            }
        };
        self.last
    }
}

impl Piece {
    /// One more line. Without a value nothing is known of its entry.
    pub(super) fn add(&mut self, cells: [&str; 3], commas: bool) -> Result<(), Wrong> {
        let [row, column, value] = cells.map(str::trim);
        for (text, which) in [(row, "row"), (column, "column")] {
            // Nearly all ids are longer than what stands for a missing one, or begin with a digit.
            if !text.as_bytes().first().is_some_and(u8::is_ascii_digit) && Cell::read(text, false) == Cell::Missing {
                return Err(Wrong::new(format!("no {which}"), "a whole number or a name"));
            }
        }
        let value = match Cell::read(value, commas) {
            Cell::Missing => return Ok(()),
            Cell::Word => return Err(Wrong::value(value, "a number")),
            Cell::Comma(_) if ambiguous(value) => {
                return Err(Wrong::value(value, "a point before decimals, nothing at thousands"));
            }
            Cell::Comma(number) => {
                self.commas = true;
                number
            }
            Cell::Number(number) if number.is_finite() => number,
            Cell::Number(_) => return Err(Wrong::value(value, "a finite number")),
        };
        let [rows, columns] = &mut self.ids;
        self.entries.push((rows.place(row), columns.place(column), value));
        Ok(())
    }
}
