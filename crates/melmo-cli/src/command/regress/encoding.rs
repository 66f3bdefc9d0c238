//! A table of numbers and words as columns of numbers, and the same of another table later.

use std::path::Path;

use melmo_data::frame::Words;
use melmo_data::{Csr, Frame};
use melmo_tasks::regress::Cells;
use serde::{Deserialize, Serialize};

use super::source::Source;
use crate::args::Missing;
use crate::error::Error;
use crate::render::say;

/// Words that a column may have, at most: more are names, and say nothing about other rows.
const LEVELS: usize = 200;

/// Numbers with more in them than digits are words of a kind where there are at most so many of them.
const DECORATED: usize = 10;

/// How the columns of a table become numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Encoding {
    pub columns: Vec<Encoded>,
    /// What becomes of missing cells.
    pub missing: Missing,
}

/// One column of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Encoded {
    pub name: String,
    pub values: Values,
    /// One more column of 0 and 1 says where a cell is missing.
    pub indicator: bool,
}

/// What a column holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Values {
    /// Numbers, with what stands for a missing one.
    Numbers { mean: f64 },
    /// Words: 0 or 1 for each of the `levels`, which do not hold the `reference`: for that all are 0.
    Words { reference: String, levels: Vec<String> },
}

impl Encoded {
    /// Columns of numbers that it makes.
    fn width(&self) -> usize {
        let own = match &self.values {
            Values::Numbers { .. } => 1,
            Values::Words { levels, .. } => levels.len(),
        };
        own + usize::from(self.indicator)
    }
}

impl Encoding {
    /// Learned from some columns of a table. Refuses words among numbers, which are slips, and words that are all different.
    pub fn learn(frame: &Frame, columns: &[usize], missing: Missing, path: &Path) -> Result<Self, Error> {
        let names = frame.column_names();
        let learn = |&column: &usize| {
            let values = match frame.words_of(column).filter(|words| words.first.is_some()) {
                Some(words) => words_of(words, &names[column], frame.size().0, path)?,
                None => Values::Numbers { mean: mean(frame.numbers_of(column)) },
            };
            let gap = match &values {
                Values::Words { .. } => {
                    frame.words_of(column).is_some_and(|words| words.codes().any(|code| code.is_none()))
                }
                Values::Numbers { .. } => frame.numbers_of(column).any(f64::is_nan),
            };
            Ok(Encoded { name: names[column].clone(), values, indicator: missing == Missing::Indicator && gap })
        };
        Ok(Self { columns: columns.iter().map(learn).collect::<Result<_, Error>>()?, missing })
    }

    /// Of columns of numbers alone, none of them missing.
    pub fn of_numbers(names: &[String], columns: &[usize], missing: Missing) -> Self {
        let number = |&column: &usize| Encoded {
            name: names[column].clone(),
            values: Values::Numbers { mean: 0.0 },
            indicator: false,
        };
        Self { columns: columns.iter().map(number).collect(), missing }
    }

    /// The cells of a table that has these columns.
    pub fn cells(&self, source: &Source, path: &Path) -> Result<Cells, Error> {
        match source {
            Source::Frame(frame) => self.apply(frame, path).map(Cells::Full),
            Source::Sparse { matrix, .. } => self.entries(matrix, path).map(Cells::Sparse),
        }
    }

    /// The entries of a sparse table, whose columns are x1, x2, …. A file need not say how many there are: those beyond the last that it
    /// stores are 0, and those that were not fitted are not looked at.
    fn entries(&self, matrix: &Csr<f64>, path: &Path) -> Result<Csr<f64>, Error> {
        let mut places = vec![None; matrix.cols()];
        for (place, column) in self.columns.iter().enumerate() {
            let number = column.name.strip_prefix('x').and_then(|number| number.parse::<usize>().ok());
            match (number, &column.values, column.indicator) {
                (Some(number @ 1..), Values::Numbers { .. }, false) => {
                    places.get_mut(number - 1).into_iter().for_each(|own| *own = Some(place as u32));
                }
                _ => {
                    let name = &column.name;
                    let message = format!("has no column `{name}`: those of a sparse table are x1, x2, …");
                    return Err(Error::input(path, message));
                }
            }
        }
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in 0..matrix.rows() {
            let (from, numbers) = matrix.row(row);
            for (&from, &number) in from.iter().zip(numbers) {
                if let Some(place) = places[from as usize] {
                    columns.push(place);
                    values.push(number);
                }
            }
            starts.push(columns.len());
        }
        let made = Csr::new(matrix.rows(), self.columns.len(), starts, columns, values);
        made.map_err(|misfit| Error::input(path, misfit.to_string()))
    }

