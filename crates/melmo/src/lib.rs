//! placeholder
pub mod block;
pub mod error;
pub mod geometry;
pub mod linalg;
pub mod operator;
pub mod penalty;
pub mod real;
pub mod smooth;
pub mod vector;
