//! `--report FILE.html`: what was solved, the convergence, the certificate, the result as a picture; one file, no network.

use melmo::drive::Status;
use melmo::real::Real;
use melmo::trace::Row;
use melmo_page::{Axis, Callout, Cell, Chart, Code, Column, Item, Page, Section, Series, Table, plain};
use melmo_tasks::Solved;

use crate::job::Job;
use crate::render::{Summary, short};

/// Rows that a report's charts are drawn from, about.
pub const ROWS: u64 = 500;

/// The page.
pub fn page<S: Real>(job: &Job, summary: &Summary, solved: &Solved<S>, pictures: Vec<Item>) -> String {
    let mut facts = Table::new([Column::text("what"), Column::text("found")]);
    for (label, text) in summary.lines() {
        facts = facts.row([Cell::from(plain(label)), Cell::from(plain(text))]);
    }
    let mut result = Section::new("Result").item(facts).item(verdict(solved));
    for picture in pictures {
        result = result.item(picture);
    }
    let mut page = Page::new(format!("melmo {}", job.command))
        .subtitle("What was solved, how it went, what is certain.")
        .section(result);
    if solved.report.trace.len() > 1 {
        page = page.section(convergence(&solved.report.trace));
    }
    let again = Section::new("Once more").paragraph("The same job, from the command line:").item(Code::new(job.line()));
    let precision = S::NAME;
    page.section(again).fact("melmo", env!("CARGO_PKG_VERSION")).fact("precision", precision).html()
}

/// What is certain about the end point.
fn verdict<S: Real>(solved: &Solved<S>) -> Callout {
    let Some(certificate) = &solved.report.certificate else {
        return Callout::warning("No certificate: the problem could not be evaluated at the end point.");
    };
    let mut numbers = format!(
        "The point is stationary to {}, for slopes of the penalty at a z that is {} away from Tx.",
        short(certificate.dual_norm.upper),
        short(certificate.prox_gap)
    );
    if let Some(gap) = certificate.gap() {
        numbers += &format!(" F is within {} of the least there is.", short(gap));
    }
    match (solved.report.status, certificate.claim) {
        (Status::Certified, Some(_)) => Callout::good(numbers).title("Certified, as it was asked for"),
        (Status::NotFinite, _) => {
            Callout::warning(numbers).title("A number was not finite; the last good point is shown")
        }
        _ => Callout::note(numbers).title("What can be re-checked"),
    }
}

/// F, dual norm, gap and smoothing against steps and seconds.
fn convergence(rows: &[Row]) -> Section {
    let k: Vec<f64> = rows.iter().map(|row| row.k as f64).collect();
    let seconds: Vec<f64> = rows.iter().map(|row| row.seconds).collect();
    let axes = || [Axis::log("step"), Axis::linear("seconds")];
    let series = |name: &str, value: &dyn Fn(&Row) -> f64| {
        Series::new(name, k.clone(), rows.iter().map(value).collect::<Vec<_>>()).also_against(seconds.clone())
    };
    let objective = Chart::new("Objective", axes(), Axis::log("F"))
        .series(series("F", &|row| row.objective))
        .series(series("F_{β}, smoothed", &|row| row.smoothed));
    let measures = Chart::new("Certificate", axes(), Axis::log(""))
        .series(series("dual norm of ∇F_{β}", &|row| row.dual_norm_known()))
        .series(series("proximal gap", &|row| row.prox_gap));
    let schedule = Chart::new("Smoothing and step", axes(), Axis::log(""))
        .series(series("β", &|row| row.beta))
        .series(series("γ", &|row| row.gamma));
    Section::new("Convergence").item(objective).columns([measures, schedule])
}

/// The least and the largest finite number.
pub fn range<S: Real>(data: &[S]) -> (f64, f64) {
    let finite = data.iter().map(|value| value.f64()).filter(|value| value.is_finite());
    finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

/// A matrix as a grey picture, small to large from black to white; very large ones are thinned.
pub fn heatmap<S: Real>(caption: &str, data: &[S], rows: usize, cols: usize) -> Option<melmo_page::Image> {
    heatmap_within(caption, data, rows, cols, range(data))
}

/// The same with a given range from black to white, so that pictures can be compared. What is missing is black.
pub fn heatmap_within<S: Real>(
    caption: &str,
    data: &[S],
    rows: usize,
    cols: usize,
    range: (f64, f64),
) -> Option<melmo_page::Image> {
    picture_within(caption, data, [rows, cols, 1], range)
}

/// The same of a picture of one colour or three.
pub fn picture_within<S: Real>(
    caption: &str,
    data: &[S],
    [rows, cols, colours]: [usize; 3],
    (low, high): (f64, f64),
) -> Option<melmo_page::Image> {
    const SIDE: usize = 512;
    let (step_down, step_right) = (rows.div_ceil(SIDE), cols.div_ceil(SIDE));
    let (height, width) = (rows.div_ceil(step_down), cols.div_ceil(step_right));
    let at = |i: usize, j: usize| (i * step_down * cols + j * step_right) * colours;
    let pixels = (0..height).flat_map(|i| (0..width).map(move |j| at(i, j)));
    let width_of_range = if high > low { high - low } else { 1.0 };
    let shade = |value: f64| if value.is_finite() { (255.0 * (value - low) / width_of_range).round() as u8 } else { 0 };
    let samples: Vec<u8> = pixels.flat_map(|at| &data[at..at + colours]).map(|value| shade(value.f64())).collect();
    let (caption, width, height) = (plain(caption), width as u32, height as u32);
    match colours {
        1 => melmo_page::Image::grey(caption, width, height, &samples).ok(),
        _ => melmo_page::Image::rgb(caption, width, height, &samples).ok(),
    }
}
