//! What a penalty is, as data.

use std::ops::Range;

use crate::penalty::{Prox, Spline};

/// What a penalty is, as data, for those who evaluate it elsewhere: a device needs formulas, not methods.
#[non_exhaustive]
pub enum Form<'a, S> {
    /// Nothing that anybody knows of.
    General,
    /// Σᵢ wᵢψ(uᵢ).
    Entries {
        /// ψ.
        psi: Psi,
        /// w; all ones when there is none.
        weights: Option<&'a [S]>,
    },
    /// Σᵢ wᵢψ(‖uᵢ‖₂), uᵢ the same entry of every block.
    Pixels {
        /// ψ.
        psi: Psi,
        /// w; all ones when there is none.
        weights: Option<&'a [S]>,
        /// How many blocks there are.
        blocks: usize,
    },
    /// Σ_g w_gψ(‖u_g‖₂) over groups g of entries. An entry in no group is not penalised.
    Groups {
        /// ψ.
        psi: Psi,
        /// w; all ones when there is none.
        weights: Option<&'a [S]>,
        /// Which entries form a group.
        groups: Grouping<'a>,
    },
    /// Σ_b w_b·g_b(u_b) over blocks b. A block without a part is not penalised.
    Blocks(Vec<Part<'a, S>>),
}

/// A block's penalty: `weight` times g of these entries.
pub struct Part<'a, S> {
    /// The entries of the block.
    pub range: Range<usize>,
    /// w_b.
    pub weight: f64,
    /// g_b.
    pub g: &'a dyn Prox<S>,
}

/// Which entries of a buffer form a group.
#[derive(Clone, Copy, Debug)]
pub enum Grouping<'a> {
    /// Rows or columns of matrices, one matrix after another.
    Pieces(&'a [Piece]),
    /// Group g is `indices[offsets[g]..offsets[g + 1]]`.
    Given {
        /// Entries.
        indices: &'a [usize],
        /// Where each group begins, and where the last ends.
        offsets: &'a [usize],
    },
}

/// `groups` groups of `len` entries each in a matrix of the buffer: its rows (contiguous) or its columns (strided).
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// Where the matrix begins.
    pub start: usize,
    /// How many groups.
    pub groups: usize,
    /// Entries of each.
    pub len: usize,
    /// Entry m of group g stands at m·groups + g, not at g·len + m.
    pub strided: bool,
}

/// A penalty of one number: a formula, on all numbers or on those that are not negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Psi {
    /// The formula.
    pub shape: Shape,
    /// ∞ below 0.
    pub nonnegative: bool,
}

impl From<Shape> for Psi {
    fn from(shape: Shape) -> Self {
        Self { shape, nonnegative: false }
    }
}

/// The formula of a penalty, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant)] // a problem has a few, and nobody looks at them in a loop
pub enum Shape {
    /// λ|x|.
    L1 {
        /// λ.
        lambda: f64,
    },
    /// λ|x| − x²/(2μ) up to μλ, constant from there.
    Mcp {
        /// λ.
        lambda: f64,
        /// μ.
        mu: f64,
    },
    /// λ|x| up to λ, bent down to aλ, constant from there.
    Scad {
        /// λ.
        lambda: f64,
        /// a.
        a: f64,
    },
    /// λx²/(2δ) up to δ, linear from there.
    Huber {
        /// λ.
        lambda: f64,
        /// δ.
        delta: f64,
    },
    /// λ·log(1 + |x|/θ).
    LogSum {
        /// λ.
        lambda: f64,
        /// θ.
        theta: f64,
    },
    /// λ|x| + νx²/2.
    ElasticNet {
        /// λ.
        lambda: f64,
        /// ν.
        nu: f64,
    },
    /// νx²/2.
    Ridge {
        /// ν.
        nu: f64,
    },
    /// 0 in an interval, ∞ outside.
    Interval {
        /// Its lower end; −∞ where there is none.
        lower: f64,
        /// Its upper end; ∞ where there is none.
        upper: f64,
    },
    /// ψ′ is piecewise linear.
    Spline(Spline),
}
