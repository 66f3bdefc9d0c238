//! Lines to compare series with: a known optimum, a guaranteed rate.

use super::axis::{Placed, Scale};

/// A line that is not data.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// What it is.
    pub label: String,
    /// Where it lies.
    pub line: Line,
    /// The x axis it belongs to: a rate in iterations says nothing about seconds. All of them when `None`.
    pub axis: Option<usize>,
}

/// Where a reference line lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Line {
    /// y = `value`.
    Horizontal(f64),
    /// x = `value`.
    Vertical(f64),
    /// y = `factor`·x^`exponent`: straight when both axes are logarithmic.
    Power {
        /// The factor.
        factor: f64,
        /// The exponent.
        exponent: f64,
    },
}

impl Reference {
    /// y = `value`.
    pub fn horizontal(label: impl Into<String>, value: f64) -> Self {
        Self { label: label.into(), line: Line::Horizontal(value), axis: None }
    }

    /// x = `value` along the first x axis.
    pub fn vertical(label: impl Into<String>, value: f64) -> Self {
        Self { label: label.into(), line: Line::Vertical(value), axis: Some(0) }
    }

    /// y ∝ x^`exponent` through `point`, along the first x axis.
    pub fn power(label: impl Into<String>, exponent: f64, point: (f64, f64)) -> Self {
        let factor = point.1 / point.0.powf(exponent);
        Self { label: label.into(), line: Line::Power { factor, exponent }, axis: Some(0) }
    }

    /// Along the n-th x axis only.
    pub fn on(mut self, n: usize) -> Self {
        self.axis = Some(n);
        self
    }

    /// The points of the line on the paper.
    pub(super) fn points(&self, x: &Placed, y: &Placed) -> Vec<(f64, f64)> {
        let straight = x.scale == Scale::Log && y.scale == Scale::Log;
        let values: Vec<(f64, f64)> = match self.line {
            Line::Horizontal(value) => vec![(x.low, value), (x.high, value)],
            Line::Vertical(value) => vec![(value, y.low), (value, y.high)],
            Line::Power { factor, exponent } => {
                let steps = if straight { 1 } else { 80 };
                let along = (0..=steps).map(|i| x.value(f64::from(i) / f64::from(steps)));
                along.map(|v| (v, factor * v.powf(exponent))).collect()
            }
        };
        values.into_iter().filter_map(|(a, b)| Some((x.at(a)?, y.at(b)?))).collect()
    }
}
