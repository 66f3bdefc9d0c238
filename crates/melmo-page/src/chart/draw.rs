//! A chart as a drawing.

use super::axis::{Axis, Placed};
use super::label::Busy;
use super::reference::{Line, Reference};
use super::series::{Series, Style};
use super::{Chart, legend, thin, ticks};
use crate::font::{self, Weight};
use crate::markup::{self, Look, Span};
use crate::palette::{Ink, Marker};
use crate::scene::{Anchor, Dash, Point, Scene, Shape, Window};

/// The size of a drawing and what is in it besides the plot.
pub(super) struct Frame {
    width: f64,
    height: f64,
    /// What stays free left and right of everything.
    margins: [f64; 2],
    /// Title and legend: the page writes its own.
    heading: bool,
    /// How far apart the labels along x are, at least.
    spacing: f64,
    /// Stretches of x that keep their extremes.
    bins: usize,
}

impl Frame {
    /// For files.
    pub(super) const FILE: Self =
        Self { width: 720.0, height: 450.0, margins: [16.0, 28.0], heading: true, spacing: 84.0, bins: 360 };
    /// For the page.
    pub(super) const WIDE: Self =
        Self { width: 760.0, height: 400.0, margins: [1.0, 18.0], heading: false, spacing: 84.0, bins: 180 };
    /// For the page where it is narrow: a phone, two columns.
    pub(super) const NARROW: Self =
        Self { width: 360.0, height: 280.0, margins: [1.0, 14.0], heading: false, spacing: 54.0, bins: 90 };
}

/// A chart that was drawn, and where its axes lie.
pub(super) struct Drawn {
    pub(super) scene: Scene,
    pub(super) x: Placed,
    pub(super) y: Placed,
}

const TICK: f64 = 12.0;
const LABEL: f64 = 12.5;
const MARK: f64 = 3.6;
/// How far a mark at the edge may reach over it.
const OVERHANG: f64 = 5.0;

/// The drawing of a chart.
pub(super) fn draw(chart: &Chart, frame: &Frame) -> Drawn {
    let mut front = Vec::new();
    let mut top = if frame.heading { heading(chart, frame, &mut front) } else { 4.0 };
    top += 26.0;
    let bottom = frame.height - 46.0;
    let (x, y) = place(chart, frame, top, bottom);
    axes(chart, frame, &x, &y, &mut front);

    let mut clipped = Vec::new();
    references(chart, &x, &y, &mut clipped);
    for (n, series) in chart.series.iter().enumerate() {
        let mut shapes = Vec::new();
        plot(series, n, chart.first(), &x, &y, frame.bins, &mut shapes);
        clipped.push(Shape::Series { n, shapes });
    }
    let above = labels(chart, &x, &y, &clipped);
    let window = Window {
        left: x.from - OVERHANG,
        top: top - OVERHANG,
        width: x.to - x.from + 2.0 * OVERHANG,
        height: bottom - top + 2.0 * OVERHANG,
    };
    let scene = Scene { width: frame.width, height: frame.height, frame: front, clipped, window, above };
    Drawn { scene, x, y }
}

/// Title and legend; returns where they end.
fn heading(chart: &Chart, frame: &Frame, out: &mut Vec<Shape>) -> f64 {
    let left = frame.margins[0];
    out.push(text(&chart.title, (left, 28.0), 16.0, Weight::SemiBold, Anchor::Start, Ink::Text));
    legend::rows(chart, left, 52.0, frame.width - 2.0 * left, out)
}

