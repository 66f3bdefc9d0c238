//! melmo minimises F(x) = f(x) + g(Tx): a smooth loss f, plus a non-smooth and possibly non-convex (weakly convex) penalty
//! g of a linear map T of x.
//!
//! It smooths g with its Moreau envelope and moves along the direction that a *linear minimisation oracle* picks in a norm
//! of your choice: ℓ2, ℓ1, ℓ∞, spectral, nuclear, rows, columns, a mix per block. A run ends with a certificate that anyone
//! can re-check from the point and the problem alone.
//!
//! ```
//! use melmo::prelude::*;
//!
//! # fn main() -> Result<(), Error> {
//! let y = vec![3.0, 0.1, -0.2, 0.0, -4.0, 0.15];
//! let layout = Layout::vector(y.len())?;
//! let loss = MaskedLeastSquares::new(layout.clone(), y.clone(), None)?; // f(x) = ½‖x − y‖²
//! let penalty = Entrywise::new(Mcp::new(0.5, 2.0)?, y.len()); // g, weakly convex
//! let problem = Problem::new(loss, penalty, Identity::new(layout))?; // T = I
//! let geometry = for_layout(Norm::L2, problem.layout(), Oracle::Auto)?;
//! let schedule = EpochConstant::new(problem.default_beta());
//! let mut solver = Epoch::new(&problem, geometry, schedule, &vec![0.0; y.len()])?;
//! let stop = Stop::after(100_000).at_epsilon(Epsilon::Absolute(0.05));
//! let report = run(&mut solver, &Options::new(stop), &mut []);
//!
//! assert_eq!(report.status, Status::Certified);
//! let certificate = report.certificate.expect("the start was finite");
//! assert!(certificate.verify(&problem, &report.x, 1e-6)?.passed());
//! # Ok(())
//! # }
//! ```
//!
//! # The rooms
//!
//! - [`smooth`], [`penalty`], [`operator`]: the terms f, g, T; [`problem`] checks them against one another once.
//! - [`geometry`]: norms with their oracles; [`schedule`]: how smoothing and step shrink, and what is proven for it
//!   ([`guarantee`]).
//! - [`space`]: where x lives; [`solver`]: plain iterators; [`drive`]: the one loop with a clock, stopping and status; [`trace`], [`report`],
//!   [`certificate`]: what comes out.
//! - [`check`](mod@check): whether terms of your own are what they say.
//! - [`catalogue`]: one table of everything, for programs, documents and tests.
//!
//! Arrays are `f32` or `f64` ([`real::Real`]); every scalar is an `f64`. Nothing is allocated after construction.
//!
//! # Where it is the wrong tool
//!
//! Smoothed first-order steps are not the fastest way to a lasso (coordinate descent is), to a small convex programme
//! (interior points are) or to high accuracy: the guarantees are O(k^{−1/3}) at best. It is for weakly convex penalties
//! behind a linear map, for norms other than ℓ2, and where a certificate matters more than the last digit.

pub mod block;
pub mod catalogue;
pub mod certificate;
pub mod check;
pub mod cholesky;
pub mod drive;
pub mod error;
pub mod geometry;
pub mod guarantee;
pub mod known;
pub mod low_rank;
pub mod metric;
pub mod operator;
pub mod penalty;
pub mod problem;
pub mod real;
pub mod report;
pub mod schedule;
pub mod seeded;
pub mod smooth;
pub mod solver;
pub mod space;
mod sparse_cholesky;
pub mod start;
pub mod statistics;
mod stream;
pub mod suggest;
pub mod trace;
pub mod vector;

pub use melmo_base::{clock, linalg, patience, sparse, threads};

/// The names that a program which solves a problem needs.
pub mod prelude {
    pub use crate::block::Layout;
    pub use crate::certificate::Certificate;
    pub use crate::drive::{Epsilon, Observer, Options, Status, Stop, run};
    pub use crate::error::Error;
    pub use crate::geometry::{Geometry, Norm, Oracle, Product, for_block, for_layout};
    pub use crate::operator::{
        Boundary, Compose, Convolution, Dense, Difference2d, Difference3d, Identity, Jet, LinOp, Mask, Sample, Scale,
        Select, Sparse, Stack,
    };
    pub use crate::penalty::{
        Blocks, ElasticNet, Entrywise, Group, Huber, Interval, L1, LogSum, Mcp, Nonnegative, Prox, Scad, Separable,
        Spectral,
    };
    pub use crate::problem::Problem;
    pub use crate::real::Real;
    pub use crate::report::Report;
    pub use crate::schedule::{EpochConstant, EpochPower, Horizon, Power, Restart, Schedule};
    pub use crate::seeded::Seeded;
    pub use crate::smooth::{
        Factorization, HuberRegression, LeastSquares, Logistic, MaskedLeastSquares, RobustPca, Smooth,
    };
    pub use crate::solver::{Adaptive, Epoch, Info, Melmo, Smoothing, Solver, Subgradient, Tilted, VariableSmoothing};
    pub use crate::trace::Record;
}
