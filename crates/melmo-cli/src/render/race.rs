//! Several methods side by side: a table, charts, a page.

use std::io::{self, Write};

use melmo::drive::Status;
use melmo::real::Real;
use melmo::trace::Row;
use melmo_page::{Align, Axis, Cell, Chart, Code, Column, Page, Section, Series, Table, plain};
use melmo_tasks::compare::{Line, lowest};
use serde_json::json;

use crate::render::{Summary, seconds, short};

/// How near to the lowest F counts as there.
const NEAR: f64 = 1e-3;
/// How near to the lowest F is the same F: the rounding of a long sum.
const TIED: f64 = 1e-9;

/// What the table shows of one method.
struct Entry {
    method: String,
    objective: f64,
    /// F over the lowest, as a share of its size.
    over: f64,
    steps: u64,
    seconds: f64,
    /// Steps and seconds to within `NEAR` of the lowest.
    near: Option<(u64, f64)>,
    dual_norm: Option<f64>,
    prox_gap: Option<f64>,
    verified: Option<bool>,
    status: Status,
}

fn name<S: Real>(line: &Line<S>) -> String {
    match &line.solved {
        Ok(solved) if line.contender.method == "auto" => format!("auto: {}", solved.method),
        _ => line.contender.to_string(),
    }
}

/// From the lowest F to the highest.
fn entries<S: Real>(lines: &[Line<S>]) -> Vec<Entry> {
    let least = lowest(lines).unwrap_or(f64::NAN);
    let size = least.abs().max(f64::MIN_POSITIVE);
    let entry = |line: &Line<S>| {
        let solved = line.solved.as_ref().ok()?;
        let certificate = solved.report.certificate.as_ref();
        Some(Entry {
            method: name(line),
            objective: solved.report.objective,
            over: (solved.report.objective - least) / size,
            steps: solved.report.info.k.saturating_sub(1),
            seconds: solved.report.elapsed.as_secs_f64(),
            near: line.reached(least + NEAR * size),
            dual_norm: certificate.map(|certificate| certificate.dual_norm.upper),
            prox_gap: certificate.map(|certificate| certificate.prox_gap),
            verified: line.verified,
            status: solved.report.status,
        })
    };
    let mut all: Vec<Entry> = lines.iter().filter_map(entry).collect();
    all.sort_by(|a, b| a.objective.total_cmp(&b.objective));
    all
}

/// Methods that do not fit, and why.
fn unfit<S: Real>(lines: &[Line<S>]) -> Vec<(String, String)> {
    lines.iter().filter_map(|line| Some((name(line), line.solved.as_ref().err()?.to_string()))).collect()
}

const COLUMNS: [&str; 9] =
    ["method", "F", "over lowest", "steps", "time", "within 0.1 %", "dual norm", "gap", "certificate"];

fn cells(entry: &Entry) -> [String; 9] {
    let known = |value: Option<f64>| value.map_or("–".into(), short);
    let near = entry.near.map_or("–".into(), |(steps, time)| format!("{steps} steps, {}", seconds(time)));
    let steps = match entry.status {
        Status::Time => format!("{} (time is up)", entry.steps),
        Status::Settled => format!("{} (settled)", entry.steps),
        Status::Start => format!("{} (back at the start)", entry.steps),
        Status::Certified => format!("{} (certified)", entry.steps),
        Status::NotFinite => format!("{} (not finite)", entry.steps),
        Status::Fault => format!("{} (the device failed)", entry.steps),
        Status::Interrupted => format!("{} (interrupted)", entry.steps),
        Status::Target => format!("{} (target)", entry.steps),
        Status::Stalled => format!("{} (stalled)", entry.steps),
        Status::Iterations => entry.steps.to_string(),
    };
    [
        entry.method.clone(),
        short(entry.objective),
        if entry.over <= TIED { "lowest".into() } else { format!("{} %", short(100.0 * entry.over)) },
        steps,
        seconds(entry.seconds),
        near,
        known(entry.dual_norm),
        known(entry.prox_gap),
        match entry.verified {
            Some(true) => "verified".into(),
            Some(false) => "DOES NOT HOLD".into(),
            None => "none".into(),
        },
    ]
}

/// For programs: every method's numbers. For people the table is printed by [`print()`].
pub fn tell<S: Real>(lines: &[Line<S>], summary: &mut Summary) {
    let methods = entries(lines).into_iter().map(|entry| {
        json!({
            "method": entry.method, "F": entry.objective, "over": entry.over, "iterations": entry.steps,
            "seconds": entry.seconds, "iterations_to_near": entry.near.map(|near| near.0),
            "seconds_to_near": entry.near.map(|near| near.1), "dual_norm": entry.dual_norm,
            "prox_gap": entry.prox_gap, "verified": entry.verified, "status": entry.status.name(),
        })
    });
    summary.silent("methods", methods.collect::<Vec<_>>());
    let unfit = unfit(lines).into_iter().map(|(method, reason)| json!({"method": method, "reason": reason}));
    summary.silent("unfit", unfit.collect::<Vec<_>>());
}

