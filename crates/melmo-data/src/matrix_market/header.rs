//! The first line of a Matrix Market file, and what it says about the lines that follow.

use super::wrong;
use crate::array::Kind;
use crate::error::{Error, Place, quote};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    Coordinate,
    Array,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Real,
    Integer,
    Pattern,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Symmetry {
    General,
    Symmetric,
    Skew,
}

pub(super) struct Header {
    pub(super) layout: Layout,
    pub(super) field: Field,
    pub(super) symmetry: Symmetry,
}

impl Header {
    pub(super) fn parse(line: &str) -> Result<Self, Error> {
        let line = line.to_ascii_lowercase();
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["%%matrixmarket", "matrix", layout, field, symmetry] = words[..] else {
            return Err(wrong(1, quote(&line), "%%MatrixMarket matrix, a layout, a field and a symmetry"));
        };
        let layout = match layout {
            "coordinate" => Layout::Coordinate,
            "array" => Layout::Array,
            other => return Err(wrong(1, quote(other), "coordinate or array")),
        };
        let field = match field {
            "real" | "double" => Field::Real,
            "integer" => Field::Integer,
            "pattern" if layout == Layout::Coordinate => Field::Pattern,
            other => return Err(unsupported(other, "real, integer, or pattern with coordinates")),
        };
        let symmetry = match symmetry {
            "general" => Symmetry::General,
            "symmetric" => Symmetry::Symmetric,
            "skew-symmetric" if field != Field::Pattern => Symmetry::Skew,
            other => return Err(unsupported(other, "general, symmetric, or skew-symmetric with numbers")),
        };
        Ok(Self { layout, field, symmetry })
    }

    pub(super) fn kind(&self) -> Kind {
        match self.field {
            Field::Real => Kind::F64,
            Field::Integer => Kind::I64,
            Field::Pattern => Kind::Bool,
        }
    }

    /// The words of one entry.
    pub(super) fn words(&self) -> usize {
        match (self.layout, self.field) {
            (Layout::Array, _) => 1,
            (Layout::Coordinate, Field::Pattern) => 2,
            (Layout::Coordinate, _) => 3,
        }
    }

    /// Rows, columns and the entries the file stores.
    pub(super) fn sizes(&self, at: usize, line: &str) -> Result<[usize; 3], Error> {
        let sizes: Option<Vec<usize>> = line.split_whitespace().map(|word| word.parse().ok()).collect();
        let (rows, cols, stored) = match (self.layout, sizes.as_deref()) {
            (Layout::Coordinate, Some(&[rows, cols, stored])) => (rows, cols, Some(stored)),
            (Layout::Array, Some(&[rows, cols])) => (rows, cols, self.stored(rows, cols)),
            (Layout::Coordinate, _) => return Err(wrong(at, quote(line), "rows, columns and entries")),
            (Layout::Array, _) => return Err(wrong(at, quote(line), "rows and columns")),
        };
        if self.symmetry != Symmetry::General && rows != cols {
            return Err(wrong(at, format!("{rows}×{cols}"), "as many rows as columns in a symmetric matrix"));
        }
        let limit = "no more than memory can address is possible";
        let stored = stored.ok_or_else(|| {
            Error::too_large(Place::Line(at), format!("{rows}×{cols} entries"), limit, "checking the line of sizes")
        })?;
        Ok([rows, cols, stored])
    }

    /// The entries of the array layout: all, or a triangle.
    fn stored(&self, rows: usize, cols: usize) -> Option<usize> {
        match self.symmetry {
            Symmetry::General => rows.checked_mul(cols),
            Symmetry::Symmetric => rows.checked_add(1)?.checked_mul(rows).map(|n| n / 2),
            Symmetry::Skew => rows.checked_mul(rows.saturating_sub(1)).map(|n| n / 2),
        }
    }

    pub(super) fn check_triangle(&self, at: usize, i: usize, j: usize) -> Result<(), Error> {
        let (fits, expected) = match self.symmetry {
            Symmetry::General => (true, ""),
            Symmetry::Symmetric => (i >= j, "the lower triangle of a symmetric matrix"),
            Symmetry::Skew => (i > j, "what is below the diagonal of a skew-symmetric matrix"),
        };
        if fits { Ok(()) } else { Err(wrong(at, format!("the entry ({}, {})", i + 1, j + 1), expected)) }
    }
}

fn unsupported(found: &str, expected: &str) -> Error {
    Error::unsupported(format!("line 1: {}", quote(found)), expected, "writing the matrix as real general")
}
