//! ∇f(x) + T*∇g_β(Tx) in one pass over memory, where the three terms allow one: nothing as large as Tx is written down.

mod differences;
mod entries;
mod jet;

use std::ops::Deref;

use crate::operator::{Form, LinOp};
use crate::penalty::{Prox, Streamed};
use crate::real::Real;
use crate::smooth::Smooth;

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

    /// grad ← ∇f + T*∇g_β(Tx), or grad + T*∇g_β(Tx) without a loss of its own; returns f(x) and ‖∇g_β(Tx)‖₂².
    fn smoothed_gradient_add(&self, grad: &mut [S], x: &[S], beta: f64, work: &mut [S]) -> (f64, f64);

    /// g(Tx), or g_β(Tx) when there is a β.
    fn penalty(&self, x: &[S], beta: Option<f64>, work: &mut [S]) -> f64;
}

/// The pass that suits an operator.
pub(crate) enum Stream<'a, S> {
    Entries(EntryStream<'a, S>),
    Differences(DifferenceStream<'a, S>),
    Jet(JetStream<'a, S>),
}

impl<'a, S: Real> Stream<'a, S> {
    /// `None` where the terms have to be called one after another.
    pub fn new(f: &'a dyn Smooth<S>, g: &'a dyn Prox<S>, t: &'a dyn LinOp<S>) -> Option<Self> {
        let f = f.pointwise();
        match t.form() {
            Form::Identity => match g.streamed()? {
                Streamed::Entries(entries) => Some(Self::Entries(EntryStream::new(f, g, entries))),
                Streamed::Pixels(_) => None,
            },
            Form::Difference2d(t) => Some(Self::Differences(DifferenceStream::new(f, g.streamed()?, t))),
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
