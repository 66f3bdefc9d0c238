//! A variable is one flat row-major buffer with named matrix blocks: `[W | H]`, `[L | S]`, the channels of an image.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// One named matrix inside a flat buffer; a vector is a matrix of one column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// What users call it.
    pub name: String,
    /// Rows of the matrix.
    pub rows: usize,
    /// Columns of the matrix.
    pub cols: usize,
    /// Where its first entry stands in the buffer.
    pub start: usize,
}

impl Block {
    /// Number of entries.
    pub fn size(&self) -> usize {
        self.rows * self.cols
    }

    /// Where its entries stand in the buffer.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.size()
    }
}

/// The blocks of a buffer, one after another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    blocks: Vec<Block>,
}

impl Layout {
    /// Blocks `(name, rows, columns)` in order. No block may be empty and no name may occur twice.
    pub fn new<N: Into<String>>(blocks: impl IntoIterator<Item = (N, usize, usize)>) -> Result<Self, Error> {
        let mut layout = Self { blocks: Vec::new() };
        let mut start = 0usize;
        for (name, rows, cols) in blocks {
            let name = name.into();
            let size = rows.checked_mul(cols).filter(|&size| size > 0 && start.checked_add(size).is_some());
            let Some(size) = size else { return Err(Error::EmptyBlock { name, rows, cols }) };
            if layout.block(&name).is_some() {
                return Err(Error::RepeatedBlock { name });
            }
            layout.blocks.push(Block { name, rows, cols, start });
            start += size;
        }
        match layout.blocks.is_empty() {
            true => Err(Error::EmptyBlock { name: "x".into(), rows: 0, cols: 0 }),
            false => Ok(layout),
        }
    }

    /// One matrix block called `x`.
    pub fn matrix(rows: usize, cols: usize) -> Result<Self, Error> {
        Self::new([("x", rows, cols)])
    }

    /// One vector called `x`: a matrix of one column.
    pub fn vector(len: usize) -> Result<Self, Error> {
        Self::matrix(len, 1)
    }

    /// The blocks in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The block of that name.
    pub fn block(&self, name: &str) -> Option<&Block> {
        self.blocks.iter().find(|b| b.name == name)
    }

    /// The block of that name, or an error that lists the names there are.
    pub fn require(&self, name: &str) -> Result<&Block, Error> {
        self.block(name).ok_or_else(|| Error::UnknownName {
            kind: "block".into(),
            name: name.into(),
            known: self.blocks.iter().map(|b| b.name.clone()).collect(),
        })
    }

    /// Number of entries of the whole buffer.
    pub fn size(&self) -> usize {
        self.blocks.last().map_or(0, |b| b.range().end)
    }

    /// Refuses a buffer whose length is not this layout's.
    pub fn check<T>(&self, what: &'static str, buffer: &[T]) -> Result<(), Error> {
        Error::expect_len(what, self.size(), buffer.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_follow_one_another() {
        let layout = Layout::new([("W", 3, 2), ("H", 2, 4)]).unwrap();
        assert_eq!(layout.size(), 14);
        assert_eq!(layout.require("H").unwrap().range(), 6..14);
        assert!(matches!(layout.require("h"), Err(Error::UnknownName { .. })));
    }

    #[test]
    fn empty_and_repeated_blocks_are_refused() {
        assert!(matches!(Layout::vector(0), Err(Error::EmptyBlock { .. })));
        assert!(matches!(Layout::new(Vec::<(String, usize, usize)>::new()), Err(Error::EmptyBlock { .. })));
        assert!(matches!(Layout::new([("a", 1, 1), ("a", 1, 1)]), Err(Error::RepeatedBlock { .. })));
        assert!(matches!(Layout::matrix(usize::MAX, 2), Err(Error::EmptyBlock { .. })));
    }
}
