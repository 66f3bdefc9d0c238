use std::path::PathBuf;

use clap::{Args, ValueEnum};
use melmo_tasks::{GeometryChoice, PenaltyChoice, number};

use crate::args::known;

/// What there is: penalties, losses, operators, geometries, methods, data, formats
#[derive(Args, Clone, Debug)]
pub struct List {
    /// One kind only
    #[arg(value_enum)]
    pub kind: Option<Kind>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// What can be listed.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Penalties,
    Lifts,
    Losses,
    Operators,
    Geometries,
    Oracles,
    Methods,
    Devices,
    Data,
    Formats,
}

/// What is proven for a method, a geometry and a problem
///
/// Which theorem, which of its conditions hold, its constants, and how many steps an ε-certificate takes at most. The data are
/// seeded, of the size given; docs/theory.md has the proofs.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples: melmo explain --problem recover --method epoch-constant\n          melmo explain --method auto --epsilon 0.01"
)]
pub struct Explain {
    /// The problem: denoise, factorize, recover, rpca, regress
    #[arg(long, default_value = "denoise", value_parser = ["denoise", "factorize", "recover", "rpca", "regress"])]
    pub problem: String,
    /// Any method of `melmo list methods`
    #[arg(long, default_value = "melmo")]
    pub method: String,
    /// Norm of the steps
    #[arg(long, value_name = "NORM", value_parser = known::geometries(), hide_possible_values = true, default_value = "l2")]
    pub geometry: GeometryChoice,
    /// Penalty
    #[arg(long, value_name = "NAME:KEY=VALUE,…", value_parser = known::penalties(), hide_possible_values = true, default_value = "mcp:lambda=0.05,mu=3")]
    pub penalty: PenaltyChoice,
    /// Exponent of the step
    #[arg(long, allow_negative_numbers = true, value_parser = number::parse)]
    pub p: Option<f64>,
    /// Exponent of the smoothing
    #[arg(long, allow_negative_numbers = true, value_parser = number::parse)]
    pub q: Option<f64>,
    /// Smoothing β
    #[arg(long, allow_negative_numbers = true, value_parser = number::parse)]
    pub beta: Option<f64>,
    /// ε of the certificate whose steps are counted
    #[arg(long, default_value_t = 0.1, allow_negative_numbers = true, value_parser = number::parse)]
    pub epsilon: f64,
    /// F at the start of your own problem; that of seeded data unless given
    #[arg(long, value_name = "F", allow_negative_numbers = true, value_parser = number::parse)]
    pub start: Option<f64>,
    /// A bound on ‖x*‖₂ of every minimiser, for the constants that contain it
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = number::parse)]
    pub radius: Option<f64>,
    /// Rows of the variable, for the constants that depend on its size
    #[arg(long, default_value_t = 256)]
    pub rows: usize,
    /// Columns of the variable
    #[arg(long, default_value_t = 256)]
    pub cols: usize,
}

/// Re-check the certificate of a saved result
///
/// From the saved point and the inputs, as anyone could.
#[derive(Args, Clone, Debug)]
pub struct Verify {
    /// The folder that --result wrote
    #[arg(value_name = "RESULT")]
    pub folder: PathBuf,
    /// Relative tolerance of the comparison; 1e-6 in f64 and 1e-4 in f32 unless given
    #[arg(long, allow_negative_numbers = true, value_parser = number::parse)]
    pub tolerance: Option<f64>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// A completion script for your shell, on standard output
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example: melmo completions bash > ~/.local/share/bash-completion/completions/melmo")]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
