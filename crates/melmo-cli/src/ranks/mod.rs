//! A run on several ranks of MPI: who takes part, what each reads and writes, and how all of them end together.
//!
//! Every rank runs this program from its beginning. What decides the run is decided together ([`Crew`]), so that nobody waits for somebody who
//! has left: errors, the end of the time, Ctrl-C, the moments of checkpoints. Rank 0 alone speaks.

mod crew;
mod lines;
mod overseer;
mod same;
mod session;
mod set;
mod shared;
mod started;

pub use crew::Crew;
pub use lines::{Lines, is_lines};
pub use session::{Ends, OnRanks, Part, run};
pub use set::is_set;
pub use shared::{Entries, array, is_single};
pub use started::{Started, join, started};

/// What a command that ranks do not carry is answered with.
pub fn refusal(what: &str) -> crate::error::Error {
    crate::error::Error::Ranks(format!("{what} does not run on several ranks: run it without mpirun, on one machine"))
}

/// Refuses the first of these that was asked for.
pub fn refuse<const N: usize>(refused: [(bool, &str); N]) -> Result<(), crate::error::Error> {
    refused.into_iter().find(|(asked, _)| *asked).map_or(Ok(()), |(_, what)| Err(refusal(what)))
}
