//! A fitted regression as a file, and what it predicts.

use std::path::Path;

use melmo_data::{Array, Frame};
use melmo_tasks::regress::{self, Classified, Coefficients, Loss, Measured};
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
    /// Two: what log-odds below and above 0 stand for. More: what each output stands for.
    classes: Option<Vec<String>>,
    /// The column that is added to every prediction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offset: Option<String>,
    encoding: Encoding,
    intercept: f64,
    coefficients: Vec<f64>,
    /// Those of the second output, the third, ….
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    others: Vec<(f64, Vec<f64>)>,
}

/// What is predicted, and how.
pub struct Predicted {
    pub loss: Loss,
    /// The column that is predicted, where it was one.
    pub target: Option<String>,
    pub classes: Option<Vec<String>>,
    /// The column that is added to every prediction.
    pub offset: Option<String>,
}

impl Model {
    /// Fitted coefficients, output by output.
    pub fn new(predicted: Predicted, encoding: Encoding, fitted: &[Coefficients]) -> Self {
        let Predicted { loss, target, classes, offset } = predicted;
        let mut outputs = fitted.iter().map(|of| (of.intercept, of.values.clone()));
        let (intercept, coefficients) = outputs.next().unwrap_or_default();
        let (kind, loss, others) = (KIND.into(), loss.to_string(), outputs.collect());
        Self { kind, format: FORMAT, loss, target, classes, offset, encoding, intercept, coefficients, others }
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
        let (width, outputs) = (model.encoding.names().len(), model.outputs());
        let fits = |of: &Coefficients| {
            of.values.len() == width && of.values.iter().chain([&of.intercept]).all(|b| b.is_finite())
        };
        let classes = model.classes.as_ref().map_or(1, |classes| if classes.len() == 2 { 1 } else { classes.len() });
        if !outputs.iter().all(fits) || outputs.len() != classes {
            return Err(wrong("its coefficients do not fit its columns".into()));
        }
        Ok(model)
    }

    /// The coefficients of every output.
    fn outputs(&self) -> Vec<Coefficients> {
        let first = (self.intercept, self.coefficients.clone());
        let all = std::iter::once(first).chain(self.others.iter().cloned());
        all.map(|(intercept, values)| Coefficients { intercept, values }).collect()
    }

    /// aᵢᵀb + c for every row of a table, output after output; NaN where a cell is missing and nothing stands for it.
    pub fn predict(&self, frame: &Frame, path: &Path) -> Result<Vec<f64>, Error> {
        let x = self.encoding.apply(frame, path)?;
        let mut t = regress::predict(&self.outputs(), &x);
        if let Some(name) = &self.offset {
            let known = frame.names.as_ref().and_then(|names| names.iter().position(|known| known == name));
            let column = known.ok_or_else(|| Error::input(path, format!("has no column `{name}`, the offset")))?;
            let offset: Vec<f64> = frame.numbers_of(column).collect();
            t.chunks_exact_mut(offset.len().max(1))
                .for_each(|t| t.iter_mut().zip(&offset).for_each(|(t, offset)| *t += offset));
        }
        Ok(t)
    }

    /// The place of the class of every row, where every output is a number.
    fn chosen(&self, predicted: &[f64], row: usize) -> Option<usize> {
        let outputs = 1 + self.others.len();
        let rows = predicted.len() / outputs;
        let of_row: Vec<f64> = predicted[row..].iter().step_by(rows).copied().collect();
        match of_row[..] {
            _ if of_row.iter().any(|t| t.is_nan()) => None,
            [t] => Some(usize::from(t > 0.0)),
            _ => (0..outputs).max_by(|&a, &b| of_row[a].total_cmp(&of_row[b]).then(b.cmp(&a))),
        }
    }

