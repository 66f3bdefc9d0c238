//! One problem, one start, several methods: who gets how low, how fast, and with which certificate.
//!
//! ```
//! use melmo_tasks::compare::{Contender, contest, lowest};
//! use melmo_tasks::{Settings, Watch, recover};
//!
//! let y = [1.0, 0.0, f64::NAN, 2.0, 0.3, 0.0];
//! let prepared = recover::prepare::<f64>(&y, None, 2, 3, &recover::PENALTY.parse()?)?;
//! let settings = Settings { iterations: Some(200), ..Settings::default() };
//! let methods = Contender::list("melmo,proximal-gradient")?;
//! let lines: Vec<_> = methods.iter().map(|m| contest(&prepared, m, &settings, Watch::default())).collect();
//! let [first, second] = &lines[..] else { unreachable!() };
//! assert!(second.solved.as_ref().unwrap().report.objective <= first.solved.as_ref().unwrap().report.objective);
//! assert_eq!(lowest(&lines), Some(second.solved.as_ref().unwrap().report.objective));
//! # Ok::<(), melmo_tasks::Error>(())
//! ```

use std::fmt;
use std::str::FromStr;

use melmo::catalogue::{self, Arguments, Value};
use melmo::certificate::Certificate;
use melmo::patience;
use melmo::real::Real;

use crate::call::{self, Call};
use crate::error::Error;
use crate::number;
use crate::prepared::Prepared;
use crate::settings::Settings;
use crate::solve::{Solved, Watch, solve};

/// A method with the parameters that were given: `admm`, `admm:penalty=2`.
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// The catalogue's name.
    pub method: String,
    /// Its parameters.
    pub given: Vec<(String, Value)>,
}

impl Contender {
    /// `melmo,admm:penalty=2,relaxation=1.6,fista`, or `all` there is. A part with `=` and no `:` belongs to the method
    /// before it.
    pub fn list(text: &str) -> Result<Vec<Self>, Error> {
        if text.trim() == "all" {
            let rows = catalogue::methods::<f64>();
            let others = rows.iter().map(|row| row.entry.name).filter(|name| *name != "auto");
            return Ok(std::iter::once("auto")
                .chain(others)
                .map(|name| Self { method: name.into(), given: Vec::new() })
                .collect());
        }
        let mut words: Vec<String> = Vec::new();
        for part in text.split(',') {
            match words.last_mut() {
                Some(last) if part.contains('=') && !part.contains(':') => *last += &format!(",{part}"),
                _ => words.push(part.into()),
            }
        }
        words.iter().map(|word| word.parse()).collect()
    }
}

impl FromStr for Contender {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let Call { name: method, parameters } = Call::parse(text, "a method's parameter", "admm:penalty=2")?;
        let rows = catalogue::methods::<f64>();
        let entry = &catalogue::find("method", &rows, method)?.entry;
        let given: Vec<(&str, Value)> = parameters.into_iter().map(|(key, text)| (key, number::value(text))).collect();
        Arguments::new(entry, &given)?;
        let given = given.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
        Ok(Self { method: method.into(), given })
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        call::write(f, &self.method, &self.given)
    }
}

/// How a method did.
pub struct Line<S: Real> {
    /// Who.
    pub contender: Contender,
    /// What it reached; or why it does not fit the problem.
    pub solved: Result<Solved<S>, Error>,
    /// Whether its certificate was re-checked and holds; `None` without a certificate that can be, or without time for that.
    pub verified: Option<bool>,
}

impl<S: Real> Line<S> {
    /// F at the end, where it ran and is a number.
    pub fn objective(&self) -> Option<f64> {
        self.solved.as_ref().ok().map(|solved| solved.report.objective).filter(|objective| objective.is_finite())
    }

    /// The step and the second at which F was first at most `target`, as far as the rows tell.
    pub fn reached(&self, target: f64) -> Option<(u64, f64)> {
        let solved = self.solved.as_ref().ok()?;
        let steps = solved.report.info.k.saturating_sub(1);
        let end = (solved.report.objective <= target).then_some((steps, solved.report.elapsed.as_secs_f64()));
        let row = solved.report.trace.iter().find(|row| row.objective <= target);
        row.map(|row| (row.k - 1, row.seconds)).or(end)
    }
}

/// Lets one method solve the problem from its start; `settings` says everything but the method.
pub fn contest<S: Real>(
    prepared: &Prepared<S>,
    contender: &Contender,
    settings: &Settings,
    watch: Watch<'_, S>,
) -> Line<S> {
    let mut settings = Settings { method: contender.method.clone(), ..settings.clone() };
    settings.arguments.extend(contender.given.iter().cloned());
    let solved = solve(prepared, &settings, watch);
    let verified = solved.as_ref().ok().and_then(|solved| {
        let certificate = solved.report.certificate.as_ref()?;
        let checked =
            certificate.verify(&prepared.problem, &solved.report.x, Certificate::<S>::default_tolerance()).ok()?;
        // What was given up is no check that failed.
        Some(checked.passed()).filter(|passed| *passed || !patience::is_over())
    });
    Line { contender: contender.clone(), solved, verified }
}

/// The lowest F that was reached.
pub fn lowest<S: Real>(lines: &[Line<S>]) -> Option<f64> {
    lines.iter().filter_map(Line::objective).min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A check that somebody ends has not failed.
    #[test]
    fn what_there_was_no_time_to_check_is_not_called_false() {
        let prepared = crate::recover::prepare::<f64>(
            &[1.0, 0.0, 2.0, 0.3],
            None,
            2,
            2,
            &crate::recover::PENALTY.parse().unwrap(),
        );
        let (prepared, settings) = (prepared.unwrap(), Settings { iterations: Some(50), ..Settings::default() });
        let run = || contest(&prepared, &"melmo".parse().unwrap(), &settings, Watch::default());
        assert_eq!(run().verified, Some(true));
        let line = patience::Patience::until(|| true).run(run);
        assert!(line.solved.unwrap().report.certificate.is_some());
        assert_eq!(line.verified, None);
    }

    #[test]
    fn lists_are_read_as_people_write_them() {
        let list = Contender::list("melmo, admm:penalty=2,relaxation=1.6,fista").unwrap();
        let shown: Vec<String> = list.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["melmo", "admm:penalty=2,relaxation=1.6", "fista"]);
        let words = Contender::list("variable-smoothing:normalized=yes").unwrap();
        assert_eq!(words[0].given, [("normalized".to_string(), "yes".into())]);
        let all = Contender::list("all").unwrap();
        assert_eq!((all[0].method.as_str(), all.len()), ("auto", catalogue::methods::<f64>().len()));
        for (wrong, told) in
            [("melmoo", "melmo"), ("admm:relaxatoin=2", "did you mean `relaxation`?"), ("admm:penalty", "key=value")]
        {
            let message = Contender::list(wrong).unwrap_err().to_string();
            assert!(message.contains(told), "{message}");
        }
    }
}
