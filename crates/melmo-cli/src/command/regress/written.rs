//! Coefficients and paths as files.

use std::path::Path;

use melmo_data::Array;
use melmo_tasks::regress::{Coefficients, CrossValidation, Point};

use super::Kept;
use crate::error::Error;
use crate::output::{Outputs, extension, quoted};

impl Kept {
    /// The intercept and the coefficients: with names, or as an array. Several classes have a column each.
    pub(super) fn write_coefficients(
        &self,
        outputs: &mut Outputs,
        file: &Path,
        fitted: &[Coefficients],
    ) -> Result<(), Error> {
        let rows = 1 + self.names.len();
        let at = |row: usize, of: &Coefficients| if row == 0 { of.intercept } else { of.values[row - 1] };
        let cells = |row: usize| fitted.iter().map(move |of| at(row, of));
        if extension(file) != "csv" {
            let shape = if fitted.len() == 1 { vec![rows] } else { vec![rows, fitted.len()] };
            return outputs.array(file, &Array::new(shape, (0..rows).flat_map(cells).collect::<Vec<f64>>())?, None);
        }
        let classes: String = self.outputs().iter().map(|class| format!(",{}", quoted(class))).collect();
        let head = if classes.is_empty() { ",coefficient" } else { &classes };
        let names = std::iter::once("(intercept)").chain(self.names.iter().map(String::as_str));
        let line = |(row, name): (usize, &str)| {
            let cells: String = cells(row).map(|value| format!(",{value}")).collect();
            format!("{}{cells}\n", quoted(name))
        };
        let lines: String = names.enumerate().map(line).collect();
        outputs.bytes(file, format!("name{head}\n{lines}").as_bytes())
    }

    /// λ by λ: how good it is, and its coefficients.
    pub(super) fn write_path(&self, outputs: &mut Outputs, file: &Path, path: &CrossValidation) -> Result<(), Error> {
        let mut heads = ["lambda", "held_out", "standard_error", "nonzero"].map(String::from).to_vec();
        match self.outputs() {
            [] => heads.push("(intercept)".into()),
            classes => heads.extend(classes.iter().map(|class| format!("(intercept) ({class})"))),
        }
        heads.extend(self.labels().into_iter().map(|(name, ..)| name));
        let row = |(p, b): (&Point, &Vec<Coefficients>)| {
            let mut cells = vec![p.lambda, p.mean, p.error, p.nonzero as f64];
            cells.extend(b.iter().map(|of| of.intercept));
            cells.extend(b.iter().flat_map(|of| &of.values));
            cells
        };
        let cells: Vec<f64> = path.points.iter().zip(&path.coefficients).flat_map(row).collect();
        outputs.array(file, &Array::new([path.points.len(), heads.len()], cells)?, Some(&heads))
    }
}
