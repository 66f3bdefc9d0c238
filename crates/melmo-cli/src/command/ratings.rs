//! Lists of entries, row, column and value: the matrix they are entries of, and what its rows and columns are called.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use melmo_data::Frame;
use melmo_data::list::{Duplicates, Fields, List};
use melmo_tasks::complete::Entries;

use crate::error::Error;
use crate::input::Inputs;
use crate::output::{Outputs, part, quoted};
use crate::render::Summary;

/// A list, and the names of its rows and columns.
pub struct Ratings {
    /// The entries, until somebody takes them.
    pub entries: Option<Entries>,
    pub rows: Ids,
    pub columns: Ids,
    /// Entries that were given more than once.
    pub repeated: usize,
    /// Which columns were taken for what.
    pub taken: String,
    fields: Fields,
}

/// Names and their places.
pub struct Ids {
    pub names: Vec<String>,
    places: HashMap<String, usize>,
}

/// Places that predictions are for: rows and columns that the list did not have have no place.
pub struct Pairs {
    pub places: Vec<(Option<usize>, Option<usize>)>,
    names: Vec<[String; 2]>,
    /// What stands there, where it is known; NaN where not.
    pub values: Option<Vec<f64>>,
}

/// Reads a list; `given` are the names, or the numbers from 1, of its three columns.
pub fn read(inputs: &mut Inputs, path: &Path, given: &[String], duplicates: Duplicates) -> Result<Ratings, Error> {
    if !matches!(given.len(), 0 | 3) {
        return Err(Error::option("fields", "expected three: row,column,value"));
    }
    let List { matrix, rows, columns, repeated, fields, .. } = inputs.list(path, given, duplicates)?;
    let entries = Some(Entries::of_sparse(matrix)?);
    Ok(Ratings { entries, rows: Ids::of(rows), columns: Ids::of(columns), repeated, taken: fields.told(), fields })
}

/// Says how many entries were given more than once.
pub fn tell_repeated(repeated: usize, summary: &mut Summary) {
    if repeated > 0 {
        let text = format!("{repeated} entries were given before and are averaged");
        summary.add("repeated", repeated, "repeated", text);
    }
}

/// Where the names of rows and columns go, beside an array.
pub fn names_files(path: &Path) -> [PathBuf; 2] {
    ["rows", "columns"].map(|which| part(path, which).with_extension("csv"))
}

/// Writes the names of rows and columns, one a line.
pub fn write_names(outputs: &mut Outputs, path: &Path, names: [&[String]; 2]) -> Result<(), Error> {
    for (names, file) in names.into_iter().zip(names_files(path)) {
        let lines: String = names.iter().map(|name| quoted(name) + "\n").collect();
        outputs.bytes(&file, lines.as_bytes())?;
    }
    Ok(())
}

impl Ratings {
    /// Reads places of the same matrix, with values or without.
    pub fn pairs(&self, inputs: &mut Inputs, path: &Path) -> Result<Pairs, Error> {
        let frame = inputs.frame(path)?;
        if let (Some(names), None) = (&frame.names, &self.fields.names) {
            let message = format!(
                "its first line ({}) is taken for a header, and the list has none: give it one",
                names.join(", ")
            );
            return Err(Error::input(path, message));
        }
        let (cols, by_name) = (frame.size().1, frame.names.as_ref().zip(self.fields.names.as_ref()));
        let place = |at: usize| match by_name {
            Some((known, wanted)) => known.iter().position(|name| *name == wanted[at]),
            // Without names: as in the list, or row and column alone.
            None if cols >= 3 => Some(self.fields.places[at]).filter(|place| *place < cols),
            None => Some(at).filter(|at| *at < cols.min(2)),
        };
        let missing = |at: usize| {
            let name = self.fields.names.as_ref().map_or_else(|| Fields::usual(at).into(), |names| names[at].clone());
            Error::input(path, format!("has no column `{name}`, as the list has"))
        };
        let row = names(&frame, place(0).ok_or_else(|| missing(0))?, "row", path)?;
        let column = names(&frame, place(1).ok_or_else(|| missing(1))?, "column", path)?;
        let places = row
            .iter()
            .zip(&column)
            .map(|(row, column)| (self.rows.places.get(row).copied(), self.columns.places.get(column).copied()));
        let places = places.collect();
        let values = place(2).map(|place| values(&frame, place, path)).transpose()?;
        let names = row.into_iter().zip(column).map(|(row, column)| [row, column]).collect();
        Ok(Pairs { places, names, values })
    }
}

impl Pairs {
    /// A table: row, column, prediction.
    pub fn csv(&self, predicted: &[f64]) -> String {
        let mut text = String::from("row,column,prediction\n");
        for ([row, column], value) in self.names.iter().zip(predicted) {
            text += &format!("{},{},{value}\n", quoted(row), quoted(column));
        }
        text
    }
}

impl Ids {
    fn of(names: Vec<String>) -> Self {
        let places = names.iter().enumerate().map(|(at, name)| (name.clone(), at)).collect();
        Self { names, places }
    }
}

/// The numbers in a column; NaN where one is missing.
fn values(frame: &Frame, column: usize, path: &Path) -> Result<Vec<f64>, Error> {
    match frame.words_of(column).and_then(|words| words.first.as_ref()) {
        Some((line, word)) => Err(Error::input(path, format!("line {line}: the value is `{word}`; expected a number"))),
        None => Ok(frame.numbers_of(column).collect()),
    }
}

/// The names in a column: its words, or its whole numbers.
fn names(frame: &Frame, column: usize, which: &str, path: &Path) -> Result<Vec<String>, Error> {
    let wrong = |entry: usize, found: String| {
        let message = format!("entry {}: the {which} is {found}; expected a whole number or a name", entry + 1);
        Error::input(path, message)
    };
    match frame.words_of(column) {
        Some(words) => (0..frame.size().0)
            .map(|row| words.at(row).map(String::from).ok_or_else(|| wrong(row, "missing".into())))
            .collect(),
        None => frame
            .numbers_of(column)
            .enumerate()
            .map(|(row, number)| match number.fract() == 0.0 {
                true => Ok(format!("{number}")),
                false if number.is_nan() => Err(wrong(row, "missing".into())),
                false => Err(wrong(row, number.to_string())),
            })
            .collect(),
    }
}

/// Whether a table without a gap looks like a list: few columns, whole numbers in the first two, and many lines.
pub fn resembles(data: &[f64], rows: usize, cols: usize) -> bool {
    let whole = |line: &[f64]| line[..2].iter().all(|id| id.fract() == 0.0);
    (3..=4).contains(&cols) && rows > 10 * cols && data.chunks(cols).all(whole)
}
