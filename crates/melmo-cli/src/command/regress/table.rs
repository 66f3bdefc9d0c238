//! The table of a regression: which columns are used, what is predicted, and which rows are known well enough.

use std::collections::HashMap;

use melmo_data::Frame;
use melmo_data::frame::Words;
use melmo_tasks::regress::{Cells, Loss};

use super::encoding::Encoding;
use super::source::Source;
use super::target::Target;
use super::truth::sign_times;
use crate::args::{Missing, Regress};
use crate::error::Error;
use crate::input::Inputs;

/// What a regression is fitted to.
pub struct Table {
    pub encoding: Encoding,
    /// With a number in every cell.
    pub x: Cells,
    pub rows: usize,
    /// Of several targets, all rows of one after another.
    pub y: Vec<f64>,
    /// The words of the classes 0, 1, … of y, where it has words.
    pub labels: Option<Vec<String>>,
    /// The columns of --weights and --offset.
    pub weights: Option<Vec<f64>>,
    pub offset: Option<Vec<f64>>,
    /// The names of the targets, where they are columns or several.
    pub targets: Vec<String>,
    /// Rows of the file that are left out, since a cell is missing.
    pub dropped: usize,
}

/// A column that is no part of X: where it is, and what it holds.
type Own = (usize, Vec<f64>);

impl Regress {
    /// Reads the table, and what it predicts.
    pub fn table(&self, inputs: &mut Inputs) -> Result<Table, Error> {
        let source = Source::read(inputs, &self.input)?;
        let mut target = self.target(&source, inputs)?;
        let own = self.own_columns(&source)?;
        self.sign_times(&mut target.values, own[2].as_ref())?;
        let taken: Vec<usize> =
            target.columns.iter().copied().chain(own.iter().filter_map(|own| Some(own.as_ref()?.0))).collect();
        let mut columns = self.columns(&source.names(), &taken)?;
        let encoding = match &source {
            Source::Frame(frame) => {
                self.leave_names_out(frame, &mut columns, inputs)?;
                Encoding::learn(frame, &columns, self.missing, &self.input)?
            }
            Source::Sparse { .. } => Encoding::of_numbers(&source.names(), &columns, self.missing),
        };
        let all = encoding.cells(&source, &self.input)?;
        let (rows, width) = (source.rows(), encoding.names().len());
        let known = |row: usize| {
            target.values.iter().skip(row).step_by(rows).all(|y| !y.is_nan())
                && own.iter().all(|own| own.as_ref().is_none_or(|(_, values)| !values[row].is_nan()))
                && match &all {
                    Cells::Full(all) => !all[row * width..(row + 1) * width].iter().any(|cell| cell.is_nan()),
                    Cells::Sparse(all) => !all.row(row).1.iter().any(|cell| cell.is_nan()),
                }
        };
        let kept: Vec<usize> = (0..rows).filter(|&row| known(row)).collect();
        let dropped = rows - kept.len();
        if let (Missing::Refuse, Some(row)) = (self.missing, (0..rows).find(|&row| !known(row))) {
            return Err(self.is_missing(&source, [&columns, &taken], row, dropped));
        }
        if kept.is_empty() {
            return Err(Error::input(&self.input, "no row is left: every one lacks the target or a cell"));
        }
        let x = if dropped == 0 { all } else { all.some(&kept, width)? };
        let some = |values: &[f64]| kept.iter().map(|&row| values[row]).collect::<Vec<f64>>();
        let y = target.values.chunks_exact(rows).flat_map(some).collect();
        let [weights, offset, _] = own.map(|own| own.map(|(_, values)| some(&values)));
        let Target { labels, names: targets, .. } = target;
        Ok(Table { encoding, x, rows: kept.len(), y, labels, weights, offset, targets, dropped })
    }

    /// Names the first cell that is missing.
    fn is_missing(&self, source: &Source, columns: [&[usize]; 2], row: usize, dropped: usize) -> Error {
        let names = source.names();
        let gap = |column: &&usize| match source {
            Source::Frame(frame) => match frame.words_of(**column) {
                Some(words) if words.first.is_some() => words.at(row).is_none(),
                _ => frame.array.data[row * names.len() + **column].is_nan(),
            },
            Source::Sparse { .. } => false,
        };
        let name = columns.into_iter().flatten().find(gap).map_or(&self.target, |&column| &names[column]);
        let message = format!(
            "row {}: `{name}` is missing, and {dropped} of {} rows have a missing cell: choose --missing drop, mean or indicator",
            row + 1,
            source.rows()
        );
        Error::input(&self.input, message)
    }

