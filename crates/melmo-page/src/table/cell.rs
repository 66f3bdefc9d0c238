//! A cell, and how well our number agrees with a published one.

/// What stands in one place of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// What it holds.
    pub value: Value,
    /// Whether it stands out: the best of its row, say.
    pub strong: bool,
}

/// What a cell holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    Empty,
    /// Marked-up text.
    Text(String),
    /// A number, written in the column's format.
    Number(f64),
    /// Our number beside a published one, with their ratio.
    Compared {
        /// Ours.
        ours: f64,
        /// The published one.
        published: f64,
        /// The least and the largest of ours, over seeds say: a published number inside it agrees.
        range: Option<(f64, f64)>,
    },
}

impl Cell {
    /// Nothing.
    pub const EMPTY: Self = Self { value: Value::Empty, strong: false };

    /// Our number beside a published one.
    pub fn compared(ours: f64, published: f64) -> Self {
        Self { value: Value::Compared { ours, published, range: None }, strong: false }
    }

    /// Our number, the range ours has, and a published one.
    pub fn compared_in(ours: f64, published: f64, range: (f64, f64)) -> Self {
        Self { value: Value::Compared { ours, published, range: Some(range) }, strong: false }
    }

    /// Standing out.
    pub fn strong(mut self) -> Self {
        self.strong = true;
        self
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self { value: Value::Number(value), strong: false }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self { value: Value::Text(text.to_owned()), strong: false }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { value: Value::Text(text), strong: false }
    }
}

/// How near ours / published has to be to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Agrees up to this: 0.02 is two percent.
    pub close: f64,
    /// Is near up to this.
    pub near: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { close: 0.02, near: 0.10 }
    }
}

/// How well two numbers agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Within the close tolerance, or the published number lies in our range.
    Agrees,
    /// Within the near tolerance.
    Near,
    /// Further apart.
    Differs,
}

impl Agreement {
    /// Of our number with a published one.
    pub fn of(ours: f64, published: f64, range: Option<(f64, f64)>, tolerance: Tolerance) -> Self {
        let inside = range.is_some_and(|(low, high)| low <= published && published <= high);
        let apart = if ours == published { 0.0 } else { (ours / published - 1.0).abs() };
        // 0.98 is two percent off, whatever 1 - 0.98 is in binary.
        let within = |tolerance: f64| apart <= tolerance + 1e-12;
        if inside || within(tolerance.close) {
            Self::Agrees
        } else if within(tolerance.near) {
            Self::Near
        } else {
            Self::Differs
        }
    }

    /// Its name, which is its class in the page.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Near => "near",
            Self::Differs => "differs",
        }
    }

    /// Its sign, for readers who do not see its colour.
    pub(crate) fn sign(self) -> char {
        match self {
            Self::Agrees => '●',
            Self::Near => '◐',
            Self::Differs => '○',
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_by_ratio_and_range() {
        let of = |ours, published, range| Agreement::of(ours, published, range, Tolerance::default());
        assert_eq!(of(101.0, 100.0, None), Agreement::Agrees);
        assert_eq!(of(92.0, 100.0, None), Agreement::Near);
        assert_eq!(of(60.0, 100.0, None), Agreement::Differs);
        assert_eq!(of(92.0, 100.0, Some((88.0, 101.0))), Agreement::Agrees);
        assert_eq!(of(98.0, 100.0, None), Agreement::Agrees);
        assert_eq!(of(0.0, 0.0, None), Agreement::Agrees);
        assert_eq!(of(f64::NAN, 1.0, None), Agreement::Differs);
    }
}
