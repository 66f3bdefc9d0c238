//! ∇f(x) + T*∇g_β(Tx) in one pass over memory, where the three terms allow one: nothing as large as Tx is written down.

mod differences;
mod entries;
mod jet;

use std::ops::{Deref, Range};

use crate::operator::{Form, LinOp};
use crate::penalty::{Prox, Streamed};
use crate::problem::Evaluation;
use crate::real::Real;
use crate::smooth::Smooth;
use crate::vector::Total;

use differences::DifferenceStream;
use entries::EntryStream;
use jet::JetStream;

/// A way through f and g∘T at once.
pub(crate) trait Pass<S> {
    /// Whether ∇f is part of it; if not, the gradient holds it already.
    fn has_loss(&self) -> bool;

    /// Scratch, in numbers, for as many threads as there are now. A pass takes what it is given: with less, fewer threads
    /// take part.
    fn work_len(&self) -> usize;

    /// grad ← ∇f + T*∇g_β(Tx), or grad + T*∇g_β(Tx) without a loss of its own.
    fn smoothed_gradient_add(&self, grad: &mut [S], x: &[S], beta: f64, work: &mut [S]) -> Evaluation;

    /// y ← x + aφ and φ ← ∇f(y) + T*∇g_β(Ty): the bits of a move and an evaluation, with four of ten vectors less to move. `None`,
    /// and nothing is done, where the pass cannot.
    fn smoothed_gradient_after(
        &self,
        _: [&mut [S]; 2],
        _x: &[S],
        _a: f64,
        _beta: f64,
        _work: &mut [S],
    ) -> Option<Evaluation> {
        None
    }

    /// g(Tx), or g_β(Tx) when there is a β.
    fn penalty(&self, x: &[S], beta: Option<f64>, work: &mut [S]) -> f64;
}

/// What a block of a pass adds up: f(x), ‖∇g_β(Tx)‖₂² and ‖∇F_β(x)‖₂².
#[derive(Default)]
struct Sums {
    f: f64,
    slope_squared: f64,
    squared: Total,
}

impl Sums {
    fn values(self) -> [f64; 3] {
        [self.f, self.slope_squared, self.squared.value()]
    }
}

/// The sums of all blocks.
fn found([f, slope_squared, squared]: [f64; 3]) -> Evaluation {
    Evaluation { f, slope_squared, squared: Some(squared) }
}

/// The pass that suits an operator.
pub(crate) enum Stream<'a, S> {
    Entries(EntryStream<'a, S>),
    Differences(DifferenceStream<'a, S>),
    Jet(JetStream<'a, S>),
}

impl<'a, S: Real> Stream<'a, S> {
    /// `None` where the terms have to be called one after another. Of an image the rows `own` alone are evaluated, where they are given.
    pub fn new(
        f: &'a dyn Smooth<S>,
        g: &'a dyn Prox<S>,
        t: &'a dyn LinOp<S>,
        own: Option<Range<usize>>,
    ) -> Option<Self> {
        let f = f.pointwise();
        match t.form() {
            Form::Identity => match g.streamed()? {
                Streamed::Entries(entries) => Some(Self::Entries(EntryStream::new(f, g, entries))),
                Streamed::Pixels(_) => None,
            },
            Form::Difference2d(t) => Some(Self::Differences(DifferenceStream::new(f, g.streamed()?, t, own))),
            Form::Jet(t) => Some(Self::Jet(JetStream::new(f, g, t)?)),
            _ => None,
        }
    }
}

impl<'a, S: Real> Deref for Stream<'a, S> {
    type Target = dyn Pass<S> + 'a;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Entries(stream) => stream,
            Self::Differences(stream) => stream,
            Self::Jet(stream) => stream,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::block::Layout;
    use crate::operator::{Difference2d, Identity, LinOp};
    use crate::penalty::{Entrywise, Group, Mcp, Prox};
    use crate::problem::Problem;
    use crate::real::Real;
    use crate::seeded::Seeded;
    use crate::smooth::MaskedLeastSquares;
    use crate::threads::Threads;
    use crate::vector;

    /// Masked least squares with differences, by entries or by pixels, or with T = I.
    fn problem<S: Real>(rows: usize, cols: usize, kind: &str) -> Problem<S> {
        let (n, layout, mcp) = (rows * cols, Layout::matrix(rows, cols).unwrap(), Mcp::new(0.4, 1.5).unwrap());
        let mask = (0..n).map(|i| S::of(f64::from(i % 5 != 0))).collect();
        let loss = MaskedLeastSquares::new(layout.clone(), Seeded::new(3).normals(n), Some(mask)).unwrap();
        if kind == "entries" {
            return Problem::new(loss, Entrywise::new(mcp, n), Identity::new(layout)).unwrap();
        }
        let t = Difference2d::new(rows, cols).unwrap();
        let range = LinOp::<S>::range(&t).clone();
        let g: Box<dyn Prox<S>> = match kind {
            "pixels" => Box::new(Group::pixels(mcp, &range).unwrap()),
            _ => Box::new(Entrywise::new(mcp, range.size())),
        };
        Problem::from_boxes(Box::new(loss), g, Box::new(t)).unwrap()
    }

    /// A move and an evaluation one after the other have the bits of both at once, on any number of threads.
    fn at_once_and_in_turn<S: Real>(rows: usize, cols: usize, kind: &str, threads: usize) {
        let (problem, n) = (problem::<S>(rows, cols, kind), rows * cols);
        Threads::new(threads).unwrap().run(|| {
            let (x, phi): (Vec<S>, Vec<S>) = (Seeded::new(4).normals(n), Seeded::new(5).normals(n));
            let mut work = vec![S::of(f64::NAN); problem.work_len()];
            let (mut y, mut moved) = (vec![S::ZERO; n], vec![S::ZERO; n]);
            vector::add_scaled(&mut y, &x, -0.3, &phi);
            let in_turn = problem.smoothed_gradient(&mut moved, &y, 0.2, &mut work);
            let (mut z, mut replaced) = (vec![S::ZERO; n], phi);
            let found = problem.smoothed_gradient_after([&mut z, &mut replaced], &x, -0.3, 0.2, &mut work);
            assert_eq!(found, Some(in_turn), "{kind} {rows}×{cols}");
            assert!(z == y && replaced == moved, "{kind} {rows}×{cols}, {threads} threads");
            let squared = vector::norm2_squared(&moved);
            assert!((in_turn.squared.unwrap() - squared).abs() <= 1e-12 * squared);
        });
    }

    #[test]
    fn a_move_and_an_evaluation_are_one_pass_with_the_same_bits() {
        let shapes = [(1, 1), (1, 7), (7, 1), (3, 5), (64, 64), (300, 257), (9, 5000), (700, 100)];
        for (rows, cols) in shapes {
            for kind in ["differences", "pixels", "entries"] {
                at_once_and_in_turn::<f64>(rows, cols, kind, 1);
                at_once_and_in_turn::<f32>(rows, cols, kind, 3);
            }
        }
    }
}
