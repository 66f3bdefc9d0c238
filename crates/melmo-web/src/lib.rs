//! The playground's jobs: numbers in, an [`Answer`] out. Nothing here knows of a page; `boundary` alone, which is there for browsers
//! only, speaks to JavaScript.
//!
//! A job is small enough to be done again whenever a slider moves. All of it is in `f64`: one precision is half the code to load.

pub mod answer;
#[cfg(target_family = "wasm")]
mod boundary;
pub mod factors;
pub mod picture;
pub mod table;

pub use answer::Answer;
