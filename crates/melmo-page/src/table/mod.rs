//! Tables: columns with a format, cells that may compare our number with a published one.

mod cell;
mod csv;
mod html;
mod latex;
mod markdown;

pub use cell::{Agreement, Cell, Tolerance, Value};

use crate::number::Format;

/// Rows of cells under named columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// What is shown, above the table.
    pub title: Option<String>,
    /// What a reader should know, below it.
    pub caption: Option<String>,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows; cells beyond the columns are not shown, missing ones are empty.
    pub rows: Vec<Vec<Cell>>,
    /// Rows that have a rule above them.
    pub rules: Vec<usize>,
    /// How near a published number ours has to be.
    pub tolerance: Tolerance,
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// A heading above its own, shared with the neighbours that have the same.
    pub group: Option<String>,
    /// Where its cells stand.
    pub align: Align,
    /// How its numbers are written.
    pub format: Format,
}

/// Where cells stand in their column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the left.
    Left,
    /// In the middle.
    Centre,
    /// At the right.
    Right,
}

impl Column {
    /// A column of text, to the left.
    pub fn text(name: impl Into<String>) -> Self {
        Self { name: name.into(), group: None, align: Align::Left, format: Format::default() }
    }

    /// A column of numbers, to the right, with four significant digits.
    pub fn number(name: impl Into<String>) -> Self {
        Self { align: Align::Right, ..Self::text(name) }
    }

    /// Numbers written in another way.
    pub fn format(mut self, format: Format) -> Self {
        self.format = format;
        self
    }

    /// Under a heading shared with its neighbours.
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }

    /// Cells elsewhere.
    pub fn align(mut self, align: Align) -> Self {
        self.align = align;
        self
    }
}

impl Table {
    /// An empty table.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        let columns = columns.into_iter().collect();
        let tolerance = Tolerance::default();
        Self { title: None, caption: None, columns, rows: Vec::new(), rules: Vec::new(), tolerance }
    }

    /// With a title.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// With a caption.
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = Some(caption.into());
        self
    }

    /// With one more row.
    pub fn row(mut self, cells: impl IntoIterator<Item = Cell>) -> Self {
        self.rows.push(cells.into_iter().collect());
        self
    }

    /// With a rule above the next row.
    pub fn rule(mut self) -> Self {
        self.rules.push(self.rows.len());
        self
    }

    /// With another idea of what is near.
    pub fn tolerance(mut self, close: f64, near: f64) -> Self {
        self.tolerance = Tolerance { close, near };
        self
    }

    /// The cell of a row in each column.
    fn cells<'a>(&'a self, row: &'a [Cell]) -> impl Iterator<Item = (&'a Column, &'a Cell)> {
        static EMPTY: Cell = Cell::EMPTY;
        self.columns.iter().enumerate().map(move |(i, column)| (column, row.get(i).unwrap_or(&EMPTY)))
    }

    /// Shared headings in order, with how many columns each covers.
    fn groups(&self) -> Vec<(Option<&str>, usize)> {
        let mut out: Vec<(Option<&str>, usize)> = Vec::new();
        for column in &self.columns {
            let group = column.group.as_deref();
            match out.last_mut() {
                Some((last, count)) if *last == group => *count += 1,
                _ => out.push((group, 1)),
            }
        }
        if out.iter().all(|(group, _)| group.is_none()) { Vec::new() } else { out }
    }

    /// Whether any cell of the n-th column compares.
    fn compares(&self, n: usize) -> bool {
        self.rows.iter().any(|row| row.get(n).is_some_and(|cell| matches!(cell.value, Value::Compared { .. })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small table with everything in it.
    pub(super) fn sample() -> Table {
        Table::new([
            Column::text("method | *set*"),
            Column::number("F").group("r = 10"),
            Column::number("loss").group("r = 10").format(Format::Scientific(2)),
        ])
        .caption("F < ∞ & more")
        .row([Cell::from("MELMO, *β*"), Cell::compared(390.0, 390.4), Cell::from(0.01449).strong()])
        .rule()
        .row([Cell::from("a_b, \"c\"")])
    }

    #[test]
    fn groups_cover_their_columns() {
        assert_eq!(sample().groups(), [(None, 1), (Some("r = 10"), 2)]);
        assert!(Table::new([Column::text("a")]).groups().is_empty());
    }

    #[test]
    fn short_rows_are_filled() {
        let table = sample();
        assert_eq!(table.cells(&table.rows[1]).count(), 3);
    }
}
