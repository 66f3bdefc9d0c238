//! A fitted regression as a file, and what it predicts.

use std::path::Path;

use melmo_data::Array;
use melmo_tasks::regress::{Coefficients, Loss, softmax};
use serde::{Deserialize, Serialize};

use super::encoding::Encoding;
use super::source::Source;
use crate::error::Error;
use crate::output::{Outputs, extension, quoted};

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
    pub(super) target: Option<String>,
    /// Those that are predicted, where they are several: an output each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) targets: Vec<String>,
    /// Two: what log-odds below and above 0 stand for. More: what each output stands for.
    pub(super) classes: Option<Vec<String>>,
    /// The column that is added to every prediction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offset: Option<String>,
    /// The column that is 1 where an event was seen, for times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) event: Option<String>,
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
    /// The columns that are predicted, where they were columns or several.
    pub targets: Vec<String>,
    pub classes: Option<Vec<String>>,
    /// The column that is added to every prediction.
    pub offset: Option<String>,
    /// The column that is 1 where an event was seen, for times.
    pub event: Option<String>,
}

impl Model {
    /// Fitted coefficients, output by output.
    pub fn new(predicted: Predicted, encoding: Encoding, fitted: &[Coefficients]) -> Self {
        let Predicted { loss, mut targets, classes, offset, event } = predicted;
        let target = if targets.len() == 1 { targets.pop() } else { None };
        let mut outputs = fitted.iter().map(|of| (of.intercept, of.values.clone()));
        let (intercept, coefficients) = outputs.next().unwrap_or_default();
        let (kind, loss, others) = (KIND.into(), loss.to_string(), outputs.collect());
        Self {
            kind,
            format: FORMAT,
            loss,
            target,
            targets,
            classes,
            offset,
            event,
            encoding,
            intercept,
            coefficients,
            others,
        }
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
        let wanted = match &model.classes {
            Some(classes) if classes.len() != 2 => classes.len(),
            Some(_) => 1,
            None => model.targets.len().max(1),
        };
        if !outputs.iter().all(fits) || outputs.len() != wanted {
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

    /// The coefficients, where another fit of columns of these names, with so many outputs, may start from them.
    pub fn start(&self, names: &[String], outputs: usize, path: &Path) -> Result<Vec<Coefficients>, Error> {
        let (own, found) = (self.encoding.names(), self.outputs());
        if own != names || found.len() != outputs {
            let message = format!(
                "a model of {} columns ({}…) and {} outputs; this fit has {} columns ({}…) and {outputs}",
                own.len(),
                own.first().map_or("", String::as_str),
                found.len(),
                names.len(),
                names.first().map_or("", String::as_str)
            );
            return Err(Error::input(path, message));
        }
        Ok(found)
    }

    /// aᵢᵀb + c for every row of a table, output after output; NaN where a cell is missing and nothing stands for it.
    pub fn predict(&self, source: &Source, path: &Path) -> Result<Vec<f64>, Error> {
        let mut t = self.encoding.cells(source, path)?.predict(&self.outputs());
        if let Some(name) = &self.offset {
            let known = source.names().iter().position(|known| known == name);
            let column = known.ok_or_else(|| Error::input(path, format!("has no column `{name}`, the offset")))?;
            let offset = source.numbers_of(column, path)?;
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
        softmax(predicted[row..].iter().step_by(rows).copied())
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
                    None => (0..rows).flat_map(|row| self.responses(predicted, row)).collect(),
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

    /// What is predicted for a row where the loss is one of numbers.
    fn responses(&self, predicted: &[f64], row: usize) -> Vec<f64> {
        let rows = predicted.len() / (1 + self.others.len());
        predicted[row..].iter().step_by(rows).map(|&t| self.response(t)).collect()
    }

    /// What t predicts where the loss is one of numbers.
    pub(super) fn response(&self, t: f64) -> f64 {
        self.loss().map_or(t, |loss| loss.response(t))
    }

    pub(super) fn loss(&self) -> Option<Loss> {
        self.loss.parse().ok()
    }

    fn csv(&self, predicted: &[f64], index: Option<&[String]>, probabilities: bool) -> String {
        let mut text = String::from(if index.is_some() { "," } else { "" });
        text += &match (&self.classes, &self.targets[..]) {
            (Some(_), _) => "class".into(),
            (None, []) => "prediction".into(),
            (None, targets) => targets.iter().map(|target| quoted(target)).collect::<Vec<_>>().join(","),
        };
        if let (Some(classes), true) = (&self.classes, probabilities) {
            let shown = if classes.len() == 2 { &classes[1..] } else { &classes[..] };
            shown.iter().for_each(|class| text += &format!(",{}", quoted(&format!("P({class})"))));
        }
        for row in 0..predicted.len() / (1 + self.others.len()) {
            text += "\n";
            if let Some(index) = index {
                text += &format!("{},", quoted(&index[row]));
            }
            let shown = |t: f64| if t.is_nan() { "NA".into() } else { t.to_string() };
            text += &match &self.classes {
                None => self.responses(predicted, row).into_iter().map(shown).collect::<Vec<String>>().join(","),
                Some(classes) => self.chosen(predicted, row).map_or("NA".into(), |class| quoted(&classes[class])),
            };
            if probabilities {
                self.probabilities(predicted, row).into_iter().for_each(|p| text += &format!(",{}", shown(p)));
            }
        }
        text + "\n"
    }
}
