use std::path::PathBuf;

use clap::Args;
use melmo_tasks::{PenaltyChoice, recover};

use crate::args::{Solving, known};

/// Recover a sparse matrix from some of its entries, as in the paper
///
/// Minimises ½‖M⊙(X − Y)‖² + Σ ψ(Xᵢⱼ).
///
/// The problem is separable, so its optimum is known and F − F* is shown. For filling in what is missing, see `melmo
/// complete`: this command is the paper's experiment, where unobserved entries tend to 0.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example: melmo recover ratings.npy --mask observed.npy --iterations 2000 -o recovered.npy")]
pub struct Recover {
    /// The matrix Y (.npy, .csv, .mtx, .gml, an image), or a bundled set from `melmo list data`
    #[arg(value_name = "Y")]
    pub input: PathBuf,
    /// Which entries are observed (1) or not (0); blanks and NaN in Y never are
    #[arg(long, value_name = "FILE")]
    pub mask: Option<PathBuf>,
    /// Penalty of every entry
    #[arg(long, value_name = "NAME:KEY=VALUE,…", value_parser = known::penalties(), hide_possible_values = true, default_value = recover::PENALTY)]
    pub penalty: PenaltyChoice,
    /// Start from this matrix instead of 0
    #[arg(long, value_name = "FILE")]
    pub init: Option<PathBuf>,
    /// Where to write X (.npy, .csv); nothing is written unless given
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub solving: Solving,
}
