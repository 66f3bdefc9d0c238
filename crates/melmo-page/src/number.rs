//! Numbers as people read them.

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// So many significant digits, fewer for a number that has fewer: 0.5, 311.4, 0.01449, 1.23e-5, 12060.
    Significant(usize),
    /// So many digits after the point: 0.670.
    Fixed(usize),
    /// So many digits after the point of the mantissa: 1.449e-2.
    Scientific(usize),
    /// A share as a percentage with so many digits after the point: 12.5 %.
    Percent(usize),
}

impl Default for Format {
    fn default() -> Self {
        Self::Significant(4)
    }
}

impl Format {
    /// The number in ASCII (but for ∞ and the dash of a missing value).
    pub fn write(self, value: f64) -> String {
        if value.is_nan() {
            return "–".to_owned();
        }
        if value.is_infinite() {
            return if value > 0.0 { "∞" } else { "-∞" }.to_owned();
        }
        let text = match self {
            Self::Significant(digits) => significant(value, digits.max(1)),
            Self::Fixed(digits) => format!("{value:.digits$}"),
            Self::Scientific(digits) => format!("{value:.digits$e}"),
            Self::Percent(digits) => format!("{:.digits$} %", 100.0 * value),
        };
        match text.strip_prefix('-') {
            Some(rest) if !rest.contains(|c: char| ('1'..='9').contains(&c)) => rest.to_owned(),
            _ => text,
        }
    }
}

/// `digits` significant digits; whole numbers keep all of theirs up to a million.
fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    // The exponent after rounding: 999.96 to four digits is 1000.
    let rounded = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-3..6).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        shortest(&format!("{value:.decimals$}"), value).to_owned()
    } else {
        let unit: f64 = format!("1e{exponent}").parse().unwrap_or(1.0);
        format!("{}e{exponent}", shortest(mantissa, value / unit))
    }
}

/// Without the zeros at the end where the number has none: 0.5 is 0.5, but 812.03 to four digits is 812.0.
fn shortest(text: &str, value: f64) -> &str {
    let trimmed = trim_zeros(text);
    let same = trimmed.parse::<f64>().is_ok_and(|read| (read - value).abs() <= 1e-12 * value.abs());
    if same { trimmed } else { text }
}

/// Without the zeros at the end of a fraction.
pub(crate) fn trim_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// The typographic minus for a page.
pub(crate) fn with_minus(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(rest) => format!("−{rest}"),
        None => text.to_owned(),
    }
}

/// To six significant digits: what a chart can show, at half the bytes.
pub(crate) fn six_digits(value: f64) -> f64 {
    if value.is_finite() { format!("{value:.5e}").parse().unwrap_or(value) } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits() {
        for (value, text) in [
            (311.399, "311.4"),
            (0.0144873, "0.01449"),
            (1.2345e-5, "1.234e-5"),
            (1.2e-5, "1.2e-5"),
            (12060.0, "12060"),
            (128_700.4, "128700"),
            (1.5e7, "1.5e7"),
            (999.96, "1000"),
            (2.0, "2"),
            (812.03, "812.0"),
            (1.20004e-7, "1.200e-7"),
            (0.0, "0"),
            (-0.5, "-0.5"),
            (f64::INFINITY, "∞"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(Format::default().write(value), text, "{value}");
        }
    }

    #[test]
    fn other_formats() {
        assert_eq!(Format::Fixed(3).write(0.67), "0.670");
        assert_eq!(Format::Fixed(1).write(-0.01), "0.0");
        assert_eq!(Format::Scientific(3).write(0.01449), "1.449e-2");
        assert_eq!(Format::Percent(1).write(0.125), "12.5 %");
    }
}
