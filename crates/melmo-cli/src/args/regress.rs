use std::path::PathBuf;

use clap::{Args, ValueEnum};
use melmo_tasks::regress::{self, Loss};
use melmo_tasks::{PenaltyChoice, number};
use serde::{Deserialize, Serialize};

use crate::args::{Solving, known};

/// Sparse regression of numbers, classes, counts, quantiles or times
///
/// Minimises Σ ℓ(yᵢ, aᵢᵀb + c) + n·Σ ψ(bⱼ), the intercept c free.
///
/// Columns are centred and scaled first, and coefficients come back in the data's units. Unless λ is given it is chosen
/// by cross-validation along a path from λ_max, where every coefficient is 0.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example: melmo regress table.csv price --penalty mcp -o coefficients.csv")]
pub struct Regress {
    /// The table of columns (.csv, .npy, .mtx, …); words become a column of 0 and 1 each, but for the most frequent. Sparse files (.mtx,
    /// .npz, .svmlight) stay sparse
    #[arg(value_name = "X")]
    pub input: PathBuf,
    /// What is predicted: the name of a column of X, or of several with commas between them, or a file with a number (or a class) a row;
    /// an SVMlight file is what its lines begin with
    #[arg(value_name = "Y")]
    pub target: String,
    /// Use these columns alone
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "drop")]
    pub columns: Vec<String>,
    /// Leave these columns out
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub drop: Vec<String>,
    /// Rows with a missing cell: refuse them, drop them, fill in the mean (of words, the most frequent), or also add a column
    /// that says where it was missing
    #[arg(long, default_value = "refuse", value_name = "WAY")]
    pub missing: Missing,
    /// ℓ: squares, logistic (classes), poisson (counts), quantile:level=0.9, cox (times, see --event), huber or huber:delta=1.5
    #[arg(long, default_value = "squares", value_name = "NAME")]
    pub loss: Loss,
    /// ψ: l1, mcp, scad, elastic-net, … ; with lambda=… nothing is chosen
    #[arg(long, value_name = "NAME:KEY=VALUE,…", value_parser = known::penalties(), hide_possible_values = true, default_value = regress::PENALTY)]
    pub penalty: PenaltyChoice,
    /// Rows count by the numbers of this column
    #[arg(long, value_name = "COLUMN")]
    pub weights: Option<String>,
    /// What is known of every prediction already: this column is added to it (for poisson, the logarithm of an exposure)
    #[arg(long, value_name = "COLUMN")]
    pub offset: Option<String>,
    /// For cox: the column that is 1 where the event was seen, and 0 where nobody looked any longer
    #[arg(long, value_name = "COLUMN")]
    pub event: Option<String>,
    /// No coefficient is negative
    #[arg(long, conflicts_with = "groups")]
    pub positive: bool,
    /// What the penalty of every column is multiplied by, as in 1,1,0.5; 0 leaves it free. The columns of a group have one number
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = number::parse)]
    pub penalty_weights: Vec<f64>,
    /// λ, instead of choosing it
    #[arg(long, value_name = "L", allow_negative_numbers = true, value_parser = number::parse)]
    pub lambda: Option<f64>,
    /// Penalise groups of columns together: their sizes, in order, as in 3,3,4; with several targets, the coefficients of all together
    #[arg(long, value_name = "SIZES")]
    pub groups: Option<String>,
    /// No intercept
    #[arg(long)]
    pub no_intercept: bool,
    /// Leave the scale of the columns as it is, as the Python package does unless it is told `standardize=True`
    #[arg(long)]
    pub no_standardize: bool,
    /// How many λ to try
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(2..))]
    pub path: u64,
    /// The least λ of the path, relative to λ_max
    #[arg(long, value_name = "R", default_value = "0.001", allow_negative_numbers = true, value_parser = number::parse)]
    pub path_ratio: f64,
    /// Parts of the cross-validation
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub folds: usize,
    /// Which λ: the least held-out loss, or the simplest model within one standard error of it
    #[arg(long, default_value = "min")]
    pub select: Selection,
    /// Write the path: λ, held-out loss, its standard error, how many coefficients are not 0, and all of them (.csv)
    #[arg(long, value_name = "FILE")]
    pub path_output: Option<PathBuf>,
    /// Predict for this table, which has the columns of X
    #[arg(long, value_name = "FILE", requires = "predictions")]
    pub predict: Option<PathBuf>,
    /// Where to write the predictions (.csv, .npy)
    #[arg(long, value_name = "FILE", requires = "predict")]
    pub predictions: Option<PathBuf>,
    /// With the predictions of classes, the probability of the upper one, or of each of several
    #[arg(long, requires = "predictions")]
    pub probabilities: bool,
    /// Judge the fit by this table, which has the columns of X and the target
    #[arg(long, value_name = "FILE")]
    pub test: Option<PathBuf>,
    /// The target of the table to judge by, where it is a file, as Y is
    #[arg(long, value_name = "FILE", requires = "test")]
    pub test_target: Option<PathBuf>,
    /// Start from the coefficients of a model of the same columns, that --model wrote
    #[arg(long, value_name = "MODEL")]
    pub start: Option<PathBuf>,
    /// Write the fitted model, for `melmo predict` (.json)
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Where to write the coefficients: .csv with names, or .npy; nothing is written unless given
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub solving: Solving,
}

/// Which λ of a path.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The least held-out loss.
    Min,
    /// The simplest within one standard error of it.
    #[value(name = "1se")]
    OneSe,
}

/// What becomes of missing cells.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// They are an error.
    Refuse,
    /// Their rows are left out.
    Drop,
    /// The mean of the column; of words, the most frequent.
    Mean,
    /// The same, and a column of 0 and 1 says where.
    Indicator,
}

/// Predictions of a fitted model for another table
///
/// Where the table has the target too, how good they are is said.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Example: melmo regress table.csv price --model m.json && melmo predict m.json new.csv -o p.csv"
)]
pub struct Predict {
    /// The model that `melmo regress --model` wrote
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// A table with the columns that the model was fitted to
    #[arg(value_name = "TABLE")]
    pub input: PathBuf,
    /// Where to write the predictions (.csv, .npy)
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Of classes, also the probability of the upper one, or of each of several
    #[arg(long)]
    pub probabilities: bool,
    /// Overwrite a file that exists
    #[arg(long)]
    pub force: bool,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
    /// No summary
    #[arg(short, long)]
    pub quiet: bool,
}
