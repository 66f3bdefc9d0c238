//! Charts of a quantity against iterations and seconds, a series a method.

use melmo_page::{Axis, Chart, Series, Style};

use crate::instance::Point;
use crate::results::Group;

/// One chart; the median over seeds with its range.
pub(super) fn chart(
    title: String,
    y: Axis,
    groups: impl IntoIterator<Item = (String, usize, Style)>,
    find: impl Fn(&str) -> Option<Vec<[f64; 5]>>,
) -> Chart {
    let mut chart = Chart::new(title, [Axis::log("iteration"), Axis::log("seconds")], y);
    for (label, slot, style) in groups {
        let Some(rows) = find(&label).filter(|rows| !rows.is_empty()) else { continue };
        let column = |at: usize| rows.iter().map(|row| row[at]).collect::<Vec<f64>>();
        let mut series = Series::new(label, column(0), column(2)).also_against(column(1)).slot(slot).style(style);
        if rows.iter().any(|row| row[3] < row[4]) {
            series = series.band(column(3), column(4));
        }
        chart = chart.series(series);
    }
    chart
}

/// A curve ends where it is so many times as high as it began.
const GONE: f64 = 1e3;

/// A group's curve of a quantity; subgradients have no smoothing, so no gap.
pub(super) fn rows(group: &Group, of: impl Fn(&Point) -> f64) -> Option<Vec<[f64; 5]>> {
    let mut rows = group.curve(of);
    // A run that diverges would leave the others no room.
    let most = rows.first().filter(|row| row[2] > 0.0).map_or(f64::INFINITY, |row| GONE * row[2]);
    let end = rows.iter().position(|row| row[2].is_nan() || row[2] > most).unwrap_or(rows.len());
    rows.truncate(end);
    // A zero has no place on a logarithmic axis, and a curve of zeros no place in the legend.
    rows.iter().any(|row| row[2] != 0.0).then_some(rows)
}

/// Labels with a colour each; the first dashed: the baseline without smoothing.
pub(super) fn styled(labels: &[&str]) -> Vec<(String, usize, Style)> {
    let style = |at: usize| if at == 0 { Style::Dashed } else { Style::Line };
    labels.iter().enumerate().map(|(at, label)| ((*label).to_owned(), at, style(at))).collect()
}
