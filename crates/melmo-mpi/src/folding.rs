//! A matrix whose rows lie on ranks, folded: A = QR with a Q of orthonormal columns on every rank, and the R of all on each of them.
//!
//! A rank whose rows outnumber the columns folds them to as many (a thin decomposition); others send what they have. What depends on
//! singular values alone (norms, penalties) is asked of the folded rows, and what comes back is turned by Q.

use std::ops::Range;

use melmo::error::Error;
use melmo::linalg::{Into, Mat};
use melmo::real::Real;

use crate::piece::Piece;
use crate::talk::{Talk, share};

/// Numbers of folded rows that a rank may have to hold: beyond, a matrix is refused.
pub const MOST: usize = 1 << 25;

/// The folded rows of all ranks, and the way back to this one's.
pub(crate) struct Folding<S> {
    pub cols: usize,
    pub own: usize,
    /// Numbers that each rank folds to, and where this rank's stand.
    counts: Vec<usize>,
    pub mine: Range<usize>,
    /// The folded rows of all.
    pub stack: Vec<S>,
    /// U, V, values and the scratch of this rank's decomposition.
    pub u: Vec<S>,
    v: Vec<S>,
    values: Vec<S>,
    work: Vec<S>,
    folded: Vec<f64>,
    gathered: Vec<f64>,
}

impl<S: Real> Folding<S> {
    /// Refuses, with the numbers and with what to do instead, what no rank should hold; `what` takes the singular values.
    pub fn new(what: &str, instead: &str, piece: &Piece, cols: usize, ranks: usize) -> Result<Self, Error> {
        let counts: Vec<usize> = folded_rows(piece.rows, cols, ranks).map(|rows| rows * cols).collect();
        let total: usize = counts.iter().sum();
        if total > MOST {
            let message = format!(
                "{what} of a {}×{cols} matrix takes {total} numbers on every one of {ranks} ranks, more than {MOST}: {instead}",
                piece.rows
            );
            return Err(Error::Unsupported(message));
        }
        let own = piece.own.len();
        let before: usize = (0..ranks)
            .take_while(|&rank| share(piece.rows, rank, ranks).end <= piece.own.start)
            .map(|rank| counts[rank])
            .sum();
        let mine = before..before + own.min(cols) * cols;
        let zeros = |len: usize| vec![S::ZERO; len];
        let tall = own > cols;
        Ok(Self {
            cols,
            own,
            counts,
            mine,
            stack: zeros(total),
            u: zeros(if tall { own * cols } else { 0 }),
            v: zeros(if tall { cols * cols } else { 0 }),
            values: zeros(cols),
            work: zeros(if tall { S::svd_work_len(own, cols) } else { 0 }),
            folded: Vec::new(),
            gathered: vec![0.0; total],
        })
    }

    /// Whether this rank's rows are folded.
    pub fn is_tall(&self) -> bool {
        self.own > self.cols
    }

    /// The folded rows of all; false where this rank's could not be decomposed, and then nobody has numbers.
    pub fn fold(&mut self, rows: &[S], talk: &mut Talk) {
        let (own, cols) = (self.own, self.cols);
        self.folded.clear();
        if self.is_tall() {
            let found = S::svd(&mut self.values, &mut self.u, &mut self.v, Mat::new(rows, own, cols), &mut self.work);
            // Row i of ΣVᵀ.
            for i in 0..cols {
                let value = if found { self.values[i].f64() } else { f64::NAN };
                self.folded.extend((0..cols).map(|j| value * self.v[j * cols + i].f64()));
            }
        } else {
            self.folded.extend(rows.iter().map(|v| v.f64()));
        }
        talk.gather(&self.folded, &self.counts, &mut self.gathered);
        self.stack.iter_mut().zip(&self.gathered).for_each(|(to, &v)| *to = S::of(v));
    }

    /// Whether all of the folded rows are numbers.
    pub fn is_finite(&self) -> bool {
        self.stack.iter().all(|v| v.is_finite())
    }

    /// This rank's rows of what was made of the folded ones.
    pub fn unfold(&self, rows: &mut [S], there: &[S]) {
        let (own, cols, mine) = (self.own, self.cols, &there[self.mine.clone()]);
        match self.is_tall() {
            true => S::gemm(rows, Into::Replace, S::ONE, Mat::new(&self.u, own, cols), Mat::new(mine, cols, cols)),
            false => rows.copy_from_slice(mine),
        }
    }
}

/// Rows that each of so many ranks folds its rows to.
pub(crate) fn folded_rows(rows: usize, cols: usize, ranks: usize) -> impl Iterator<Item = usize> {
    (0..ranks).map(move |rank| share(rows, rank, ranks).len().min(cols))
}
