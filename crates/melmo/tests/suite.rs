//! Every test of the library from outside, as one program: what generic code they share is compiled once.
//!
//! One file of them: `cargo test --release -p melmo --test suite known::`. Only `alloc` is a program of its own: it counts
//! what the whole process allocates.

mod auto;
mod beyond;
mod certificate;
mod check;
mod coordinate;
mod equivalence;
mod errors;
mod factorisation;
mod forgeries;
mod golden;
mod interior;
mod known;
mod laws;
mod literature;
mod paths;
mod patience;
mod range;
mod space;
mod stochastic;
mod support;
mod theory;
mod threads;
mod turns;
