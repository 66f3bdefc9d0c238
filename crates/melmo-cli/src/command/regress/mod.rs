//! `melmo regress`.

mod encoding;
mod model;
mod ranks;
mod score;
mod share;
mod source;
mod table;
mod target;
mod truth;
mod written;

pub use model::Model;
pub use score::Which;
pub use source::Source;

use std::path::{Path, PathBuf};

use melmo::real::Real;
use melmo_page::{Axis, Bars, Chart, Reference, Series, plain};
use melmo_tasks::regress::{Cells, Coefficients, CrossValidation, Point, Regression, parse_groups};
use melmo_tasks::{Solved, Until};

use self::encoding::Encoding;
use self::model::Predicted;
use self::table::Table;
use self::target::Target;
use crate::args::{Regress, Selection, Solving};
use crate::error::Error;
use crate::input::Inputs;
use crate::output::{Outputs, expect_array, extension};
use crate::render::{Summary, short};
use crate::session::{Ready, Solve};

/// Bars of a report, at most: the largest coefficients.
const BARS: usize = 40;
/// Coefficients of a chart of the path, at most: those that grow largest.
const SHOWN: usize = 8;

/// What is needed to name, judge and write the coefficients.
pub struct Kept {
    regression: Regression,
    names: Vec<String>,
    path: Option<CrossValidation>,
    encoding: Encoding,
    /// The names of the targets, where they are columns or several.
    targets: Vec<String>,
    classes: Option<Vec<String>>,
    /// The column that is added to every prediction.
    offset: Option<String>,
    /// For times: the column that is 1 where the event was seen.
    event: Option<String>,
    /// The table to predict for, and the one to judge by.
    predict: Option<Source>,
    test: Option<Source>,
    /// What is known of that one, where it is another file.
    test_target: Option<Target>,
}

impl Regress {
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
        Ok((self.chosen(&path).lambda, Some(path)))
    }

    fn tell_dropped(&self, dropped: usize, summary: &mut Summary) {
        if dropped > 0 {
            summary.add("dropped", dropped, "dropped", format!("{dropped} rows with a missing cell or target"));
        }
    }

    fn tell_classes(classes: Option<&[String]>, summary: &mut Summary) {
        if let Some(classes) = classes {
            let predicted = if classes.len() == 2 { " (predicted)" } else { "" };
            summary.add("classes", classes.to_vec(), "classes", format!("{}{predicted}", classes.join(", ")));
        }
    }

    /// The point of a path that was asked for.
    fn chosen(&self, path: &CrossValidation) -> Point {
        path.points[if self.select == Selection::Min { path.best } else { path.simplest }]
    }
}

impl Solve for Regress {
    type Kept<S: Real> = Kept;

    fn solving(&self) -> &Solving {
        &self.solving
    }

    fn outputs(&self) -> Result<Vec<PathBuf>, Error> {
        let all = [&self.output, &self.path_output, &self.predictions];
        let mut all: Vec<PathBuf> = all.into_iter().flatten().cloned().collect();
        all.iter().try_for_each(|path| expect_array(path))?;
        if let Some(path) = self.model.as_ref().filter(|path| extension(path) != "json") {
            return Err(Error::input(path, "a model is written as .json"));
        }
        all.extend(self.model.clone());
        Ok(all)
    }

