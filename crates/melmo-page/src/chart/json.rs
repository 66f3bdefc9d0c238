//! The values of a chart, for the page's script: it reads them out, and saves them.

use serde_json::{Value, json};

use super::{Axis, Chart, Scale, Series, thin};
use crate::markup;
use crate::number::six_digits;

/// Stretches of x that keep their extremes: more than a wide chart has pixels for, fewer than a page would feel.
const BINS: usize = 240;

/// The values, thinned and rounded.
pub(super) fn chart(chart: &Chart) -> Value {
    // The script counts on an axis.
    let axes = if chart.x.is_empty() { vec![axis(&Axis::linear(""))] } else { chart.x.iter().map(axis).collect() };
    let series: Vec<Value> = chart.series.iter().enumerate().map(|(n, s)| series(s, n, axes.len())).collect();
    json!({ "x": axes, "y": axis(&chart.y), "series": series })
}

fn axis(axis: &Axis) -> Value {
    json!({ "label": markup::text(&axis.label), "scale": axis.scale.name() })
}

fn series(series: &Series, n: usize, axes: usize) -> Value {
    let kept = match series.x.first() {
        Some(x) => thin::keep(&x[..series.len()], &series.values(), BINS, &[Scale::Linear, Scale::Log]),
        None => Vec::new(),
    };
    let pick = |values: &[f64]| -> Vec<f64> { kept.iter().map(|&i| six_digits(values[i])).collect() };
    json!({
        "name": markup::text(&series.name),
        "slot": series.slot.unwrap_or(n),
        // Null where the series has no values for the axis.
        "x": (0..axes).map(|i| series.x.get(i).map(|x| pick(x))).collect::<Vec<_>>(),
        "y": pick(&series.y),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_is_null() {
        let series = Series::new("a", [1.0, 2.0, 3.0], [1.0 / 3.0, f64::NAN, f64::INFINITY]);
        let value = chart(&Chart::new("t", [Axis::linear("x"), Axis::linear("s")], Axis::log("y")).series(series));
        assert_eq!(value["series"][0]["y"], json!([0.333333, null, null]));
        assert_eq!(value["series"][0]["x"], json!([[1.0, 2.0, 3.0], null]));
    }

    #[test]
    fn long_series_are_thinned() {
        let x: Vec<f64> = (1..=50_000).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|v| (v * 0.1).sin()).collect();
        let value = chart(&Chart::new("t", [Axis::linear("x")], Axis::linear("y")).series(Series::new("a", x, y)));
        let kept = value["series"][0]["y"].as_array().unwrap().len();
        assert!(kept > BINS && kept <= 4 * BINS + 2, "{kept}");
    }
}
