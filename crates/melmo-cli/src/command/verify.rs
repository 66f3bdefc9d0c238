//! `melmo verify`: re-checks a saved certificate from the saved point and the inputs.

use std::process::ExitCode;

use melmo::real::Real;
use serde_json::{Value, json};

use crate::args::Verify;
use crate::error::Error;
use crate::job::Job;
use crate::render::{say, summary};
use crate::result::{self, Kept, Outline};
use crate::session;
use crate::statement::{Line, Statement};

/// Status 0 when every line holds, 1 when one does not.
pub fn run(verify: &Verify) -> Result<ExitCode, Error> {
    let outline: Outline = result::read(&verify.folder)?;
    match outline.certificate.precision.as_str() {
        "f32" => run_in::<f32>(verify),
        _ => run_in::<f64>(verify),
    }
}

fn run_in<S: Real>(verify: &Verify) -> Result<ExitCode, Error> {
    let kept: Kept<S> = result::open(&verify.folder)?;
    let mut readings = kept.saved.job.readings().into_iter().map(|job| checked(verify, &kept, &job));
    let mut statement = readings.next().expect("a job has a meaning")?;
    if !statement.passed() {
        // Today's meaning is what a certificate that holds by none is judged by.
        statement = readings.filter_map(Result::ok).find(Statement::passed).unwrap_or(statement);
    }
    let passed = statement.passed();
    let told = if verify.json {
        let lines: Vec<Value> = statement.lines.iter().map(line).collect();
        format!("{:#}\n", json!({"passed": passed, "checks": lines, "not_checked": statement.unchecked}))
    } else {
        let lines: String = statement.lines.iter().map(|line| line.text() + "\n").collect();
        let rest = format!("not checked: {}\n", statement.unchecked.join(", "));
        let end = if passed { "The certificate is what it says.\n" } else { "The certificate does not hold.\n" };
        lines + &rest + end
    };
    say::printed(summary::print(&told))?;
    Ok(ExitCode::from(u8::from(!passed)))
}

/// The statement of a result whose job is this one.
fn checked<S: Real>(verify: &Verify, kept: &Kept<S>, job: &Job) -> Result<Statement, Error> {
    let problem = job.problem_of(&verify.folder.join("result.json"))?;
    solving!(&problem, command => session::verify(command, kept, verify.tolerance))
}

fn line(line: &Line) -> Value {
    let Line { what, left, right, slack, holds } = line;
    json!({"what": what, "left": left, "right": right, "slack": slack, "holds": holds})
}
