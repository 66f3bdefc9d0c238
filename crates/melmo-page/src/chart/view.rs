//! Everything that the page can show of a chart: along each of its axes, on linear and logarithmic scales.

use super::draw::{self, Drawn, Frame};
use super::{Chart, Scale};
use crate::scene::svg;

/// One way to look at a chart: along which axis, and how both are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct View {
    axis: usize,
    x: Scale,
    y: Scale,
}

impl View {
    /// All of a chart's, the one that is shown first before the others.
    pub(super) fn all(chart: &Chart) -> Vec<Self> {
        let scales = [Scale::Linear, Scale::Log];
        let both = scales.into_iter().flat_map(|x| scales.map(|y| (x, y)));
        let axes = 0..chart.x.len().max(1);
        let mut all: Vec<Self> = axes.flat_map(|axis| both.clone().map(move |(x, y)| Self { axis, x, y })).collect();
        let axis = chart.first();
        let first = Self { axis, x: chart.x.get(axis).map_or(Scale::Linear, |axis| axis.scale), y: chart.y.scale };
        all.sort_by_key(|view| *view != first);
        all
    }

    /// The drawings of the view, for a wide and for a narrow page, of which the page shows the one that fits.
    pub(super) fn html(self, chart: &Chart) -> String {
        let dropped = self.dropped(chart);
        let seen = self.of(chart);
        let drawings: String = [("wide", Frame::WIDE), ("narrow", Frame::NARROW)]
            .map(|(name, frame)| drawing(&seen, name, &frame))
            .concat();
        let (x, y) = (self.x.name(), self.y.name());
        format!("<div class=\"view\" data-view=\"{} {x} {y}\">\n{drawings}{dropped}</div>\n", self.axis)
    }

    /// The chart with this view as the one that is shown.
    fn of(self, chart: &Chart) -> Chart {
        let mut x = chart.x.clone();
        x.iter_mut().skip(self.axis).take(1).for_each(|axis| *axis = axis.laid_out(self.x));
        Chart { x, y: chart.y.laid_out(self.y), shown: self.axis, ..chart.clone() }
    }

    /// How many values have no place, in words.
    fn dropped(self, chart: &Chart) -> String {
        let homeless = |&(x, y): &(f64, f64)| x.is_finite() && y.is_finite() && !(self.x.shows(x) && self.y.shows(y));
        let points = chart.series.iter().filter_map(|series| Some((series.x.get(self.axis)?, series)));
        let count: usize = points
            .map(|(x, series)| {
                x.iter().copied().zip(series.y.iter().copied()).take(series.len()).filter(homeless).count()
            })
            .sum();
        match count {
            0 => String::new(),
            1 => {
                "<p class=\"caption\">1 value is zero or negative and has no place on a logarithmic axis.</p>\n".into()
            }
            _ => format!(
                "<p class=\"caption\">{count} values are zero or negative and have no place on a logarithmic axis.</p>\n"
            ),
        }
    }
}

/// A drawing in a box that says where its axes lie: their ends, and where those are.
fn drawing(chart: &Chart, name: &str, frame: &Frame) -> String {
    let Drawn { scene, x, y } = draw::draw(chart, frame);
    let [x, y] = [x, y].map(|axis| format!("{:e} {:e} {:.1} {:.1}", axis.low, axis.high, axis.from, axis.to));
    let picture = svg::write(&scene, &chart.description(), svg::Target::Page);
    format!("<div class=\"{name}\" data-x=\"{x}\" data-y=\"{y}\">{picture}</div>\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Series};

    fn sample() -> Chart {
        Chart::new("", [Axis::log("k"), Axis::linear("s").range(0.0, 5.0)], Axis::log("F"))
            .series(Series::new("a", [0.0, 1.0, 2.0], [3.0, 0.0, -1.0]).also_against([1.0, 2.0, 3.0]))
            .shown(1)
    }

    #[test]
    fn what_is_shown_comes_first_and_every_view_once() {
        let all = View::all(&sample());
        assert_eq!(all[0], View { axis: 1, x: Scale::Linear, y: Scale::Log });
        assert_eq!(all.len(), 8);
        assert!(all.iter().all(|view| all.iter().filter(|other| *other == view).count() == 1));
        assert_eq!(View::all(&Chart::new("", [], Axis::linear(""))).len(), 4);
    }

    #[test]
    fn a_range_is_that_of_its_own_scale() {
        let [linear, log] = [Scale::Linear, Scale::Log].map(|x| View { axis: 1, x, y: Scale::Log }.of(&sample()));
        assert_eq!((linear.x[1].range, log.x[1].range), (Some((0.0, 5.0)), None));
        assert_eq!((log.x[0].scale, log.first()), (Scale::Log, 1));
    }

    #[test]
    fn values_without_a_place_are_counted_as_long_as_there_is_none() {
        let words = |axis, x, y| View { axis, x, y }.dropped(&sample());
        assert!(words(0, Scale::Log, Scale::Log).contains(">3 values are"), "one by its x, two by their y");
        assert!(words(0, Scale::Log, Scale::Linear).contains(">1 value is"));
        assert!(words(1, Scale::Linear, Scale::Log).contains(">2 values are"));
        assert_eq!(words(1, Scale::Log, Scale::Linear), "");
    }

    #[test]
    fn a_drawing_says_where_its_axes_lie() {
        let html = View { axis: 1, x: Scale::Linear, y: Scale::Linear }.html(&sample());
        assert_eq!(html.matches("data-x=\"0e0 5e0 ").count(), 2, "{html}");
        assert!(html.contains("class=\"wide\"") && html.contains("class=\"narrow\""));
    }
}
