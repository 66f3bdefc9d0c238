//! What was asked of the reproduction, and whether it holds: data first, a table on the page second.

use crate::data::Set;
use crate::experiments::{factorisation, rates, recovery};
use crate::instance::Experiment;
use crate::prepared::optimum;
use crate::published;
use crate::results::Results;
use crate::slopes::measured;
use crate::statistics::median;

/// One claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What it is about.
    pub claim: String,
    /// What was asked.
    pub required: String,
    /// What was found.
    pub found: String,
    /// Whether it holds; `None` where the data or the setting does not allow to say.
    pub holds: Option<bool>,
}

/// All of them. A quick run is held to nothing.
pub fn verdicts(results: &Results) -> Vec<Verdict> {
    if results.options.quick {
        return Vec::new();
    }
    let mut out = Vec::new();
    if results.options.published() {
        out.extend(Set::FACTORISED.into_iter().filter_map(|set| objective(results, set)));
        out.extend([Set::Camera, Set::Football].into_iter().map(|set| reconstruction(results, set)));
        out.extend(recovery::SETS.into_iter().map(|set| recovered(results, set)));
    } else {
        out.extend(["MELMO ℓ2", "variable smoothing"].map(|label| closed_form(results, label)));
    }
    out.extend(recovery::SETS.into_iter().map(|set| slopes(results, set)));
    out
}

/// The ratios of our medians to the published values, and those outside the factor.
fn compared(claim: String, ratios: &[(String, f64)], factor: f64) -> Verdict {
    let off = |ratio: f64| ratio.max(1.0 / ratio);
    let worst = ratios.iter().max_by(|a, b| off(a.1).total_cmp(&off(b.1)));
    let outside = ratios.iter().filter(|(_, ratio)| off(*ratio).is_nan() || off(*ratio) > factor + 1e-9).count();
    let required =
        if factor >= 1.5 { format!("a factor {factor}") } else { format!("{:.0} %", 100.0 * (factor - 1.0)) };
    let found = worst.map_or("no data".into(), |(what, ratio)| {
        let count = ratios.len();
        format!("{} of {count} inside; furthest ×{ratio:.3} ({what})", count - outside)
    });
    Verdict { claim, required, found, holds: (!ratios.is_empty()).then_some(outside == 0) }
}

fn objective(results: &Results, set: Set) -> Option<Verdict> {
    let factor = published::tolerance(set)?;
    let claim = format!("Table 1, {}: medians of F, all four columns", set.name());
    if results.library.get(set).is_none() {
        return Some(Verdict {
            claim,
            required: format!("{:.0} %", 100.0 * (factor - 1.0)),
            found: "the data is not there".into(),
            holds: None,
        });
    }
    let ratios = factor_ratios(results, set, 0..4, published::objective, |values| values.0);
    Some(compared(claim, &ratios, factor))
}

fn reconstruction(results: &Results, set: Set) -> Verdict {
    let claim = format!("Reconstruction, {}: both MELMO columns", set.name());
    let ratios = factor_ratios(results, set, 2..4, published::reconstruction, |values| values.1);
    compared(claim, &ratios, 1.05)
}

fn factor_ratios(
    results: &Results,
    set: Set,
    columns: std::ops::Range<usize>,
    table: fn(Set) -> Option<&'static [[f64; 4]; 3]>,
    pick: fn((f64, f64)) -> f64,
) -> Vec<(String, f64)> {
    let mut out = Vec::new();
    for (row, rank) in [10, 20, 30].into_iter().enumerate() {
        for column in columns.clone() {
            let label = factorisation::METHODS[column];
            let group = results.factors(Experiment::Factorisation, label, set, rank);
            let ours = pick((median(&group.ends(|p| p.objective)), median(&group.ends(|p| p.extra[0]))));
            if let Some(theirs) = table(set).map(|table| table[row][column]).filter(|_| !group.runs.is_empty()) {
                out.push((format!("r = {rank}, {label}"), ours / theirs));
            }
        }
    }
    out
}

fn recovered(results: &Results, set: Set) -> Verdict {
    let ratio = |(row, share): (usize, &f64)| {
        let group = results.entries(Experiment::Recovery, recovery::METHODS[2], set, *share);
        let theirs = published::recovery(set)?[row][2];
        (!group.runs.is_empty()).then(|| (format!("ω = {share}"), median(&group.ends(|p| p.objective)) / theirs))
    };
    let ratios: Vec<_> = [0.3, 0.5, 0.7].iter().enumerate().filter_map(ratio).collect();
    compared(format!("Table 2, {}: MELMO ℓ2, median over masks", set.name()), &ratios, 1.05)
}

/// The largest (F − F*)/F* over sets, shares and masks.
fn closed_form(results: &Results, label: &str) -> Verdict {
    let (mut worst, mut count) = (f64::NEG_INFINITY, 0);
    for set in recovery::SETS {
        for &share in recovery::fractions(&results.options) {
            for (instance, outcome) in results.entries(Experiment::Recovery, label, set, share).runs {
                let least = results.library.get(set).and_then(|m| optimum(m, share, instance.seed, recovery::MCP).ok());
                count += 1;
                worst = worst.max(least.map_or(f64::INFINITY, |least| (outcome.last() - least) / least));
            }
        }
    }
    Verdict {
        claim: format!("Stated recovery from X = 0: {label} against the closed-form F\\*"),
        required: "(F − F\\*)/F\\* ≤ 1e-4".into(),
        found: format!("at most {worst:.1e} over {count} runs: sets, ω and masks"),
        holds: (count > 0).then_some(worst <= 1e-4),
    }
}

/// Every fitted slope at least as steep as its exponent, within 0.05.
fn slopes(results: &Results, set: Set) -> Verdict {
    let rows = measured(results, set);
    let misses: Vec<&str> = rows.iter().filter(|row| row.holds() == Some(false)).map(|row| row.schedule).collect();
    // A slope that could not be fitted decides nothing.
    let fitted = rows.iter().filter(|row| row.holds().is_some()).count();
    let found = match misses.is_empty() {
        true => format!("{fitted} of {} slopes could be fitted; all of these", rows.len()),
        false => format!("{fitted} of {} slopes could be fitted; not for {}", rows.len(), misses.join(", ")),
    };
    let holds = if misses.is_empty() { (fitted == rows.len() && fitted > 0).then_some(true) } else { Some(false) };
    Verdict {
        claim: format!("Rates on masked recovery, {}, ω = {}", set.name(), rates::FRACTION),
        required: "slopes at least as steep as guaranteed, within 0.05".into(),
        found,
        holds,
    }
}
