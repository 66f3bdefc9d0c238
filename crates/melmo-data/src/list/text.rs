//! The lines of a list: where cells end, and which of them count.

use super::fields::Fields;
use super::piece::{Piece, Wrong};
use crate::csv::Lines;
use crate::error::Error;
use crate::pieces;

/// What stands between cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    Mark(char),
    Colons,
    Blanks,
}

/// A list before it is read.
pub(super) struct Text<'t> {
    lines: Lines<'t>,
    cut: Cut,
    /// Cells may be in quotes.
    quoted: bool,
    pub fields: Fields,
}

impl<'t> Text<'t> {
    pub fn of(bytes: &'t [u8], given: &[String]) -> Result<Self, Error> {
        let lines = Lines::of(bytes)?;
        let first = lines.text.lines().find(|line| !Lines::skips(line)).unwrap_or_default();
        let cut = match lines.delimiter {
            Some(mark) => Cut::Mark(char::from(mark)),
            None if first.contains("::") => Cut::Colons,
            None => Cut::Blanks,
        };
        let quoted = lines.delimiter.is_some() && lines.text.contains('"');
        let mut this = Self { lines, cut, quoted, fields: Fields::default() };
        let mut top: Vec<Vec<String>> = Vec::new();
        this.top(|cells| {
            top.push(cells.iter().map(|cell| cell.trim().to_owned()).collect());
            top.len() < 2
        })?;
        this.fields = Fields::find(&top, given)?;
        // R and others quote the header, which is no line to read: without it all others may be read by all threads.
        if this.fields.has_header() {
            this.quoted = quoted && this.lines.text.split_once(first).is_some_and(|(_, rest)| rest.contains('"'));
        }
        Ok(this)
    }

    /// A comma may stand in a number.
    fn commas(&self) -> bool {
        self.cut != Cut::Mark(',')
    }

    /// All lines but the header.
    pub fn read(&self) -> Result<Vec<Piece>, Error> {
        if self.quoted {
            return Ok(vec![self.slowly()?]);
        }
        pieces::read(self.lines.text, |first, text| self.piece(text, first && self.fields.has_header()))
    }

    fn piece(&self, text: &str, mut header: bool) -> Result<Piece, Error> {
        let mut piece = Piece::default();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !Lines::skips(line)) {
            if std::mem::take(&mut header) {
                continue;
            }
            let cells = match self.cut {
                Cut::Mark(mark) => self.fields.pick(line.split(mark)),
                Cut::Colons => self.fields.pick(line.split("::")),
                Cut::Blanks => self.fields.pick(line.split_whitespace()),
            };
            cells.and_then(|cells| piece.add(cells, self.commas())).map_err(|wrong| wrong.at(at + 1))?;
        }
        Ok(piece)
    }

    /// Lines in which a cell may hold anything.
    fn slowly(&self) -> Result<Piece, Error> {
        let mut piece = Piece::default();
        self.visit(|cells, line| piece.add(cells, self.commas()).map_err(|wrong| wrong.at(line())))?;
        Ok(piece)
    }

    /// The numbers of the lines that are asked for: for a message.
    pub fn lines_of(&self, mut asked: impl FnMut([&str; 3]) -> bool) -> std::vec::IntoIter<usize> {
        let mut found = Vec::new();
        let all = self.visit(|cells, line| {
            if asked(cells.map(str::trim)) {
                found.push(line());
            }
            Ok(())
        });
        drop(all); // what is wrong was said before
        found.into_iter()
    }

    /// The three cells of every line but the header, one line after another.
    fn visit(&self, mut each: impl FnMut([&str; 3], &dyn Fn() -> usize) -> Result<(), Error>) -> Result<(), Error> {
        let mut header = self.fields.has_header();
        let mut row = |cells: &[&str], line: &dyn Fn() -> usize| {
            if std::mem::take(&mut header) {
                return Ok(());
            }
            each(self.fields.pick(cells.iter().copied()).map_err(|wrong| wrong.at(line()))?, line)
        };
        if self.quoted {
            return self.lines.visit(row);
        }
        let mut lines = self.lines.text.lines().enumerate().filter(|(_, line)| !Lines::skips(line));
        lines.try_for_each(|(at, line)| row(&self.cells(line), &|| at + 1))
    }

    /// The first lines, while they are wanted.
    fn top(&self, mut wanted: impl FnMut(&[&str]) -> bool) -> Result<(), Error> {
        if !self.quoted {
            let lines = self.lines.text.lines().filter(|line| !Lines::skips(line));
            lines.map_while(|line| wanted(&self.cells(line)).then_some(())).for_each(drop);
            return Ok(());
        }
        let mut more = true;
        let read = self.lines.visit(|cells, _| {
            more = wanted(cells);
            if more { Ok(()) } else { Err(Error::argument("the first lines", "enough", "no more")) }
        });
        if more { read } else { Ok(()) }
    }

    fn cells<'l>(&self, line: &'l str) -> Vec<&'l str> {
        match self.cut {
            Cut::Mark(mark) => line.split(mark).collect(),
            Cut::Colons => line.split("::").collect(),
            Cut::Blanks => line.split_whitespace().collect(),
        }
    }
}

/// The three cells that count, of a line that has as many cells as the first one.
impl Fields {
    fn pick<'l>(&self, cells: impl Iterator<Item = &'l str>) -> Result<[&'l str; 3], Wrong> {
        let (mut picked, mut count) = ([""; 3], 0);
        for cell in cells {
            if let Some(at) = self.places.iter().position(|&place| place == count) {
                picked[at] = cell;
            }
            count += 1;
        }
        match count == self.width {
            true => Ok(picked),
            false => Err(Wrong::new(format!("{count} cells"), format!("{}, as in the first line", self.width))),
        }
    }
}
