//! λ by the discrepancy principle: as much prior as the data allow, ‖Ax − y‖² = 0.9n·noise².

use melmo::real::Real;

use super::Restoration;
use crate::error::Error;
use crate::settings::Settings;
use crate::solve::{Watch, solve_from};
use crate::until::Until;

/// What is being done, for whoever waits.
const DOING: &str = "choosing λ";
/// λ is looked for from here.
const FIRST: f64 = 0.3;
/// Values of λ that are tried, and steps for each.
const TRIALS: usize = 6;
const STEPS: u64 = 40;
/// ‖Ax − y‖²/(n·noise²) that is aimed at, and how near is near enough. Below 1, since a picture that is fitted takes a part of the noise with it:
/// on blurred photographs of three levels the best pictures had 0.87 to 0.92.
const TARGET: f64 = 0.9;
const NEAR: f64 = 0.015;
/// λ is not looked for beyond these. With less than the first of them noise is made sharp: on blurred photographs of three levels of noise the
/// best pictures had 0.2 to 0.4. Where the data still seem to be missed, their noise was taken for less than it is.
const ENDS: (f64, f64) = (0.2, 1e3);

/// What was chosen.
pub struct Choice<S> {
    /// λ.
    pub lambda: f64,
    /// How, in words.
    pub how: String,
    /// A point near the minimiser, to start from.
    pub near: Option<Vec<S>>,
}

/// λ: the one that is given, or the largest with which the data are explained as well as their noise allows. Ends with the best so far when it
/// is over.
pub fn choose<S: Real>(plan: &Restoration<S>, given: Option<f64>, until: &Until) -> Result<Choice<S>, Error> {
    if let Some(lambda) = given {
        return Ok(Choice { lambda, how: "given".into(), near: None });
    }
    if !plan.weighs() {
        return Ok(Choice { lambda: 1.0, how: "none is needed: what is known is kept".into(), near: None });
    }
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let (mut lambda, mut near, mut tried) = (FIRST, None::<Vec<S>>, 0);
    while tried < TRIALS && !until.is_over(DOING) {
        let prepared = plan.prepare(lambda)?;
        let mut watcher = until.watcher(DOING);
        let watch = Watch { watcher: Some(&mut watcher), look: false, ..Watch::default() };
        let settings = Settings { iterations: Some(STEPS), ..Settings::default() };
        let start = near.as_ref().unwrap_or(&prepared.start);
        let x = solve_from(&prepared.problem, start, &prepared.defaults, &settings, watch)?.report.x;
        let off = plan.misfit(&x)?.unwrap_or(TARGET) / TARGET;
        near = Some(x);
        tried += 1;
        if off.is_nan() || off.ln().abs() < NEAR {
            break;
        }
        *(if off > 1.0 { &mut high } else { &mut low }) = lambda;
        // Between the ends once there are two, else a good step towards the one that is missing.
        lambda = match (low > 0.0, high.is_finite()) {
            (true, true) => (low * high).sqrt(),
            (true, false) if lambda < ENDS.1 => (lambda * 3.0).min(ENDS.1),
            (false, true) if lambda > ENDS.0 => (lambda / 3.0).max(ENDS.0),
            _ => break,
        };
    }
    let early = if until.is_over(DOING) { "; it had to end early" } else { "" };
    let least = if lambda == ENDS.0 { ", no less" } else { "" };
    let how = format!("by the discrepancy principle, {tried} values tried{least}{early}");
    Ok(Choice { lambda, how, near })
}
