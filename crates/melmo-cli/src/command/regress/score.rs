//! How good predictions are, where the truth is known.

use std::path::Path;

use melmo_tasks::regress::{Classified, Loss, Measured, concordance, deviance_of_counts};

use super::model::Model;
use crate::render::{Summary, short};

impl Model {
    /// Says how good predictions are. Both have all rows of one target after another, but for classes, whose predictions alone are several.
    pub fn score(&self, summary: &mut Summary, which: Which<'_>, truth: &[f64], predicted: &[f64]) {
        let targets = self.targets.len().max(1);
        let (rows, outputs) = (truth.len() / targets, predicted.len() / truth.len().max(1));
        let known = |row: usize| {
            let numbers = |of: &[f64]| of.iter().skip(row).step_by(rows).all(|number| !number.is_nan());
            numbers(truth) && numbers(predicted)
        };
        let kept: Vec<usize> = (0..rows).filter(|&row| known(row)).collect();
        let some = |of: &[f64], stretches: usize| -> Vec<f64> {
            (0..stretches).flat_map(|at| kept.iter().map(move |row| of[at * rows + row])).collect()
        };
        let (y, t) = (some(truth, targets), some(predicted, targets * outputs));
        if y.is_empty() {
            return;
        }
        let note = which.note(kept.len());
        let told = match (self.loss(), self.classes.as_deref()) {
            (_, Some(classes)) if classes.len() > 2 => of_classes(Classified::of_several(&y, &t, classes.len())),
            (_, Some(_)) => of_classes(Classified::of(&y, &t)),
            // Times and risks are in other units.
            (Some(Loss::Cox), _) => vec![("concordance", concordance(&y, &t), "concordance ".into(), "")],
            (loss, None) if targets == 1 => self.of_numbers(loss, &y, &t),
            _ => return self.score_targets(summary, which, (&y, &t), &note),
        };
        let text: Vec<String> = told.iter().map(|(_, value, before, after)| shown(*value, before, after)).collect();
        for (at, (key, value, ..)) in told.iter().enumerate() {
            match at {
                0 => summary.add(which.key(key), *value, which.label(), format!("{}{note}", text.join(""))),
                _ => summary.silent(which.key(key), *value),
            }
        }
    }

    /// Numbers, or the means of counts, whose deviance comes first.
    fn of_numbers(&self, loss: Option<Loss>, y: &[f64], t: &[f64]) -> Vec<Told> {
        let means: Vec<f64> = t.iter().map(|&t| self.response(t)).collect();
        let Measured { r2, rmse, mae } = Measured::of(y, &means);
        let mut told: Vec<Told> =
            vec![("r2", r2, "R² ".into(), ""), ("rmse", rmse, ", RMSE ".into(), ""), ("mae", mae, ", MAE ".into(), "")];
        if loss == Some(Loss::Poisson) {
            let (deviance, explained) = deviance_of_counts(y, t);
            told.push(("deviance", deviance, ", deviance ".into(), ""));
            told.push(("explained", explained, " (".into(), PERCENT_EXPLAINED));
        }
        told
    }

    /// R² of each of several targets.
    fn score_targets(&self, summary: &mut Summary, which: Which<'_>, (y, t): (&[f64], &[f64]), note: &str) {
        let rows = y.len() / self.targets.len();
        let (mut object, mut text) = (serde_json::Map::new(), Vec::new());
        for (name, (y, t)) in self.targets.iter().zip(y.chunks_exact(rows).zip(t.chunks_exact(rows))) {
            let means: Vec<f64> = t.iter().map(|&t| self.response(t)).collect();
            let found = Measured::of(y, &means);
            object.insert(name.clone(), found.r2.into());
            text.push(format!("{name} {}", short(found.r2)));
        }
        summary.add(which.key("r2"), object, which.label(), format!("R² {}{note}", text.join(", ")));
    }
}

/// A key, a number, and what people read before and after it.
type Told = (&'static str, f64, String, &'static str);

/// What follows a share.
const PERCENT_RIGHT: &str = " % right";
const PERCENT_EXPLAINED: &str = " % of it explained)";

fn shown(value: f64, before: &str, after: &str) -> String {
    let value = if after.starts_with(" %") { (1000.0 * value).round() / 10.0 } else { value };
    format!("{before}{}{after}", short(value))
}

fn of_classes(found: Classified) -> Vec<Told> {
    vec![
        ("accuracy", found.accuracy, String::new(), PERCENT_RIGHT),
        ("auc", found.auc, ", AUC ".into(), ""),
        ("deviance", found.deviance, ", deviance ".into(), ""),
        ("explained", found.explained, " (".into(), PERCENT_EXPLAINED),
    ]
}

/// Which rows are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which<'p> {
    Fitted,
    /// Those of a table.
    Of(&'p Path),
}

impl Which<'_> {
    /// A key of the summary.
    fn key(self, key: &'static str) -> &'static str {
        match (self, key) {
            (Self::Fitted, key) => key,
            (_, "r2") => "test_r2",
            (_, "rmse") => "test_rmse",
            (_, "mae") => "test_mae",
            (_, "accuracy") => "test_accuracy",
            (_, "auc") => "test_auc",
            (_, "deviance") => "test_deviance",
            (_, "explained") => "test_explained",
            (_, key) => {
                debug_assert_eq!(key, "concordance");
                "test_concordance"
            }
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
