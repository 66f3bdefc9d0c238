//! What people do with melmo, from arrays to answers: no files, no printing.
//!
//! A task turns data into a [`Prepared`] problem: terms, a start, and what it is solved with unless told otherwise.
//! [`solve()`] solves it as [`Settings`] say, under the eyes of whoever watches, and can take up a run where it stopped. The
//! program and the Python package are both thin on top of this.
//!
//! ```
//! use melmo_tasks::{Settings, Watch, recover, solve};
//!
//! let y = [1.0f64, 0.0, f64::NAN, 2.0];
//! let prepared = recover::prepare(&y, None, 2, 2, &"mcp:lambda=0.05,mu=3".parse()?)?;
//! let solved = solve(&prepared, &Settings::default(), Watch::default())?;
//! assert!(solved.report.objective - prepared.optimum.unwrap() < 1e-3);
//! # Ok::<(), melmo_tasks::Error>(())
//! ```

mod call;
pub mod choice;
pub mod compare;
pub mod complete;
pub mod deblur;
pub mod denoise;
pub mod device;
pub mod elsewhere;
pub mod error;
pub mod factorize;
pub mod inpaint;
mod magnitude;
pub mod number;
pub mod prepared;
mod race;

pub mod recover;
pub mod regress;
pub mod restore;
pub mod rpca;
pub mod settings;
pub mod solve;
pub mod until;
pub mod upscale;

pub use choice::{GeometryChoice, PenaltyChoice};
pub use device::DeviceChoice;
pub use error::Error;
pub use melmo::drive::Snapshot;
pub use prepared::{Defaults, Prepared, Tuned};
pub use race::solve_raced;
pub use settings::Settings;
pub use solve::{Solved, Watch, solve, solve_from, solver};
pub use until::Until;
