//! An axis: its label, its scale, its range, and where a value lies on it.

/// How values are laid out along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps are equally far apart.
    #[default]
    Linear,
    /// Equal ratios are equally far apart; values that are not positive have no place.
    Log,
}

impl Scale {
    /// Its name in the page.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Log => "log",
        }
    }

    /// Whether a value has a place.
    pub(super) fn shows(self, value: f64) -> bool {
        value.is_finite() && (self == Self::Linear || value > 0.0)
    }
}

/// One quantity along an edge of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it measures, with its unit.
    pub label: String,
    /// How it is laid out at first.
    pub scale: Scale,
    /// From where to where; what the data needs when `None`.
    pub range: Option<(f64, f64)>,
}

impl Axis {
    /// An axis of equal steps.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Linear, range: None }
    }

    /// An axis of equal ratios.
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Log, range: None }
    }

    /// From `low` to `high`, whatever the data.
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }
}

impl Axis {
    /// The same quantity laid out like this; a range is one of the scale that it was given for.
    pub(super) fn laid_out(&self, scale: Scale) -> Self {
        Self { scale, range: self.range.filter(|_| scale == self.scale), label: self.label.clone() }
    }
}

/// An axis laid out on the paper: `low` lies at `from`, `high` at `to`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Placed {
    pub(crate) scale: Scale,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Placed {
    /// Room for all `values`, and a margin of `pad` of the length at both ends.
    pub(crate) fn fit(axis: &Axis, values: impl Iterator<Item = f64>, pad: f64, from: f64, to: f64) -> Self {
        let scale = axis.scale;
        let shows = |v: f64| scale.shows(v);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        values.filter(|&v| shows(v)).for_each(|v| (low, high) = (low.min(v), high.max(v)));
        if low > high {
            (low, high) = if scale == Scale::Log { (1.0, 10.0) } else { (0.0, 1.0) };
        }
        let mut placed = Self { scale, low, high, from, to }.padded(pad);
        if let Some((low, high)) = axis.range
            && shows(low)
            && shows(high)
            && low < high
        {
            (placed.low, placed.high) = (low, high);
        }
        placed
    }

    fn padded(self, pad: f64) -> Self {
        let (a, b) = (self.warp(self.low), self.warp(self.high));
        // A constant series lies in the middle of some room: a fifth of its value, or of a decade.
        let least = if self.scale == Scale::Log { 0.2 } else { 0.2 * a.abs().max(1e-12) };
        let margin = if b - a > 1e-9 * a.abs().max(b.abs()) { pad * (b - a) } else { least };
        // The numbers of the axis stay numbers: room beyond the largest of them is none.
        let (least, most) = if self.scale == Scale::Log { (-323.0, 308.25) } else { (f64::MIN, f64::MAX) };
        Self { low: self.unwarp((a - margin).max(least)), high: self.unwarp((b + margin).min(most)), ..self }
    }

    fn warp(&self, value: f64) -> f64 {
        if self.scale == Scale::Log { value.log10() } else { value }
    }

    fn unwarp(&self, value: f64) -> f64 {
        if self.scale == Scale::Log { 10f64.powf(value) } else { value }
    }

    /// Where a value lies; `None` when it lies nowhere.
    pub(crate) fn at(&self, value: f64) -> Option<f64> {
        let (a, b) = (self.warp(self.low), self.warp(self.high));
        let place = self.from + (self.warp(value) - a) / (b - a) * (self.to - self.from);
        place.is_finite().then_some(place)
    }

    /// The value a share of the way along.
    pub(crate) fn value(&self, share: f64) -> f64 {
        let (a, b) = (self.warp(self.low), self.warp(self.high));
        self.unwarp(a + share * (b - a))
    }

    /// Whether a value lies inside, give or take rounding.
    pub(crate) fn holds(&self, value: f64) -> bool {
        let (first, last) = (self.from.min(self.to), self.from.max(self.to));
        self.at(value).is_some_and(|place| place >= first - 1e-6 && place <= last + 1e-6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_numbers_have_a_place_too() {
        for axis in [Axis::linear(""), Axis::log("")] {
            for values in [[1.0, f64::MAX], [5e-324, 1.0], [f64::MAX, f64::MAX]] {
                let placed = Placed::fit(&axis, values.into_iter(), 0.05, 0.0, 100.0);
                assert!(placed.low.is_finite() && placed.high.is_finite() && placed.low < placed.high, "{placed:?}");
                assert!(super::super::ticks::ticks(&placed, 8).len() < 10_000);
            }
        }
    }

    #[test]
    fn ends_lie_at_the_ends() {
        for axis in [Axis::linear(""), Axis::log("")] {
            let placed = Placed::fit(&axis, [1e-3, 5.0, f64::NAN, 1e4].into_iter(), 0.0, 10.0, 110.0);
            assert!((placed.at(1e-3).unwrap() - 10.0).abs() < 1e-9);
            assert!((placed.at(1e4).unwrap() - 110.0).abs() < 1e-9);
            assert!((placed.at(placed.value(0.3)).unwrap() - 40.0).abs() < 1e-9);
        }
    }

    #[test]
    fn zero_has_no_place_on_a_log_axis() {
        let placed = Placed::fit(&Axis::log(""), [0.0, -1.0, 1.0, 100.0].into_iter(), 0.0, 0.0, 1.0);
        assert_eq!((placed.low, placed.high), (1.0, 100.0));
        assert_eq!((placed.at(0.0), placed.at(-1.0)), (None, None));
    }

    #[test]
    fn no_data_and_constant_data_have_room() {
        for axis in [Axis::linear(""), Axis::log("")] {
            for values in [vec![], vec![f64::NAN], vec![3.0], vec![3.0, 3.0], vec![0.0]] {
                let placed = Placed::fit(&axis, values.iter().copied(), 0.04, 0.0, 1.0);
                assert!(placed.low < placed.high, "{axis:?} {values:?} {placed:?}");
            }
        }
    }
}
