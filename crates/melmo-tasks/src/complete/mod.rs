//! Completing a matrix: Y ≈ m + aᵢ + bⱼ + X, with X of low rank, from the entries that are known.
//!
//! Offsets first ([`Offsets`]), then one of two models of what is left ([`Model`]): factors X = WH with a ridge on both, which
//! is the nuclear norm of X, or a penalty of X's singular values (MCP: large ones are not shrunk). Weights that are not given
//! are chosen by a tenth of the entries ([`choose`]).
//!
//! ```
//! use melmo_tasks::complete::{Entries, Wanted, choose};
//! use melmo_tasks::{Settings, Until, Watch, solve};
//!
//! let y: Vec<f64> = (0..48).map(|k| if k % 5 == 3 { f64::NAN } else { ((k / 8 + 1) * (k % 8 + 1)) as f64 }).collect();
//! let entries = Entries::of_matrix(&y, None, 6, 8)?;
//! let plan = choose(&entries, &Wanted { offsets: true, ..Wanted::default() }, 0, &Until::done())?;
//! let offsets = plan.offsets(&entries);
//! let prepared = plan.prepare::<f64>(offsets.residual(entries), 0, &Until::done())?;
//! let report = solve(&prepared, &Settings::default(), Watch::default())?.report;
//! let filled = plan.completed(&offsets, &report.x, &report.z);
//! assert!((filled.at(0, 3) - 4.0).abs() < 0.4); // row 1, column 4: 1 · 4
//! # Ok::<(), melmo_tasks::Error>(())
//! ```

mod alternate;
mod choose;
mod completed;
mod entries;
mod fit;
mod offsets;
mod parts;
mod recommend;
#[cfg(test)]
mod tests;

pub use choose::{JUDGES, Wanted, choose, given};
pub use completed::Completed;
pub use entries::{Entries, MANY, Score};
pub use fit::{Model, PENALTY, Plan};
pub use offsets::Offsets;
pub use parts::Rows;
pub use recommend::{Ranking, Suggestion};
