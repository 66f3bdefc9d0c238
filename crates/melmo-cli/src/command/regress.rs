//! `melmo regress`.

use std::path::{Path, PathBuf};

use melmo::real::Real;
use melmo_data::Array;
use melmo_page::{Axis, Chart, Reference, Series};
use melmo_tasks::regress::{CrossValidation, Design, Loss, Point, Regression, parse_groups};
use melmo_tasks::{Solved, Until};

use crate::args::{Regress, Selection, Solving};
use crate::error::Error;
use crate::input::{Inputs, Matrix};
use crate::output::{Outputs, expect_array, extension};
use crate::render::{Summary, short};
use crate::session::{Ready, Solve};

/// What is needed to name, judge and write the coefficients.
pub struct Kept {
    regression: Regression,
    names: Vec<String>,
    path: Option<CrossValidation>,
    /// Rows to predict for.
    predict: Option<Vec<f64>>,
}

impl Regress {
    /// X without the target, its names, and the target.
    fn read(&self, inputs: &mut Inputs) -> Result<(Matrix, Vec<String>, Vec<f64>), Error> {
        let mut table = inputs.matrix(&self.input)?;
        let named = table.names.as_ref().and_then(|names| names.iter().position(|name| *name == self.target));
        let y = match named {
            Some(column) => take_column(&mut table, column),
            None if Path::new(&self.target).exists() => inputs.matrix_of(Path::new(&self.target), table.rows, 1)?,
            None => {
                let known = table.names.as_ref().map_or("it has no header".into(), |names| names.join(", "));
                let message = format!("no file and no column is called `{}`; its columns: {known}", self.target);
                return Err(Error::input(&self.input, message));
            }
        };
        if table.cols == 0 {
            return Err(Error::input(&self.input, "has no column besides the target"));
        }
        let names = table.names.take().unwrap_or_else(|| (1..=table.cols).map(|column| format!("x{column}")).collect());
        Ok((table, names, y))
    }

    /// The rows to predict for: the columns of X by name where both tables have names, else in order.
    fn rows_to_predict(&self, inputs: &mut Inputs, names: &[String]) -> Result<Option<Vec<f64>>, Error> {
        let Some(path) = &self.predict else { return Ok(None) };
        let table = inputs.matrix(path)?;
        let places: Vec<usize> = match &table.names {
            Some(known) => {
                let place = |name: &String| {
                    let missing = || Error::input(path, format!("has no column `{name}`"));
                    known.iter().position(|known| known == name).ok_or_else(missing)
                };
                names.iter().map(place).collect::<Result<_, _>>()?
            }
            None if table.cols == names.len() => (0..names.len()).collect(),
            None => return Err(Error::input(path, format!("has {} columns; expected {}", table.cols, names.len()))),
        };
        let rows = table.data.chunks_exact(table.cols);
        Ok(Some(rows.flat_map(|row| places.iter().map(|&place| row[place]).collect::<Vec<_>>()).collect()))
    }

    /// λ: given, or chosen by cross-validation.
    fn lambda<S: Real>(&self, regression: &Regression, until: &Until) -> Result<(f64, Option<CrossValidation>), Error> {
        if let Some(lambda) = self.lambda.or(self.penalty.weight()) {
            return Ok((lambda, None));
        }
        if !(0.0 < self.path_ratio && self.path_ratio < 1.0) {
            return Err(Error::option("path-ratio", "expected a number between 0 and 1"));
        }
        let (count, seed) = (self.path as usize, self.solving.seed);
        let path = regression.cross_validate::<S>(count, self.path_ratio, self.folds, seed, until)?;
        let chosen = if self.select == Selection::Min { path.best } else { path.simplest };
        Ok((path.points[chosen].lambda, Some(path)))
    }
}

/// Removes a column from a table and gives it.
fn take_column(table: &mut Matrix, column: usize) -> Vec<f64> {
    let taken = table.data.iter().skip(column).step_by(table.cols).copied().collect();
    let others = table.data.iter().enumerate().filter(|(at, _)| at % table.cols != column);
    table.data = others.map(|(_, &value)| value).collect();
    table.cols -= 1;
    table.names.iter_mut().for_each(|names| drop(names.remove(column)));
    taken
}

impl Solve for Regress {
    type Kept = Kept;

    fn solving(&self) -> &Solving {
        &self.solving
    }

    fn outputs(&self) -> Result<Vec<PathBuf>, Error> {
        let all = [&self.output, &self.path_output, &self.predictions];
        let all: Vec<PathBuf> = all.into_iter().flatten().cloned().collect();
        all.iter().try_for_each(|path| expect_array(path))?;
        Ok(all)
    }

