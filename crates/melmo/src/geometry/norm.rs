//! Norms as data, with their plain definitions: what certificates store and verification recomputes.

use serde::{Deserialize, Serialize};

use crate::block::Block;
use crate::error::Error;
use crate::geometry::Equivalence;
use crate::linalg::Mat;
use crate::real::Real;
use crate::vector;

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

    /// The norm whose unit ball is this norm's polar: ‖·‖_* as a norm of its own, where it has a name here.
    fn singular_part(self, dual: bool) -> Option<Singular> {
        match (self, dual) {
            (Self::Spectral, false) | (Self::Nuclear, true) => Some(Singular::Largest),
            (Self::Nuclear, false) | (Self::Spectral, true) => Some(Singular::Sum),
            _ => None,
        }
    }

    /// ‖x‖ by its definition, through a dense SVD where it takes one. Allocates; `None` for a norm of the user's own.
    pub fn primal<S: Real>(self, x: &[S], rows: usize, cols: usize) -> Option<f64> {
        Some(match self {
            Self::L1 => vector::norm1(x),
            Self::L2 => vector::norm2(x),
            Self::Linf => vector::norm_inf(x),
            Self::Column => column_norms(x, rows, cols).fold(0.0, f64::max),
            Self::Row => row_norms(x, cols).fold(0.0, f64::max),
            Self::Spectral | Self::Nuclear => self.singular_part(false)?.of(x, rows, cols),
            Self::Other => return None,
        })
    }

    /// ‖φ‖_* by its definition, through a dense SVD where it takes one. Allocates; `None` for a norm of the user's own.
    pub fn dual<S: Real>(self, phi: &[S], rows: usize, cols: usize) -> Option<f64> {
        Some(match self {
            Self::L1 => vector::norm_inf(phi),
            Self::L2 => vector::norm2(phi),
            Self::Linf => vector::norm1(phi),
            Self::Column => column_norms(phi, rows, cols).sum(),
            Self::Row => row_norms(phi, cols).sum(),
            Self::Spectral | Self::Nuclear => self.singular_part(true)?.of(phi, rows, cols),
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
            kind: "geometry",
            name: name.into(),
            known: Self::ALL.iter().map(|n| n.name().into()).collect(),
        })
    }
}

enum Singular {
    Largest,
    Sum,
}

impl Singular {
    /// By a dense SVD of the entries scaled by a power of two. NaN when the input is not finite.
    fn of<S: Real>(&self, x: &[S], rows: usize, cols: usize) -> f64 {
        let largest = vector::norm_inf(x);
        if largest == 0.0 || !largest.is_finite() {
            return if largest == 0.0 { 0.0 } else { f64::NAN };
        }
        let scale = vector::power_of_two_scale::<S>(largest);
        let mut scaled = vec![S::ZERO; x.len()];
        vector::scale_into(&mut scaled, scale, x);
        let mut values = vec![S::ZERO; rows.min(cols)];
        let mut work = vec![S::ZERO; S::singular_values_work_len(rows, cols)];
        if !S::singular_values(&mut values, Mat::new(&scaled, rows, cols), &mut work) {
            return f64::NAN;
        }
        let norm: f64 = match self {
            Self::Largest => values[0].f64(),
            Self::Sum => values.iter().map(|s| s.f64()).sum(),
        };
        norm / scale
    }
}

fn row_norms<S: Real>(x: &[S], cols: usize) -> impl Iterator<Item = f64> {
    x.chunks_exact(cols).map(vector::norm2)
}

fn column_norms<S: Real>(x: &[S], rows: usize, cols: usize) -> impl Iterator<Item = f64> {
    let mut column = vec![S::ZERO; rows];
    (0..cols).map(move |j| {
        column.iter_mut().enumerate().for_each(|(i, entry)| *entry = x[i * cols + j]);
        vector::norm2(&column)
    })
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

/// ‖φ‖_* = Σ_b r_b‖φ_b‖_* by its definition.
pub fn product_dual<S: Real>(norms: &[BlockNorm], phi: &[S]) -> Option<f64> {
    norms.iter().map(|b| Some(b.radius * b.norm.dual(&phi[b.block.range()], b.block.rows, b.block.cols)?)).sum()
}

/// ‖x‖ = max_b ‖x_b‖/r_b by its definition.
pub fn product_primal<S: Real>(norms: &[BlockNorm], x: &[S]) -> Option<f64> {
    norms.iter().try_fold(0.0f64, |m, b| {
        let norm = b.norm.primal(&x[b.block.range()], b.block.rows, b.block.cols)?;
        Some(m.max(norm / b.radius))
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
