//! Points whose rows lie on ranks: [`Distributed`] is a [`Space`](melmo::space::Space), so that the solvers of `melmo` run on many machines.
//!
//! A rank holds some rows of the blocks that are split, and all of those that are not (the H of a factorisation, the coefficients of a
//! regression). Everything that is summed is summed in the order of the ranks, so that everybody sees the same numbers and takes the same
//! steps. What ranks cannot share is refused, with the reason. Ranks are threads ([`threads()`]) or, with the feature `mpi`, those of MPI.

mod distributed;
mod fold;
mod folding;
mod gauge;
#[cfg(feature = "mpi")]
mod mpi;
mod piece;
mod plan;
mod ranks;
mod rhythm;
mod shared;
mod space;
mod strips;
mod talk;
mod threads;
mod witness;

pub use distributed::{Distributed, Extent, Way};
pub use gauge::Measure;
#[cfg(feature = "mpi")]
pub use mpi::{Mpi, World};
pub use piece::Piece;
pub use ranks::{Alone, Lost, Ranks};
pub use rhythm::Rhythm;
pub use shared::{Shared, Split};
pub use strips::{strips_within, verify_in_strips};
pub use talk::{Meter, Spent, share};
pub use threads::{Thread, threads};
