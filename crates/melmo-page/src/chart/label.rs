//! Where the label of a reference line stands: beside the line, inside the plot, on as little else as possible.

use crate::scene::{Anchor, Point, Shape, Window};

/// How finely lines are followed, in pixels.
const STEP: f64 = 6.0;

/// What the labels have to keep clear of, as points.
#[derive(Default)]
pub(super) struct Busy {
    points: Vec<Point>,
}

impl Busy {
    /// Keeps clear of lines and marks.
    pub(super) fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Line { points, .. } => self.line(points),
            Shape::Mark { at: (x, y), .. } => self.line(&[(x - 4.0, *y), (x + 4.0, *y)]),
            Shape::Series { shapes, .. } => shapes.iter().for_each(|shape| self.shape(shape)),
            Shape::Area { .. } | Shape::Text { .. } => {}
        }
    }

    /// Keeps clear of a line.
    pub(super) fn line(&mut self, line: &[Point]) {
        self.points.extend(dense(line));
    }

    /// The baseline of a label of the given width for a line, from its end on; the place is taken then. `None` when there
    /// is no room in the window at all.
    pub(super) fn place(&mut self, line: &[Point], width: f64, window: &Window) -> Option<(Point, Anchor)> {
        let mut best: Option<(usize, Label)> = None;
        for at in dense(line).into_iter().rev().step_by(2) {
            for label in Label::around(at, width).into_iter().filter(|label| label.inside(window)) {
                let covered = self.points.iter().filter(|p| label.covers(p)).count();
                if best.as_ref().is_none_or(|(least, _)| covered < *least) {
                    best = Some((covered, label));
                }
            }
            if best.as_ref().is_some_and(|(least, _)| *least == 0) {
                break;
            }
        }
        let (_, label) = best?;
        self.line(&[(label.left, label.base - 4.0), (label.left + width, label.base - 4.0)]);
        Some((label.at, label.anchor))
    }
}

/// A label somewhere.
struct Label {
    at: Point,
    anchor: Anchor,
    left: f64,
    base: f64,
    width: f64,
}

impl Label {
    /// Before and after a point of a line, above and below it.
    fn around((x, y): Point, width: f64) -> [Self; 4] {
        [(Anchor::End, -7.0), (Anchor::End, 14.0), (Anchor::Start, -7.0), (Anchor::Start, 14.0)].map(
            |(anchor, shift)| {
                let x = if anchor == Anchor::End { x - 5.0 } else { x + 5.0 };
                let left = if anchor == Anchor::End { x - width } else { x };
                Self { at: (x, y + shift), anchor, left, base: y + shift, width }
            },
        )
    }

    fn covers(&self, p: &Point) -> bool {
        p.0 > self.left - 3.0 && p.0 < self.left + self.width + 3.0 && p.1 > self.base - 11.0 && p.1 < self.base + 5.0
    }

    fn inside(&self, window: &Window) -> bool {
        let (right, bottom) = (window.left + window.width, window.top + window.height);
        self.left >= window.left
            && self.left + self.width <= right
            && self.base - 9.0 >= window.top
            && self.base + 4.0 <= bottom
    }
}

/// Points along a line, no further apart than a step.
fn dense(line: &[Point]) -> Vec<Point> {
    let mut out: Vec<Point> = line.first().copied().into_iter().collect();
    for pair in line.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        // A line that leaves the paper is not followed for ever.
        let count = ((b.0 - a.0).hypot(b.1 - a.1) / STEP).ceil().clamp(1.0, 2000.0);
        out.extend((1..=count as usize).map(|i| {
            let t = i as f64 / count;
            (a.0 + t * (b.0 - a.0), a.1 + t * (b.1 - a.1))
        }));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window { left: 0.0, top: 0.0, width: 300.0, height: 200.0 };

    #[test]
    fn the_free_side_is_taken() {
        let level = [(0.0, 100.0), (300.0, 100.0)];
        let mut busy = Busy::default();
        busy.line(&level);
        let (free, _) = busy.place(&level, 80.0, &WINDOW).unwrap();
        assert!(free.1 < 100.0, "above by default");

        let mut busy = Busy::default();
        busy.line(&level);
        busy.line(&[(0.0, 94.0), (300.0, 94.0)]);
        let (below, anchor) = busy.place(&level, 80.0, &WINDOW).unwrap();
        assert!(below.1 > 100.0 && anchor == Anchor::End);
        let (next, _) = busy.place(&level, 80.0, &WINDOW).unwrap();
        assert!((next.0 - below.0).abs() > 75.0, "not on top of the first: {next:?} {below:?}");
    }

    #[test]
    fn no_room_is_no_label() {
        assert_eq!(Busy::default().place(&[(0.0, 50.0), (300.0, 50.0)], 301.0, &WINDOW), None);
        assert_eq!(Busy::default().place(&[], 10.0, &WINDOW), None);
    }
}