    fn prepare<S: Real>(&self, inputs: &mut Inputs, summary: &mut Summary) -> Result<Ready<S, Self::Kept<S>>, Error> {
        let Table { encoding, x, rows, y, labels, weights, offset, targets, dropped } = self.table(inputs)?;
        let names = encoding.names();
        let (loss, y, numbers) = self.loss.target(&y)?;
        let loss = loss.settled(&y);
        let name = |number: &f64| named(*number, labels.as_deref());
        let classes: Option<Vec<String>> = numbers.map(|numbers| numbers.iter().map(name).collect());
        let design = x.design(rows, names.len(), !self.no_intercept, !self.no_standardize)?;
        let groups = self.groups.as_ref().map(|groups| parse_groups(groups, names.len())).transpose()?;
        summary.add(
            "shape",
            vec![rows, names.len()],
            "data",
            format!("{rows} rows, {} columns{}", names.len(), sparse(&x)),
        );
        self.tell_dropped(dropped, summary);
        let references = encoding.references();
        if !references.is_empty() {
            summary.add("references", references.clone(), "words", references.join("; "));
        }
        Self::tell_classes(classes.as_deref(), summary);
        let (penalty, positive) = (self.penalty.clone(), self.positive);
        let factors = (!self.penalty_weights.is_empty()).then(|| self.penalty_weights.clone());
        let count = y.len() / rows;
        let regression =
            Regression { x, y, targets: count, design, loss, penalty, groups, factors, positive, weights, offset };
        regression.check()?;
        summary.text("loss", "loss", loss.to_string());
        let mut other = |path: &Option<PathBuf>| path.as_ref().map(|path| Source::read(inputs, path)).transpose();
        let (predict, test) = (other(&self.predict)?, other(&self.test)?);
        let test_target = match (&self.test_target, &test) {
            (Some(path), Some(test)) => Some(self.target_of_file(path, test.rows(), inputs)?),
            _ => None,
        };
        let (offset, event) = (self.offset.clone(), self.event.clone());
        let kept = Kept {
            regression,
            names,
            path: None,
            encoding,
            targets,
            classes,
            offset,
            event,
            predict,
            test,
            test_target,
        };
        kept.try_out(self)?; // a table that does not fit is refused before the work
        let regression = &kept.regression;
        let (lambda, path) = self.lambda::<S>(regression, &inputs.until)?;
        let penalty = self.penalty.clone().weighted(lambda);
        let chosen = match &path {
            None => String::new(),
            Some(path) => {
                let point = self.chosen(path);
                summary.silent("cross_validation", point.mean);
                let (measure, share) = (loss.measure(), lambda / path.points[0].lambda);
                format!(" (held-out {measure} {}, λ/λ_max = {})", short(point.mean), short(share))
            }
        };
        summary.add("penalty", penalty.to_string(), "penalty", format!("{penalty}{chosen}"));
        let mut prepared = regression.prepare(lambda)?;
        if let Some(path) = &self.start {
            prepared.start = regression.point(&kept.started_from(path)?);
            summary.text("start", "start", path.display().to_string());
        }
        let resolved = vec![("penalty", penalty.to_string()), ("loss", loss.to_string())];
        Ok(Ready { prepared, kept: Kept { path, ..kept }, resolved })
    }

    fn deliver<S: Real>(
        &self,
        kept: &Self::Kept<S>,
        solved: &Solved<S>,
        outputs: &mut Outputs,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let Kept { regression, path, .. } = kept;
        let fitted = regression.coefficients(&solved.report.z);
        kept.describe(&fitted, summary);
        let predicted = kept.predicted(&fitted);
        let fit = kept.mean_loss(&predicted);
        summary.add("fit", fit, "fit", format!("{} {}", regression.loss.measure(), short(fit)));
        let model = kept.model(&fitted);
        model.score(summary, Which::Fitted, &regression.y, &predicted);
        if let (Some(path), Some(source)) = (&self.test, &kept.test)
            && let Some(truth) = kept.truth(self, &model, source, path)?
        {
            model.score(summary, Which::Of(path), &truth, &model.predict(source, path)?);
        }
        if let Some(path) = &self.output {
            kept.write_coefficients(outputs, path, &fitted)?;
        }
        if let (Some(file), Some(path)) = (&self.path_output, path) {
            kept.write_path(outputs, file, path)?;
        }
        if let (Some(file), Some(path), Some(source)) = (&self.predictions, &self.predict, &kept.predict) {
            let predicted = model.predict(source, path)?;
            model.write(outputs, file, &predicted, source.index(), self.probabilities)?;
        }
        match &self.model {
            Some(path) => outputs.bytes(path, model.to_json().as_bytes()),
            None => Ok(()),
        }
    }

