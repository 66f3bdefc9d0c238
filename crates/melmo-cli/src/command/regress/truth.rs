//! What a table says of what a model predicts.

use std::path::Path;

use melmo_data::Frame;

use super::model::Model;
use super::source::Source;
use super::target::Target;
use crate::error::Error;

impl Model {
    /// The targets of a table that has them, as the loss takes them, all rows of one after another. A file of SVMlight has one that is
    /// no column; where that is none of the classes, it stands for nothing.
    pub fn truth(&self, source: &Source, path: &Path) -> Result<Option<Vec<f64>>, Error> {
        let frame = match source {
            Source::Frame(frame) => frame,
            Source::Sparse { labels: Some(labels), .. } if self.target.is_none() && self.targets.is_empty() => {
                return Ok(self.truth_of_labels(labels).filter(|_| self.event.is_none()));
            }
            Source::Sparse { .. } => return Ok(None),
        };
        let names: Vec<&String> = self.target.iter().chain(&self.targets).collect();
        let place = |name: &&String| source.header().iter().position(|known| known == *name);
        let Some(places) = names.iter().map(place).collect::<Option<Vec<usize>>>() else { return Ok(None) };
        let (Some(&place), Some(name)) = (places.first(), names.first()) else { return Ok(None) };
        match &self.classes {
            Some(classes) => self.truth_of_classes(classes, frame, place, name, path).map(Some),
            None => {
                let numbers = places.iter().map(|&place| source.numbers_of(place, path));
                let numbers = numbers.collect::<Result<Vec<_>, _>>()?.concat();
                self.signed(numbers, source, path)
            }
        }
    }

    /// Times with their events, which a column of the table has: alone they do not say who was seen until the end.
    pub fn signed(&self, mut numbers: Vec<f64>, source: &Source, path: &Path) -> Result<Option<Vec<f64>>, Error> {
        if let Some(event) = &self.event {
            let Some(column) = source.header().iter().position(|known| known == event) else { return Ok(None) };
            sign_times(&mut numbers, &source.numbers_of(column, path)?);
        }
        Ok(Some(numbers))
    }

    /// The targets of so many rows that stand in a file of their own.
    pub fn truth_of_target(&self, target: &Target, rows: usize, path: &Path) -> Result<Vec<f64>, Error> {
        let wanted = rows * self.targets.len().max(1);
        if target.values.len() != wanted {
            return Err(Error::input(path, format!("found {} numbers; expected {wanted}", target.values.len())));
        }
        let Some(classes) = &self.classes else { return Ok(target.values.clone()) };
        let word = |value: f64| match &target.labels {
            Some(labels) => labels.get(value as usize).cloned().unwrap_or_default(),
            None => value.to_string(),
        };
        let code = |(row, &value): (usize, &f64)| match value.is_nan() {
            true => Ok(f64::NAN),
            false => self.code(classes, &word(value)).ok_or_else(|| unknown(classes, row, "it", &word(value), path)),
        };
        target.values.iter().enumerate().map(code).collect()
    }

    /// What the lines of a file begin with.
    fn truth_of_labels(&self, labels: &[f64]) -> Option<Vec<f64>> {
        let Some(classes) = &self.classes else { return Some(labels.to_vec()) };
        labels.iter().map(|label| self.code(classes, &label.to_string())).collect()
    }

    /// A class as the loss takes it.
    fn code(&self, classes: &[String], word: &str) -> Option<f64> {
        let place = classes.iter().position(|class| class == word)? as f64;
        Some(if classes.len() == 2 { 2.0 * place - 1.0 } else { place })
    }

    fn truth_of_classes(
        &self,
        classes: &[String],
        frame: &Frame,
        place: usize,
        name: &str,
        path: &Path,
    ) -> Result<Vec<f64>, Error> {
        let number = |row: usize| frame.numbers_of(place).nth(row).unwrap_or(f64::NAN);
        let code = |row: usize| {
            let word = match frame.words_of(place) {
                Some(words) => words.at(row).map(String::from),
                None => Some(number(row)).filter(|number| !number.is_nan()).map(|number| number.to_string()),
            };
            match word {
                None => Ok(f64::NAN),
                Some(word) => {
                    self.code(classes, &word).ok_or_else(|| unknown(classes, row, &format!("`{name}`"), &word, path))
                }
            }
        };
        (0..frame.size().0).map(code).collect()
    }
}

/// A class that was not fitted.
fn unknown(classes: &[String], row: usize, what: &str, word: &str, path: &Path) -> Error {
    let message = format!("row {}: {what} is `{word}`; the fitted classes are {}", row + 1, classes.join(", "));
    Error::input(path, message)
}

/// Times get a minus where no event was seen.
pub fn sign_times(times: &mut [f64], seen: &[f64]) {
    for (time, seen) in times.iter_mut().zip(seen) {
        *time = if seen.is_nan() {
            f64::NAN
        } else if *seen == 0.0 {
            -*time
        } else {
            *time
        };
    }
}
