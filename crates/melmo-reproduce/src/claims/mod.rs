//! The paper's own sentences about its experiments, each with the number that confirms or contradicts it: data first, a table
//! on the page second. What a sentence means in numbers is said beside it; where its words decide nothing, neither do we.

mod denoising;
mod factorisation;
mod rates;
mod recovery;

use crate::data::Set;
use crate::results::Results;

/// One sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Word for word; `…` where words are left out.
    pub sentence: &'static str,
    /// The section it stands in.
    pub place: &'static str,
    /// The words as numbers.
    pub reading: &'static str,
    /// What these runs say of it.
    pub ours: Evidence,
    /// What the paper's printed tables say of it, where they can.
    pub printed: Option<Evidence>,
}

/// A number, and what follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The number, in words.
    pub found: String,
    /// Whether the sentence holds; `None` where the words or the data do not allow to say.
    pub holds: Option<bool>,
}

impl Evidence {
    fn new(holds: bool, found: impl Into<String>) -> Self {
        Self { found: found.into(), holds: Some(holds) }
    }

    fn open(found: impl Into<String>) -> Self {
        Self { found: found.into(), holds: None }
    }

    fn missing() -> Self {
        Self::open("the data is not there")
    }
}

/// Every sentence that the runs can speak to. A quick run speaks to none.
pub fn claims(results: &Results) -> Vec<Claim> {
    if results.options.quick {
        return Vec::new();
    }
    let parts =
        [factorisation::claims(results), denoising::claims(results), recovery::claims(results), rates::claims(results)];
    parts.into_iter().flatten().collect()
}

/// A table: the number of a set, a row (rank or share) and a column (method), where there is one.
type Numbers<'a> = &'a dyn Fn(Set, usize, usize) -> Option<f64>;

/// A whole row, if it is there.
fn row<const N: usize>(numbers: Numbers, set: Set, row: usize) -> Option<[f64; N]> {
    let mut out = [0.0; N];
    for (column, value) in out.iter_mut().enumerate() {
        *value = numbers(set, row, column)?;
    }
    Some(out)
}

/// The least of some columns.
fn least(row: &[f64], columns: impl IntoIterator<Item = usize>) -> f64 {
    columns.into_iter().map(|column| row[column]).fold(f64::INFINITY, f64::min)
}

/// Four digits, as the paper prints.
fn short(value: f64) -> String {
    match value.abs() {
        v if !v.is_finite() => "diverged".into(),
        v if v >= 1000.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 0.01 => format!("{value:.3}"),
        _ => format!("{value:.1e}"),
    }
}

/// Numbers one after another.
fn list(values: impl IntoIterator<Item = f64>) -> String {
    values.into_iter().map(short).collect::<Vec<_>>().join(" / ")
}