/// The table between what was read and what was written, then who did not fit.
pub fn print<S: Real>(lines: &[Line<S>], summary: &Summary) -> io::Result<()> {
    let rows: Vec<[String; 9]> =
        std::iter::once(COLUMNS.map(Into::into)).chain(entries(lines).iter().map(cells)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..COLUMNS.len()).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let padded = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        text += padded.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    let mut out = io::stdout().lock();
    let unfit = unfit(lines);
    for (label, told) in summary.lines().filter(|(label, _)| *label != "written") {
        writeln!(out, "{label}: {told}")?;
    }
    writeln!(out, "\n{text}")?;
    if !unfit.is_empty() {
        writeln!(out, "do not fit:")?;
        unfit.iter().try_for_each(|(method, reason)| writeln!(out, "  {method}: {reason}"))?;
    }
    summary
        .lines()
        .filter(|(label, _)| *label == "written")
        .try_for_each(|(_, told)| writeln!(out, "written: {told}"))?;
    out.flush()
}

/// The rows of every method that ran.
pub fn traces<S: Real>(lines: &[Line<S>]) -> Vec<(String, &[Row])> {
    lines.iter().filter_map(|line| Some((name(line), &line.solved.as_ref().ok()?.report.trace[..]))).collect()
}

fn curves<S: Real>(lines: &[Line<S>], title: &str, label: &str, value: impl Fn(&Row) -> f64) -> Chart {
    let mut chart = Chart::new(title, [Axis::log("step"), Axis::log("seconds")], Axis::log(label));
    for (name, rows) in traces(lines) {
        let k: Vec<f64> = rows.iter().map(|row| row.k as f64).collect();
        let time: Vec<f64> = rows.iter().map(|row| row.seconds.max(1e-6)).collect();
        chart = chart.series(Series::new(name, k, rows.iter().map(&value).collect::<Vec<_>>()).also_against(time));
    }
    chart
}

/// F of every method against steps and seconds, over the lowest F that any row shows.
pub fn chart<S: Real>(lines: &[Line<S>]) -> Chart {
    let rows = traces(lines).into_iter().flat_map(|(_, rows)| rows.iter().map(|row| row.objective));
    let least = rows.chain(lowest(lines)).filter(|f| f.is_finite()).fold(f64::INFINITY, f64::min);
    let floor = 1e-12 * least.abs().max(f64::MIN_POSITIVE);
    curves(lines, "F over the lowest", "F − lowest F", |row| (row.objective - least).max(floor))
}

/// The page of `--report`.
pub fn page<S: Real>(problem: &str, again: &str, summary: &Summary, lines: &[Line<S>]) -> String {
    let shown: Vec<[String; 9]> = entries(lines).iter().map(cells).collect();
    let table = |columns: &[usize]| {
        let heads = columns.iter().map(|&c| match c {
            0 => Column::text(COLUMNS[c]),
            _ => Column::text(COLUMNS[c]).align(Align::Right),
        });
        let row = |row: &[String; 9]| columns.iter().map(|&c| Cell::from(plain(&row[c]))).collect::<Vec<_>>();
        shown.iter().map(row).fold(Table::new(heads), Table::row)
    };
    let mut facts = Table::new([Column::text("what"), Column::text("found")]);
    for (label, text) in summary.lines() {
        facts = facts.row([Cell::from(plain(label)), Cell::from(plain(text))]);
    }
    let mut result = Section::new("Who gets how low, how fast")
        .paragraph("Every method from the same start. F over the lowest that anyone reached; time without what the charts cost.")
        .item(table(&[0, 1, 2, 3, 4, 5]))
        .item(chart(lines));
    let unfit = unfit(lines);
    if !unfit.is_empty() {
        let mut table = Table::new([Column::text("does not fit"), Column::text("why")]);
        for (method, reason) in unfit {
            table = table.row([Cell::from(plain(&method)), Cell::from(plain(&reason))]);
        }
        result = result.item(table);
    }
    let certificates = Section::new("Certificates")
        .paragraph("The gradient of the smoothed objective in the dual norm, and the distance of Tx from its prox.")
        .item(table(&[0, 6, 7, 8]))
        .columns([
            curves(lines, "Dual norm of ∇F_{β}", "", |row| row.dual_norm_known()),
            curves(lines, "Proximal gap", "", |row| row.prox_gap),
        ]);
    Page::new(format!("melmo compare {problem}"))
        .subtitle("One problem, one start, several methods.")
        .section(result)
        .section(certificates)
        .section(Section::new("The problem").item(facts))
        .section(Section::new("Once more").item(Code::new(again)))
        .fact("melmo", env!("CARGO_PKG_VERSION"))
        .fact("precision", S::NAME)
        .html()
}
