//! `melmo verify`: re-checks a saved certificate from the saved point and the inputs.

use std::process::ExitCode;

use melmo::real::Real;
use serde_json::{Value, json};

use crate::args::Verify;
use crate::error::Error;
use crate::render::{short, summary};
use crate::result::{self, Outline, Saved};
use crate::session;

/// Status 0 when every line holds, 1 when one does not.
pub fn run(verify: &Verify) -> Result<ExitCode, Error> {
    let outline: Outline = result::read(&verify.folder)?;
    match outline.certificate.precision.as_str() {
        "f32" => run_in::<f32>(verify),
        _ => run_in::<f64>(verify),
    }
}

fn run_in<S: Real>(verify: &Verify) -> Result<ExitCode, Error> {
    let saved: Saved<S> = result::read(&verify.folder)?;
    let x = result::point::<S>(&verify.folder)?;
    let problem = saved.job.problem_of(&verify.folder.join("result.json"))?;
    let verification = solving!(&problem, command => session::verify(command, &saved, &x, verify.tolerance)?);
    let mut text = String::new();
    let mut checks = Vec::new();
    for check in &verification.checks {
        let mark = if check.holds { "holds" } else { "FAILS" };
        text += &format!("{mark}  {}: {} against {}\n", check.what, short(check.left), short(check.right));
        checks.push(json!({"what": check.what, "left": check.left, "right": check.right, "slack": check.slack, "holds": check.holds}));
    }
    let passed = verification.passed();
    text += if passed { "The certificate is what it says.\n" } else { "The certificate does not hold.\n" };
    let told =
        if verify.json { format!("{:#}\n", json!({"passed": passed, "checks": Value::Array(checks)})) } else { text };
    // A reader that went away early has seen enough.
    let _ = summary::print(&told);
    Ok(ExitCode::from(u8::from(!passed)))
}