    fn prepare<S: Real>(&self, inputs: &mut Inputs, summary: &mut Summary) -> Result<Ready<S, Self::Kept>, Error> {
        let (table, names, y) = self.read(inputs)?;
        let loss = self.loss.settled(&y);
        let (y, classes) = loss.target(&y)?;
        let design = Design::new(&table.data, table.rows, table.cols, !self.no_intercept, !self.no_standardize)?;
        let groups = self.groups.as_ref().map(|groups| parse_groups(groups, table.cols)).transpose()?;
        let text = format!("{} rows, {} columns", table.rows, table.cols);
        summary.add("shape", vec![table.rows, table.cols], "data", text);
        let penalty = self.penalty.clone();
        let regression = Regression { x: table.data, y, classes, design, loss, penalty, groups };
        summary.text("loss", "loss", loss.to_string());
        let predict = self.rows_to_predict(inputs, &names)?;
        let (lambda, path) = self.lambda::<S>(&regression, &inputs.until)?;
        let penalty = self.penalty.clone().weighted(lambda);
        let chosen = match &path {
            None => String::new(),
            Some(path) => {
                let at = if self.select == Selection::Min { path.best } else { path.simplest };
                let point = path.points[at];
                summary.silent("cross_validation", point.mean);
                let (measure, share) = (loss.measure(), lambda / path.points[0].lambda);
                format!(" (held-out {measure} {}, λ/λ_max = {})", short(point.mean), short(share))
            }
        };
        summary.add("penalty", penalty.to_string(), "penalty", format!("{penalty}{chosen}"));
        let prepared = regression.prepare(lambda)?;
        let resolved = vec![("penalty", penalty.to_string()), ("loss", loss.to_string())];
        Ok(Ready { prepared, kept: Kept { regression, names, path, predict }, resolved })
    }

    fn deliver<S: Real>(
        &self,
        kept: &Self::Kept,
        solved: &Solved<S>,
        outputs: &mut Outputs,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let Kept { regression, names, path, predict } = kept;
        let fitted = regression.coefficients(&solved.report.z);
        let nonzero = fitted.values.iter().filter(|b| **b != 0.0).count();
        summary.number("intercept", "intercept", fitted.intercept);
        summary.add("nonzero", nonzero, "nonzero", format!("{nonzero} of {} coefficients", names.len()));
        let pairs = || names.iter().zip(&fitted.values);
        let object: serde_json::Map<_, _> = pairs().map(|(name, b)| (name.clone(), (*b).into())).collect();
        summary.silent("coefficients", object);
        let mut largest: Vec<_> = pairs().zip(&regression.design.scales).filter(|((_, b), _)| **b != 0.0).collect();
        largest.sort_by(|((_, a), s), ((_, b), t)| (*b * *t).abs().total_cmp(&(*a * *s).abs()));
        let shown: Vec<String> =
            largest.iter().take(8).map(|((name, b), _)| format!("{name} {}", short(**b))).collect();
        if !shown.is_empty() {
            let more = if largest.len() > 8 { ", …" } else { "" };
            summary.add("largest", shown.clone(), "largest", format!("{}{more}", shown.join(", ")));
        }
        let fit = regression.loss.mean(&regression.y, &fitted.predict(&regression.x));
        summary.add("fit", fit, "fit", format!("{} {}", regression.loss.measure(), short(fit)));
        if let Some(path) = &self.output {
            let values: Vec<f64> = std::iter::once(fitted.intercept).chain(fitted.values.iter().copied()).collect();
            match extension(path).as_str() {
                "csv" => {
                    let mut text = String::from("name,coefficient\n");
                    for (name, value) in
                        std::iter::once("(intercept)").chain(names.iter().map(String::as_str)).zip(&values)
                    {
                        text += &format!("{},{value}\n", quoted(name));
                    }
                    outputs.bytes(path, text.as_bytes())?;
                }
                _ => outputs.array(path, &Array::new([values.len()], values)?, None)?,
            }
        }
        if let (Some(file), Some(path)) = (&self.path_output, path) {
            let rows = path.points.iter().flat_map(|p| [p.lambda, p.mean, p.error, p.nonzero as f64]).collect();
            let names = ["lambda", "held_out", "standard_error", "nonzero"].map(String::from);
            outputs.array(file, &Array::new([path.points.len(), 4], rows)?, Some(&names))?;
        }
        if let (Some(file), Some(rows)) = (&self.predictions, predict) {
            let predicted = predictions(regression, fitted.predict(rows));
            let name = [if regression.loss == Loss::Logistic { "class" } else { "prediction" }.to_string()];
            outputs.array(file, &Array::new([predicted.len(), 1], predicted)?, Some(&name))?;
        }
        Ok(())
    }

    fn pictures<S: Real>(&self, kept: &Self::Kept, _: &Solved<S>) -> Vec<melmo_page::Item> {
        let Some(path) = &kept.path else { return Vec::new() };
        let column = |value: &dyn Fn(&Point) -> f64| path.points.iter().map(value).collect::<Vec<f64>>();
        let lambda = || column(&|point| point.lambda);
        let low = column(&|point| point.mean - point.error);
        let high = column(&|point| point.mean + point.error);
        let measure = kept.regression.loss.measure();
        let held_out = Chart::new("Held-out loss along the path", [Axis::log("λ")], Axis::linear(measure))
            .series(Series::new(measure, lambda(), column(&|point| point.mean)).band(low, high))
            .reference(Reference::vertical("least", path.points[path.best].lambda));
        let size = Chart::new("Size of the model", [Axis::log("λ")], Axis::linear("coefficients that are not 0"))
            .series(Series::new("not 0", lambda(), column(&|point| point.nonzero as f64)));
        vec![held_out.into(), size.into()]
    }
}

/// Predicted numbers, or the classes that they stand for.
fn predictions(regression: &Regression, values: Vec<f64>) -> Vec<f64> {
    match regression.classes {
        None => values,
        Some([low, high]) => values.into_iter().map(|value| if value > 0.0 { high } else { low }).collect(),
    }
}

/// A name as a cell of a CSV file.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.into() }
}
