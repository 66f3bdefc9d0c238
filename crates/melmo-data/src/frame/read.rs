//! Two passes over a text: numbers, and where there are words those.

use std::path::Path;

use super::cell::{Cell, ambiguous, long};
use super::words::Collected;
use super::{Frame, Words, names_rows};
use crate::array::{Array, Kind};
use crate::csv::Lines;
use crate::error::{Error, Place, quote};
use crate::file;

/// Reads a table of numbers and words.
pub fn read(path: &Path) -> Result<Frame, Error> {
    file::read_with(path, parse)
}

/// A table from the bytes of a text file in UTF-8.
pub fn parse(bytes: &[u8]) -> Result<Frame, Error> {
    let lines = Lines::of(bytes)?;
    // Semicolons stand between cells where the comma is in use for decimals.
    let (commas, decimal) = (lines.delimiter != Some(b','), lines.delimiter == Some(b';'));
    let mut scan = Scan { commas, decimal, ..Scan::default() };
    lines.visit(|cells, line| scan.add(cells, line))?;
    let collected = scan.collect(&lines)?;
    let header = scan.has_header(&collected);
    if !header && scan.first.iter().any(|cell| scan.is_word(cell)) {
        scan.see_first();
    }
    scan.check_commas()?;
    scan.finish(collected, header)
}

/// What one column held, below the first line.
#[derive(Clone, Default)]
struct Seen {
    numbers: usize,
    /// The first word and its line.
    word: Option<(usize, String)>,
    /// Whole numbers of many digits.
    long: bool,
}

/// The first pass: numbers, and what the columns hold.
#[derive(Default)]
struct Scan {
    /// A comma may stand in a number.
    commas: bool,
    first: Vec<String>,
    first_line: usize,
    columns: Vec<Seen>,
    /// All lines, the first included.
    data: Vec<f64>,
    /// A line with a decimal point, and one with a decimal comma.
    point: Option<usize>,
    comma: Option<(usize, String)>,
    /// A comma can only be a decimal one.
    decimal: bool,
}

impl Scan {
    fn add(&mut self, cells: &[&str], line: &dyn Fn() -> usize) -> Result<(), Error> {
        if self.first.is_empty() {
            self.first = cells.iter().map(|cell| cell.trim().to_owned()).collect();
            self.first_line = line();
            self.columns = vec![Seen::default(); cells.len()];
            // A line without a word is no header.
            if !cells.iter().any(|cell| self.is_word(cell)) {
                self.see_first();
            }
            return Ok(());
        }
        if self.data.is_empty()
            && cells.len() == self.first.len() + 1
            && self.first.iter().all(|cell| self.is_word(cell))
        {
            // R leaves out the name of the names of the rows.
            self.first.insert(0, String::new());
            self.columns.push(Seen::default());
        }
        let cols = self.first.len();
        if cells.len() != cols {
            let (found, expected) = (format!("{} cells", cells.len()), format!("{cols}, as in the first line"));
            return Err(Error::malformed(Place::Line(line()), found, expected, "NA for each missing cell"));
        }
        if self.data.is_empty() {
            self.data = self.first.iter().map(|cell| Cell::read(cell, self.commas).number()).collect();
        }
        for (at, text) in cells.iter().enumerate() {
            let cell = Cell::read(text, self.commas);
            self.data.push(cell.number());
            self.see(at, cell, text, line);
        }
        Ok(())
    }

    fn see(&mut self, column: usize, cell: Cell, text: &str, line: &dyn Fn() -> usize) {
        let seen = &mut self.columns[column];
        match cell {
            Cell::Missing => (),
            Cell::Word => drop(seen.word.get_or_insert_with(|| (line(), text.trim().to_owned()))),
            Cell::Number(_) => {
                seen.numbers += 1;
                seen.long |= long(text);
                if self.commas && self.point.is_none() && text.contains('.') {
                    self.point = Some(line());
                }
            }
            Cell::Comma(_) => {
                seen.numbers += 1;
                self.comma.get_or_insert_with(|| (line(), text.trim().to_owned()));
                self.decimal |= !ambiguous(text);
            }
        }
    }

    fn is_word(&self, cell: &str) -> bool {
        Cell::read(cell, self.commas) == Cell::Word
    }

