//! Spectral and nuclear norms of a matrix whose rows lie on ranks.
//!
//! φ = QR with a Q of orthonormal columns, and lmo(φ) = Q·lmo(R): a rank whose rows outnumber the columns folds them to as many
//! (a thin decomposition), the folded rows of all are gathered, and everybody asks a geometry of this machine about them.

use std::ops::Range;

use melmo::block::Block;
use melmo::error::Error;
use melmo::geometry::{Answer, Bracket, Geometry, Norm, Oracle, for_block};
use melmo::linalg::{Into, Mat, roundings};
use melmo::real::Real;
use melmo::vector;

use crate::piece::Piece;
use crate::talk::{Talk, share};

/// Numbers of folded rows that a rank may have to hold: beyond, a matrix is refused.
pub const MOST: usize = 1 << 25;

/// A norm of singular values, on rows of several ranks.
pub(crate) struct Fold<S> {
    norm: Norm,
    cols: usize,
    own: usize,
    /// Numbers that each rank folds to, and where this rank's stand.
    counts: Vec<usize>,
    mine: Range<usize>,
    geometry: Box<dyn Geometry<S>>,
    /// The folded rows of all, and the direction there.
    stack: Vec<S>,
    there: Vec<S>,
    zero: Vec<S>,
    /// U, V, values and the scratch of this rank's decomposition.
    u: Vec<S>,
    v: Vec<S>,
    values: Vec<S>,
    work: Vec<S>,
    folded: Vec<f64>,
    gathered: Vec<f64>,
    pub direction: Vec<S>,
}

