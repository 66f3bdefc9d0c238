//! The table of a regression: which columns are used, what is predicted, and which rows are known well enough.

use std::path::Path;

use melmo_data::Frame;
use melmo_data::frame::Words;
use melmo_tasks::regress::Loss;

use super::encoding::{Encoding, refuse_slips};
use crate::args::{Missing, Regress};
use crate::error::Error;
use crate::input::Inputs;

/// What a regression is fitted to.
pub struct Table {
    pub encoding: Encoding,
    /// Row by row, with a number in every cell.
    pub x: Vec<f64>,
    pub rows: usize,
    pub y: Vec<f64>,
    /// The words of the classes 0, 1, … of y, where it has words.
    pub labels: Option<Vec<String>>,
    /// The columns of --weights and --offset.
    pub weights: Option<Vec<f64>>,
    pub offset: Option<Vec<f64>>,
    /// The name of the target, where it is a column.
    pub target: Option<String>,
    /// Rows of the file that are left out, since a cell is missing.
    pub dropped: usize,
}

/// The target as numbers, and what the numbers 0, 1, … stand for where it has words.
struct Target {
    column: Option<usize>,
    values: Vec<f64>,
    labels: Option<Vec<String>>,
}

/// A column that is no part of X: where it is, and what it holds.
type Own = (usize, Vec<f64>);

impl Regress {
    /// Reads the table, and what it predicts.
    pub fn table(&self, inputs: &mut Inputs) -> Result<Table, Error> {
        let frame = inputs.frame(&self.input)?;
        let mut target = self.target(&frame, inputs)?;
        let [weights, offset, event] = self.own_columns(&frame)?;
        self.sign_times(&mut target.values, event.as_ref())?;
        let own = [&weights, &offset, &event];
        let taken: Vec<usize> =
            target.column.into_iter().chain(own.iter().filter_map(|own| Some(own.as_ref()?.0))).collect();
        let mut columns = self.columns(&frame, &taken)?;
        self.leave_names_out(&frame, &mut columns, inputs)?;
        let encoding = Encoding::learn(&frame, &columns, self.missing, &self.input)?;
        let all = encoding.apply(&frame, &self.input)?;
        let (width, names) = (encoding.names().len(), frame.column_names());
        let known = |row: usize| {
            !target.values[row].is_nan()
                && own.iter().all(|own| own.as_ref().is_none_or(|(_, values)| !values[row].is_nan()))
                && !all[row * width..(row + 1) * width].iter().any(|cell| cell.is_nan())
        };
        let kept: Vec<usize> = (0..frame.size().0).filter(|&row| known(row)).collect();
        let dropped = frame.size().0 - kept.len();
        if let (Missing::Refuse, Some(row)) = (self.missing, (0..frame.size().0).find(|&row| !known(row))) {
            let gap = |column: &&usize| match frame.words_of(**column) {
                Some(words) if words.first.is_some() => words.at(row).is_none(),
                _ => frame.array.data[row * names.len() + **column].is_nan(),
            };
            let name = columns.iter().chain(&taken).find(gap).map_or(&self.target, |&column| &names[column]);
            let message = format!(
                "row {}: `{name}` is missing, and {dropped} of {} rows have a missing cell: choose --missing drop, mean or indicator",
                row + 1,
                frame.size().0
            );
            return Err(Error::input(&self.input, message));
        }
        if kept.is_empty() {
            return Err(Error::input(&self.input, "no row is left: every one lacks the target or a cell"));
        }
        let x = kept.iter().flat_map(|&row| &all[row * width..(row + 1) * width]).copied().collect();
        let y = kept.iter().map(|&row| target.values[row]).collect();
        let some = |own: Option<Own>| own.map(|(_, values)| kept.iter().map(|&row| values[row]).collect());
        let (weights, offset) = (some(weights), some(offset));
        let name = target.column.map(|column| names[column].clone());
        Ok(Table { encoding, x, rows: kept.len(), y, labels: target.labels, weights, offset, target: name, dropped })
    }

