//! Salt and pepper: samples at the ends of the range that stand alone, and what was there.

use melmo::real::Real;

use super::super::planes::Planes;

/// Part of all samples that stand alone at an end: fewer are dots of the picture.
const FEWEST: f64 = 2e-3;
/// Part of those that differ from their surroundings which stand alone: fewer are strokes of a drawing.
const ALONE: f64 = 0.3;
/// Part of all samples that may be at an end: more is a drawing of two colours.
const MOST: f64 = 0.6;
/// How far from its surroundings an outlier lies, as part of the range.
const APART: f64 = 0.08;

/// Which samples say nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Outliers {
    /// For every sample.
    at: Vec<bool>,
    count: usize,
}

impl Outliers {
    /// Samples at the least or the largest value that lie far from the others around them, where enough of these stand alone.
    pub(super) fn find<S: Real>(image: &Planes<'_, S>) -> Option<Self> {
        let ends =
            image.data.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (v.f64().min(a), v.f64().max(b)));
        let at_end = |v: f64| v == ends.0 || v == ends.1;
        let touched = image.data.iter().filter(|v| at_end(v.f64())).count();
        let n = image.data.len();
        if (touched as f64) < FEWEST * n as f64 || touched as f64 > MOST * n as f64 || image.rows.min(image.cols) < 5 {
            return None;
        }
        let (mut at, mut count, mut alone) = (vec![false; n], 0, 0);
        for (c, at) in at.chunks_exact_mut(image.rows * image.cols).enumerate() {
            let around = Around { plane: image.channel(c), rows: image.rows, cols: image.cols };
            for (p, at) in at.iter_mut().enumerate() {
                let v = around.plane[p].f64();
                if !at_end(v) {
                    continue;
                }
                let others = around.median(p, &|_, u| !at_end(u));
                if others.is_some_and(|median| (v - median).abs() > APART * (ends.1 - ends.0)) {
                    (*at, count) = (true, count + 1);
                    alone += usize::from(!around.has_like(p));
                }
            }
        }
        let enough = alone as f64 >= FEWEST * n as f64 && alone as f64 >= ALONE * count as f64;
        enough.then_some(Self { at, count })
    }

    /// For every sample, whether it is one.
    pub(in crate::denoise) fn at(&self) -> &[bool] {
        &self.at
    }

    /// Part of all samples.
    pub fn share(&self) -> f64 {
        self.count as f64 / self.at.len() as f64
    }

    /// The image with the median of what lies around instead of each of them.
    pub fn filled<S: Real>(&self, image: &Planes<'_, S>) -> Vec<S> {
        let mut filled = image.data.to_vec();
        let plane = image.rows * image.cols;
        for (c, at) in self.at.chunks_exact(plane).enumerate() {
            let part = &mut filled[c * plane..][..plane];
            let around = Around { plane: image.channel(c), rows: image.rows, cols: image.cols };
            for p in (0..plane).filter(|&p| at[p]) {
                part[p] = S::of(around.median(p, &|q, _| !at[q]).unwrap_or(around.plane[p].f64()));
            }
        }
        filled
    }
}

/// A plane, and what lies around a pixel of it.
struct Around<'a, S> {
    plane: &'a [S],
    rows: usize,
    cols: usize,
}

impl<S: Real> Around<'_, S> {
    /// Pixels within this distance, each way, the one in the middle not among them.
    fn near(&self, p: usize, reach: usize) -> impl Iterator<Item = usize> {
        let (i, j, cols) = (p / self.cols, p % self.cols, self.cols);
        let rows = i.saturating_sub(reach)..(i + reach + 1).min(self.rows);
        let columns = j.saturating_sub(reach)..(j + reach + 1).min(cols);
        rows.flat_map(move |i| columns.clone().map(move |j| i * cols + j)).filter(move |q| *q != p)
    }

    /// The median of those that count, of 3×3 pixels or, where fewer than three of them do, of 5×5.
    fn median(&self, p: usize, counts: &dyn Fn(usize, f64) -> bool) -> Option<f64> {
        for reach in [1, 2] {
            let values = self.near(p, reach).map(|q| (q, self.plane[q].f64()));
            let mut values: Vec<f64> = values.filter(|(q, v)| counts(*q, *v)).map(|(_, v)| v).collect();
            if values.len() >= 3 {
                values.sort_by(f64::total_cmp);
                let middle = values.len() / 2;
                return Some(if values.len() % 2 == 1 {
                    values[middle]
                } else {
                    0.5 * (values[middle - 1] + values[middle])
                });
            }
        }
        None
    }

    /// A neighbour has the same value.
    fn has_like(&self, p: usize) -> bool {
        self.near(p, 1).any(|q| self.plane[q] == self.plane[p])
    }
}
