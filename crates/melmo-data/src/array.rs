//! A dense array of numbers, and what kind of numbers it came from.

use crate::error::{Error, Place};
use crate::limits::{Limits, RAISE};

/// The numbers a file stores; in memory all of them are `f64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Kind {
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
}

impl Kind {
    /// The bytes of one number.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }

    /// The smallest and the largest number of a kind of integers or truth values. Those of 64 bits end where `f64`
    /// stops being exact, at ±2⁵³.
    #[must_use]
    pub fn bounds(self) -> Option<(f64, f64)> {
        const EXACT: f64 = (1_u64 << 53) as f64;
        match self {
            Self::F32 | Self::F64 => None,
            Self::Bool => Some((0.0, 1.0)),
            Self::I8 => Some((i8::MIN.into(), i8::MAX.into())),
            Self::I16 => Some((i16::MIN.into(), i16::MAX.into())),
            Self::I32 => Some((i32::MIN.into(), i32::MAX.into())),
            Self::I64 => Some((-EXACT, EXACT)),
            Self::U8 => Some((0.0, u8::MAX.into())),
            Self::U16 => Some((0.0, u16::MAX.into())),
            Self::U32 => Some((0.0, u32::MAX.into())),
            Self::U64 => Some((0.0, EXACT)),
        }
    }
}

/// Numbers in row-major order: the last index runs fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The length of each axis.
    pub shape: Vec<usize>,
    /// The entries, as many as the product of `shape`.
    pub data: Vec<f64>,
    /// What the numbers were in the file, and will be when written.
    pub kind: Kind,
}

impl Array {
    /// An array of `f64`; the shape has to fit the data.
    pub fn new(shape: impl Into<Vec<usize>>, data: Vec<f64>) -> Result<Self, Error> {
        let array = Self { shape: shape.into(), data, kind: Kind::F64 };
        array.check_shape()?;
        Ok(array)
    }

    /// Rows and columns: a vector is one column; `None` beyond two axes.
    #[must_use]
    pub fn rows_cols(&self) -> Option<(usize, usize)> {
        match self.shape[..] {
            [n] => Some((n, 1)),
            [m, n] => Some((m, n)),
            _ => None,
        }
    }

    /// `Ok` when shape and data agree: the fields are public, so writers ask.
    pub fn check_shape(&self) -> Result<(), Error> {
        if count(&self.shape) == Some(self.data.len()) {
            return Ok(());
        }
        let expected = format!("{} entries, the length of the data", self.data.len());
        Err(Error::argument("the shape of an array", format!("{:?}", self.shape), expected))
    }

    /// `Ok` when every entry is a number of the array's kind.
    pub fn check_kind(&self) -> Result<(), Error> {
        let Some((low, high)) = self.kind.bounds() else { return Ok(()) };
        match self.data.iter().position(|&v| !(v >= low && v <= high && v.fract() == 0.0)) {
            None => Ok(()),
            Some(entry) => Err(Error::malformed(
                Place::Entry(entry),
                format!("{}", self.data[entry]),
                format!("a whole number from {low} to {high}, as {:?} is here", self.kind),
                "the kind F64",
            )),
        }
    }
}

/// The number of entries of a shape; `None` when it overflows.
pub(crate) fn count(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) { Some(0) } else { shape.iter().try_fold(1_usize, |n, &d| n.checked_mul(d)) }
}

/// `Ok` where a sparse input of so many bytes may become rows×cols numbers.
pub(crate) fn check_size(rows: usize, cols: usize, limits: &Limits, bytes: usize) -> Result<(), Error> {
    match rows.checked_mul(cols) {
        Some(n) if n <= limits.of(bytes) => limits.sides(rows, cols, bytes),
        _ => Err(Error::too_large(Place::Whole, format!("a {rows}×{cols} matrix"), limits.because(bytes), RAISE)),
    }
}

/// Zeros for rows×cols entries of a sparse input of so many bytes, unless those are more than the limit.
pub(crate) fn zeros(rows: usize, cols: usize, limits: &Limits, bytes: usize) -> Result<Vec<f64>, Error> {
    check_size(rows, cols, limits, bytes)?;
    Ok(vec![0.0; rows * cols])
}
