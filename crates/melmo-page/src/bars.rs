//! Bars: a number for each of several names.

use crate::number::{Format, with_minus};
use crate::{escape, markup};

/// Numbers by name, as bars from one zero: positive ones to the right, negative ones to the left.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// What is shown.
    pub title: String,
    /// What a reader should see in it.
    pub caption: Option<String>,
    /// Names, the lengths of their bars, and the numbers written beside them.
    pub bars: Vec<(String, f64, f64)>,
}

impl Bars {
    /// No bars yet.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), caption: None, bars: Vec::new() }
    }

    /// With a line of text below.
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = Some(caption.into());
        self
    }

    /// With one more bar: of one length, and with a number beside it.
    pub fn bar(mut self, name: impl Into<String>, length: f64, number: f64) -> Self {
        self.bars.push((name.into(), length, number));
        self
    }

    pub(crate) fn html(&self) -> String {
        let finite = || self.bars.iter().map(|bar| bar.1).filter(|length| length.is_finite());
        let (low, high) = (finite().fold(0.0, f64::min), finite().fold(0.0, f64::max));
        // Halves first: the width of a range may be larger than any number.
        let unit = 50.0 / (0.5 * high - 0.5 * low).max(1e-300);
        let row = |(name, length, number): &(String, f64, f64)| {
            let (from, to) = if *length < 0.0 { (*length, 0.0) } else { (0.0, *length) };
            let mark = match length.is_finite() {
                true => format!(
                    "<rect class=\"{}\" x=\"{:.2}\" width=\"{:.2}\" height=\"10\"/>",
                    if *length < 0.0 { "below" } else { "above" },
                    unit * (from - low),
                    unit * (to - from)
                ),
                false => String::new(),
            };
            format!(
                "<tr><th scope=\"row\">{}</th><td><svg viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">{mark}\
                 </svg></td><td>{}</td></tr>",
                markup::html(name),
                escape::html(&with_minus(&Format::default().write(*number)))
            )
        };
        let rows: String = self.bars.iter().map(row).collect();
        let caption = self.caption.as_deref().map(|text| format!("<p class=\"caption\">{}</p>", markup::html(text)));
        format!(
            "<figure class=\"bars card\"><figcaption class=\"title\">{}</figcaption><table>{rows}</table>{}</figure>\n",
            markup::html(&self.title),
            caption.unwrap_or_default()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_share_a_zero_and_fill_the_width() {
        let html = Bars::new("b").bar("up", 3.0, 30.0).bar("down < 0", -1.0, -10.0).html();
        assert!(html.contains("<rect class=\"above\" x=\"25.00\" width=\"75.00\""), "{html}");
        assert!(html.contains("<rect class=\"below\" x=\"0.00\" width=\"25.00\""), "{html}");
        assert!(html.contains("down &lt; 0") && html.contains("<td>30</td>") && html.contains("−10"));
    }

    #[test]
    fn odd_numbers_are_drawn_too() {
        for length in [0.0, f64::NAN, f64::INFINITY, f64::MAX, -f64::MAX, 5e-324] {
            let html = Bars::new("").bar("", length, length).bar("", -length, 0.0).html();
            assert!(!html.contains("\"NaN") && !html.contains("\"inf"), "{html}");
        }
    }
}
