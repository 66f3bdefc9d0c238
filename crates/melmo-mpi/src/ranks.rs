//! Who takes part: ranks that each hold a part of x, and the few ways in which they talk.

use std::fmt;

/// A rank has left, or what connects the ranks has failed: nothing more can be agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rank has left the run: what the others have is not the whole")
    }
}

impl std::error::Error for Lost {}

/// This rank's end of what connects all of them. Everybody calls the same methods in the same order.
pub trait Ranks: Send {
    /// Which one this is, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// `all` ← what every rank has, one after another in the order of the ranks, `counts` numbers of each.
    fn gather(&mut self, own: &[f64], counts: &[usize], all: &mut [f64]) -> Result<(), Lost>;

    /// Everybody's part for this rank, one after another in the order of the ranks: rank r is sent the r-th part of `own`, which has
    /// `counts[r]` numbers, and sends `from[r]`.
    fn trade(&mut self, own: &[f64], counts: &[usize], received: &mut [f64], from: &[usize]) -> Result<(), Lost>;

    /// Sends numbers to the rank before and to the one after, and receives as many from each; nothing where a slice is empty.
    fn beside(&mut self, send: [&[f64]; 2], receive: [&mut [f64]; 2]) -> Result<(), Lost>;
}

/// One rank, which has everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Ranks for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn gather(&mut self, own: &[f64], _: &[usize], all: &mut [f64]) -> Result<(), Lost> {
        all.copy_from_slice(own);
        Ok(())
    }

    fn trade(&mut self, own: &[f64], _: &[usize], received: &mut [f64], _: &[usize]) -> Result<(), Lost> {
        received.copy_from_slice(own);
        Ok(())
    }

    fn beside(&mut self, _: [&[f64]; 2], _: [&mut [f64]; 2]) -> Result<(), Lost> {
        Ok(())
    }
}
