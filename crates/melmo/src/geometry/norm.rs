//! Norms as data, with their plain definitions: what certificates store and verification recomputes.

use serde::{Deserialize, Serialize};

use crate::block::Block;
use crate::error::Error;
use crate::geometry::{Bracket, Equivalence, proof};
use crate::real::Real;
use crate::vector::{self, ROUNDINGS};

/// The norms of `geometry`, by the name users type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Norm {
    /// Σ|xᵢ|.
    L1,
    /// √Σxᵢ².
    L2,
    /// max|xᵢ|.
    Linf,
    /// The largest singular value.
    Spectral,
    /// The sum of the singular values.
    Nuclear,
    /// The largest ℓ2 norm of a column.
    Column,
    /// The largest ℓ2 norm of a row.
    Row,
    /// A norm of the user's own, which only its geometry can compute.
    Other,
}

impl Norm {
    /// The norms that this library can compute by definition.
    pub const ALL: [Self; 7] = [Self::L1, Self::L2, Self::Linf, Self::Spectral, Self::Nuclear, Self::Column, Self::Row];

    /// The name users type.
    pub fn name(self) -> &'static str {
        match self {
            Self::L1 => "l1",
            Self::L2 => "l2",
            Self::Linf => "linf",
            Self::Spectral => "spectral",
            Self::Nuclear => "nuclear",
            Self::Column => "column",
            Self::Row => "row",
            Self::Other => "other",
        }
    }

    /// ‖x‖ by its definition, bracketed whatever rounding does. Allocates; `None` for a norm of the user's own.
    pub fn primal<S: Real>(self, x: &[S], rows: usize, cols: usize) -> Option<Bracket> {
        Some(match self {
            Self::L1 => Bracket::rounded(vector::norm1(x), ROUNDINGS),
            Self::L2 => Bracket::rounded(vector::norm2(x), ROUNDINGS),
            Self::Linf => Bracket::exact(vector::norm_inf(x)),
            Self::Column => Bracket::rounded(vector::norm_inf(&column_norms(x, rows, cols)), ROUNDINGS),
            Self::Row => Bracket::rounded(vector::norm_inf(&row_norms(x, cols)), ROUNDINGS),
            Self::Spectral => proof::largest(x, rows, cols),
            Self::Nuclear => proof::sum(x, rows, cols),
            Self::Other => return None,
        })
    }

    /// ‖φ‖_* by its definition, bracketed whatever rounding does. Allocates; `None` for a norm of the user's own.
    pub fn dual<S: Real>(self, phi: &[S], rows: usize, cols: usize) -> Option<Bracket> {
        Some(match self {
            Self::L1 => Bracket::exact(vector::norm_inf(phi)),
            Self::L2 => Bracket::rounded(vector::norm2(phi), ROUNDINGS),
            Self::Linf => Bracket::rounded(vector::norm1(phi), ROUNDINGS),
            Self::Column => Bracket::rounded(vector::norm1(&column_norms(phi, rows, cols)), 2.0 * ROUNDINGS),
            Self::Row => Bracket::rounded(vector::norm1(&row_norms(phi, cols)), 2.0 * ROUNDINGS),
            Self::Spectral => proof::sum(phi, rows, cols),
            Self::Nuclear => proof::largest(phi, rows, cols),
            Self::Other => return None,
        })
    }

    /// c with ‖·‖_* ≤ c‖·‖₂ on a rows×cols block; `None` for a norm of the user's own.
    pub fn dual_growth(self, rows: usize, cols: usize) -> Option<f64> {
        let squared = match self {
            Self::L1 | Self::L2 | Self::Nuclear => 1,
            Self::Linf => rows * cols,
            Self::Spectral => rows.min(cols),
            Self::Column => cols,
            Self::Row => rows,
            Self::Other => return None,
        };
        Some((squared as f64).sqrt())
    }

    /// c₁ and c₃ on a rows×cols block; `None` for a norm of the user's own.
    pub fn equivalence(self, rows: usize, cols: usize) -> Option<Equivalence> {
        let c = match self {
            Self::L2 | Self::Linf | Self::Spectral | Self::Row | Self::Column => 1.0,
            Self::L1 => ((rows * cols) as f64).sqrt(),
            Self::Nuclear => (rows.min(cols) as f64).sqrt(),
            Self::Other => return None,
        };
        Some(Equivalence { c1: c, c3: c })
    }
}

impl std::fmt::Display for Norm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Norm {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|n| n.name() == name).ok_or_else(|| Error::UnknownName {
            kind: "geometry".into(),
            name: name.into(),
            known: Self::ALL.iter().map(|n| n.name().into()).collect(),
        })
    }
}

fn row_norms<S: Real>(x: &[S], cols: usize) -> Vec<f64> {
    x.chunks_exact(cols).map(vector::norm2).collect()
}

