//! A series of points and how it is drawn.

/// How a series is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// A line, with a few of the series' marks on it.
    #[default]
    Line,
    /// A broken line.
    Dashed,
    /// A mark at every point.
    Points,
    /// A value holds until the next one.
    Step,
}

/// Values of one quantity. A value that is not finite leaves a gap; what goes beyond the shortest list is not shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Where the values lie along each of the chart's x axes.
    pub x: Vec<Vec<f64>>,
    /// The values.
    pub y: Vec<f64>,
    /// A shaded range around them: the least and largest over seeds, say.
    pub band: Option<(Vec<f64>, Vec<f64>)>,
    /// How it is drawn.
    pub style: Style,
    /// Which colour and mark it has; its place in the chart when `None`. A method keeps its slot across charts.
    pub slot: Option<usize>,
}

impl Series {
    /// A line through (x, y), x along the chart's first x axis.
    pub fn new(name: impl Into<String>, x: impl Into<Vec<f64>>, y: impl Into<Vec<f64>>) -> Self {
        Self { name: name.into(), x: vec![x.into()], y: y.into(), band: None, style: Style::Line, slot: None }
    }

    /// The same values against the chart's next x axis.
    pub fn also_against(mut self, x: impl Into<Vec<f64>>) -> Self {
        self.x.push(x.into());
        self
    }

    /// With a shaded range.
    pub fn band(mut self, low: impl Into<Vec<f64>>, high: impl Into<Vec<f64>>) -> Self {
        self.band = Some((low.into(), high.into()));
        self
    }

    /// Drawn differently.
    pub fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// With the n-th colour and mark.
    pub fn slot(mut self, n: usize) -> Self {
        self.slot = Some(n);
        self
    }

    /// All lists of values: the line's and those of its band.
    pub(crate) fn values(&self) -> Vec<&[f64]> {
        let band = self.band.iter().flat_map(|(low, high)| [low, high]);
        std::iter::once(&self.y).chain(band).map(|values| &values[..self.len()]).collect()
    }

    /// How many points have a value and a place along every axis.
    pub(crate) fn len(&self) -> usize {
        let band = self.band.as_ref().map_or(usize::MAX, |(low, high)| low.len().min(high.len()));
        self.x.iter().map(Vec::len).chain([self.y.len(), band]).min().unwrap_or(0)
    }
}
