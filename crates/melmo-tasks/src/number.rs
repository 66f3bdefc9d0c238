//! Numbers as people write them: `0.25`, `1e-3`, `7/12`.

use melmo::catalogue::Value;

use crate::error::Error;

/// The number that a text stands for; a fraction is one number over another.
pub fn parse(text: &str) -> Result<f64, Error> {
    let wrong = || Error::input("a number", format!("`{text}`"), "a number such as 0.25, 1e-3 or 7/12");
    let one = |part: &str| part.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let value = match text.split_once('/') {
        Some((over, under)) => one(over).zip(one(under)).map(|(over, under)| over / under),
        None => one(text),
    };
    value.filter(|value| value.is_finite()).ok_or_else(wrong)
}

/// What a text stands for as the value of a parameter: a number, or a word where it is none.
pub fn value(text: &str) -> Value {
    parse(text).map_or_else(|_| Value::from(text.trim().to_string()), Value::from)
}

/// A chosen weight with three digits: as good as any other near it, and easier to type again.
pub(crate) fn tidy(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// A number that [`parse`] reads back to the last digit; small and large ones without rows of zeros.
pub(crate) fn spell(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-4..1e15).contains(&size) { format!("{value}") } else { format!("{value:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spelled_is_read_back() {
        for (value, text) in [(0.0, "0"), (0.05, "0.05"), (2.5e-7, "2.5e-7"), (1e300, "1e300"), (-2.5e-10, "-2.5e-10")]
        {
            assert_eq!(spell(value), text);
            assert_eq!(parse(text).unwrap(), value);
        }
    }

    #[test]
    fn numbers_and_fractions() {
        assert_eq!(parse("7/12").unwrap(), 7.0 / 12.0);
        assert_eq!(parse(" -1e-3 ").unwrap(), -1e-3);
        assert_eq!(parse("1 / 3").unwrap(), 1.0 / 3.0);
    }

    #[test]
    fn what_is_none_is_refused() {
        for text in ["", "x", "1/0", "nan", "inf", "1/2/3", "1,5", "/2", "3/"] {
            assert!(parse(text).unwrap_err().to_string().contains("7/12"), "{text}");
        }
    }
}
