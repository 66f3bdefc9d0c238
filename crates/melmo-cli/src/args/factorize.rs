use std::path::PathBuf;

use clap::{Args, ValueEnum};
use melmo_tasks::{PenaltyChoice, factorize, number};

use crate::args::{Duplicates, Solving, known};

/// Sparse low-rank factors of a matrix: Y ≈ WH
///
/// Minimises ‖Y − WH‖² + Σ ψ(Wᵢⱼ) + ν/2·‖H‖².
///
/// Blank and NaN cells are missing and left out of the sum. A sparse file (.mtx, .npz, .svm, also packed) stays sparse: what it does
/// not store is 0, and time and memory go with what it stores. Without a ridge on H (ν = 0, the paper's objective) no
/// minimiser exists: (tW, H/t) with t → 0 removes the penalty and keeps the fit.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  melmo factorize camera --rank 10 -o camera.npy   (writes camera.W.npy, camera.H.npy)
  melmo factorize counts.mtx --rank 20 --nonnegative --names-columns words.txt   (prints topics)
  melmo factorize plays.parquet --list --rank 20 --loss poisson   (user, item, count)")]
pub struct Factorize {
    /// The matrix Y (.npy, .csv, .parquet, .mtx, .npz, .svm, .gml, an image), or a bundled set from `melmo list data`
    #[arg(value_name = "Y")]
    pub input: PathBuf,
    /// Y is a list of entries, row, column, value, as for `complete --ratings`: what it does not name is 0, and what it calls
    /// its rows and columns names the topics. With --output also OUT.rows.csv and OUT.columns.csv
    #[arg(long, conflicts_with_all = ["mask", "memory"])]
    pub list: bool,
    /// Which columns of the list are row, column and value: their names, or numbers from 1
    #[arg(long, value_name = "ROW,COLUMN,VALUE", value_delimiter = ',', requires = "list")]
    pub fields: Vec<String>,
    /// What it means when a list has an entry more than once
    #[arg(long, value_enum, default_value = "mean", requires = "list")]
    pub duplicates: Duplicates,
    /// Columns of W and rows of H
    #[arg(long, value_name = "R")]
    pub rank: usize,
    /// Penalty of every entry of W
    #[arg(long, value_name = "NAME:KEY=VALUE,…", value_parser = known::penalties(), hide_possible_values = true, default_value = factorize::PENALTY)]
    pub penalty: PenaltyChoice,
    /// ν: weight of ½‖H‖²; 0 gives the paper's degenerate objective
    #[arg(long, value_name = "NU", default_value = "0.1", allow_negative_numbers = true, value_parser = number::parse)]
    pub ridge_h: f64,
    /// What W and H are fitted by: squares, counts (the Kullback–Leibler divergence; W ≥ 0 and H ≥ 0, what is not stored
    /// is 0), or yes and no (entries above 0 are yes, what is not stored is unknown). Counts, yes and no are not scaled
    #[arg(long, default_value = "squares")]
    pub loss: Loss,
    /// Neither W nor H has negative entries
    #[arg(long)]
    pub nonnegative: bool,
    /// Map Y to [0, 1] first (a sparse Y is divided by its largest entry), or take it as it is; what is written is in
    /// Y's units
    #[arg(long, default_value = "minmax")]
    pub scale: Scaling,
    /// Start of W; standard normal from --seed unless given
    #[arg(long, value_name = "FILE")]
    pub init_w: Option<PathBuf>,
    /// Start of H; standard normal from --seed unless given
    #[arg(long, value_name = "FILE")]
    pub init_h: Option<PathBuf>,
    /// Which entries are observed (1) or not (0)
    #[arg(long, value_name = "FILE")]
    pub mask: Option<PathBuf>,
    /// Names of the rows of Y, one a line: those that weigh most in each topic are printed
    #[arg(long, value_name = "FILE")]
    pub names_rows: Option<PathBuf>,
    /// Names of the columns of Y, one a line: a topic is printed as those that weigh most in its row of H
    #[arg(long, value_name = "FILE")]
    pub names_columns: Option<PathBuf>,
    /// Columns that are named for a topic
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Memory to stay below, as in 4GB or 500MB: a larger .npy or .parquet stays on disk and is read in blocks of rows,
    /// in every pass
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<usize>,
    /// Where to write: OUT.npy gives OUT.W.npy and OUT.H.npy (.csv likewise); nothing unless given
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub solving: Solving,
}

/// What W and H are fitted by.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// ‖Y − WH‖².
    Squares,
    /// Σ WH − Y·log WH.
    Poisson,
    /// Σ log(1 + exp(∓WH)).
    Logistic,
}

/// What is done to Y first.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// To [0, 1].
    Minmax,
    /// Nothing.
    None,
}

/// 4GB, 500MB, 2GiB, or a number of bytes.
fn size(text: &str) -> Result<usize, String> {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)].map(|(unit, power)| (unit, f64::from(1u32 << power)));
    let units = [("GB", 1e9), ("MB", 1e6), ("KB", 1e3)].into_iter().chain(units).chain([("B", 1.0)]);
    let typed = text.trim();
    let of = |unit: &str| {
        typed.len().checked_sub(unit.len()).filter(|&at| typed.is_char_boundary(at)).map(|at| typed.split_at(at))
    };
    let found = units.into_iter().find_map(|(unit, bytes)| {
        of(unit).filter(|(_, end)| end.eq_ignore_ascii_case(unit)).map(|(amount, _)| (amount, bytes))
    });
    let (amount, bytes) = found.unwrap_or((typed, 1.0));
    let amount =
        number::parse(amount.trim()).ok().map(|amount| amount * bytes).filter(|size| (1.0..1e18).contains(size));
    amount.map(|size| size as usize).ok_or_else(|| "expected a size such as 4GB, 500MB or 2GiB".into())
}
