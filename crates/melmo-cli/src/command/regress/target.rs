//! What is predicted: columns of the table, or another file.

use std::path::Path;

use melmo_data::Frame;

use super::encoding::refuse_slips;
use super::source::Source;
use super::table::known_columns;
use crate::args::Regress;
use crate::error::Error;
use crate::input::Inputs;

/// The targets as numbers, and what the numbers 0, 1, … stand for where one has words.
pub struct Target {
    /// The columns of the table that they are.
    pub columns: Vec<usize>,
    /// All rows of one after another.
    pub values: Vec<f64>,
    pub labels: Option<Vec<String>>,
    /// What they are called, where they are columns or several.
    pub names: Vec<String>,
}

impl Target {
    fn of_numbers(values: Vec<f64>) -> Self {
        Self { columns: Vec::new(), values, labels: None, names: Vec::new() }
    }
}

impl Regress {
    /// A column, a file, or several columns with commas between their names.
    pub(super) fn target(&self, source: &Source, inputs: &mut Inputs) -> Result<Target, Error> {
        let (names, path) = (source.header(), Path::new(&self.target));
        if let (Source::Frame(frame), Some(column)) = (source, names.iter().position(|name| *name == self.target)) {
            let target = self.words_or_numbers(frame, column, &self.input)?;
            return Ok(Target { columns: vec![column], names: vec![self.target.clone()], ..target });
        }
        if let (Source::Sparse { labels: Some(labels), .. }, true) = (source, path == self.input) {
            return Ok(Target::of_numbers(labels.clone()));
        }
        if path.exists() {
            return self.target_of_file(path, source.rows(), inputs);
        }
        let parts: Vec<String> = self.target.split(',').map(|part| part.trim().to_owned()).collect();
        if parts.len() > 1 && parts.iter().any(|part| names.contains(part)) {
            return self.several(source, parts);
        }
        let known = match source {
            Source::Sparse { labels: Some(_), .. } => {
                format!("{} itself is what its lines begin with", self.input.display())
            }
            _ if names.is_empty() => "it has no header".into(),
            _ => known_columns(names, &self.target),
        };
        let message = format!("no file and no column is called `{}`; {known}", self.target);
        Err(Error::input(&self.input, message))
    }

    /// Several columns of the table.
    fn several(&self, source: &Source, names: Vec<String>) -> Result<Target, Error> {
        let find = |name: &String| self.find(source.header(), name);
        let columns = names.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        if let Some(twice) = columns.iter().enumerate().find(|(at, column)| columns[..*at].contains(column)) {
            return Err(Error::input(&self.input, format!("`{}` is predicted twice", names[twice.0])));
        }
        let numbers = columns.iter().map(|&column| source.numbers_of(column, &self.input));
        let values = numbers.collect::<Result<Vec<_>, _>>()?.concat();
        Ok(Target { columns, values, labels: None, names })
    }

    /// A number or a class a row; several numbers a row are several targets. Of SVMlight, what its lines begin with.
    pub(super) fn target_of_file(&self, path: &Path, rows: usize, inputs: &mut Inputs) -> Result<Target, Error> {
        if let Some(labelled) = inputs.labelled(path)? {
            let found = labelled.targets.len();
            return match found == rows {
                true => Ok(Target::of_numbers(labelled.targets)),
                false => Err(Error::input(path, format!("found {found} rows; expected {rows}"))),
            };
        }
        let other = inputs.frame(path)?;
        let size = other.size();
        if size == (rows, 1) {
            return self.words_or_numbers(&other, 0, path);
        }
        // A vector may lie down or stand.
        if size == (1, rows) {
            return Ok(Target::of_numbers(other.array.data));
        }
        if size.0 != rows {
            let message = format!("found a {}×{} matrix; expected {rows}×1", size.0, size.1);
            return Err(Error::input(path, message));
        }
        let names = other.names.clone().unwrap_or_else(|| (1..=size.1).map(|at| format!("y{at}")).collect());
        let (other, mut values) = (Source::Frame(other), Vec::new());
        for column in 0..size.1 {
            values.extend(other.numbers_of(column, path)?);
        }
        Ok(Target { columns: Vec::new(), values, labels: None, names })
    }

    fn words_or_numbers(&self, frame: &Frame, at: usize, path: &Path) -> Result<Target, Error> {
        let Some(words) = frame.words_of(at).filter(|words| words.first.is_some()) else {
            return Ok(Target::of_numbers(frame.numbers_of(at).collect()));
        };
        refuse_slips(words, &self.target, path)?;
        let labels = words.levels.clone();
        if !self.loss.is_of_classes() {
            let shown = labels.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
            let target = &self.target;
            let message = format!(
                "the target `{target}` holds words ({shown}…); expected numbers, or classes with --loss logistic"
            );
            return Err(Error::input(path, message));
        }
        let values = words.codes().map(|code| code.map_or(f64::NAN, |code| code as f64)).collect();
        Ok(Target { labels: Some(labels), ..Target::of_numbers(values) })
    }
}
