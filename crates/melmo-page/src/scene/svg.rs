//! A drawing as SVG text.

use crate::escape;
use crate::font::{self, Weight};
use crate::markup::Look;
use crate::palette::{Ink, Marker};
use crate::scene::{Anchor, Point, Scene, Shape};

/// Where the text goes, which decides how colours and fonts are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Inside the page: colours are the page's custom properties, the font is the page's.
    Page,
    /// A file of its own: plain colours, a background, a list of fonts.
    File,
}

const FONTS: &str = "Inter,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif";

/// The drawing; `description` is what a screen reader says.
pub(crate) fn write(scene: &Scene, description: &str, target: Target) -> String {
    let (width, height) = (number(scene.width), number(scene.height));
    let mut out = String::from("<svg xmlns=\"http://www.w3.org/2000/svg\"");
    out.push_str(&format!(
        " viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\"",
        escape::html(description)
    ));
    match target {
        Target::Page => out.push_str(">\n"),
        Target::File => {
            out.push_str(&format!(" width=\"{width}\" height=\"{height}\" font-family=\"{FONTS}\">\n"));
            out.push_str(&format!("<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n", Ink::Surface.hex()));
        }
    }
    let writer = Writer { target };
    out.extend(scene.frame.iter().map(|shape| writer.shape(shape)));
    // A nested svg element clips without an id, of which a page would need a different one for every chart.
    let w = &scene.window;
    let [x, y, wide, high] = [w.left, w.top, w.width, w.height].map(number);
    let place = format!("x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\" viewBox=\"{x} {y} {wide} {high}\"");
    out.push_str(&format!("<svg {place}>\n"));
    out.extend(scene.clipped.iter().map(|shape| writer.shape(shape)));
    out.push_str("</svg>\n");
    out.extend(scene.above.iter().map(|shape| writer.shape(shape)));
    out.push_str("</svg>\n");
    out
}

/// The swatch of a legend: a short line with its mark, for the page.
pub(crate) fn swatch(shapes: &[Shape], width: f64, height: f64) -> String {
    let writer = Writer { target: Target::Page };
    let inner: String = shapes.iter().map(|shape| writer.shape(shape)).collect();
    format!(
        "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" aria-hidden=\"true\">{inner}</svg>"
    )
}

struct Writer {
    target: Target,
}

impl Writer {
    /// `fill` or `stroke` with a colour.
    fn paint(&self, property: &str, ink: Ink) -> String {
        match self.target {
            Target::Page => format!("style=\"{property}:{}\"", ink.variable()),
            Target::File => format!("{property}=\"{}\"", ink.hex()),
        }
    }

    fn shape(&self, shape: &Shape) -> String {
        match shape {
            Shape::Line { points, ink, width, dash } => {
                let dash =
                    dash.lengths().map(|(on, off)| format!(" stroke-dasharray=\"{on} {off}\"")).unwrap_or_default();
                let paint = self.paint("stroke", *ink);
                let looks = format!("stroke-width=\"{width}\" stroke-linejoin=\"round\"{dash}");
                format!("<path d=\"{}\" fill=\"none\" {paint} {looks}/>\n", path(points, false))
            }
            Shape::Area { points, ink, opacity } => {
                let paint = self.paint("fill", *ink);
                format!("<path d=\"{}\" {paint} fill-opacity=\"{opacity}\"/>\n", path(points, true))
            }
            Shape::Mark { at, marker, radius, ink } => self.mark(*at, *marker, *radius, *ink),
            Shape::Series { n, shapes } => {
                let inner: String = shapes.iter().map(|shape| self.shape(shape)).collect();
                format!("<g class=\"series\" data-series=\"{n}\">\n{inner}</g>\n")
            }
            Shape::Text { .. } => self.text(shape),
        }
    }

    fn mark(&self, (x, y): Point, marker: Marker, radius: f64, ink: Ink) -> String {
        let paint = self.paint("fill", ink);
        if marker == Marker::Circle {
            return format!("<circle cx=\"{}\" cy=\"{}\" r=\"{radius}\" {paint}/>\n", number(x), number(y));
        }
        let corners: Vec<Point> = marker.corners().iter().map(|(u, v)| (x + radius * u, y + radius * v)).collect();
        format!("<path d=\"{}\" {paint}/>\n", path(&corners, true))
    }

    fn text(&self, shape: &Shape) -> String {
        let Shape::Text { at, spans, size, weight, anchor, ink, halo } = shape else { return String::new() };
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if *weight == Weight::SemiBold { " font-weight=\"600\"" } else { "" };
        let paint = self.paint("fill", *ink);
        let halo = match (halo, self.target) {
            (false, _) => String::new(),
            (true, Target::Page) => " class=\"halo\"".to_owned(),
            (true, Target::File) => {
                format!(
                    " stroke=\"{}\" stroke-width=\"4\" stroke-linejoin=\"round\" paint-order=\"stroke\"",
                    Ink::Surface.hex()
                )
            }
        };
        let (x, y) = (number(at.0), number(at.1));
        let mut out = format!("<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{weight} {paint}{halo}>");
        let mut raised = 0.0;
        for span in spans {
            let text = escape::html(&span.text);
            let (scale, raise) = font::script(&span.look);
            let shift = number((raised - raise) * size);
            raised = raise;
            match span.look {
                Look::Plain if shift == "0" => out.push_str(&text),
                _ => out
                    .push_str(&format!("<tspan dy=\"{shift}\" font-size=\"{}\">{text}</tspan>", number(scale * size))),
            }
        }
        out.push_str("</text>\n");
        out
    }
}

/// Path data, each point as seen from the one before it: half as long as places on the paper.
fn path(points: &[Point], closed: bool) -> String {
    let mut out = String::with_capacity(points.len() * 7);
    let mut from = (0.0, 0.0);
    for (i, &(x, y)) in points.iter().enumerate() {
        let to = ((x * 10.0).round(), (y * 10.0).round());
        for (j, step) in [to.0 - from.0, to.1 - from.1].into_iter().enumerate() {
            let step = number(step / 10.0).replacen("0.", ".", if step.abs() < 10.0 { 1 } else { 0 });
            out.push_str(match (i, j) {
                (0, 0) => "M",
                (1, 0) => "l",
                _ if step.starts_with('-') => "",
                _ => " ",
            });
            out.push_str(&step);
        }
        from = to;
    }
    if closed {
        out.push('Z');
    }
    out
}

/// A coordinate to a tenth of a pixel.
fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
}
