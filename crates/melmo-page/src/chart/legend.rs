//! Which line is which.

use super::{Chart, Series, Style};
use crate::font::{self, Weight};
use crate::markup;
use crate::palette::{Ink, Marker};
use crate::scene::{Anchor, Dash, Point, Shape, svg};

const SWATCH: f64 = 26.0;
const SIZE: f64 = 12.5;
const ROW: f64 = 21.0;

/// The legend in rows of at most `width`, the first with its baseline at `top`; returns where it ends.
pub(super) fn rows(chart: &Chart, left: f64, top: f64, width: f64, out: &mut Vec<Shape>) -> f64 {
    let (mut x, mut y) = (left, top);
    for (n, series) in chart.series.iter().enumerate() {
        let spans = markup::spans(&series.name);
        let needed = SWATCH + 7.0 + font::width(&spans, SIZE, Weight::Regular);
        if x > left && x + needed > left + width {
            (x, y) = (left, y + ROW);
        }
        out.extend(sample(series, n, (x, y - 4.3)));
        let at = (x + SWATCH + 7.0, y);
        out.push(Shape::Text {
            at,
            spans,
            size: SIZE,
            weight: Weight::Regular,
            anchor: Anchor::Start,
            ink: Ink::Text,
            halo: false,
        });
        x += needed + 20.0;
    }
    y + 8.0
}

/// A short piece of the series.
fn sample(series: &Series, n: usize, (x, y): Point) -> Vec<Shape> {
    let slot = series.slot.unwrap_or(n);
    let ink = Ink::Series(slot);
    let mark = Shape::Mark { at: (x + SWATCH / 2.0, y), marker: Marker::of(slot), radius: 4.0, ink };
    let dash = if series.style == Style::Dashed { Dash::Dashed } else { Dash::Solid };
    let line = Shape::Line { points: vec![(x, y), (x + SWATCH, y)], ink, width: 2.2, dash };
    if series.style == Style::Points { vec![mark] } else { vec![line, mark] }
}

/// The legend of the page: buttons that hide and show.
pub(super) fn html(chart: &Chart) -> String {
    let mut out = String::from("<div class=\"legend\" role=\"group\" aria-label=\"Series\">");
    for (n, series) in chart.series.iter().enumerate() {
        let swatch = svg::swatch(&sample(series, n, (0.0, 7.0)), SWATCH, 14.0);
        let name = markup::html(&series.name);
        out.push_str(&format!(
            "<button type=\"button\" aria-pressed=\"true\" data-series=\"{n}\">{swatch}<span>{name}</span></button>"
        ));
    }
    out.push_str("</div>");
    out
}