fn column_norms<S: Real>(x: &[S], rows: usize, cols: usize) -> Vec<f64> {
    let mut column = vec![S::ZERO; rows];
    let mut norm = |j: usize| {
        column.iter_mut().enumerate().for_each(|(i, entry)| *entry = x[i * cols + j]);
        vector::norm2(&column)
    };
    (0..cols).map(&mut norm).collect()
}

/// The norm of one block inside a product: ‖x‖ = max over blocks of ‖x_b‖/radius.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockNorm {
    /// The block it measures.
    pub block: Block,
    /// The norm on that block.
    pub norm: Norm,
    /// The radius r_b > 0; 1 unless the user chose another.
    pub radius: f64,
}

/// ‖φ‖_* = Σ_b r_b‖φ_b‖_* by its definition, bracketed whatever rounding does.
pub fn product_dual<S: Real>(norms: &[BlockNorm], phi: &[S]) -> Option<Bracket> {
    let blocks =
        norms.iter().map(|b| Some((b.radius, b.norm.dual(&phi[b.block.range()], b.block.rows, b.block.cols)?)));
    let total = blocks.collect::<Option<Vec<_>>>()?.into_iter().map(|(radius, part)| part.times(radius));
    Some(Bracket::sum(total))
}

/// ‖x‖ = max_b ‖x_b‖/r_b by its definition, bracketed whatever rounding does.
pub fn product_primal<S: Real>(norms: &[BlockNorm], x: &[S]) -> Option<Bracket> {
    norms.iter().try_fold(Bracket::default(), |m, b| {
        let part = b.norm.primal(&x[b.block.range()], b.block.rows, b.block.cols)?.times(1.0 / b.radius);
        let larger = |m: f64, part: f64| if part > m || part.is_nan() { part } else { m };
        Some(Bracket { lower: larger(m.lower, part.lower), upper: larger(m.upper, part.upper) })
    })
}

/// c with ‖·‖_* ≤ c‖·‖₂: Σ r_b c_b‖v_b‖₂ ≤ √(Σ (r_b c_b)²)·‖v‖₂.
pub fn product_dual_growth(norms: &[BlockNorm]) -> Option<f64> {
    let squares = norms.iter().map(|b| Some((b.radius * b.norm.dual_growth(b.block.rows, b.block.cols)?).powi(2)));
    squares.sum::<Option<f64>>().map(f64::sqrt)
}

/// Refuses blocks that leave out or count twice a part of a variable of `size` entries, empty ones, and radii that are none.
pub fn check_tiling(norms: &[BlockNorm], size: usize) -> Result<(), Error> {
    let mut blocks: Vec<&BlockNorm> = norms.iter().collect();
    blocks.sort_by_key(|b| b.block.start);
    let mut covered = 0;
    for BlockNorm { block, radius, .. } in blocks {
        Error::expect_len("where a block of the norm starts", covered, block.start)?;
        Error::expect_positive("radius", *radius)?;
        let entries = block.rows.checked_mul(block.cols).filter(|&entries| entries > 0);
        let end = entries.and_then(|entries| entries.checked_add(covered)).filter(|&end| end <= size);
        let Block { name, rows, cols, .. } = block.clone();
        covered = end.ok_or(Error::EmptyBlock { name, rows, cols })?;
    }
    Error::expect_len("the norm measures the whole variable", size, covered)
}

/// c₁ and c₃ of a product: ‖φ‖₂ ≤ Σ‖φ_b‖₂ ≤ max(c₁_b/r_b)·‖φ‖_*, and ‖x‖ ≤ max(c₃_b/r_b)·‖x‖₂.
pub fn product_equivalence(norms: &[BlockNorm]) -> Option<Equivalence> {
    norms.iter().try_fold(Equivalence { c1: 0.0, c3: 0.0 }, |worst, b| {
        let c = b.norm.equivalence(b.block.rows, b.block.cols)?;
        Some(Equivalence { c1: worst.c1.max(c.c1 / b.radius), c3: worst.c3.max(c.c3 / b.radius) })
    })
}

/// a and b with a‖·‖₂ ≤ ‖·‖_* ≤ b‖·‖₂: what a method that measures in ℓ2 knows about another norm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Between([f64; 2]);

impl Between {
    pub fn new(norms: &[BlockNorm]) -> Self {
        // A norm of the user's own has no constants: only its own answer counts.
        let lower = product_equivalence(norms).map_or(0.0, |c| c.c1.recip());
        Self([lower, product_dual_growth(norms).unwrap_or(f64::INFINITY)])
    }

    /// What `lower ≤ ‖v‖₂ ≤ upper` says about ‖v‖_*.
    pub fn bracket(&self, lower: f64, upper: f64) -> Bracket {
        let Self([a, b]) = *self;
        // A largest number stays one: a method that has not looked yet knows nothing.
        let upper = match upper {
            0.0 => 0.0,
            known if known.is_finite() => (b * known).min(f64::MAX),
            unknown => unknown, // what is no number stays none
        };
        Bracket { lower: a * lower, upper }
    }
}
