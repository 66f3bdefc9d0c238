//! Charts: series against one or more x axes, with reference lines.

mod axis;
mod draw;
mod html;
mod json;
mod label;
mod legend;
mod reference;
mod series;
mod thin;
mod ticks;
mod view;

pub use axis::{Axis, Scale};
pub use reference::{Line, Reference};
pub use series::{Series, Style};

use crate::markup;
use crate::scene::{png, svg};

/// Series of points in one frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What is shown.
    pub title: String,
    /// What a reader should see in it.
    pub caption: Option<String>,
    /// The quantities along x to choose from (iteration, seconds); each series has values for all of them.
    pub x: Vec<Axis>,
    /// Which of `x` is shown first, and in files.
    pub shown: usize,
    /// The quantity along y.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
    /// Lines to compare with.
    pub references: Vec<Reference>,
}

impl Chart {
    /// An empty chart with one or more x axes to choose from.
    pub fn new(title: impl Into<String>, x: impl IntoIterator<Item = Axis>, y: Axis) -> Self {
        let x = x.into_iter().collect();
        Self { title: title.into(), caption: None, x, shown: 0, y, series: Vec::new(), references: Vec::new() }
    }

    /// With a line of text below.
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = Some(caption.into());
        self
    }

    /// With one more series.
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// With one more line to compare with.
    pub fn reference(mut self, reference: Reference) -> Self {
        self.references.push(reference);
        self
    }

    /// Shows the n-th x axis first.
    pub fn shown(mut self, n: usize) -> Self {
        self.shown = n;
        self
    }

    /// The chart as an SVG file: light, with title and legend.
    pub fn svg(&self) -> String {
        svg::write(&draw::draw(self, &draw::Frame::FILE).scene, &self.description(), svg::Target::File)
    }

    /// The chart as a PNG file, `scale` pixels to a unit: 1440 pixels wide at 2.
    pub fn png(&self, scale: f64) -> Vec<u8> {
        png::write(&draw::draw(self, &draw::Frame::FILE).scene, scale)
    }

    /// The x axis that is shown first, if there are any.
    fn first(&self) -> usize {
        self.shown.min(self.x.len().saturating_sub(1))
    }

    /// What a screen reader says instead of the picture.
    fn description(&self) -> String {
        let x = self.x.get(self.first()).map_or("", |axis| &axis.label);
        let names: Vec<&str> = self.series.iter().map(|s| s.name.as_str()).collect();
        markup::text(&format!("{}. Chart of {} against {x}. Series: {}.", self.title, self.y.label, names.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::Ink;

    fn sample() -> Chart {
        Chart::new("F < ∇ & β", [Axis::log("k"), Axis::linear("s")], Axis::log("F_{k}"))
            .series(Series::new("a", [0.0, 1.0, 10.0, 100.0], [3.0, 2.0, 1.0, 0.5]).also_against([0.0, 1.0, 2.0, 3.0]))
            .series(Series::new("b", [1.0, 10.0], [1.0, f64::NAN]).style(Style::Points).band([0.5, 0.5], [2.0, 2.0]))
            .reference(Reference::power("k^{−1/2}", -0.5, (1.0, 2.0)))
            .reference(Reference::horizontal("F*", 0.4))
    }

    /// Width and pixels of a PNG file.
    fn decode(bytes: &[u8]) -> (u32, Vec<[u8; 3]>) {
        let mut reader = ::png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        (info.width, pixels.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect())
    }

    #[test]
    fn png_shows_title_and_series_without_system_fonts() {
        let (width, pixels) = decode(&sample().png(1.0));
        assert_eq!(width, 720);
        let count = |wanted: Ink| pixels.iter().filter(|&&p| p == wanted.rgb()).count();
        assert!(count(Ink::Series(0)) > 200 && count(Ink::Series(1)) > 10);
        let title = &pixels[10 * 720..40 * 720];
        assert!(title.iter().filter(|&&p| p == Ink::Text.rgb()).count() > 50, "the title has strokes");
        assert!(title[400..720].iter().all(|&p| p == Ink::Surface.rgb()), "and nothing lies beside it");
    }

    #[test]
    fn svg_is_escaped_and_its_size_is_given() {
        let svg = sample().svg();
        assert!(svg.contains("F &lt; ∇ &amp; β") && !svg.contains("var(--"));
        assert!(svg.contains("viewBox=\"0 0 720 450\"") && svg.contains("width=\"720\""));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn odd_charts_are_drawn_too() {
        let empty = Chart::new("", [], Axis::log(""));
        let lonely = Chart::new("", [], Axis::linear("")).series(Series::new("", [1.0], [1e300]));
        let uneven = Chart::new("", [Axis::linear("")], Axis::log("")).series(Series::new("", [1.0, 2.0], [])).shown(7);
        for chart in [empty, lonely, uneven] {
            assert!(chart.svg().ends_with("</svg>\n"));
            assert!(chart.png(f64::NAN).len() > 100);
            assert!(chart.html("id").contains("<figure"));
        }
    }
}