    fn target(&self, frame: &Frame, inputs: &mut Inputs) -> Result<Target, Error> {
        let names = frame.names.as_deref().unwrap_or_default();
        if let Some(column) = names.iter().position(|name| *name == self.target) {
            return self.words_or_numbers(frame, column, Some(column), &self.input);
        }
        let path = Path::new(&self.target);
        if path.exists() {
            let other = inputs.frame(path)?;
            // A vector may lie down or stand.
            let (rows, cells) = (frame.size().0, other.array.data.len());
            if cells != rows || other.size().0.min(other.size().1) != 1 {
                let message = format!("found a {}×{} matrix; expected {rows}×1", other.size().0, other.size().1);
                return Err(Error::input(path, message));
            }
            return match other.size().1 {
                1 => self.words_or_numbers(&other, 0, None, path),
                _ => Ok(Target { column: None, values: other.array.data, labels: None }),
            };
        }
        let known = if names.is_empty() { "it has no header".into() } else { names.join(", ") };
        let message = format!("no file and no column is called `{}`; its columns: {known}", self.target);
        Err(Error::input(&self.input, message))
    }

    fn words_or_numbers(&self, frame: &Frame, at: usize, column: Option<usize>, path: &Path) -> Result<Target, Error> {
        let Some(words) = frame.words_of(at).filter(|words| words.first.is_some()) else {
            return Ok(Target { column, values: frame.numbers_of(at).collect(), labels: None });
        };
        refuse_slips(words, &self.target, path)?;
        let labels = words.levels.clone();
        let shown = || labels.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
        if !self.loss.is_of_classes() {
            let message = format!(
                "the target `{}` holds words ({}…); expected numbers, or classes with --loss logistic",
                self.target,
                shown()
            );
            return Err(Error::input(path, message));
        }
        let values = words.codes().map(|code| code.map_or(f64::NAN, |code| code as f64)).collect();
        Ok(Target { column, values, labels: Some(labels) })
    }

    /// The column of that name.
    fn find(&self, names: &[String], name: &String) -> Result<usize, Error> {
        let place = names.iter().position(|known| known == name);
        place.ok_or_else(|| {
            let near = melmo::suggest::nearest(name, names.iter().cloned());
            let hint =
                near.map_or(format!("its columns: {}", names.join(", ")), |near| format!("did you mean `{near}`?"));
            Error::input(&self.input, format!("has no column `{name}`; {hint}"))
        })
    }

    /// The columns of --weights, --offset and --event, where they are and what they hold.
    fn own_columns(&self, frame: &Frame) -> Result<[Option<Own>; 3], Error> {
        let names = frame.column_names();
        let numbers = |option: &Option<String>| {
            let Some(name) = option else { return Ok(None) };
            let column = self.find(&names, name)?;
            if let Some((line, word)) = frame.words_of(column).and_then(|words| words.first.as_ref()) {
                let message = format!("line {line}: column `{name}` is `{word}`; expected a number");
                return Err(Error::input(&self.input, message));
            }
            Ok(Some((column, frame.numbers_of(column).collect::<Vec<f64>>())))
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
        times.iter_mut().zip(event).filter(|(_, event)| **event == 0.0).for_each(|(time, _)| *time = -*time);
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
    fn columns(&self, frame: &Frame, taken: &[usize]) -> Result<Vec<usize>, Error> {
        let names = frame.column_names();
        let find = |name: &String| self.find(&names, name);
        let wanted = self.columns.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let dropped = self.drop.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        if let Some(column) = wanted.iter().find(|column| taken.contains(column)) {
            let what = if names[*column] == self.target { "what is predicted" } else { "used otherwise" };
            return Err(Error::option("columns", format!("`{}` is {what}", names[*column])));
        }
        let all = if self.columns.is_empty() { (0..names.len()).collect() } else { wanted };
        let used: Vec<usize> =
            all.into_iter().filter(|column| !taken.contains(column) && !dropped.contains(column)).collect();
        if used.is_empty() {
            return Err(Error::input(&self.input, "has no column besides the target"));
        }
        Ok(used)
    }
}
