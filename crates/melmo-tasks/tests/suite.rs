//! The tasks from outside, as one program: what generic code these tests share is compiled once.

mod denoise;
mod noise;
mod resume;
mod start;
