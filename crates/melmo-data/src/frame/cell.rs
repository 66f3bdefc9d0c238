//! One cell of a table: a number, a word, or nothing.

/// What stands for a missing cell.
const MISSING: [&str; 6] = ["", "NA", "N/A", "null", "NULL", "?"];

/// A cell that was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell {
    /// Blank, `NA`, `NaN`, ….
    Missing,
    /// A number with a decimal point, or with none.
    Number(f64),
    /// A number with a decimal comma.
    Comma(f64),
    /// Anything else.
    Word,
}

impl Cell {
    /// A comma is a decimal comma only where it does not stand between cells.
    pub fn read(text: &str, commas: bool) -> Self {
        let text = text.trim();
        if MISSING.contains(&text) {
            return Self::Missing;
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_nan() => Self::Missing,
            Ok(number) => Self::Number(number),
            Err(_) if commas && text.matches(',').count() == 1 && !text.contains('.') => {
                text.replace(',', ".").parse().map_or(Self::Word, Self::Comma)
            }
            Err(_) => Self::Word,
        }
    }

    /// NaN for what is missing, and for a word.
    pub fn number(self) -> f64 {
        match self {
            Self::Number(number) | Self::Comma(number) => number,
            Self::Missing | Self::Word => f64::NAN,
        }
    }
}

/// A whole number that `f64` does not tell from its neighbours: only its digits do.
pub(crate) fn long(text: &str) -> bool {
    let digits = text.trim().trim_start_matches(['+', '-']);
    digits.len() > 15 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// `1,234`: a decimal comma for some people, a thousand and more for others.
pub(crate) fn ambiguous(text: &str) -> bool {
    let digits = text.trim().trim_start_matches(['+', '-']);
    let [before, after] = digits.split(',').collect::<Vec<_>>()[..] else { return false };
    (1..=3).contains(&before.len()) && !before.starts_with('0') && after.len() == 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells() {
        for text in ["", " ", "NA", "NaN", "nan", "null", "?"] {
            assert_eq!(Cell::read(text, true), Cell::Missing, "{text}");
        }
        assert_eq!(Cell::read(" -1.5e3 ", false), Cell::Number(-1500.0));
        assert_eq!(Cell::read("-1,5", true), Cell::Comma(-1.5));
        for text in ["1,5", "1.234,5", "1,2,3", "12a", "a"] {
            assert_eq!(Cell::read(text, text != "1,5"), Cell::Word, "{text}");
        }
        assert!(long("1234567890123456789") && !long("123456") && !long("1234567890.123456"));
        assert!(ambiguous("1,234") && !ambiguous("0,125") && !ambiguous("1,25") && !ambiguous("1,234,567"));
    }
}