    /// The probability of the upper of two classes, or of each of several.
    fn probabilities(&self, predicted: &[f64], row: usize) -> Vec<f64> {
        let outputs = 1 + self.others.len();
        let rows = predicted.len() / outputs;
        if outputs == 1 {
            return vec![1.0 / (1.0 + (-predicted[row]).exp())];
        }
        let of_row = || predicted[row..].iter().step_by(rows);
        let largest = of_row().fold(f64::NEG_INFINITY, |most, t| most.max(*t));
        let total: f64 = of_row().map(|t| (t - largest).exp()).sum();
        of_row().map(|t| (t - largest).exp() / total).collect()
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
        let code = |row: usize| {
            let word = match frame.words_of(place) {
                Some(words) => words.at(row).map(String::from),
                None => Some(number(row)).filter(|number| !number.is_nan()).map(|number| number.to_string()),
            };
            match word {
                None => Ok(f64::NAN),
                Some(word) => match classes.iter().position(|class| *class == word) {
                    Some(place) if classes.len() == 2 => Ok(2.0 * place as f64 - 1.0),
                    Some(place) => Ok(place as f64),
                    None => {
                        let known = classes.join(", ");
                        let message = format!("row {}: `{name}` is `{word}`; the fitted classes are {known}", row + 1);
                        Err(Error::input(path, message))
                    }
                },
            }
        };
        (0..frame.size().0).map(code).collect::<Result<_, _>>().map(Some)
    }

    /// Writes predictions; with `probabilities`, also that of the upper class, or of each of several.
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
                let rows = predicted.len() / (1 + self.others.len());
                let values: Vec<f64> = match &self.classes {
                    _ if probabilities => (0..rows).flat_map(|row| self.probabilities(predicted, row)).collect(),
                    None => predicted.iter().map(|&t| self.response(t)).collect(),
                    Some(classes) => {
                        let numbers: Result<Vec<f64>, _> = classes.iter().map(|class| class.parse::<f64>()).collect();
                        let Ok(numbers) = numbers else {
                            return Err(Error::input(file, "classes are words: choose a name that ends in .csv"));
                        };
                        let number = |row| self.chosen(predicted, row).map_or(f64::NAN, |class| numbers[class]);
                        (0..rows).map(number).collect()
                    }
                };
                outputs.array(file, &Array::new([rows, values.len() / rows.max(1)], values)?, None)
            }
        }
    }

    /// What is predicted where the loss is one of numbers.
    fn response(&self, t: f64) -> f64 {
        self.loss.parse::<Loss>().map_or(t, |loss| loss.response(t))
    }

    fn csv(&self, predicted: &[f64], index: Option<&[String]>, probabilities: bool) -> String {
        let mut text = String::from(if index.is_some() { "," } else { "" });
        text += if self.classes.is_some() { "class" } else { "prediction" };
        if let (Some(classes), true) = (&self.classes, probabilities) {
            let shown = if classes.len() == 2 { &classes[1..] } else { &classes[..] };
            shown.iter().for_each(|class| text += &format!(",{}", quoted(&format!("P({class})"))));
        }
        for row in 0..predicted.len() / (1 + self.others.len()) {
            text += "\n";
            if let Some(index) = index {
                text += &format!("{},", quoted(&index[row]));
            }
            text += &match (&self.classes, self.chosen(predicted, row)) {
                (_, None) => "NA".into(),
                (None, _) => self.response(predicted[row]).to_string(),
                (Some(classes), Some(class)) => quoted(&classes[class]),
            };
            if probabilities {
                let shown = |p: f64| if p.is_nan() { ",NA".into() } else { format!(",{p}") };
                self.probabilities(predicted, row).into_iter().for_each(|p| text += &shown(p));
            }
        }
        text + "\n"
    }

    /// Says how good predictions are, where the truth is known.
    pub fn score(&self, summary: &mut Summary, which: Which<'_>, truth: &[f64], predicted: &[f64]) {
        if !self.others.is_empty() {
            return self.score_classes(summary, which, truth, predicted);
        }
        let known = || truth.iter().zip(predicted).filter(|(y, t)| !y.is_nan() && !t.is_nan());
        let (y, t): (Vec<f64>, Vec<f64>) = known().map(|(y, t)| (*y, self.response(*t))).unzip();
        if y.is_empty() || self.loss == "cox" {
            return; // times and risks are in other units
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

impl Model {
    /// The same of several classes.
    fn score_classes(&self, summary: &mut Summary, which: Which<'_>, truth: &[f64], predicted: &[f64]) {
        let rows = || (0..truth.len()).filter(|&row| !truth[row].is_nan());
        let known: Vec<(usize, usize)> =
            rows().filter_map(|row| Some((truth[row] as usize, self.chosen(predicted, row)?))).collect();
        if known.is_empty() {
            return;
        }
        let right = known.iter().filter(|(truth, chosen)| truth == chosen).count() as f64 / known.len() as f64;
        let share = short((1000.0 * right).round() / 10.0);
        let text = format!("{share} % right{}", which.note(known.len()));
        summary.add(which.keys()[0].1, right, which.label(), text);
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