/// Both axes on the paper.
fn place(chart: &Chart, frame: &Frame, top: f64, bottom: f64) -> (Placed, Placed) {
    let n = chart.first();
    let bands = chart.series.iter().filter_map(|s| s.band.as_ref()).flat_map(|(low, high)| low.iter().chain(high));
    let levels = chart.references.iter().filter_map(|r| match r.line {
        Line::Horizontal(value) => Some(value),
        _ => None,
    });
    // Below the lowest level there has to be room for its label.
    let pad = if levels.clone().next().is_some() { 20.0 / (bottom - top - 40.0).max(100.0) } else { 0.04 };
    let values = chart.series.iter().flat_map(|s| &s.y[..s.len()]).chain(bands).copied().chain(levels);
    let y = Placed::fit(&chart.y, values, pad, bottom, top);

    let wide = ticks::ticks(&y, rooms(&y, 36.0)).into_iter().filter_map(|tick| tick.label);
    let wide = wide.map(|label| font::width(&markup::spans(&label), TICK, Weight::Regular)).fold(0.0, f64::max);
    let places = chart.series.iter().filter_map(|s| Some(&s.x.get(n)?[..s.len()])).flatten().copied();
    let pad = if chart.series.iter().any(|s| s.style == Style::Points) { 0.02 } else { 0.0 };
    let fallback = Axis::linear("");
    let axis = chart.x.get(n).unwrap_or(&fallback);
    let [left, right] = frame.margins;
    (Placed::fit(axis, places, pad, left + wide + 8.0, frame.width - right), y)
}

/// How many labels fit, one every `spacing`.
fn rooms(axis: &Placed, spacing: f64) -> usize {
    ((axis.to - axis.from).abs() / spacing) as usize
}

/// Grid, tick labels, axis labels.
fn axes(chart: &Chart, frame: &Frame, x: &Placed, y: &Placed, out: &mut Vec<Shape>) {
    let line = |from: Point, to: Point, ink: Ink, width: f64| Shape::Line {
        points: vec![from, to],
        ink,
        width,
        dash: Dash::Solid,
    };
    for tick in ticks::ticks(x, rooms(x, frame.spacing)) {
        let Some(place) = x.at(tick.value) else { continue };
        match tick.label {
            Some(label) => {
                out.push(line((place, y.to), (place, y.from + 5.0), Ink::Grid, 1.0));
                // The last one may not reach over the edge.
                let half = 0.5 * font::width(&markup::spans(&label), TICK, Weight::Regular);
                let middle = place.min(frame.width - half);
                out.push(text(&label, (middle, y.from + 20.0), TICK, Weight::Regular, Anchor::Middle, Ink::Muted));
            }
            None => out.push(line((place, y.from), (place, y.from + 4.0), Ink::Grid, 1.0)),
        }
    }
    for tick in ticks::ticks(y, rooms(y, 36.0)) {
        let (Some(place), Some(label)) = (y.at(tick.value), tick.label) else { continue };
        out.push(line((x.from, place), (x.to, place), Ink::Grid, 1.0));
        out.push(text(&label, (x.from - 8.0, place + 4.2), TICK, Weight::Regular, Anchor::End, Ink::Muted));
    }
    out.push(line((x.from, y.from), (x.to, y.from), Ink::Muted, 1.0));
    let label = chart.x.get(chart.first()).map_or("", |axis| &axis.label);
    out.push(text(label, (x.to, y.from + 39.0), LABEL, Weight::Regular, Anchor::End, Ink::Text));
    out.push(text(&chart.y.label, (frame.margins[0], y.to - 12.0), LABEL, Weight::Regular, Anchor::Start, Ink::Text));
}

/// Reference lines, which lie below the series.
fn references(chart: &Chart, x: &Placed, y: &Placed, out: &mut Vec<Shape>) {
    for reference in on_axis(chart) {
        out.push(Shape::Line { points: reference.points(x, y), ink: Ink::Muted, width: 1.3, dash: Dash::Dotted });
    }
}

