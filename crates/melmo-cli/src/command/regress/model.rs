//! A fitted regression as a file, and what it predicts.

use std::path::Path;

use melmo_data::{Array, Frame};
use melmo_tasks::regress::{Classified, Coefficients, Loss, Measured};
use serde::{Deserialize, Serialize};

use super::encoding::Encoding;
use crate::error::Error;
use crate::output::{Outputs, extension, quoted};
use crate::render::{Summary, short};

/// The first thing that a file of a model says.
const KIND: &str = "melmo regression";
/// What a file of a model looks like.
const FORMAT: u32 = 1;

/// All that predictions need.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    kind: String,
    format: u32,
    loss: String,
    /// The column that is predicted, where it was one.
    target: Option<String>,
    /// What log-odds below and above 0 stand for.
    classes: Option<[String; 2]>,
    encoding: Encoding,
    intercept: f64,
    coefficients: Vec<f64>,
}

impl Model {
    pub fn new(
        loss: Loss,
        target: Option<String>,
        classes: Option<[String; 2]>,
        encoding: Encoding,
        fitted: &Coefficients,
    ) -> Self {
        let (kind, coefficients) = (KIND.into(), fitted.values.clone());
        let loss = loss.to_string();
        Self { kind, format: FORMAT, loss, target, classes, encoding, intercept: fitted.intercept, coefficients }
    }

    pub fn to_json(&self) -> String {
        format!("{:#}\n", serde_json::json!(self))
    }