impl<S: Real> Fold<S> {
    /// Refuses, with the numbers, what no rank should hold.
    pub fn new(norm: Norm, oracle: Oracle, piece: &Piece, cols: usize, ranks: usize) -> Result<Self, Error> {
        let rows = |rank: usize| share(piece.rows, rank, ranks).len().min(cols);
        let counts: Vec<usize> = (0..ranks).map(|rank| rows(rank) * cols).collect();
        let total: usize = counts.iter().sum();
        if total > MOST {
            let message = format!(
                "the {norm} norm of a {}×{cols} matrix takes {total} numbers on every one of {ranks} ranks, more than {MOST}: \
                 choose a geometry without singular values (l2, l1, linf, row, column)",
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
        // By eigenvectors unless another is asked for: exact, so that the number of ranks changes no step.
        let oracle = if oracle == Oracle::Auto { Oracle::Gram } else { oracle };
        let block = Block { name: "folded".into(), rows: total / cols, cols, start: 0 };
        let zeros = |len: usize| vec![S::ZERO; len];
        let tall = own > cols;
        Ok(Self {
            norm,
            cols,
            own,
            counts,
            mine,
            geometry: for_block(norm, &block, oracle)?,
            stack: zeros(total),
            there: zeros(total),
            zero: zeros(total),
            u: zeros(if tall { own * cols } else { 0 }),
            v: zeros(if tall { cols * cols } else { 0 }),
            values: zeros(cols),
            work: zeros(if tall { S::svd_work_len(own, cols) } else { 0 }),
            folded: Vec::new(),
            gathered: vec![0.0; total],
            direction: zeros(own * cols),
        })
    }

    fn is_tall(&self) -> bool {
        self.own > self.cols
    }

    /// The folded rows of all; false where this rank's could not be decomposed, and then nobody has numbers.
    fn fold(&mut self, phi: &[S], talk: &mut Talk) {
        let (own, cols) = (self.own, self.cols);
        self.folded.clear();
        if self.is_tall() {
            let found = S::svd(&mut self.values, &mut self.u, &mut self.v, Mat::new(phi, own, cols), &mut self.work);
            // Row i of ΣVᵀ.
            for i in 0..cols {
                let value = if found { self.values[i].f64() } else { f64::NAN };
                self.folded.extend((0..cols).map(|j| value * self.v[j * cols + i].f64()));
            }
        } else {
            self.folded.extend(phi.iter().map(|v| v.f64()));
        }
        talk.gather(&self.folded, &self.counts, &mut self.gathered);
        self.stack.iter_mut().zip(&self.gathered).for_each(|(to, &v)| *to = S::of(v));
    }

    /// Brackets ‖φ‖_*, and remembers the direction of this rank's rows.
    pub fn oracle(&mut self, phi: &[S], talk: &mut Talk) -> Answer {
        self.fold(phi, talk);
        if !self.stack.iter().all(|v| v.is_finite()) {
            self.direction.fill(S::of(f64::NAN));
            return Answer::exact(f64::NAN);
        }
        let answer = self.geometry.oracle(&self.stack);
        self.geometry.advance(&mut self.there, &self.zero, &self.stack, 1.0);
        let mine = &self.there[self.mine.clone()];
        if self.is_tall() {
            let (own, cols) = (self.own, self.cols);
            S::gemm(
                &mut self.direction,
                Into::Replace,
                S::ONE,
                Mat::new(&self.u, own, cols),
                Mat::new(mine, cols, cols),
            );
        } else {
            self.direction.copy_from_slice(mine);
        }
        answer
    }

    pub fn dual_norm(&mut self, phi: &[S], talk: &mut Talk) -> f64 {
        self.fold(phi, talk);
        if self.stack.iter().all(|v| v.is_finite()) { self.geometry.dual_norm(&self.stack) } else { f64::NAN }
    }

    /// ‖φ‖_* bracketed whatever rounding does: that of the folded rows, widened by how far UR is from φ and U from orthonormal, both
    /// measured. Allocates.
    pub fn proven(&mut self, phi: &[S], talk: &mut Talk) -> Option<Bracket> {
        self.fold(phi, talk);
        let (apart, skew) = self.defects(phi);
        let (apart, skew) = (talk.hypot(apart), talk.largest(skew));
        let (rows, cols) = (self.stack.len() / self.cols, self.cols);
        let found = self.norm.dual(&self.stack, rows, cols)?;
        // Σσ of a matrix of norm e is at most √n·e; singular values of UR lie within √(1 ± skew) of those of R.
        let times = if self.norm == Norm::Spectral { (rows.min(cols) as f64).sqrt() } else { 1.0 };
        let room = 1.0 + 8.0 * f64::EPSILON;
        let lower = (found.lower * (1.0 - skew).max(0.0).sqrt() - times * apart).max(0.0) / room;
        let upper = (found.upper * (1.0 + skew).sqrt() + times * apart) * room;
        Some(Bracket { lower, upper })
    }

    /// ‖φ − UR‖_F and ‖UᵀU − I‖_F, with what rounding can have done to them.
    fn defects(&self, phi: &[S]) -> (f64, f64) {
        if !self.is_tall() {
            return (0.0, 0.0);
        }
        let (own, cols) = (self.own, self.cols);
        let mine = &self.stack[self.mine.clone()];
        let mut rest = phi.to_vec();
        S::gemm(&mut rest, Into::Add, -S::ONE, Mat::new(&self.u, own, cols), Mat::new(mine, cols, cols));
        let unit = S::EPSILON * roundings(cols).max(cols as f64);
        let (of_u, of_r) = (vector::norm2(&self.u), vector::norm2(mine));
        let apart = vector::norm2(&rest) + 2.0 * unit * (of_u * of_r + vector::norm2(phi));
        let mut gram = vec![S::ZERO; cols * cols];
        S::gram(&mut gram, Mat::new(&self.u, own, cols));
        (0..cols).for_each(|i| gram[i * cols + i] -= S::ONE);
        let skew = vector::norm2(&gram) + 2.0 * S::EPSILON * (roundings(own) + 1.0) * (of_u * of_u + cols as f64);
        (apart, skew)
    }
}