    /// The names of the columns of numbers: `rent`, `city=Ulm`, `rent (missing)`.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for Encoded { name, values, indicator } in &self.columns {
            match values {
                Values::Numbers { .. } => names.push(name.clone()),
                Values::Words { levels, .. } => names.extend(levels.iter().map(|level| format!("{name}={level}"))),
            }
            names.extend(indicator.then(|| format!("{name} (missing)")));
        }
        names
    }

    /// The columns of words and the reference of each, for people.
    pub fn references(&self) -> Vec<String> {
        let of = |column: &Encoded| match &column.values {
            Values::Words { reference, levels } => {
                Some(format!("{}: {} words beside {reference}", column.name, levels.len()))
            }
            Values::Numbers { .. } => None,
        };
        self.columns.iter().filter_map(of).collect()
    }

    /// The numbers of a table that has these columns, by their names where it has names, else in order; row by row. NaN where a
    /// cell is missing and nothing stands for it.
    pub fn apply(&self, frame: &Frame, path: &Path) -> Result<Vec<f64>, Error> {
        let (rows, cols) = frame.size();
        let width: usize = self.columns.iter().map(|column| column.width()).sum();
        let mut data = vec![0.0; rows * width];
        let mut at = 0;
        for (place, column) in self.columns.iter().enumerate() {
            let source = match &frame.names {
                Some(names) => names.iter().position(|name| *name == column.name),
                None => (cols == self.columns.len()).then_some(place),
            };
            let source = source.ok_or_else(|| {
                Error::input(
                    path,
                    format!(
                        "has no column `{}`{}",
                        column.name,
                        if frame.names.is_none() { "; it has no header" } else { "" }
                    ),
                )
            })?;
            self.fill(column, frame, source, (&mut data, width, at), path)?;
            at += column.width();
        }
        Ok(data)
    }

    /// The numbers of one column, at `at` of every row.
    fn fill(
        &self,
        column: &Encoded,
        frame: &Frame,
        source: usize,
        (data, width, at): (&mut [f64], usize, usize),
        path: &Path,
    ) -> Result<(), Error> {
        let filled = matches!(self.missing, Missing::Mean | Missing::Indicator);
        let mut gaps = Vec::new();
        match &column.values {
            Values::Numbers { mean } => {
                if let Some((line, word)) = frame.words_of(source).and_then(|words| words.first.as_ref()) {
                    let message = format!("line {line}: column `{}` is `{word}`; expected a number", column.name);
                    return Err(Error::input(path, message));
                }
                for (row, number) in frame.numbers_of(source).enumerate() {
                    data[row * width + at] = if number.is_nan() && filled { *mean } else { number };
                    gaps.extend(number.is_nan().then_some(row));
                }
            }
            Values::Words { reference, levels } => {
                let word = |row: usize| match frame.words_of(source) {
                    Some(words) => words.at(row).map(String::from),
                    // Another table may have numbers alone in it.
                    None => frame.numbers_of(source).nth(row).filter(|number| !number.is_nan()).map(|n| n.to_string()),
                };
                for row in 0..frame.size().0 {
                    let cells = &mut data[row * width + at..][..levels.len()];
                    match word(row) {
                        Some(word) if word == *reference => (),
                        Some(word) => match levels.iter().position(|level| *level == word) {
                            Some(level) => cells[level] = 1.0,
                            None => return Err(unknown(path, row, &column.name, &word)),
                        },
                        None if filled => gaps.push(row),
                        None => {
                            cells.fill(f64::NAN);
                            gaps.push(row);
                        }
                    }
                }
            }
        }
        if column.indicator {
            let last = at + column.width() - 1;
            gaps.into_iter().for_each(|row| data[row * width + last] = 1.0);
        }
        Ok(())
    }
}

fn unknown(path: &Path, row: usize, column: &str, word: &str) -> Error {
    let message = format!("row {}: column `{column}` is `{word}`, a word that the fitted table did not have", row + 1);
    Error::input(path, message)
}

fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0f64);
    numbers.filter(|number| number.is_finite()).for_each(|number| (sum, count) = (sum + number, count + 1.0));
    sum / count.max(1.0)
}

