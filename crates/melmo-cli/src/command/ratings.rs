//! Lists of entries, row, column and value: the matrix they are entries of, and what its rows and columns are called.

use std::collections::HashMap;
use std::path::Path;

use melmo_data::Frame;
use melmo_data::frame::in_order;
use melmo_tasks::complete::Entries;

use crate::error::Error;
use crate::input::Inputs;
use crate::output::quoted;

/// Names that say what a column of a list is, in small letters and digits alone: rows, columns, values.
const KNOWN: [&[&str]; 3] = [
    &["user", "userid", "row", "rowid", "customer", "customerid", "member", "memberid", "reviewer", "reviewerid"],
    &[
        "item",
        "itemid",
        "column",
        "columnid",
        "col",
        "movie",
        "movieid",
        "product",
        "productid",
        "book",
        "bookid",
        "isbn",
    ],
    &["rating", "ratings", "value", "score", "stars", "count", "plays"],
];

/// A list, and the names of its rows and columns.
pub struct Ratings {
    pub entries: Entries,
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

/// Where rows, columns and values stand; the values may not be there.
#[derive(Clone, Debug)]
struct Fields {
    places: [usize; 3],
    /// Their names, where the list has a header.
    names: Option<[String; 3]>,
}

/// Places that predictions are for: rows and columns that the list did not have have no place.
pub struct Pairs {
    pub places: Vec<(Option<usize>, Option<usize>)>,
    names: Vec<[String; 2]>,
    /// What stands there, where it is known; NaN where not.
    pub values: Option<Vec<f64>>,
}

/// Reads a list; `given` are the names, or the numbers from 1, of its three columns.
pub fn read(inputs: &mut Inputs, path: &Path, given: &[String]) -> Result<Ratings, Error> {
    let frame = inputs.frame(path)?;
    if frame.size().1 < 3 {
        let message = format!("found {} columns; --ratings expects at least three: row, column, value", frame.size().1);
        return Err(Error::input(path, message));
    }
    let fields = Fields::find(&frame, given, path)?;
    let [row, column, value] = fields.places;
    let values = values(&frame, value, path)?;
    let (row_names, column_names) = (names(&frame, row, "row", path)?, names(&frame, column, "column", path)?);
    let (rows, columns) = (Ids::of(&row_names), Ids::of(&column_names));
    // Dense arrays are made of it.
    let most = inputs.most();
    if rows.names.len().checked_mul(columns.names.len()).is_none_or(|size| size > most) {
        let (rows, cols) = (rows.names.len(), columns.names.len());
        let message = format!("stands for {rows}×{cols} entries, more than {most}: --max-entries allows more");
        return Err(Error::input(path, message));
    }
    let list: Vec<_> = row_names
        .iter()
        .zip(&column_names)
        .zip(values)
        .filter(|(_, value)| !value.is_nan())
        .map(|((row, column), value)| (rows.places[row], columns.places[column], value))
        .collect();
    let given = list.len();
    let entries = Entries::new(rows.names.len(), columns.names.len(), list)?;
    let repeated = given - entries.list.len();
    let taken = fields.told(&frame);
    Ok(Ratings { entries, rows, columns, repeated, taken, fields })
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
            let name = self.fields.names.as_ref().map_or_else(|| KNOWN[at][0].into(), |names| names[at].clone());
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
    /// Ascending; as numbers where all of them are.
    fn of(found: &[String]) -> Self {
        let mut names = found.to_vec();
        in_order(&mut names, String::as_str);
        names.dedup();
        let places = names.iter().enumerate().map(|(at, name)| (name.clone(), at)).collect();
        Self { names, places }
    }
}

impl Fields {
    /// As given, by the names in the header, or the first three columns.
    fn find(frame: &Frame, given: &[String], path: &Path) -> Result<Self, Error> {
        let header = frame.names.as_deref();
        let named = |places: [usize; 3]| {
            let names = header.map(|header| places.map(|place| header[place].clone()));
            Self { places, names }
        };
        if !given.is_empty() {
            let [row, column, value] = given else {
                return Err(Error::option("fields", "expected three: row,column,value"));
            };
            let place = |name: &String| {
                let by_name = header.and_then(|header| header.iter().position(|known| known == name));
                let by_number = || name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                by_name.or_else(by_number).filter(|place| *place < frame.size().1).ok_or_else(|| {
                    let known = header.map_or_else(|| format!("1 to {}", frame.size().1), |header| header.join(", "));
                    Error::input(path, format!("has no column `{name}`; its columns: {known}"))
                })
            };
            return Ok(named([place(row)?, place(column)?, place(value)?]));
        }
        let plain = |name: &String| name.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        let place = |known: &[&str]| header?.iter().position(|name| known.contains(&plain(name).as_str()));
        let found = KNOWN.map(place);
        match found {
            [Some(row), Some(column), Some(value)] => Ok(named([row, column, value])),
            // A name that stands elsewhere contradicts the usual order.
            _ if found.iter().enumerate().all(|(at, place)| place.is_none_or(|place| place == at)) => {
                Ok(named([0, 1, 2]))
            }
            _ => {
                let names = header.unwrap_or_default().join(", ");
                let message = format!(
                    "which of its columns ({names}) are row, column and value? Say so with --fields row,column,value"
                );
                Err(Error::input(path, message))
            }
        }
    }

    fn told(&self, frame: &Frame) -> String {
        let Some([row, column, value]) = &self.names else {
            let [row, column, value] = self.places.map(|place| place + 1);
            return format!("rows by column {row}, columns by column {column}, values by column {value}");
        };
        let others = frame.names.iter().flatten().enumerate().filter(|(at, _)| !self.places.contains(at));
        let others: Vec<&str> = others.map(|(_, name)| name.as_str()).collect();
        let ignored = if others.is_empty() { String::new() } else { format!("; ignored: {}", others.join(", ")) };
        format!("rows by {row}, columns by {column}, values by {value}{ignored}")
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
