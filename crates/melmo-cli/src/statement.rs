//! What a saved result states, rebuilt from its job and compared with what it says.

use melmo::certificate::{Certificate, Check, Evidence};
use melmo::drive::{Epsilon, Gap};
use melmo::geometry::BlockNorm;
use melmo::problem::Problem;
use melmo::real::Real;
use melmo_tasks::{Prepared, Settings};
use serde_json::Value;

use crate::error::Error;
use crate::input::Source;
use crate::render::short;
use crate::result::{Kept, Saved};

/// Everything that was compared, line by line, and what was not.
pub struct Statement {
    pub lines: Vec<Line>,
    /// What a reader may take away and nobody re-checked.
    pub unchecked: Vec<String>,
}

/// One comparison.
pub struct Line {
    pub what: String,
    /// What is stored, or for a claim what was recomputed.
    pub left: Value,
    /// What was recomputed, or claimed.
    pub right: Value,
    /// How far apart they may be.
    pub slack: Option<f64>,
    pub holds: bool,
}

impl Line {
    fn same<T: Into<Value> + PartialEq>(what: &str, stored: T, found: T) -> Self {
        let holds = stored == found;
        Self { what: what.into(), left: stored.into(), right: found.into(), slack: None, holds }
    }

    fn near(what: &str, stored: f64, found: f64, slack: f64) -> Self {
        let holds = (stored - found).abs() <= slack;
        Self { what: what.into(), left: stored.into(), right: found.into(), slack: Some(slack), holds }
    }

    fn of(check: &Check) -> Self {
        let Check { what, left, right, slack, holds } = *check;
        Self { what: what.into(), left: left.into(), right: right.into(), slack: Some(slack), holds }
    }

    /// For people.
    pub fn text(&self) -> String {
        let told = |value: &Value| value.as_f64().map_or_else(|| value.to_string(), short);
        let mark = if self.holds { "holds" } else { "FAILS" };
        let room = self.slack.map_or(String::new(), |slack| format!(", give or take {}", short(slack)));
        format!("{mark}  {}: {} against {}{room}", self.what, told(&self.left), told(&self.right))
    }
}

/// Facts of a summary that the lines below re-check, and facts about the run that nobody can.
const CHECKED: [&str; 8] = ["F", "dual_norm", "prox_gap", "beta", "certified", "gap", "lower_bound", "command"];

impl Statement {
    /// Builds the solver again as the job says, and compares.
    pub fn check<S: Real>(
        prepared: &Prepared<S>,
        settings: &Settings,
        precision: &str,
        sources: &[Source],
        kept: &Kept<S>,
        tolerance: Option<f64>,
    ) -> Result<Self, Error> {
        let Kept { saved, x, .. } = kept;
        let tolerance = tolerance.unwrap_or_else(Certificate::<S>::default_tolerance);
        let problem = &prepared.problem;
        let (mut solver, ..) = melmo_tasks::solver(problem, &prepared.start, &prepared.defaults, settings)?;
        let mut lines = vec![
            Line::same("inputs", saved.sources.len(), sources.len()),
            Line::same("precision", saved.certificate.precision.as_str(), precision),
            Line::same("radius", saved.certificate.optimality.and_then(|found| found.radius), settings.radius),
            Line::same("norm", norm(&saved.certificate.norms), norm(&solver.norms())),
        ];
        if matches!(settings.epsilon, Some(Epsilon::Relative(_))) {
            solver.next();
        }
        lines.extend(asked(saved, settings, solver.start_measure()));
        lines.extend(saved.certificate.verify(problem, x, tolerance)?.checks.iter().map(Line::of));
        lines.push(slopes(problem, kept, saved.certificate.evidence(), tolerance));
        let command = saved.summary.get("command").map(|told| told.as_str().unwrap_or_default().to_string());
        lines.extend(command.map(|told| Line::same("command, as the summary says", told, saved.job.command.clone())));
        lines.extend(told(saved, problem.objective(x), tolerance));
        Ok(Self { lines, unchecked: unchecked(saved) })
    }

    /// Every line holds.
    pub fn passed(&self) -> bool {
        self.lines.iter().all(|line| line.holds)
    }
}

