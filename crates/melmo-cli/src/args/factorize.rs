use std::path::PathBuf;

use clap::{Args, ValueEnum};
use melmo_tasks::{PenaltyChoice, factorize, number};

use crate::args::Solving;

/// Sparse low-rank factors of a matrix: Y ≈ WH
///
/// Minimises ‖Y − WH‖² + Σ φ(Wᵢⱼ) + ν/2·‖H‖².
///
/// Blank and NaN cells are missing and left out of the sum. Without a ridge on H (ν = 0, the paper's objective) no
/// minimiser exists: (tW, H/t) with t → 0 removes the penalty and keeps the fit.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example: melmo factorize camera --rank 10 -o camera.npy   (writes camera.W.npy, camera.H.npy)")]
pub struct Factorize {
    /// The matrix Y (.npy, .csv, .mtx, .gml, an image), or a bundled set from `melmo list data`
    #[arg(value_name = "Y")]
    pub input: PathBuf,
    /// Columns of W and rows of H
    #[arg(long, value_name = "R")]
    pub rank: usize,
    /// Penalty of every entry of W
    #[arg(long, value_name = "NAME:KEY=VALUE,…", default_value = factorize::PENALTY)]
    pub penalty: PenaltyChoice,
    /// ν: weight of ½‖H‖²; 0 gives the paper's degenerate objective
    #[arg(long, value_name = "NU", default_value = "0.1", allow_negative_numbers = true, value_parser = number::parse)]
    pub ridge_h: f64,
    /// Map Y to [0, 1] first, or take it as it is
    #[arg(long, default_value = "minmax")]
    pub scale: Scaling,
    /// Start of W; standard normal from --seed unless given
    #[arg(long, value_name = "FILE")]
    pub init_w: Option<PathBuf>,
    /// Start of H
    #[arg(long, value_name = "FILE")]
    pub init_h: Option<PathBuf>,
    /// Which entries are observed (1) or not (0)
    #[arg(long, value_name = "FILE")]
    pub mask: Option<PathBuf>,
    /// Where to write: OUT.npy gives OUT.W.npy and OUT.H.npy (.csv likewise); nothing unless given
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub solving: Solving,
}

/// What is done to Y first.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// To [0, 1].
    Minmax,
    /// Nothing.
    None,
}
