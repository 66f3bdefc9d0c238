//! Which columns of a list are row, column and value.

use crate::error::{Error, Place};
use crate::frame::is_number;

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

const HINT: &str = "saying so: --fields row,column,value";

/// Where rows, columns and values stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields {
    /// Their columns, counted from 0.
    pub places: [usize; 3],
    /// Their names, where the list has a header.
    pub names: Option<[String; 3]>,
    /// What the other columns are called: their names, or their numbers from 1.
    pub ignored: Vec<String>,
    /// Cells of a line.
    pub(super) width: usize,
}

impl Fields {
    /// As given, by the names in the header, or the first three columns.
    pub(crate) fn find(top: &[Vec<String>], given: &[String]) -> Result<Self, Error> {
        let first = top.first().map(Vec::as_slice).unwrap_or_default();
        if first.len() < 3 {
            let found = format!("{} columns", first.len());
            return Err(Error::malformed(
                Place::Whole,
                found,
                "at least three: row, column, value",
                super::piece::HINT,
            ));
        }
        let header = is_header(first, top.get(1)).then_some(first);
        let places = match given {
            [] => by_name(header, first)?,
            [row, column, value] => [one(row, header, first)?, one(column, header, first)?, one(value, header, first)?],
            _ => return Err(Error::argument("fields", given.join(","), "three: row,column,value")),
        };
        let name = |at: usize| header.map_or_else(|| (at + 1).to_string(), |header| header[at].clone());
        let ignored = (0..first.len()).filter(|at| !places.contains(at)).map(name).collect();
        Ok(Self { places, names: header.map(|_| places.map(name)), ignored, width: first.len() })
    }

    /// The first line is no entry.
    pub fn has_header(&self) -> bool {
        self.names.is_some()
    }

    /// The usual name of a field: row, column, value by 0, 1, 2.
    #[must_use]
    pub fn usual(which: usize) -> &'static str {
        KNOWN[which][0]
    }

    /// What was taken for what.
    #[must_use]
    pub fn told(&self) -> String {
        let [row, column, value] = match &self.names {
            Some(names) => names.clone(),
            None => self.places.map(|place| format!("column {}", place + 1)),
        };
        let ignored = match (self.ignored.is_empty(), self.has_header()) {
            (true, _) => String::new(),
            (false, true) => format!("; ignored: {}", self.ignored.join(", ")),
            (false, false) => format!("; ignored: column {}", self.ignored.join(", ")),
        };
        format!("rows by {row}, columns by {column}, values by {value}{ignored}")
    }
}

/// A word in it stands above a number, or there is nothing but words.
fn is_header(first: &[String], second: Option<&Vec<String>>) -> bool {
    let above = |(at, cell): (usize, &String)| {
        !is_number(cell) && second.is_some_and(|second| second.get(at).is_some_and(|below| is_number(below)))
    };
    first.iter().enumerate().any(above) || first.iter().all(|cell| !is_number(cell))
}

/// By a name in the header, or a number from 1.
fn one(name: &str, header: Option<&[String]>, first: &[String]) -> Result<usize, Error> {
    let by_name = header.and_then(|header| header.iter().position(|known| known == name));
    let by_number = || name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    by_name.or_else(by_number).filter(|place| *place < first.len()).ok_or_else(|| {
        let known = header.map_or_else(|| format!("1 to {}", first.len()), |header| header.join(", "));
        Error::malformed(Place::Whole, format!("no column `{name}`"), format!("one of its columns: {known}"), HINT)
    })
}

fn by_name(header: Option<&[String]>, first: &[String]) -> Result<[usize; 3], Error> {
    let plain = |name: &String| name.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let found = KNOWN.map(|known| header?.iter().position(|name| known.contains(&plain(name).as_str())));
    match found {
        [Some(row), Some(column), Some(value)] => Ok([row, column, value]),
        // A name that stands elsewhere contradicts the usual order.
        _ if found.iter().enumerate().all(|(at, place)| place.is_none_or(|place| place == at)) => Ok([0, 1, 2]),
        _ => {
            let found = format!("the columns {}", first.join(", "));
            Err(Error::malformed(Place::Whole, found, "to know which of them are row, column and value", HINT))
        }
    }
}