/// A norm as a text: every block with its shape, norm and radius.
fn norm(norms: &[BlockNorm]) -> String {
    let block = |b: &BlockNorm| format!("{} {}×{} {} r={}", b.block.name, b.block.rows, b.block.cols, b.norm, b.radius);
    norms.iter().map(block).collect::<Vec<_>>().join(", ")
}

/// The claim is what the job asked for, neither looser nor another; and it is there exactly when the summary says so.
fn asked<S: Real>(saved: &Saved<S>, settings: &Settings, start: Option<[f64; 2]>) -> Vec<Line> {
    let claim = saved.certificate.claim;
    let said = saved.summary.get("certified").and_then(Value::as_bool);
    let mut lines = vec![Line::same("certified, as the summary says", said.unwrap_or(false), claim.is_some())];
    let Some(claim) = claim else { return lines };
    let limits = match settings.epsilon {
        Some(Epsilon::Absolute(epsilon)) => [Some(epsilon); 2],
        Some(Epsilon::Relative(epsilon)) => start.map_or([None; 2], |[dual_norm, gap]| {
            [Some(epsilon * dual_norm), Some(epsilon * if gap > 0.0 { gap } else { 1.0 })]
        }),
        None => [None; 2],
    };
    let gap = match settings.gap {
        Some(Gap::Absolute(gap)) => Some(gap),
        Some(Gap::Relative(gap)) => saved.certificate.optimality.map(|found| gap * found.objective.abs()),
        None => None,
    };
    let asked = [
        ("ε of the stationarity, as asked", claim.dual_norm, limits[0]),
        ("ε of the proximal gap, as asked", claim.prox_gap, limits[1]),
        ("gap, as asked", claim.gap, gap),
    ];
    for (what, stored, wanted) in asked.into_iter().filter(|(_, stored, wanted)| stored.is_some() || wanted.is_some()) {
        let (stored, wanted) = (stored.unwrap_or(f64::INFINITY), wanted.unwrap_or(0.0));
        lines.push(Line::near(what, stored, wanted, 1e-9 * wanted.abs()));
    }
    lines
}

/// `z.npy` is prox_{βg}(u), entry by entry: no entry may be off by more than rounding of its own.
fn slopes<S: Real>(problem: &Problem<S>, kept: &Kept<S>, evidence: Evidence<'_, S>, tolerance: f64) -> Line {
    let found = problem.prox_point(&kept.x, evidence);
    if found.len() != kept.z.len() {
        return Line::same("entries of z", kept.z.len(), found.len());
    }
    let largest = melmo::vector::norm_inf(&found);
    let near = |(stored, found): &(&S, &S)| {
        let room = tolerance * found.f64().abs() + 1e3 * S::EPSILON * largest;
        (stored.f64() - found.f64()).abs() <= room // never for NaN
    };
    Line::same("entries of z that are as they should be", kept.z.iter().zip(&found).filter(near).count(), found.len())
}

/// F and the certificate's numbers, as the summary tells them.
fn told<S: Real>(saved: &Saved<S>, objective: f64, tolerance: f64) -> Vec<Line> {
    let certificate = &saved.certificate;
    let known = [
        ("F", Some(objective)),
        ("dual_norm", Some(certificate.dual_norm.upper)),
        ("prox_gap", Some(certificate.prox_gap)),
        ("beta", Some(certificate.beta)),
        ("gap", certificate.optimality.map(|found| found.gap)),
        ("lower_bound", certificate.optimality.map(|found| found.bound)),
    ];
    let line = |(key, found): (&str, Option<f64>)| {
        let stored = saved.summary.get(key)?.as_f64()?;
        let found = found.unwrap_or(f64::NAN);
        let slack = if key == "F" { tolerance * found.abs() + 1e3 * S::EPSILON * found.abs() } else { 0.0 };
        Some(Line::near(&format!("{key}, as the summary says"), stored, found, slack))
    };
    known.into_iter().filter_map(line).collect()
}

/// What else the summary says.
fn unchecked<S: Real>(saved: &Saved<S>) -> Vec<String> {
    let facts = saved.summary.as_object().into_iter().flatten();
    let others = facts.map(|(key, _)| key.clone()).filter(|key| !CHECKED.contains(&key.as_str()));
    std::iter::once(format!("version {}", saved.version)).chain(others).collect()
}
