//! What constructors refuse. After construction nothing fails: a run ends with a [`Status`](crate::drive::Status).

use crate::real::Real;
use crate::suggest::nearest;

/// Why something could not be built. Every message says what was found, what was expected and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A length or a dimension does not fit.
    #[error("{what}: expected {expected} entries, got {got}")]
    Shape {
        /// What has the wrong size.
        what: &'static str,
        /// The size that fits.
        expected: usize,
        /// The size that was given.
        got: usize,
    },
    /// A block without entries, or one too large to address.
    #[error("block `{name}` is {rows}×{cols}: a block needs at least one entry, and no more than memory can address")]
    EmptyBlock {
        /// The block.
        name: String,
        /// Its rows.
        rows: usize,
        /// Its columns.
        cols: usize,
    },
    /// Two blocks of one name.
    #[error("two blocks are called `{name}`: give each its own name")]
    RepeatedBlock {
        /// The name.
        name: String,
    },
    /// NaN or ∞ where a number is needed.
    #[error("{what}: entry {index} is {value}; every entry must be finite")]
    NotFinite {
        /// The array.
        what: &'static str,
        /// The first offending entry.
        index: usize,
        /// What stands there.
        value: f64,
    },
    /// A mask entry that is neither 0 nor 1.
    #[error("{what}: entry {index} is {value}; a mask holds 0 and 1 only")]
    NotBinary {
        /// The mask.
        what: &'static str,
        /// The first offending entry.
        index: usize,
        /// What stands there.
        value: f64,
    },
    /// A parameter outside its range.
    #[error("{name} = {value}: must be {must}")]
    Parameter {
        /// The parameter's name.
        name: &'static str,
        /// The value given.
        value: f64,
        /// What it has to satisfy.
        must: &'static str,
    },
    /// A smoothing parameter for which the envelope is not smooth.
    #[error("β = {beta} exceeds 1/(2ρ) = {limit} of a penalty with ρ = {rho}: choose β ≤ {limit}")]
    Beta {
        /// The β given.
        beta: f64,
        /// The largest β allowed, 1/(2ρ).
        limit: f64,
        /// The penalty's weak convexity.
        rho: f64,
    },
    /// A word where a number belongs.
    #[error("`{name}`: found `{word}`; expected a number: {about}")]
    NotANumber {
        /// The parameter.
        name: &'static str,
        /// What was given for it.
        word: String,
        /// What it means.
        about: &'static str,
    },
    /// A name that nothing carries.
    #[error("no {kind} is called `{name}`; {}", listed(name, known))]
    UnknownName {
        /// What kind of thing was looked for.
        kind: String,
        /// The name given.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// No number of threads.
    #[error(transparent)]
    Threads(#[from] crate::threads::Refused),
    /// A combination that has no meaning.
    #[error("{0}")]
    Unsupported(String),
}

/// What may have been meant, and all that there is.
fn listed(name: &str, known: &[String]) -> String {
    if known.is_empty() {
        return "there is none".into();
    }
    let meant = nearest(name, known).map_or(String::new(), |meant| format!("did you mean `{meant}`? "));
    format!("{meant}known: {}", known.join(", "))
}

impl Error {
    /// `Ok` when the two sizes agree.
    pub fn expect_len(what: &'static str, expected: usize, got: usize) -> Result<(), Self> {
        if expected == got { Ok(()) } else { Err(Self::Shape { what, expected, got }) }
    }

    /// `Ok` when every entry is finite; the error names the first that is not.
    pub fn expect_finite<S: Real>(what: &'static str, data: &[S]) -> Result<(), Self> {
        match data.iter().position(|v| !v.is_finite()) {
            Some(index) => Err(Self::NotFinite { what, index, value: data[index].f64() }),
            None => Ok(()),
        }
    }

    /// `Ok` when every entry is 0 or 1.
    pub fn expect_mask<S: Real>(what: &'static str, mask: &[S]) -> Result<(), Self> {
        match mask.iter().position(|&v| v != S::ZERO && v != S::ONE) {
            Some(index) => Err(Self::NotBinary { what, index, value: mask[index].f64() }),
            None => Ok(()),
        }
    }

    /// `Ok(value)` when the condition on a parameter holds.
    pub fn expect_parameter(name: &'static str, value: f64, holds: bool, must: &'static str) -> Result<f64, Self> {
        if holds { Ok(value) } else { Err(Self::Parameter { name, value, must }) }
    }

    /// `Ok(value)` when the parameter is a finite number above zero.
    pub fn expect_positive(name: &'static str, value: f64) -> Result<f64, Self> {
        Self::expect_parameter(name, value, value > 0.0 && value.is_finite(), "a finite number above 0")
    }
}
