//! Products of matrices, as a machine is told of them.

use crate::machine::Address;

/// How the numbers of a matrix are stored, by the numbers of `kernels/format.cuh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Format {
    /// f64.
    Double = 0,
    /// f32.
    Single = 1,
    /// Half precision: 11 binary digits, from 6·10⁻⁸ to 65504.
    Half = 2,
    /// bfloat16: 8 binary digits, the range of f32.
    Brain = 3,
    /// f32, of which products take the first 11 binary digits.
    Tf32 = 4,
}

impl Format {
    /// Bytes of a number.
    pub fn bytes(self) -> usize {
        match self {
            Self::Double => 8,
            Self::Single | Self::Tf32 => 4,
            Self::Half | Self::Brain => 2,
        }
    }

    /// What products of such numbers are summed in.
    pub fn sums(self) -> Self {
        if self == Self::Double { Self::Double } else { Self::Single }
    }
}

/// A factor: a row-major matrix, or its transpose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    /// Where it is.
    pub at: Address,
    /// Entries from one row of what is stored to the next.
    pub stride: usize,
    /// Its transpose is meant.
    pub turned: bool,
}

impl Factor {
    /// A matrix as it is stored.
    pub fn plain(at: Address, stride: usize) -> Self {
        Self { at, stride, turned: false }
    }

    /// The transpose of what is stored.
    pub fn turned(at: Address, stride: usize) -> Self {
        Self { at, stride, turned: true }
    }
}

/// C ← αAB + βC, row-major; sums in [`Format::sums`] of the factors' format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Product {
    /// C.
    pub to: Factor,
    /// How C is stored.
    pub stored: Format,
    /// A.
    pub left: Factor,
    /// B.
    pub right: Factor,
    /// How A and B are stored.
    pub format: Format,
    /// Rows of C, columns of C, columns of A.
    pub size: [usize; 3],
    /// α.
    pub alpha: f64,
    /// β.
    pub beta: f64,
}
