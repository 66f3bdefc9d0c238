//! placeholder
pub mod block;
pub mod certificate;
pub mod drive;
pub mod error;
pub mod geometry;
pub mod guarantee;
pub mod linalg;
pub mod operator;
pub mod penalty;
pub mod problem;
pub mod real;
pub mod report;
pub mod schedule;
pub mod smooth;
pub mod solver;
mod stream;
pub mod trace;
pub mod vector;