/// Labels of reference lines, which lie above the series and keep clear of what is `drawn`.
fn labels(chart: &Chart, x: &Placed, y: &Placed, drawn: &[Shape]) -> Vec<Shape> {
    let mut busy = Busy::default();
    drawn.iter().for_each(|shape| busy.shape(shape));
    let plot = Window { left: x.from, top: y.to, width: x.to - x.from, height: y.from - y.to };
    let label = |reference: &Reference| {
        let size = 11.5;
        let spans = markup::spans(&reference.label);
        let width = font::width(&spans, size, Weight::Regular);
        let (at, anchor) = busy.place(&reference.points(x, y), width, &plot)?;
        Some(Shape::Text { at, spans, size, weight: Weight::Regular, anchor, ink: Ink::Muted, halo: true })
    };
    on_axis(chart).filter_map(label).collect()
}

/// The reference lines that belong to the axis shown.
fn on_axis(chart: &Chart) -> impl Iterator<Item = &Reference> {
    chart.references.iter().filter(|r| r.axis.is_none_or(|axis| axis == chart.first()))
}

/// One series: band, line and marks.
fn plot(series: &Series, n: usize, axis: usize, x: &Placed, y: &Placed, bins: usize, out: &mut Vec<Shape>) {
    let slot = series.slot.unwrap_or(n);
    let (ink, marker) = (Ink::Series(slot), Marker::of(slot));
    let length = series.len();
    let Some(xs) = series.x.get(axis).map(|xs| &xs[..length]) else { return };
    let kept = thin::keep(xs, &series.values(), bins, &[x.scale]);
    let place = |i: usize, value: f64| Some((x.at(xs[i])?, y.at(value)?));

    if let Some((low, high)) = &series.band {
        let side = |values: &[f64]| -> Vec<Point> { kept.iter().filter_map(|&i| place(i, values[i])).collect() };
        let mut points = side(low);
        points.extend(side(high).into_iter().rev());
        out.push(Shape::Area { points, ink, opacity: 0.14 });
    }
    let points: Vec<Option<Point>> = kept.iter().map(|&i| place(i, series.y[i])).collect();
    if series.style == Style::Points {
        out.extend(points.iter().flatten().map(|&at| Shape::Mark { at, marker, radius: MARK, ink }));
        return;
    }
    let dash = if series.style == Style::Dashed { Dash::Dashed } else { Dash::Solid };
    for run in points.split(Option::is_none).filter(|run| !run.is_empty()) {
        let run: Vec<Point> = run.iter().flatten().copied().collect();
        if let [at] = run[..] {
            // A line of one point would not show.
            out.push(Shape::Mark { at, marker, radius: MARK, ink });
            continue;
        }
        let points = if series.style == Style::Step { steps(&run) } else { run };
        out.push(Shape::Line { points, ink, width: 2.0, dash });
    }
    let marked = sparse(points.iter().flatten().copied(), n, x);
    out.extend(marked.map(|at| Shape::Mark { at, marker, radius: MARK, ink }));
}

/// Each value holds until the next one.
fn steps(run: &[Point]) -> Vec<Point> {
    let corners = run.windows(2).flat_map(|pair| [pair[0], (pair[1].0, pair[0].1)]);
    corners.chain(run.last().copied()).collect()
}

/// One point in every sixth of the width, not where the other series have theirs.
fn sparse(points: impl Iterator<Item = Point>, n: usize, x: &Placed) -> impl Iterator<Item = Point> {
    let gap = (x.to - x.from) / 6.0;
    let mut next = x.from + gap * (0.15 + 0.23 * n as f64).fract();
    points.filter(move |p| {
        let due = p.0 >= next;
        while next <= p.0 {
            next += gap;
        }
        due
    })
}

fn text(label: &str, at: Point, size: f64, weight: Weight, anchor: Anchor, ink: Ink) -> Shape {
    // Emphasis has no face of its own here; scripts do the work in labels.
    let spans = markup::spans(label).into_iter().map(|span| match span.look {
        Look::Subscript | Look::Superscript => span,
        _ => Span { look: Look::Plain, ..span },
    });
    Shape::Text { at, spans: spans.collect(), size, weight, anchor, ink, halo: false }
}
