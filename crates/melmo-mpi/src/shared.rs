//! A penalty of singular values of a matrix whose rows, or columns, lie on ranks.

use std::sync::{Mutex, PoisonError};

use melmo::block::Layout;
use melmo::error::Error;
use melmo::penalty::{Envelope, Prox};
use melmo::real::Real;
use melmo::vector;

use crate::folding::{Folding, folded_rows};
use crate::piece::Piece;
use crate::ranks::Ranks;
use crate::talk::Talk;

/// Which sides of a matrix ranks have parts of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// A rank has rows, of so many columns.
    Rows(usize),
    /// A rank has columns, of so many rows.
    Columns(usize),
}

impl Split {
    /// Entries of a row, or of a column, that is split.
    fn width(self) -> usize {
        let (Self::Rows(width) | Self::Columns(width)) = self;
        width
    }
}

/// g(A) = Σ ψ(σᵢ(A)) of a matrix A of which a rank has some lines: a [`Prox`] of this rank's, that every rank asks at the same time.
///
/// A is folded to Q·R, R on every rank, and prox(A) = Q·prox(R). The value of the whole is rank 0's, others have 0: ranks add up.
pub struct Shared<S: Real> {
    /// g of the folded lines.
    folded: Box<dyn Prox<S>>,
    split: Split,
    own: usize,
    size: usize,
    /// Where lines are held that count for nothing.
    idle: bool,
    first: bool,
    /// L_g of the whole.
    lipschitz: Option<f64>,
    room: Mutex<Room<S>>,
}

/// What an evaluation needs, and the way to the others.
struct Room<S> {
    talk: Talk,
    folding: Folding<S>,
    /// This rank's lines, one after another.
    lines: Vec<S>,
    there: Vec<S>,
    work: Vec<S>,
}

impl<S: Real> Shared<S> {
    /// `of` makes the penalty of a matrix of that layout, as [`Spectral`](melmo::penalty::Spectral) does. Refuses, with the numbers, a matrix
    /// whose folded lines no rank should hold.
    pub fn new<E: From<Error>>(
        of: impl Fn(&Layout) -> Result<Box<dyn Prox<S>>, E>,
        piece: &Piece,
        split: Split,
        ranks: Box<dyn Ranks>,
    ) -> Result<Self, E> {
        let (talk, width) = (Talk::new(ranks), split.width());
        let instead = "split the longer side over the ranks, or take a smaller matrix";
        let folding = Folding::new("a penalty of the singular values", instead, piece, width, talk.size())?;
        let rows: usize = folded_rows(piece.rows, width, talk.size()).sum();
        let folded = of(&Layout::matrix(rows, width)?)?;
        // A matrix has as many singular values as its shorter side; the folded one may have more.
        let whole = of(&Layout::matrix(piece.rows.min(rows), width)?)?.lipschitz();
        let [lines, there, work] = [piece.own.len() * width, rows * width, folded.work_len()].map(|n| vec![S::ZERO; n]);
        Ok(Self {
            folded,
            split,
            own: piece.own.len(),
            size: piece.held.len() * width,
            idle: piece.is_idle(),
            first: talk.rank() == 0,
            lipschitz: whole,
            room: Mutex::new(Room { talk, folding, lines, there, work }),
        })
    }

    /// out ← what `act` makes of the folded u; its answer where this rank tells it, which every rank hears.
    fn on_folded<R: Default>(
        &self,
        out: Option<&mut [S]>,
        u: &[S],
        act: impl FnOnce(&dyn Prox<S>, &mut [S], &[S], &mut [S]) -> R,
    ) -> R {
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        let Room { talk, folding, lines, there, work } = &mut *room;
        if !self.idle {
            self.gather(lines, u);
        }
        folding.fold(lines, talk);
        there.fill(S::of(f64::NAN));
        let answer = act(&*self.folded, there, &folding.stack, work);
        if let Some(out) = out {
            folding.unfold(lines, there);
            out.fill(S::ZERO);
            if !self.idle {
                self.scatter(out, lines);
            }
        }
        if self.first { answer } else { R::default() }
    }

    /// Lines that are columns lie across: entry i of line j is at i·own + j.
    fn gather(&self, lines: &mut [S], u: &[S]) {
        match self.split {
            Split::Rows(_) => lines.copy_from_slice(u),
            Split::Columns(width) => turn(lines, u, width, self.own),
        }
    }

    fn scatter(&self, out: &mut [S], lines: &[S]) {
        match self.split {
            Split::Rows(_) => out.copy_from_slice(lines),
            Split::Columns(width) => turn(out, lines, self.own, width),
        }
    }

    /// The folded lines of a matrix of which this is this rank's part: its singular values are those of the whole. Every rank asks.
    pub fn folded_of(&self, u: &[S]) -> (Vec<S>, usize) {
        let mut stack = Vec::new();
        self.on_folded(None, u, |_, _, folded, _| stack = folded.to_vec());
        (stack, self.split.width())
    }
}

/// to ← the transpose of a rows×cols matrix.
fn turn<S: Real>(to: &mut [S], from: &[S], rows: usize, cols: usize) {
    for (i, row) in from.chunks_exact(cols.max(1)).enumerate() {
        row.iter().enumerate().for_each(|(j, &v)| to[j * rows + i] = v);
    }
}

impl<S: Real> Prox<S> for Shared<S> {
    fn size(&self) -> usize {
        self.size
    }

    fn weak_convexity(&self) -> f64 {
        self.folded.weak_convexity()
    }

    fn lipschitz(&self) -> Option<f64> {
        self.lipschitz.map(|whole| if self.first { whole } else { 0.0 })
    }

    fn strong_convexity(&self) -> f64 {
        self.folded.strong_convexity()
    }

    /// A decomposition of this rank's lines and a product, beside what the folded ones take.
    fn rounding(&self) -> f64 {
        self.folded.rounding() + (16.0 + 4.0 * (self.own + self.split.width()) as f64) * S::EPSILON
    }

    fn value(&self, u: &[S], _: &mut [S]) -> f64 {
        self.on_folded(None, u, |g, _, folded, work| g.value(folded, work))
    }

    fn prox(&self, z: &mut [S], u: &[S], beta: f64, _: &mut [S]) -> f64 {
        self.on_folded(Some(z), u, |g, z, folded, work| g.prox(z, folded, beta, work))
    }

    /// ‖∇g_β‖² is that of this rank's lines.
    fn moreau(&self, grad: &mut [S], u: &[S], beta: f64, _: &mut [S]) -> Envelope {
        let found =
            self.on_folded(Some(&mut *grad), u, |g, grad, folded, work| g.moreau(grad, folded, beta, work).value);
        Envelope { value: found, slope_squared: vector::norm2_squared(grad) }
    }

    fn slopes(&self, grad: &mut [S], u: &[S], beta: f64, _: &mut [S]) -> f64 {
        self.on_folded(Some(&mut *grad), u, |g, grad, folded, work| g.slopes(grad, folded, beta, work));
        vector::norm2_squared(grad)
    }

    fn subgradient(&self, v: &mut [S], u: &[S], _: &mut [S]) -> f64 {
        self.on_folded(Some(v), u, |g, v, folded, work| g.subgradient(v, folded, work))
    }
}
