//! What melmo computes with: [`threads`], [`patience`], vector instructions ([`simd`]), dense linear algebra ([`linalg`]), sparse
//! matrices ([`sparse`]), cosine transforms ([`cosines`]), Fourier transforms ([`fourier`]), and a [`clock`] that also goes in a browser.
//!
//! A crate of its own because the crates behind it are generic: here they are compiled once for `f32` and once for `f64`, and
//! not again with each program and each test of melmo.

pub mod clock;
pub mod cosines;
pub mod fourier;
mod instructions;
pub mod linalg;
pub mod patience;
pub mod sparse;
pub mod threads;
mod total;

pub use instructions::{instructions, simd};
pub use total::Total;
