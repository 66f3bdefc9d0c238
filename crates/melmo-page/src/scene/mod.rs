//! A drawing as a list of shapes, which [`svg`] writes as text and [`png`] as pixels.

pub(crate) mod png;
pub(crate) mod svg;

use crate::font::Weight;
use crate::markup::Span;
use crate::palette::{Ink, Marker};

/// A point, y downwards.
pub(crate) type Point = (f64, f64);

/// A drawing of the given size.
pub(crate) struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Drawn first.
    pub(crate) frame: Vec<Shape>,
    /// Drawn next, and only inside `window`.
    pub(crate) clipped: Vec<Shape>,
    /// Where the clipped shapes show.
    pub(crate) window: Window,
    /// Drawn last.
    pub(crate) above: Vec<Shape>,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Window {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// One thing drawn.
pub(crate) enum Shape {
    /// An open line through points.
    Line { points: Vec<Point>, ink: Ink, width: f64, dash: Dash },
    /// A filled outline, see-through.
    Area { points: Vec<Point>, ink: Ink, opacity: f64 },
    /// The mark of a series.
    Mark { at: Point, marker: Marker, radius: f64, ink: Ink },
    /// What belongs to the n-th series, which the page can hide.
    Series { n: usize, shapes: Vec<Shape> },
    /// A line of text whose baseline is at `at`.
    Text { at: Point, spans: Vec<Span>, size: f64, weight: Weight, anchor: Anchor, ink: Ink, halo: bool },
}

/// How a line is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dash {
    Solid,
    Dashed,
    Dotted,
}

impl Dash {
    /// Lengths of stroke and gap; `None` for an unbroken line.
    pub(crate) fn lengths(self) -> Option<(f64, f64)> {
        match self {
            Self::Solid => None,
            Self::Dashed => Some((7.0, 4.0)),
            Self::Dotted => Some((2.0, 4.0)),
        }
    }
}

/// Which point of a line of text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}
