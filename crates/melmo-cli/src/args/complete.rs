use std::path::PathBuf;

use clap::{Args, ValueEnum};
use melmo_tasks::{PenaltyChoice, number};

use crate::args::{Solving, known};

/// Fill in the missing entries of a matrix
///
/// Y ≈ m + aᵢ + bⱼ + X with X of low rank, from the entries that are known.
///
/// Blank and NaN cells are missing. Offsets come first: the mean m, and a and b drawn to 0 by a weight. What is left is
/// either WH, minimising ½‖M⊙(R − WH)‖² + ν/2·(‖W‖² + ‖H‖²), or X, minimising ½‖M⊙(R − X)‖² + Σ ψ(σᵢ(X)). Whatever of that weight, the
/// rank, ν and λ is not given is chosen by how well it predicts a tenth of the entries, and shown. Small matrices try both
/// models, large ones the first.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples: melmo complete table.csv -o filled.csv\n          \
                        melmo complete ratings.csv --ratings --holdout 0.2\n          \
                        melmo complete plays.csv --ratings --implicit 1 --recommend 10 --recommendations lists.csv")]
pub struct Complete {
    /// The matrix Y (.npy, .csv, .parquet, an image), a sparse one of which what is not stored is missing
    /// (.mtx, .npz of SciPy, .svm), or a list of entries with --ratings; .gz and .zst are unpacked
    #[arg(value_name = "Y")]
    pub input: PathBuf,
    /// Y is a list of entries: row, column, value, found by their names in the header (user,
    /// item, rating, …) or else the first three columns; rows and columns are whole numbers or
    /// names, other columns are ignored
    #[arg(long, conflicts_with = "mask")]
    pub ratings: bool,
    /// Which columns of the list are row, column and value: their names, or numbers from 1
    #[arg(long, value_name = "ROW,COLUMN,VALUE", value_delimiter = ',', requires = "ratings")]
    pub fields: Vec<String>,
    /// What it means when a list has an entry more than once
    #[arg(long, value_enum, default_value = "mean", requires = "ratings")]
    pub duplicates: Duplicates,
    /// Predict for this list of rows and columns
    #[arg(long, value_name = "FILE", requires_all = ["ratings", "predictions"])]
    pub pairs: Option<PathBuf>,
    /// Where to write the predictions (.csv)
    #[arg(long, value_name = "FILE", requires = "pairs")]
    pub predictions: Option<PathBuf>,
    /// Judge the model by this list, which is no part of Y
    #[arg(long, value_name = "FILE", requires = "ratings")]
    pub test: Option<PathBuf>,
    /// For every row the N columns of the largest values that it does not have; with --holdout
    /// also how good such lists are
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub recommend: Option<u64>,
    /// Where to write those lists (.csv): row, place, column, prediction
    #[arg(long, value_name = "FILE", requires = "recommend")]
    pub recommendations: Option<PathBuf>,
    /// α: an entry y says 1 with confidence 1 + αy, and every place without one says 0 with
    /// confidence 1 (Hu, Koren & Volinsky 2008); factors without offsets, rank 50 and ν = 10
    /// unless given
    #[arg(long, value_name = "ALPHA", value_parser = number::parse,
          conflicts_with_all = ["penalty", "offset_weight", "mask"])]
    pub implicit: Option<f64>,
    /// Which entries are known (1) or not (0); blanks and NaN in Y never are
    #[arg(long, value_name = "FILE")]
    pub mask: Option<PathBuf>,
    /// Whether the mean, a row's and a column's offset come first
    #[arg(long, value_enum, default_value = "yes")]
    pub offsets: Answer,
    /// How strongly offsets are drawn to 0; chosen unless given
    #[arg(long, value_name = "WEIGHT", value_parser = number::parse)]
    pub offset_weight: Option<f64>,
    /// How a and b are found: `verify` reads results of before with turns
    #[arg(long, value_enum, default_value = "joint", hide = true)]
    pub offset_steps: OffsetSteps,
    /// Columns of W: the model WH; chosen unless given
    #[arg(long, value_name = "R", conflicts_with = "penalty")]
    pub rank: Option<usize>,
    /// ν: the model WH; chosen unless given
    #[arg(long, value_name = "NU", value_parser = number::parse, conflicts_with = "penalty")]
    pub ridge: Option<f64>,
    /// ψ of the singular values, as in mcp or mcp:lambda=2,mu=3: the model X; λ is chosen
    /// unless given
    #[arg(long, value_name = "NAME:KEY=VALUE,…", value_parser = known::penalties(), hide_possible_values = true)]
    pub penalty: Option<PenaltyChoice>,
    /// Leave this random share of the entries out of everything, and report the errors of
    /// its prediction
    #[arg(long, value_name = "SHARE", value_parser = number::parse)]
    pub holdout: Option<f64>,
    /// Write the model's values also where Y is known
    #[arg(long)]
    pub smooth_observed: bool,
    /// Where to write the whole matrix (.npy, .csv); with --ratings also OUT.rows.csv and
    /// OUT.columns.csv, the names of its rows and columns
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub solving: Solving,
}

/// How offsets of rows and columns are found.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetSteps {
    /// Turns, and what can be moved between a and b at once: the minimiser.
    Joint,
    /// Turns of a and b alone, as results of before have them.
    Turns,
}

/// What several values of one entry mean.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// Their mean.
    Mean,
    /// A mistake: the list is refused.
    Refuse,
}

impl From<Duplicates> for melmo_data::list::Duplicates {
    fn from(duplicates: Duplicates) -> Self {
        match duplicates {
            Duplicates::Mean => Self::Mean,
            Duplicates::Refuse => Self::Refuse,
        }
    }
}

/// Yes or no.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Y ≈ m + aᵢ + bⱼ + X.
    Yes,
    /// Y ≈ X.
    No,
}
