//! Solvers of the library on ranks that are threads: the same numbers as on one machine, whatever the number of ranks.

mod agreement;
mod golden;
mod laws;
mod refusals;
mod shared;
mod strips;
mod whole;
