//! Tables as people have them: some columns hold numbers, some hold words.
//!
//! A column is numbers when every cell that is not missing is one. Missing are blank cells, `NA`, `N/A`, `NaN`, `null`,
//! `NULL` and `?`. Where cells are not separated by commas, `1,5` is a number.
//!
//! The first line is a header when a word in it stands above numbers, or when it is all words that do not occur again below,
//! or words but for a blank first cell.
//! A first column without a name, where all others have one, holds the names of the rows: so pandas and R write them.
//!
//! ```
//! let frame = melmo_data::frame::parse(b"city;rent\nBonn;7,5\nUlm;NA\nBonn;9,25\n")?;
//! assert_eq!(frame.words_of(0).unwrap().levels, ["Bonn", "Ulm"]);
//! assert_eq!(frame.array.data[1], 7.5);
//! # Ok::<(), melmo_data::Error>(())
//! ```

mod cell;
mod read;
mod words;

pub(crate) use cell::{Cell, ambiguous, long};
pub use read::{parse, read};
pub(crate) use words::Collected;
pub use words::{Words, in_order};

use crate::array::Array;
use crate::csv::Table;
use crate::error::{Error, Place, quote};

/// A cell that is a number or missing.
pub(crate) fn is_number(text: &str) -> bool {
    Cell::read(text, false) != Cell::Word
}

/// A header whose first cell alone is blank: that column holds the names of the rows. pandas calls it `Unnamed: 0` when it is
/// read and written again.
pub(crate) fn names_rows(names: &[String]) -> bool {
    let blank = |name: &String| name.is_empty() || name == "Unnamed: 0";
    names.len() > 1 && blank(&names[0]) && !names[1..].iter().any(String::is_empty)
}

/// A table of numbers and words.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The header, if there is one.
    pub names: Option<Vec<String>>,
    /// rows × columns; NaN where a cell is missing, and where it is a word.
    pub array: Array,
    /// The columns that hold words, or whole numbers of more digits than `f64` keeps.
    pub words: Vec<Words>,
    /// The names of the rows, if they have any; their column is not among the others.
    pub index: Option<Vec<String>>,
    /// Numbers had decimal commas.
    pub commas: bool,
}

impl Frame {
    /// Numbers without names.
    pub fn of_array(array: Array) -> Self {
        Self { names: None, array, words: Vec::new(), index: None, commas: false }
    }

    /// Rows and columns; a vector is one column, and other axes make none.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        self.array.rows_cols().unwrap_or((0, 0))
    }

    /// The names of the columns: x1, x2, … where there is no header.
    #[must_use]
    pub fn column_names(&self) -> Vec<String> {
        self.names.clone().unwrap_or_else(|| (1..=self.size().1).map(|column| format!("x{column}")).collect())
    }

    /// The words of a column that has any.
    #[must_use]
    pub fn words_of(&self, column: usize) -> Option<&Words> {
        self.words.iter().find(|words| words.column == column)
    }

    /// The numbers of a column.
    pub fn numbers_of(&self, column: usize) -> impl Iterator<Item = f64> + '_ {
        self.array.data.iter().skip(column).step_by(self.size().1.max(1)).copied()
    }

    /// The numbers alone; refuses the first word.
    pub fn numbers(self) -> Result<Table, Error> {
        match self.words.iter().filter_map(|words| words.first.as_ref()).min_by_key(|(line, _)| *line) {
            Some((line, word)) => {
                let hint = "NA for a missing number, and a point (not a comma) before decimals";
                Err(Error::malformed(Place::Line(*line), quote(word), "a number", hint))
            }
            None => Ok(Table { names: self.names, array: self.array, index: self.index }),
        }
    }
}
