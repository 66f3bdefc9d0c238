//! `melmo check`: whether the terms of a problem are what they say.

use std::process::ExitCode;

use melmo::check::{Finding, Options, check};
use melmo::real::Real;
use serde_json::{Value, json};

use crate::args::Check;
use crate::error::Error;
use crate::input::Inputs;
use crate::job::Job;
use crate::render::{Summary, progress, say, summary};
use crate::session::Solve;

/// Options that ask for a solution, or for how it is found.
const MEANINGLESS: [&str; 10] =
    ["output", "out-dir", "noisy-output", "result", "checkpoint", "resume", "method", "save-config", "trace", "report"];

/// Status 0 when every law holds, 1 when one does not.
pub fn run(check: &Check, job: &Job) -> Result<ExitCode, Error> {
    job.refuse(&MEANINGLESS, |_| "`check` solves nothing: leave it out")?;
    solving!(&check.problem, problem => match problem.solving.precision() {
        "f32" => run_in::<f32, _>(problem),
        _ => run_in::<f64, _>(problem),
    })
}

fn run_in<S: Real, C: Solve>(command: &C) -> Result<ExitCode, Error> {
    let (solving, mut told) = (command.solving(), Summary::default());
    let until = progress::until(solving.quiet, solving.time_limit);
    let ready = command.prepare::<S>(&mut Inputs::new(solving, false, &until), &mut told)?;
    let (problem, start) = (&ready.prepared.problem, &ready.prepared.start);
    let size = start.len().max(problem.t().range().size());
    let options = Options { seed: solving.seed, ..Options::for_size(size) };
    let late = "time was up before every law was tried; --time-limit allows more";
    let checked = progress::all_or_nothing(late.into(), &until, || check(problem, start, &options));
    let passed = checked.passed();
    let verdict = if passed { "Every law holds." } else { "A law does not hold." };
    let text = if solving.json {
        let laws: Vec<Value> = checked.findings.iter().map(law).collect();
        format!("{:#}\n", json!({"passed": passed, "laws": laws}))
    } else {
        format!("{checked}{verdict}\n")
    };
    if !solving.quiet || solving.json {
        say::printed(summary::print(&text))?;
    }
    Ok(ExitCode::from(u8::from(!passed)))
}

fn law<S: Real>(finding: &Finding<S>) -> Value {
    json!({
        "term": finding.term.name(),
        "law": finding.law,
        "formula": finding.formula,
        "tests": finding.tests,
        "left": finding.left,
        "right": finding.right,
        "slack": finding.slack,
        "holds": finding.holds,
        "advice": finding.advice,
    })
}
