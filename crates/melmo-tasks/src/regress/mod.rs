//! Sparse regression: Σᵢ ℓ(yᵢ, aᵢᵀb + c) + n·Σⱼ ψ(bⱼ), with an intercept c that is not penalised.
//!
//! Columns are centred and scaled to standard deviation 1 before b is penalised, and coefficients come back in the data's
//! own units. The factor n makes λ mean the same for any number of rows.

mod cells;
mod concordance;
mod design;
mod fit;
mod groups;
mod loss;
mod parts;
mod path;
mod scores;
mod select;
mod table;

pub use cells::Cells;
pub use concordance::concordance;
pub use design::Design;
pub use fit::{Coefficients, Regression};
pub use groups::parse as parse_groups;
pub use loss::{Loss, Samples, Target};
pub use path::{Followed, Lambdas, Model, Rounds};
pub use scores::{Classified, Measured, deviance_of_counts, softmax};
pub use select::{CrossValidation, Point};
pub use table::{Compressed, Table};

/// The penalty unless one is given.
pub const PENALTY: &str = "l1";