    /// The column of that name.
    pub(super) fn find(&self, names: &[String], name: &String) -> Result<usize, Error> {
        let place = names.iter().position(|known| known == name);
        place
            .ok_or_else(|| Error::input(&self.input, format!("has no column `{name}`; {}", known_columns(names, name))))
    }

    /// The columns of --weights, --offset and --event, where they are and what they hold.
    fn own_columns(&self, source: &Source) -> Result<[Option<Own>; 3], Error> {
        let names = source.names();
        let numbers = |option: &Option<String>| -> Result<Option<Own>, Error> {
            let Some(name) = option else { return Ok(None) };
            let column = self.find(&names, name)?;
            Ok(Some((column, source.numbers_of(column, &self.input)?)))
        };
        Ok([numbers(&self.weights)?, numbers(&self.offset)?, numbers(&self.event)?])
    }

    /// Times until an event, with a minus where none was seen.
    fn sign_times(&self, times: &mut [f64], event: Option<&Own>) -> Result<(), Error> {
        let Some((_, event)) = event else { return Ok(()) };
        if self.loss != Loss::Cox {
            return Err(Error::option("event", "events are for --loss cox"));
        }
        if let Some(row) = event.iter().position(|&event| !(event.is_nan() || event == 0.0 || event == 1.0)) {
            let name = self.event.as_deref().unwrap_or_default();
            let message = format!("row {}: `{name}` is {}; expected 1 (seen) or 0 (not seen)", row + 1, event[row]);
            return Err(Error::input(&self.input, message));
        }
        if let Some(row) = times.iter().position(|&time| time <= 0.0) {
            let message = format!("row {}: `{}` is {}; expected a time above 0", row + 1, self.target, times[row]);
            return Err(Error::input(&self.input, message));
        }
        sign_times(times, event);
        Ok(())
    }

    /// Words that are different in every row say who a row is, and nothing of its kind. Unless they are asked for, they are left out.
    fn leave_names_out(&self, frame: &Frame, columns: &mut Vec<usize>, inputs: &mut Inputs) -> Result<(), Error> {
        let names = frame.column_names();
        let is_name = |column: &usize| frame.words_of(*column).is_some_and(Words::are_names);
        if !self.columns.is_empty() {
            return Ok(());
        }
        for &column in columns.iter().filter(|column| is_name(column)) {
            inputs.note(&self.input, &format!("`{}` is another word in every row: it is left out", names[column]));
        }
        columns.retain(|column| !is_name(column));
        match columns.is_empty() {
            true => Err(Error::input(&self.input, "has no column besides the target and names of rows")),
            false => Ok(()),
        }
    }

    /// The columns that are used: those of --columns, or all but those of --drop; never one that is `taken`.
    pub(super) fn columns(&self, names: &[String], taken: &[usize]) -> Result<Vec<usize>, Error> {
        let find = |name: &String| self.find(names, name);
        let wanted = self.columns.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let dropped = self.drop.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        if let Some(column) = wanted.iter().find(|column| taken.contains(column)) {
            let what = if self.target.split(',').any(|name| name == names[*column]) {
                "what is predicted"
            } else {
                "used otherwise"
            };
            return Err(Error::option("columns", format!("`{}` is {what}", names[*column])));
        }
        let all = if self.columns.is_empty() { (0..names.len()).collect() } else { wanted };
        let used: Vec<usize> =
            all.into_iter().filter(|column| !taken.contains(column) && !dropped.contains(column)).collect();
        // A column is found by its name, here and in another table.
        let mut counts: HashMap<&String, usize> = HashMap::new();
        names.iter().for_each(|name| *counts.entry(name).or_default() += 1);
        if let Some(&column) = used.iter().chain(taken).find(|&&column| counts[&names[column]] > 1) {
            let message = format!("several columns are called `{}`: give each a name of its own", names[column]);
            return Err(Error::input(&self.input, message));
        }
        if used.is_empty() {
            return Err(Error::input(&self.input, "has no column besides the target"));
        }
        Ok(used)
    }
}

/// What may have been meant by a column that is not there: the nearest name, or some of those that are there.
pub(super) fn known_columns(names: &[String], typed: &str) -> String {
    // Every letter is near every other.
    if let Some(near) = melmo::suggest::nearest(typed, names).filter(|_| typed.chars().count() > 1) {
        return format!("did you mean `{near}`?");
    }
    let (some, more) = (names[..names.len().min(20)].join(", "), names.len().saturating_sub(20));
    if more == 0 { format!("its columns: {some}") } else { format!("its columns: {some} and {more} more") }
}