    /// From a file that `--model` wrote.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let wrong =
            |what: String| Error::input(path, format!("{what}; expected a file that `melmo regress --model` wrote"));
        let bytes = crate::input::own(path).map_err(|error| wrong(error.to_string()))?;
        let model: Self = serde_json::from_slice(&bytes).map_err(|error| wrong(format!("it is no model: {error}")))?;
        if model.kind != KIND || model.format != FORMAT {
            return Err(wrong(format!("it is a `{}` of format {}", model.kind, model.format)));
        }
        let numbers = model.coefficients.iter().chain([&model.intercept]);
        if model.encoding.names().len() != model.coefficients.len() || !numbers.into_iter().all(|b| b.is_finite()) {
            return Err(wrong("its coefficients do not fit its columns".into()));
        }
        Ok(model)
    }

    /// aᵢᵀb + c for every row of a table; NaN where a cell is missing and nothing stands for it.
    pub fn predict(&self, frame: &Frame, path: &Path) -> Result<Vec<f64>, Error> {
        let x = self.encoding.apply(frame, path)?;
        let coefficients = Coefficients { intercept: self.intercept, values: self.coefficients.clone() };
        Ok(coefficients.predict(&x))
    }

    /// The target of a table that has it, as the loss takes it.
    pub fn truth(&self, frame: &Frame, path: &Path) -> Result<Option<Vec<f64>>, Error> {
        let name = self.target.as_ref();
        let place = name.and_then(|name| frame.names.as_ref()?.iter().position(|known| known == name));
        let (Some(name), Some(place)) = (name, place) else { return Ok(None) };
        let number = |row: usize| frame.numbers_of(place).nth(row).unwrap_or(f64::NAN);
        let Some(classes) = &self.classes else {
            if let Some((line, word)) = frame.words_of(place).and_then(|words| words.first.as_ref()) {
                return Err(Error::input(path, format!("line {line}: `{name}` is `{word}`; expected a number")));
            }
            return Ok(Some(frame.numbers_of(place).collect()));
        };
        let sign = |row: usize| {
            let word = match frame.words_of(place) {
                Some(words) => words.at(row).map(String::from),
                None => Some(number(row)).filter(|number| !number.is_nan()).map(|number| number.to_string()),
            };
            match word {
                None => Ok(f64::NAN),
                Some(word) if word == classes[0] => Ok(-1.0),
                Some(word) if word == classes[1] => Ok(1.0),
                Some(word) => {
                    let message =
                        format!("row {}: `{name}` is `{word}`; the fitted classes are {}", row + 1, classes.join(", "));
                    Err(Error::input(path, message))
                }
            }
        };
        (0..frame.size().0).map(sign).collect::<Result<_, _>>().map(Some)
    }

    /// Writes predictions; with `probabilities`, also that of the upper class.
    pub fn write(
        &self,
        outputs: &mut Outputs,
        file: &Path,
        predicted: &[f64],
        index: Option<&[String]>,
        probabilities: bool,
    ) -> Result<(), Error> {
        if probabilities && self.classes.is_none() {
            return Err(Error::option(
                "probabilities",
                format!("the loss {} has none: they are for classes", self.loss),
            ));
        }
        match extension(file).as_str() {
            "csv" => outputs.bytes(file, self.csv(predicted, index, probabilities).as_bytes()),
            _ => {
                let values: Vec<f64> = match &self.classes {
                    _ if probabilities => predicted.iter().copied().map(probability).collect(),
                    None => predicted.to_vec(),
                    Some(classes) => {
                        let numbers = classes.each_ref().map(|class| class.parse::<f64>());
                        let [Ok(low), Ok(high)] = numbers else {
                            return Err(Error::input(file, "classes are words: choose a name that ends in .csv"));
                        };
                        predicted.iter().map(|t| if *t > 0.0 { high } else { low }).collect()
                    }
                };
                outputs.array(file, &Array::new([values.len(), 1], values)?, None)
            }
        }
    }

    fn csv(&self, predicted: &[f64], index: Option<&[String]>, probabilities: bool) -> String {
        let mut text = String::from(if index.is_some() { "," } else { "" });
        text += if self.classes.is_some() { "class" } else { "prediction" };
        if let (Some(classes), true) = (&self.classes, probabilities) {
            text += &format!(",{}", quoted(&format!("P({})", classes[1])));
        }
        for (row, &t) in predicted.iter().enumerate() {
            text += "\n";
            if let Some(index) = index {
                text += &format!("{},", quoted(&index[row]));
            }
            text += &match &self.classes {
                _ if t.is_nan() => "NA".into(),
                None => t.to_string(),
                Some(classes) => quoted(&classes[usize::from(t > 0.0)]),
            };
            if probabilities {
                text += &if t.is_nan() { ",NA".into() } else { format!(",{}", probability(t)) };
            }
        }
        text + "\n"
    }

    /// Says how good predictions are, where the truth is known.
    pub fn score(&self, summary: &mut Summary, which: Which<'_>, truth: &[f64], predicted: &[f64]) {
        let known = || truth.iter().zip(predicted).filter(|(y, t)| !y.is_nan() && !t.is_nan());
        let (y, t): (Vec<f64>, Vec<f64>) = known().map(|(y, t)| (*y, *t)).unzip();
        if y.is_empty() {
            return;
        }
        let [first, second, third] = which.keys();
        let fourth = if which == Which::Fitted { "explained" } else { "test_explained" };
        if self.classes.is_some() {
            let found = Classified::of(&y, &t);
            let text = format!(
                "{} % right, AUC {}, deviance {} ({} % of it explained){}",
                short((1000.0 * found.accuracy).round() / 10.0),
                short(found.auc),
                short(found.deviance),
                short((1000.0 * found.explained).round() / 10.0),
                which.note(y.len())
            );
            summary.add(first.1, found.accuracy, which.label(), text);
            summary.silent(second.1, found.auc);
            summary.silent(third.1, found.deviance);
            summary.silent(fourth, found.explained);
        } else {
            let found = Measured::of(&y, &t);
            let text = format!(
                "R² {}, RMSE {}, MAE {}{}",
                short(found.r2),
                short(found.rmse),
                short(found.mae),
                which.note(y.len())
            );
            summary.add(first.0, found.r2, which.label(), text);
            summary.silent(second.0, found.rmse);
            summary.silent(third.0, found.mae);
        }
    }
}

/// Which rows are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which<'p> {
    Fitted,
    /// Those of a table.
    Of(&'p Path),
}

impl Which<'_> {
    fn keys(self) -> [(&'static str, &'static str); 3] {
        match self {
            Self::Fitted => [("r2", "accuracy"), ("rmse", "auc"), ("mae", "deviance")],
            Self::Of(_) => [("test_r2", "test_accuracy"), ("test_rmse", "test_auc"), ("test_mae", "test_deviance")],
        }
    }

    fn label(self) -> &'static str {
        if self == Self::Fitted { "fitted" } else { "test" }
    }

    fn note(self, rows: usize) -> String {
        match self {
            Self::Fitted => " on the rows that it was fitted to".into(),
            Self::Of(path) => format!(" on {rows} rows of {}", path.display()),
        }
    }
}

/// Of the upper class, by its log-odds.
fn probability(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}