/// Refuses a word among numbers, if most are numbers.
pub fn refuse_slips(words: &Words, name: &str, path: &Path) -> Result<(), Error> {
    let known: usize = words.counts().iter().sum();
    match &words.first {
        Some((line, word)) if 2 * words.numbers > known => {
            let expected = "expected a number, or a blank cell where none is known";
            Err(Error::input(path, format!("line {line}: column `{name}` is `{word}`, among numbers; {expected}")))
        }
        _ => Ok(()),
    }
}

/// A number with a thousands separator, a unit of money or a percent sign: `37,020`, `$5`, `47%`.
fn is_decorated(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_digit() || c.is_whitespace() || "+-.,'’%$€£¥".contains(c))
}

/// The most frequent word is the reference; of several, the first.
fn words_of(words: &Words, name: &str, rows: usize, path: &Path) -> Result<Values, Error> {
    refuse_slips(words, name, path)?;
    let counts = words.counts();
    if words.levels.len() > DECORATED && words.levels.iter().all(|word| is_decorated(word)) {
        let message = format!(
            "column `{name}` holds numbers that are written as words, such as `{}`: write digits and a decimal point alone, or leave it out with --drop {name}",
            say::line(&words.levels[0])
        );
        return Err(Error::input(path, message));
    }
    if words.levels.len() > LEVELS || (words.levels.len() > 20 && 2 * words.levels.len() > rows) {
        let count = words.levels.len();
        let message = format!(
            "column `{name}` has {count} different words in {rows} rows, such as `{}`: leave it out with --drop {name}",
            say::line(&words.levels[0])
        );
        return Err(Error::input(path, message));
    }
    let most = counts.iter().enumerate().max_by_key(|(at, count)| (**count, std::cmp::Reverse(*at)));
    let reference = most.map_or(0, |(at, _)| at);
    let mut levels = words.levels.clone();
    let reference = levels.remove(reference);
    Ok(Values::Words { reference, levels })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(text: &str, missing: Missing) -> (Encoding, Vec<f64>) {
        let frame = melmo_data::frame::parse(text.as_bytes()).unwrap();
        let columns: Vec<usize> = (0..frame.size().1).collect();
        let encoding = Encoding::learn(&frame, &columns, missing, Path::new("t.csv")).unwrap();
        let data = encoding.apply(&frame, Path::new("t.csv")).unwrap();
        (encoding, data)
    }

    #[test]
    fn words_become_zeros_and_ones() {
        let (encoding, data) = learned("c,y\nb,1\na,2\nb,3\nc,4\n", Missing::Refuse);
        assert_eq!(encoding.names(), ["c=a", "c=c", "y"]);
        assert_eq!(data, [0.0, 0.0, 1.0, 1.0, 0.0, 2.0, 0.0, 0.0, 3.0, 0.0, 1.0, 4.0]);
        assert_eq!(encoding.references(), ["c: 2 words beside b"]);
    }

    #[test]
    fn missing_cells() {
        let text = "c,y\nb,1\n,2\nb,\na,6\n";
        let (_, data) = learned(text, Missing::Drop);
        assert!(data[2].is_nan() && data[5].is_nan());
        assert_eq!(learned(text, Missing::Mean).1, [0.0, 1.0, 0.0, 2.0, 0.0, 3.0, 1.0, 6.0]);
        let (encoding, data) = learned(text, Missing::Indicator);
        assert_eq!(encoding.names(), ["c=a", "c (missing)", "y", "y (missing)"]);
        assert_eq!(data[4..12], [0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 3.0, 1.0]);
    }

    #[test]
    fn slips_and_names_are_refused() {
        let refused = |text: &str| {
            let frame = melmo_data::frame::parse(text.as_bytes()).unwrap();
            Encoding::learn(&frame, &[0], Missing::Refuse, Path::new("t.csv")).unwrap_err().to_string()
        };
        assert!(refused("a,y\n1,2\n3,4\nx5,6\n").contains("line 4"));
        let amounts: String = (0..30).map(|row| format!("\"1,{:03}\",{row}\n", row % 12)).collect();
        assert!(refused(&format!("paid,y\n{amounts}")).contains("written as words, such as `1,000`"));
        let names: String = (0..30).map(|row| format!("person {row},{row}\n")).collect();
        assert!(refused(&format!("name,y\n{names}")).contains("--drop name"));
    }
}
