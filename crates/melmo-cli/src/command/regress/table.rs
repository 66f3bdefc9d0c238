//! The table of a regression: which columns are used, what is predicted, and which rows are known well enough.

use std::path::Path;

use melmo_data::Frame;
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
    /// The words of the classes 0 and 1 of y, where it has words.
    pub labels: Option<Vec<String>>,
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

impl Regress {
    /// Reads the table, and what it predicts.
    pub fn table(&self, inputs: &mut Inputs) -> Result<Table, Error> {
        let frame = inputs.frame(&self.input)?;
        let target = self.target(&frame, inputs)?;
        let columns = self.columns(&frame, target.column)?;
        let encoding = Encoding::learn(&frame, &columns, self.missing, &self.input)?;
        let all = encoding.apply(&frame, &self.input)?;
        let (width, names) = (encoding.names().len(), frame.column_names());
        let known = |row: usize| {
            !target.values[row].is_nan() && !all[row * width..(row + 1) * width].iter().any(|cell| cell.is_nan())
        };
        let kept: Vec<usize> = (0..frame.size().0).filter(|&row| known(row)).collect();
        let dropped = frame.size().0 - kept.len();
        if let (Missing::Refuse, Some(row)) = (self.missing, (0..frame.size().0).find(|&row| !known(row))) {
            let gap = |column: &&usize| match frame.words_of(**column) {
                Some(words) if words.first.is_some() => words.at(row).is_none(),
                _ => frame.array.data[row * names.len() + **column].is_nan(),
            };
            let name = columns.iter().find(gap).map_or(&self.target, |&column| &names[column]);
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
        let name = target.column.map(|column| names[column].clone());
        Ok(Table { encoding, x, rows: kept.len(), y, labels: target.labels, target: name, dropped })
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
        if self.loss != Loss::Logistic {
            let message = format!(
                "the target `{}` holds words ({}…); expected numbers, or two classes with --loss logistic",
                self.target,
                shown()
            );
            return Err(Error::input(path, message));
        }
        if labels.len() != 2 {
            let message = format!(
                "the target `{}` has {} classes ({}); expected two classes for --loss logistic",
                self.target,
                labels.len(),
                shown()
            );
            return Err(Error::input(path, message));
        }
        let values = words.codes().map(|code| code.map_or(f64::NAN, |code| code as f64)).collect();
        Ok(Target { column, values, labels: Some(labels) })
    }

    /// The columns that are used: those of --columns, or all but those of --drop; never the target.
    fn columns(&self, frame: &Frame, target: Option<usize>) -> Result<Vec<usize>, Error> {
        let names = frame.column_names();
        let find = |name: &String| {
            let place = names.iter().position(|known| known == name);
            place.ok_or_else(|| {
                let near = melmo::suggest::nearest(name, names.iter().cloned());
                let hint =
                    near.map_or(format!("its columns: {}", names.join(", ")), |near| format!("did you mean `{near}`?"));
                Error::input(&self.input, format!("has no column `{name}`; {hint}"))
            })
        };
        let wanted = self.columns.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let dropped = self.drop.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        if let Some(column) = wanted.iter().find(|column| Some(**column) == target) {
            return Err(Error::option("columns", format!("`{}` is what is predicted", names[*column])));
        }
        let all = if self.columns.is_empty() { (0..names.len()).collect() } else { wanted };
        let used: Vec<usize> =
            all.into_iter().filter(|column| Some(*column) != target && !dropped.contains(column)).collect();
        if used.is_empty() {
            return Err(Error::input(&self.input, "has no column besides the target"));
        }
        Ok(used)
    }
}
