//! Which rows of a block lie on a rank.

use std::ops::Range;

use crate::talk::share;

/// A rank's rows of a block, and the rows beside them that it holds as well. A row may be a slice of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Rows of the whole block.
    pub rows: usize,
    /// The rows that are this rank's.
    pub own: Range<usize>,
    /// The rows that are held here: its own, and those of neighbours that differences reach. Whoever has no row holds the last one, which
    /// counts for nothing: arrays are never empty.
    pub held: Range<usize>,
    /// So many stretches of such rows follow one another in the block. Of a matrix whose columns are split they are its rows, and a column
    /// is a row of one entry in each.
    pub stretches: usize,
}

impl Piece {
    /// The rows of one rank, with so many of each neighbour's beside them.
    pub fn of(rows: usize, halo: usize, rank: usize, size: usize) -> Self {
        let own = share(rows, rank, size);
        let held = match own.is_empty() {
            true => rows - 1..rows,
            false => own.start.saturating_sub(halo)..(own.end + halo).min(rows),
        };
        Self { rows, own, held, stretches: 1 }
    }

    /// The same rows of so many stretches.
    #[must_use]
    pub fn in_stretches(self, stretches: usize) -> Self {
        Self { stretches, ..self }
    }

    /// Whether it has no row of its own.
    pub fn is_idle(&self) -> bool {
        self.own.is_empty()
    }

    /// Whether rows of neighbours are held as well.
    pub fn has_halo(&self) -> bool {
        !self.is_idle() && self.own != self.held
    }

    /// Its own rows among those it holds.
    pub fn within(&self) -> Range<usize> {
        match self.is_idle() {
            true => 0..0,
            false => self.own.start - self.held.start..self.own.end - self.held.start,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_somebodys() {
        for (rows, size) in [(10, 3), (1, 4), (7, 7), (5, 8), (100, 1)] {
            let pieces: Vec<Piece> = (0..size).map(|rank| Piece::of(rows, 1, rank, size)).collect();
            let owned: Vec<usize> = pieces.iter().flat_map(|piece| piece.own.clone()).collect();
            assert_eq!(owned, (0..rows).collect::<Vec<_>>());
            for piece in &pieces {
                assert!(!piece.held.is_empty() && piece.held.end <= rows, "{piece:?}");
                assert_eq!(piece.within().len(), piece.own.len());
                assert!(piece.is_idle() || piece.held.contains(&(piece.own.end - 1)));
            }
        }
        assert_eq!(Piece::of(10, 1, 1, 3).held, 3..8);
    }
}
