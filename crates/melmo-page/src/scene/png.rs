//! A drawing as pixels.

use tiny_skia::{FillRule, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform};

use crate::font;
use crate::image;
use crate::palette::{Ink, Marker};
use crate::scene::{Anchor, Point, Scene, Shape, Window};

/// The largest side of a PNG, in pixels: beyond it the scale is reduced.
const LARGEST: f64 = 16_384.0;

/// The drawing as a PNG file, `scale` pixels to a unit.
pub(crate) fn write(scene: &Scene, scale: f64) -> Vec<u8> {
    let wished = if scale.is_finite() { scale.max(0.1) } else { 1.0 };
    let scale = wished.min(LARGEST / scene.width.max(scene.height));
    let size = |length: f64| (length * scale).ceil().max(1.0) as u32;
    let (width, height) = (size(scene.width), size(scene.height));
    let Some(mut pixmap) = Pixmap::new(width, height) else { return Vec::new() };
    let [red, green, blue] = Ink::Surface.rgb();
    pixmap.fill(tiny_skia::Color::from_rgba8(red, green, blue, 255));

    let mut canvas = Canvas { transform: Transform::from_scale(scale as f32, scale as f32), pixmap, mask: None };
    scene.frame.iter().for_each(|shape| canvas.shape(shape));
    canvas.mask = canvas.window(&scene.window);
    scene.clipped.iter().for_each(|shape| canvas.shape(shape));
    canvas.mask = None;
    scene.above.iter().for_each(|shape| canvas.shape(shape));

    // The background is opaque, so premultiplied colours are the colours.
    let rgb: Vec<u8> = canvas.pixmap.data().chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
    image::encode(width, height, png::ColorType::Rgb, &rgb)
}

struct Canvas {
    pixmap: Pixmap,
    transform: Transform,
    mask: Option<Mask>,
}

impl Canvas {
    fn window(&self, window: &Window) -> Option<Mask> {
        let [x, y, width, height] = [window.left, window.top, window.width, window.height].map(|v| v as f32);
        let path = PathBuilder::from_rect(tiny_skia::Rect::from_xywh(x, y, width, height)?);
        let mut mask = Mask::new(self.pixmap.width(), self.pixmap.height())?;
        mask.fill_path(&path, FillRule::Winding, true, self.transform);
        Some(mask)
    }

    fn fill(&mut self, path: &Path, ink: Ink, opacity: f64) {
        self.pixmap.fill_path(path, &paint(ink, opacity), FillRule::Winding, self.transform, self.mask.as_ref());
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Line { points, ink, width, dash } => {
                let Some(path) = polygon(points, false) else { return };
                let dash = dash.lengths().and_then(|(on, off)| StrokeDash::new(vec![on as f32, off as f32], 0.0));
                let stroke = Stroke { width: *width as f32, line_join: LineJoin::Round, dash, ..Stroke::default() };
                self.pixmap.stroke_path(&path, &paint(*ink, 1.0), &stroke, self.transform, self.mask.as_ref());
            }
            Shape::Area { points, ink, opacity } => {
                if let Some(path) = polygon(points, true) {
                    self.fill(&path, *ink, *opacity);
                }
            }
            Shape::Mark { at, marker, radius, ink } => {
                if let Some(path) = mark(*at, *marker, *radius) {
                    self.fill(&path, *ink, 1.0);
                }
            }
            Shape::Series { shapes, .. } => shapes.iter().for_each(|shape| self.shape(shape)),
            Shape::Text { at, spans, size, weight, anchor, ink, halo } => {
                let width = font::width(spans, *size, *weight);
                let left = match anchor {
                    Anchor::Start => at.0,
                    Anchor::Middle => at.0 - width / 2.0,
                    Anchor::End => at.0 - width,
                };
                let mut glyphs = Glyphs(PathBuilder::new());
                font::outline(spans, left, at.1, *size, *weight, &mut glyphs);
                let Some(path) = glyphs.0.finish() else { return };
                if *halo {
                    let round = Stroke {
                        width: 4.0,
                        line_join: LineJoin::Round,
                        line_cap: LineCap::Round,
                        ..Stroke::default()
                    };
                    let paint = paint(Ink::Surface, 1.0);
                    self.pixmap.stroke_path(&path, &paint, &round, self.transform, self.mask.as_ref());
                }
                self.fill(&path, *ink, 1.0);
            }
        }
    }
}

fn paint(ink: Ink, opacity: f64) -> Paint<'static> {
    let [red, green, blue] = ink.rgb();
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, (255.0 * opacity).round() as u8);
    paint
}

fn polygon(points: &[Point], closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (i, (x, y)) in points.iter().enumerate() {
        let (x, y) = (*x as f32, *y as f32);
        if i == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

fn mark((x, y): Point, marker: Marker, radius: f64) -> Option<Path> {
    if marker == Marker::Circle {
        return PathBuilder::from_circle(x as f32, y as f32, radius as f32);
    }
    let corners: Vec<Point> = marker.corners().iter().map(|(u, v)| (x + radius * u, y + radius * v)).collect();
    polygon(&corners, true)
}

/// Outlines of glyphs, on their way from the font to the canvas.
struct Glyphs(PathBuilder);

impl skrifa::outline::OutlinePen for Glyphs {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.0.close();
    }
}