    fn pictures<S: Real>(&self, kept: &Self::Kept<S>, solved: &Solved<S>) -> Vec<melmo_page::Item> {
        let bars = kept.bars(&kept.regression.coefficients(&solved.report.z));
        let Some(path) = &kept.path else { return vec![bars.into()] };
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
        let mut shown = kept.labels();
        let scales = &kept.regression.design.scales;
        let along = |&(_, output, j): &(String, usize, usize)| -> Vec<f64> {
            path.coefficients.iter().map(|b| b[output].values[j] * scales[j]).collect()
        };
        let most = |label: &_| along(label).into_iter().map(f64::abs).fold(0.0, f64::max);
        shown.sort_by(|a, b| most(b).total_cmp(&most(a)));
        let coefficients =
            Chart::new("Coefficients along the path", [Axis::log("λ")], Axis::linear("coefficient × scale"));
        let coefficients = shown
            .iter()
            .take(SHOWN)
            .fold(coefficients, |chart, label| chart.series(Series::new(&label.0, lambda(), along(label))));
        let coefficients = coefficients.reference(Reference::vertical("chosen", self.chosen(path).lambda));
        vec![bars.into(), held_out.into(), coefficients.into(), size.into()]
    }
}

impl Kept {
    /// aᵢᵀb + c and the offset for the rows that it was fitted to, output after output.
    fn predicted(&self, fitted: &[Coefficients]) -> Vec<f64> {
        let mut predicted = self.regression.x.predict(fitted);
        if let Some(offset) = &self.regression.offset {
            predicted
                .chunks_exact_mut(offset.len())
                .for_each(|t| t.iter_mut().zip(offset).for_each(|(t, offset)| *t += offset));
        }
        predicted
    }

    /// The mean of ℓ over those rows.
    fn mean_loss(&self, predicted: &[f64]) -> f64 {
        let Regression { loss, y, weights, targets, .. } = &self.regression;
        let weights = weights.as_ref().map(|weights| weights.repeat(*targets));
        loss.mean(y, predicted, weights.as_deref())
    }

    /// The coefficients of a model that --start names.
    fn started_from(&self, path: &Path) -> Result<Vec<Coefficients>, Error> {
        Model::read(path)?.start(&self.names, self.regression.outputs(), path)
    }

    /// Every coefficient but the intercepts: its name, output and column. With several classes or targets a name says for which.
    fn labels(&self) -> Vec<(String, usize, usize)> {
        let of = self.outputs();
        let label = |(output, j): (usize, usize)| match of.get(output) {
            Some(name) => (format!("{} ({name})", self.names[j]), output, j),
            None => (self.names[j].clone(), output, j),
        };
        (0..self.regression.outputs())
            .flat_map(|output| (0..self.names.len()).map(move |j| (output, j)))
            .map(label)
            .collect()
    }

    /// What the outputs are called, where there are several.
    fn outputs(&self) -> &[String] {
        match &self.classes {
            _ if self.regression.outputs() == 1 => &[],
            Some(classes) => classes,
            None => &self.targets,
        }
    }

    /// Intercepts, how many coefficients are not 0, and the largest.
    fn describe(&self, fitted: &[Coefficients], summary: &mut Summary) {
        let all = fitted.iter().flat_map(|of| &of.values);
        let (nonzero, count) = (all.clone().filter(|b| **b != 0.0).count(), all.count());
        match self.outputs() {
            [] => summary.number("intercept", "intercept", fitted[0].intercept),
            classes => {
                let pairs = || classes.iter().zip(fitted).map(|(class, of)| (class, of.intercept));
                let text: Vec<String> = pairs().map(|(class, c)| format!("{class} {}", short(c))).collect();
                let object: serde_json::Map<_, _> = pairs().map(|(class, c)| (class.clone(), c.into())).collect();
                summary.add("intercept", object, "intercepts", text.join(", "));
            }
        }
        summary.add("nonzero", nonzero, "nonzero", format!("{nonzero} of {count} coefficients"));
        let labels = self.labels();
        let named = labels.iter().map(|(name, output, j)| (name.clone(), fitted[*output].values[*j].into()));
        summary.silent("coefficients", named.collect::<serde_json::Map<_, _>>());
        let largest = self.largest(fitted);
        let shown: Vec<String> = largest.iter().take(8).map(|(name, b, _)| format!("{name} {}", short(*b))).collect();
        if !shown.is_empty() {
            let more = if largest.len() > 8 { ", …" } else { "" };
            summary.add("largest", shown.clone(), "largest", format!("{}{more}", shown.join(", ")));
        }
    }

