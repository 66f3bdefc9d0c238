//! Spectral and nuclear norms of a matrix whose rows lie on ranks: φ = QR, and lmo(φ) = Q·lmo(R).

use melmo::block::Block;
use melmo::error::Error;
use melmo::geometry::{Answer, Bracket, Geometry, Norm, Oracle, for_block};
use melmo::linalg::{Into, Mat, roundings};
use melmo::real::Real;
use melmo::vector;

use crate::folding::Folding;
use crate::piece::Piece;
use crate::talk::Talk;

/// A norm of singular values, on rows of several ranks.
pub(crate) struct Fold<S> {
    norm: Norm,
    folding: Folding<S>,
    geometry: Box<dyn Geometry<S>>,
    /// The direction of the folded rows.
    there: Vec<S>,
    zero: Vec<S>,
    pub direction: Vec<S>,
}

impl<S: Real> Fold<S> {
    /// Refuses, with the numbers, what no rank should hold.
    pub fn new(norm: Norm, oracle: Oracle, piece: &Piece, cols: usize, ranks: usize) -> Result<Self, Error> {
        let instead = "choose a geometry without singular values (l2, l1, linf, row, column)";
        let folding = Folding::new(&format!("the {norm} norm"), instead, piece, cols, ranks)?;
        // By eigenvectors unless another is asked for: exact, so that the number of ranks changes no step.
        let oracle = if oracle == Oracle::Auto { Oracle::Gram } else { oracle };
        let total = folding.stack.len();
        let block = Block { name: "folded".into(), rows: total / cols, cols, start: 0 };
        let zeros = |len: usize| vec![S::ZERO; len];
        let (geometry, own) = (for_block(norm, &block, oracle)?, piece.own.len());
        Ok(Self { norm, folding, geometry, there: zeros(total), zero: zeros(total), direction: zeros(own * cols) })
    }

    /// Brackets ‖φ‖_*, and remembers the direction of this rank's rows.
    pub fn oracle(&mut self, phi: &[S], talk: &mut Talk) -> Answer {
        let Self { folding, geometry, there, zero, direction, .. } = self;
        folding.fold(phi, talk);
        if !folding.is_finite() {
            direction.fill(S::of(f64::NAN));
            return Answer::exact(f64::NAN);
        }
        let answer = geometry.oracle(&folding.stack);
        geometry.advance(there, zero, &folding.stack, 1.0);
        folding.unfold(direction, there);
        answer
    }

    pub fn dual_norm(&mut self, phi: &[S], talk: &mut Talk) -> f64 {
        self.folding.fold(phi, talk);
        if self.folding.is_finite() { self.geometry.dual_norm(&self.folding.stack) } else { f64::NAN }
    }

    /// ‖φ‖_* bracketed whatever rounding does: that of the folded rows, widened by how far UR is from φ and U from orthonormal, both
    /// measured. Allocates.
    pub fn proven(&mut self, phi: &[S], talk: &mut Talk) -> Option<Bracket> {
        self.folding.fold(phi, talk);
        let (apart, skew) = self.defects(phi);
        let (apart, skew) = (talk.hypot(apart), talk.largest(skew));
        let Folding { stack, cols, .. } = &self.folding;
        let (rows, cols) = (stack.len() / cols, *cols);
        let found = self.norm.dual(stack, rows, cols)?;
        // Σσ of a matrix of norm e is at most √n·e; singular values of UR lie within √(1 ± skew) of those of R.
        let times = if self.norm == Norm::Spectral { (rows.min(cols) as f64).sqrt() } else { 1.0 };
        let room = 1.0 + 8.0 * f64::EPSILON;
        let lower = (found.lower * (1.0 - skew).max(0.0).sqrt() - times * apart).max(0.0) / room;
        let upper = (found.upper * (1.0 + skew).sqrt() + times * apart) * room;
        Some(Bracket { lower, upper })
    }

    /// ‖φ − UR‖_F and ‖UᵀU − I‖_F, with what rounding can have done to them.
    fn defects(&self, phi: &[S]) -> (f64, f64) {
        if !self.folding.is_tall() {
            return (0.0, 0.0);
        }
        let Folding { own, cols, u, stack, mine, .. } = &self.folding;
        let (own, cols, mine) = (*own, *cols, &stack[mine.clone()]);
        let mut rest = phi.to_vec();
        S::gemm(&mut rest, Into::Add, -S::ONE, Mat::new(u, own, cols), Mat::new(mine, cols, cols));
        let unit = S::EPSILON * roundings(cols).max(cols as f64);
        let (of_u, of_r) = (vector::norm2(u), vector::norm2(mine));
        let apart = vector::norm2(&rest) + 2.0 * unit * (of_u * of_r + vector::norm2(phi));
        let mut gram = vec![S::ZERO; cols * cols];
        S::gram(&mut gram, Mat::new(u, own, cols));
        (0..cols).for_each(|i| gram[i * cols + i] -= S::ONE);
        let skew = vector::norm2(&gram) + 2.0 * S::EPSILON * (roundings(own) + 1.0) * (of_u * of_u + cols as f64);
        (apart, skew)
    }
}
