//! The bundled fonts: how wide text is, and its outlines for PNG files.
//!
//! PNG files have to look the same on a machine without any font, so three subsets travel with the crate (118 kB, see
//! `assets/fonts/README.md`): Inter Regular and SemiBold with Latin and Greek letters, and mathematical symbols from DejaVu
//! Sans. No shaping: labels are short and left to right.

use std::sync::LazyLock;

use skrifa::instance::{LocationRef, Size};
use skrifa::outline::OutlinePen;
use skrifa::{FontRef, GlyphId, MetadataProvider};

use crate::markup::{Look, Span};

/// Of what weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    SemiBold,
}

/// A font, and how many of its units make up the text's size.
struct Face {
    font: FontRef<'static>,
    units: f64,
}

impl Face {
    fn parse(bytes: &'static [u8]) -> Option<Self> {
        let font = FontRef::new(bytes).ok()?;
        let units = font.metrics(Size::unscaled(), LocationRef::default()).units_per_em;
        Some(Self { font, units: f64::from(units) })
    }

    fn advance(&self, id: GlyphId) -> f64 {
        let width = self.font.glyph_metrics(Size::unscaled(), LocationRef::default()).advance_width(id);
        f64::from(width.unwrap_or(0.0)) / self.units
    }
}

static FACES: LazyLock<Vec<Face>> = LazyLock::new(|| {
    let files: [&'static [u8]; 3] = [
        include_bytes!("assets/fonts/Inter-Regular.otf"),
        include_bytes!("assets/fonts/Inter-SemiBold.otf"),
        include_bytes!("assets/fonts/DejaVuSans-Symbols.ttf"),
    ];
    files.iter().filter_map(|bytes| Face::parse(bytes)).collect()
});

/// The face that has the character, of the wished weight if it can be.
fn glyph(c: char, weight: Weight) -> Option<(&'static Face, GlyphId)> {
    let first = if weight == Weight::SemiBold { 1 } else { 0 };
    let faces = FACES.get(first).into_iter().chain(FACES.get(2));
    faces.filter_map(|face| face.font.charmap().map(c).map(|id| (face, id))).next()
}

/// A span's size and how far it is raised, both in units of the text's size.
pub(crate) fn script(look: &Look) -> (f64, f64) {
    match look {
        Look::Subscript => (0.72, -0.2),
        Look::Superscript => (0.72, 0.36),
        _ => (1.0, 0.0),
    }
}

/// The width of a line of text, in the unit of `size`.
pub(crate) fn width(spans: &[Span], size: f64, weight: Weight) -> f64 {
    let span_width = |span: &Span| {
        let characters = span.text.chars();
        size * script(&span.look).0
            * characters.map(|c| glyph(c, weight).map_or(0.6, |(face, id)| face.advance(id))).sum::<f64>()
    };
    spans.iter().map(span_width).sum()
}

/// Draws a line of text whose baseline starts at (x, y): the outlines of its glyphs, y downwards.
pub(crate) fn outline(spans: &[Span], x: f64, y: f64, size: f64, weight: Weight, to: &mut dyn OutlinePen) {
    let mut x = x;
    for span in spans {
        let (scale, raise) = script(&span.look);
        for c in span.text.chars() {
            let Some((face, id)) = glyph(c, weight) else {
                x += 0.6 * scale * size;
                continue;
            };
            let unit = size * scale / face.units;
            let mut placed = Placed { x: x as f32, y: (y - raise * size) as f32, unit: unit as f32, to };
            if let Some(glyph) = face.font.outline_glyphs().get(id) {
                // An outline that cannot be drawn is a blank; those of the bundled fonts can.
                let _ = glyph.draw(Size::unscaled(), &mut placed);
            }
            x += face.advance(id) * size * scale;
        }
    }
}

/// Moves a glyph from its own coordinates to its place.
struct Placed<'a> {
    x: f32,
    y: f32,
    unit: f32,
    to: &'a mut dyn OutlinePen,
}

impl Placed<'_> {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + self.unit * x, self.y - self.unit * y)
    }
}

impl OutlinePen for Placed<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.to.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.to.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.to.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.to.curve_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.to.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markup::spans;

    #[test]
    fn every_symbol_of_the_house_has_a_glyph() {
        let text = "Misérables ℓ2 ‖∇F_β(x)‖_* ≤ ε, ⟨φ, d⟩ ∈ ℝ⁻³ ½ ⊙ ∘ √∑∞ λ μ ν ω ρ η − × · → ₀₁₂ ≈ ∥";
        for weight in [Weight::Regular, Weight::SemiBold] {
            let missing: String = text.chars().filter(|&c| glyph(c, weight).is_none()).collect();
            assert_eq!(missing, "", "{weight:?}");
        }
    }

    #[test]
    fn widths_add_up_and_scripts_are_small() {
        let wide = |text: &str| width(&spans(text), 10.0, Weight::Regular);
        assert!((wide("ab") - wide("a") - wide("b")).abs() < 1e-9);
        assert!((wide("_{ab}") - 0.72 * wide("ab")).abs() < 1e-9);
        assert!(width(&spans("mm"), 10.0, Weight::SemiBold) > wide("mm"));
    }
}