    /// The coefficients that are not 0, by name, with what one standard deviation of their column does: the largest effect first.
    fn largest(&self, fitted: &[Coefficients]) -> Vec<(String, f64, f64)> {
        let scales = &self.regression.design.scales;
        let with_effect = |(name, output, j): (String, usize, usize)| {
            let b = fitted[output].values[j];
            (name, b, b * scales[j])
        };
        let mut largest: Vec<_> = self.labels().into_iter().map(with_effect).collect();
        largest.retain(|(_, b, _)| *b != 0.0);
        largest.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
        largest
    }

    /// They as bars, for a report.
    fn bars(&self, fitted: &[Coefficients]) -> Bars {
        let largest = self.largest(fitted);
        let more = match largest.len() {
            0 => "All coefficients are 0.".into(),
            n if n > BARS => format!("The {BARS} largest of {n} that are not 0."),
            n => format!("{n} of {} are not 0.", self.names.len() * fitted.len()),
        };
        let about = "A bar is what one standard deviation of the column does; the number is the coefficient in the table's units.";
        let empty = Bars::new("Coefficients").caption(format!("{more} {about}"));
        largest.iter().take(BARS).fold(empty, |bars, (name, b, effect)| bars.bar(plain(name), *effect, *b))
    }

    fn model(&self, fitted: &[Coefficients]) -> Model {
        let (loss, targets) = (self.regression.loss, self.targets.clone());
        let (classes, offset, event) = (self.classes.clone(), self.offset.clone(), self.event.clone());
        Model::new(Predicted { loss, targets, classes, offset, event }, self.encoding.clone(), fitted)
    }

    /// What is known of the rows to judge by: from a file of its own, or from their table.
    fn truth(&self, asked: &Regress, model: &Model, source: &Source, path: &Path) -> Result<Option<Vec<f64>>, Error> {
        match (&self.test_target, &asked.test_target) {
            (Some(target), Some(file)) => {
                model.signed(model.truth_of_target(target, source.rows(), file)?, source, path)
            }
            _ => model.truth(source, path),
        }
    }

    /// Refuses tables that predictions could not be made for.
    fn try_out(&self, asked: &Regress) -> Result<(), Error> {
        let zero = Coefficients { intercept: 0.0, values: vec![0.0; self.names.len()] };
        let model = self.model(&vec![zero; self.regression.outputs()]);
        if let (Some(path), Some(source)) = (&asked.predict, &self.predict) {
            model.predict(source, path)?;
        }
        if let (Some(path), Some(source)) = (&asked.test, &self.test) {
            model.predict(source, path)?;
            if self.truth(asked, &model, source, path)?.is_none() {
                let message = format!("has no column `{}` to judge by; --test-target takes a file", asked.target);
                return Err(Error::input(path, message));
            }
        }
        if asked.probabilities && self.classes.is_none() {
            return Err(Error::option("probabilities", "they are for classes: --loss logistic"));
        }
        Ok(())
    }
}

/// That X is kept sparse, for people.
fn sparse(x: &Cells) -> String {
    match x {
        Cells::Full(_) => String::new(),
        Cells::Sparse(x) => format!(", sparse: {} entries; columns are scaled and not centred", x.len()),
    }
}

/// What a class is called: its word, or its number.
fn named(class: f64, labels: Option<&[String]>) -> String {
    labels.and_then(|labels| labels.get(class as usize)).cloned().unwrap_or_else(|| class.to_string())
}
