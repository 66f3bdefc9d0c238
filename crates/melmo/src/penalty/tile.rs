//! The inner loops over groups: norms of a tile of groups, what the penalty answers, entries scaled.
//!
//! A tile's norms stay on the stack and its entries in the cache, so that the second pass over them is cheap. Everything
//! is inlined into one vectorised closure.

use crate::penalty::Piece;
use crate::penalty::reply::{Replies, Reply, TILE};
use crate::real::Real;
use crate::vector::norm2_squared;

/// Entries of a tile whose groups are contiguous.
const TILE_ENTRIES: usize = 8192;

/// Rows of a matrix.
#[inline(always)]
pub(super) fn walk_contiguous<S: Real>(
    piece: &Piece,
    mut out: Option<&mut [S]>,
    u: &[S],
    replies: &mut Replies<S, impl Fn(S, S) -> Reply<S>>,
) {
    let mut norms = [S::ZERO; TILE];
    let tile = (TILE_ENTRIES / piece.len).clamp(1, TILE);
    for top in (0..piece.groups).step_by(tile) {
        let norms = &mut norms[..tile.min(piece.groups - top)];
        let range = piece.start + top * piece.len..piece.start + (top + norms.len()) * piece.len;
        for (norm, group) in norms.iter_mut().zip(u[range.clone()].chunks_exact(piece.len)) {
            *norm = S::of(norm2_squared(group).sqrt());
        }
        replies.answer(norms);
        let Some(out) = &mut out else { continue };
        let groups = out[range.clone()].chunks_exact_mut(piece.len).zip(u[range].chunks_exact(piece.len));
        for ((out, u), &factor) in groups.zip(norms.iter()) {
            for (out, &u) in out.iter_mut().zip(u) {
                *out = factor * u;
            }
        }
    }
}

/// Columns of a matrix, row by row over a tile of them: no group is gathered entry by entry over a large stride.
#[inline(always)]
pub(super) fn walk_strided<S: Real>(
    piece: &Piece,
    mut out: Option<&mut [S]>,
    u: &[S],
    replies: &mut Replies<S, impl Fn(S, S) -> Reply<S>>,
) {
    let (mut norms, mut squares) = ([S::ZERO; TILE], [0.0; TILE]);
    for left in (0..piece.groups).step_by(TILE) {
        let norms = &mut norms[..TILE.min(piece.groups - left)];
        let width = norms.len();
        let row = |i: usize| piece.start + i * piece.groups + left..piece.start + i * piece.groups + left + width;
        squares.fill(0.0);
        for i in 0..piece.len {
            for (square, &u) in squares.iter_mut().zip(&u[row(i)]) {
                *square += u.f64() * u.f64();
            }
        }
        for (norm, &square) in norms.iter_mut().zip(&squares) {
            *norm = S::of(square.sqrt());
        }
        replies.answer(norms);
        let Some(out) = &mut out else { continue };
        for i in 0..piece.len {
            for ((out, &u), &factor) in out[row(i)].iter_mut().zip(&u[row(i)]).zip(norms.iter()) {
                *out = factor * u;
            }
        }
    }
}

/// Lists of entries.
#[inline(always)]
pub(super) fn walk_given<S: Real>(
    mut out: Option<&mut [S]>,
    u: &[S],
    indices: &[usize],
    offsets: &[usize],
    replies: &mut Replies<S, impl Fn(S, S) -> Reply<S>>,
) {
    for ends in offsets.windows(2) {
        let group = &indices[ends[0]..ends[1]];
        let square: f64 = group.iter().map(|&i| u[i].f64() * u[i].f64()).sum();
        let mut norm = [S::of(square.sqrt())];
        replies.answer(&mut norm);
        let Some(out) = &mut out else { continue };
        for &i in group {
            out[i] = norm[0] * u[i];
        }
    }
}

/// norms ← ‖(uᵢ, vᵢ)‖₂.
#[inline(always)]
pub(super) fn pair_norms<S: Real>(norms: &mut [S], u: &[S], v: &[S]) {
    for ((norm, &u), &v) in norms.iter_mut().zip(u).zip(v) {
        *norm = (u * u + v * v).sqrt();
    }
}
