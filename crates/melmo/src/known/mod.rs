//! Two factors against the entries of a matrix that are known: what a loss, a method and trials of weights share.
//!
//! Lines aᵢ of one factor stand against lines bⱼ of the other, each of `rank` numbers: a = W and b = Hᵀ by rows, the other way round by
//! columns. Every pass goes over the entries, line by line, and lines are shared among threads in blocks that their number alone
//! decides: the same bits on any number of threads.

mod ridge;

pub use ridge::Scratch;

use crate::error::Error;
use crate::real::Real;
use crate::sparse::Csr;
use crate::threads;
use crate::vector::simd;

/// What a stored value y says of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Feedback {
    /// The entry is y; of what is not stored nothing is known: ½Σ (y − s)² over s = (WH)ᵢⱼ of the stored entries.
    #[default]
    Explicit,
    /// The entry is 1 with confidence 1 + y, and what is not stored is 0 with confidence 1 (Hu, Koren and Volinsky 2008):
    /// ½Σ (1 + y)(1 − s)² over the stored entries and ½Σ s² over all others.
    Implicit,
}

impl Feedback {
    /// The term of a stored entry and its slope in s. All entries together have ½s² apart, in Gram matrices, where nothing is
    /// unknown.
    #[inline(always)]
    pub(crate) fn pull<S: Real>(self, y: S, s: S) -> (f64, S) {
        match self {
            Self::Explicit => (0.5 * (s - y).f64() * (s - y).f64(), s - y),
            Self::Implicit => {
                let (y64, s64) = (y.f64(), s.f64());
                (0.5 * ((1.0 + y64) * (1.0 - s64) * (1.0 - s64) - s64 * s64), y * s - (S::ONE + y))
            }
        }
    }

    /// What a stored y weighs in a line's Gram matrix, and what it pulls towards.
    #[inline(always)]
    fn normal<S: Real>(self, y: S) -> (S, S) {
        match self {
            Self::Explicit => (S::ONE, y),
            Self::Implicit => (y, S::ONE + y),
        }
    }

    /// Twice the term at s = 0.
    #[inline(always)]
    fn alone<S: Real>(self, y: S) -> f64 {
        match self {
            Self::Explicit => y.f64() * y.f64(),
            Self::Implicit => 1.0 + y.f64(),
        }
    }
}

/// Known entries, by rows and by columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Known<S> {
    by_row: Csr<S>,
    by_column: Csr<S>,
    feedback: Feedback,
}

/// Which factor moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// W: a line is a row of the matrix.
    Rows,
    /// H: a line is a column.
    Columns,
}

impl<S: Real> Known<S> {
    /// Refuses values that are not finite, and negative ones where they are confidences.
    pub fn new(entries: Csr<S>, feedback: Feedback) -> Result<Self, Error> {
        Error::expect_finite("known entries", entries.values())?;
        if let (Feedback::Implicit, Some(y)) = (feedback, entries.values().iter().find(|y| **y < S::ZERO)) {
            let must = "at least 0, since they are confidences";
            Error::expect_parameter("known entries", y.f64(), false, must)?;
        }
        Ok(Self { by_column: entries.transposed(), by_row: entries, feedback })
    }

    /// The entries, by rows.
    pub fn entries(&self) -> &Csr<S> {
        &self.by_row
    }

    /// What they mean.
    pub fn feedback(&self) -> Feedback {
        self.feedback
    }

    /// The entries, by the lines of this side.
    pub fn lines(&self, side: Side) -> &Csr<S> {
        match side {
            Side::Rows => &self.by_row,
            Side::Columns => &self.by_column,
        }
    }

    /// out ← Σⱼ slope(yᵢⱼ, ⟨aᵢ, bⱼ⟩)·bⱼ in every line i, and Gaᵢ where there is a G; returns the sum of the stored entries' terms. Lines
    /// are summed up in `A`.
    pub(crate) fn gradient<A: Real>(
        &self,
        side: Side,
        out: &mut [S],
        [a, b]: [&[S]; 2],
        rank: usize,
        gram: Option<&[A]>,
    ) -> f64 {
        let lines = self.lines(side);
        let size = threads::block(lines.rows(), 1, 8);
        let blocks = out.chunks_mut(size * rank).zip(a.chunks(size * rank)).enumerate();
        let [value] = threads::sums(self.cost(rank), blocks, |(block, (out, a))| {
            let (mut few, mut many) = ([A::ZERO; 128], Vec::new());
            let sum = if rank <= few.len() {
                &mut few[..rank]
            } else {
                many.resize(rank, A::ZERO);
                &mut many[..]
            };
            [simd(
                #[inline(always)]
                || self.gradient_of_block(lines, block * size, out, [a, b], sum, gram),
            )]
        });
        value
    }

    #[inline(always)]
    fn gradient_of_block<A: Real>(
        &self,
        lines: &Csr<S>,
        first: usize,
        out: &mut [S],
        [a, b]: [&[S]; 2],
        sum: &mut [A],
        gram: Option<&[A]>,
    ) -> f64 {
        let (rank, mut value) = (sum.len(), 0.0);
        for (i, (out, a)) in out.chunks_exact_mut(rank).zip(a.chunks_exact(rank)).enumerate() {
            match gram {
                Some(gram) => sum.iter_mut().zip(gram.chunks_exact(rank)).for_each(|(sum, row)| *sum = dot(row, a)),
                None => sum.fill(A::ZERO),
            }
            let (places, values) = lines.row(first + i);
            for (&j, &y) in places.iter().zip(values) {
                let b = &b[j as usize * rank..][..rank];
                let (term, slope) = self.feedback.pull(lifted::<S, A>(y), dot(a, b));
                value += term;
                sum.iter_mut().zip(b).for_each(|(sum, &b)| *sum = slope.mul_add(lifted(b), *sum));
            }
            out.iter_mut().zip(&*sum).for_each(|(out, &sum)| *out = lifted(sum));
        }
        value
    }

    /// About the nanoseconds of a pass on one thread.
    fn cost(&self, rank: usize) -> usize {
        self.by_row.len() * (rank / 4 + 4)
    }
}

/// A number in another precision.
#[inline(always)]
fn lifted<S: Real, A: Real>(value: S) -> A {
    A::of(value.f64())
}

/// ⟨a, b⟩ in eight lanes of `A`.
#[inline(always)]
pub(crate) fn dot<R: Real, S: Real, A: Real>(a: &[R], b: &[S]) -> A {
    let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut lanes = [A::ZERO; 8];
    for (a, b) in a.iter().zip(b) {
        for l in 0..8 {
            lanes[l] = lifted::<R, A>(a[l]).mul_add(lifted(b[l]), lanes[l]);
        }
    }
    let rest = rest_a.iter().zip(rest_b);
    let rest = rest.fold(A::ZERO, |sum, (&a, &b)| lifted::<R, A>(a).mul_add(lifted(b), sum));
    lanes.into_iter().fold(rest, |sum, lane| sum + lane)
}
