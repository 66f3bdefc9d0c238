//! `melmo predict`.

use std::process::ExitCode;

use crate::args::Predict;
use crate::command::regress::{Model, Source, Which};
use crate::error::Error;
use crate::input::Inputs;
use crate::output::{Outputs, expect_array};
use crate::render::{Summary, progress, say};

/// Reads a model and a table, and writes what the one predicts for the other.
pub fn run(predict: &Predict) -> Result<ExitCode, Error> {
    expect_array(&predict.output)?;
    let mut outputs = Outputs::plan(predict.force, std::slice::from_ref(&predict.output), &[])?;
    let model = Model::read(&predict.model)?;
    let mut inputs = Inputs::plain(&progress::until(predict.quiet, None));
    let source = Source::read(&mut inputs, &predict.input)?;
    let predicted = model.predict(&source, &predict.input)?;
    let mut summary = Summary::default();
    summary.silent("command", "predict");
    let rows = source.rows();
    summary.add("rows", rows, "rows", rows.to_string());
    inputs.tell(&mut summary);
    let missing = predicted[..rows].iter().filter(|t| t.is_nan()).count();
    if missing > 0 {
        let text = format!("{missing} rows have a missing cell and no prediction");
        summary.add("missing", missing, "missing", text);
    }
    if let Some(truth) = model.truth(&source, &predict.input)? {
        model.score(&mut summary, Which::Of(&predict.input), &truth, &predicted);
    }
    model.write(&mut outputs, &predict.output, &predicted, source.index(), predict.probabilities)?;
    outputs.place()?;
    let file = predict.output.display().to_string();
    summary.add("written", vec![file.clone()], "written", file);
    if !predict.quiet || predict.json {
        say::printed(summary.print(predict.json, false))?;
    }
    Ok(ExitCode::SUCCESS)
}