    /// Refuses commas that may mean thousands.
    fn check_commas(&self) -> Result<(), Error> {
        let Some((line, text)) = &self.comma else { return Ok(()) };
        if self.decimal && self.point.is_none() {
            return Ok(());
        }
        let expected = match self.point {
            Some(point) => format!("decimal commas or decimal points in the whole table (line {point} has a point)"),
            None => "a comma that cannot be read as a thousands separator".into(),
        };
        Err(Error::malformed(
            Place::Line(*line),
            quote(text),
            expected,
            "a point before decimals, nothing at thousands",
        ))
    }

    /// The first line names the columns.
    fn has_header(&self, collected: &[Option<Collected>]) -> bool {
        let word = |at: usize| self.is_word(&self.first[at]);
        if !(0..self.first.len()).any(word) {
            return false;
        }
        let above_numbers = |at: usize| word(at) && self.columns[at].word.is_none();
        let names_rows = names_rows(&self.first) && (1..self.first.len()).all(word);
        if names_rows || (0..self.first.len()).any(above_numbers) {
            return true;
        }
        let alone = |collected: &Option<Collected>| collected.as_ref().is_none_or(Collected::first_is_alone);
        let number = |cell: &String| matches!(Cell::read(cell, self.commas), Cell::Number(_) | Cell::Comma(_));
        !self.first.iter().any(number) && collected.iter().all(alone)
    }

    /// The second pass: the words of the columns that hold any, and of a first column without a name.
    fn collect(&self, lines: &Lines<'_>) -> Result<Vec<Option<Collected>>, Error> {
        let cols = self.first.len();
        let holds = |at: usize| {
            let seen = &self.columns[at];
            seen.word.is_some() || seen.long || long(&self.first[at]) || (at == 0 && names_rows(&self.first))
        };
        let mut collected: Vec<Option<Collected>> = (0..cols).map(|at| holds(at).then(Collected::default)).collect();
        if collected.iter().all(Option::is_none) {
            return Ok(collected);
        }
        lines.visit(|cells, _| {
            // A header of R's has a cell less; what is above the names of the rows is no word.
            let shift = cols - cells.len();
            for (at, collected) in collected.iter_mut().enumerate() {
                let text = at.checked_sub(shift).map(|at| cells[at].trim());
                let known = text.filter(|text| Cell::read(text, self.commas) != Cell::Missing);
                collected.iter_mut().for_each(|collected| collected.push(known));
            }
            Ok(())
        })?;
        Ok(collected)
    }

    fn finish(mut self, mut collected: Vec<Option<Collected>>, header: bool) -> Result<Frame, Error> {
        let mut cols = self.first.len();
        if self.data.is_empty() && !header {
            self.data = self.first.iter().map(|cell| Cell::read(cell, self.commas).number()).collect();
        }
        if self.data.len() < cols.max(1) * (1 + usize::from(header)) {
            let hint = "checking that it is the right file";
            return Err(Error::malformed(Place::Whole, "no row of numbers", "at least one", hint));
        }
        let from = usize::from(header);
        if header {
            self.data.drain(..cols);
        }
        let mut index = None;
        if header && names_rows(&self.first) {
            let words = collected.remove(0).unwrap_or_default().finish(0, from, None, 0);
            index = Some((0..self.data.len() / cols).map(|row| words.at(row).unwrap_or_default().to_owned()).collect());
            self.columns.remove(0);
            self.first.remove(0);
            let mut at = 0;
            self.data.retain(|_| {
                at += 1;
                at % cols != 1
            });
            cols -= 1;
        }
        let words: Vec<Words> = collected
            .into_iter()
            .zip(self.columns)
            .enumerate()
            .filter_map(|(column, (collected, seen))| Some(collected?.finish(column, from, seen.word, seen.numbers)))
            .collect();
        let array = Array { shape: vec![self.data.len() / cols, cols], data: self.data, kind: Kind::F64 };
        Ok(Frame { names: header.then_some(self.first), array, words, index, commas: self.comma.is_some() })
    }

    /// The first line is data: what its cells hold. It comes first, so its words do.
    fn see_first(&mut self) {
        let (first, line) = (std::mem::take(&mut self.first), self.first_line);
        for (at, text) in first.iter().enumerate() {
            let cell = Cell::read(text, self.commas);
            if cell == Cell::Word {
                self.columns[at].word = None;
            }
            self.see(at, cell, text, &|| line);
        }
        self.first = first;
    }
}
