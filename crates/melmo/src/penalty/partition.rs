//! Which entries of a buffer form a group, and one walk over all groups.

use crate::block::{Block, Layout};
use crate::error::Error;
use crate::penalty::reply::{Replies, Reply};
use crate::penalty::tile::{walk_contiguous, walk_given, walk_strided};
use crate::penalty::{Envelope, Grouping, Piece};
use crate::real::Real;
use crate::vector::simd;

/// Disjoint groups of the entries of a buffer.
#[derive(Clone, Debug)]
pub(super) enum Partition {
    /// One piece after another.
    Pieces(Vec<Piece>),
    /// Group g is `indices[offsets[g]..offsets[g + 1]]`.
    Given { indices: Vec<usize>, offsets: Vec<usize> },
}

impl Partition {
    pub fn rows(layout: &Layout) -> Self {
        // Rows of one entry are walked like the columns of one row: many at a time.
        let piece = |b: &Block| Piece { start: b.start, groups: b.rows, len: b.cols, strided: b.cols == 1 };
        Self::Pieces(layout.blocks().iter().map(piece).collect())
    }

    pub fn columns(layout: &Layout) -> Self {
        let piece = |b: &Block| Piece { start: b.start, groups: b.cols, len: b.rows, strided: b.cols != 1 };
        Self::Pieces(layout.blocks().iter().map(piece).collect())
    }

    /// The same entry of every block: the columns of the blocks × entries matrix that the buffer is.
    pub fn pixels(layout: &Layout) -> Result<Self, Error> {
        let first = &layout.blocks()[0];
        match layout.blocks().iter().find(|b| (b.rows, b.cols) != (first.rows, first.cols)) {
            None => {
                let piece = Piece { start: 0, groups: first.size(), len: layout.blocks().len(), strided: true };
                Ok(Self::Pieces(vec![piece]))
            }
            Some(b) => Err(Error::Unsupported(format!(
                "block `{}` is {}×{}, block `{}` is {}×{}: a group of one entry from each block needs blocks of one shape",
                first.name, first.rows, first.cols, b.name, b.rows, b.cols
            ))),
        }
    }

    /// Lists of entries of a buffer of `size`, no entry in two of them.
    pub fn given(groups: &[Vec<usize>], size: usize) -> Result<Self, Error> {
        let (mut offsets, mut taken) = (vec![0], vec![false; size]);
        for (g, group) in groups.iter().enumerate() {
            if group.is_empty() {
                return Err(Error::Unsupported(format!("group {g} is empty: leave it out")));
            }
            for &i in group {
                let Some(taken) = taken.get_mut(i) else {
                    let message = format!("a group names entry {i}, but there are {size} entries, counted from 0");
                    return Err(Error::Unsupported(message));
                };
                if std::mem::replace(taken, true) {
                    return Err(Error::Unsupported(format!("entry {i} is named twice: groups must not overlap")));
                }
            }
            offsets.push(offsets[offsets.len() - 1] + group.len());
        }
        Ok(Self::Given { indices: groups.concat(), offsets })
    }

    /// Appends the entries of group g.
    pub fn members(&self, g: usize, entries: &mut Vec<usize>) {
        match self {
            Self::Given { indices, offsets } => entries.extend_from_slice(&indices[offsets[g]..offsets[g + 1]]),
            Self::Pieces(pieces) => {
                let mut first = 0;
                for piece in pieces {
                    if g < first + piece.groups {
                        let (g, groups, len) = (g - first, piece.groups, piece.len);
                        let at = |i: usize| if piece.strided { i * groups + g } else { g * len + i };
                        return entries.extend((0..len).map(|i| piece.start + at(i)));
                    }
                    first += piece.groups;
                }
            }
        }
    }

    /// The same as data.
    pub fn grouping(&self) -> Grouping<'_> {
        match self {
            Self::Pieces(pieces) => Grouping::Pieces(pieces),
            Self::Given { indices, offsets } => Grouping::Given { indices, offsets },
        }
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        match self {
            Self::Pieces(pieces) => pieces.iter().map(|p| p.groups).sum(),
            Self::Given { offsets, .. } => offsets.len() - 1,
        }
    }

    /// out ← factor·u on every group, as `reply` answers to the group's norm and weight; returns the sums of the answers.
    /// Entries in no group are left as they are in `out`.
    #[inline(always)]
    pub fn walk<S: Real>(
        &self,
        mut out: Option<&mut [S]>,
        u: &[S],
        weights: Option<&[S]>,
        reply: impl Fn(S, S) -> Reply<S>,
    ) -> Envelope {
        simd(
            #[inline(always)]
            move || {
                let mut replies = Replies::new(weights, reply);
                match self {
                    Self::Given { indices, offsets } => walk_given(out, u, indices, offsets, &mut replies),
                    Self::Pieces(pieces) => {
                        for piece in pieces {
                            match piece.strided {
                                true => walk_strided(piece, out.as_deref_mut(), u, &mut replies),
                                false => walk_contiguous(piece, out.as_deref_mut(), u, &mut replies),
                            }
                        }
                    }
                }
                replies.total()
            },
        )
    }
}
