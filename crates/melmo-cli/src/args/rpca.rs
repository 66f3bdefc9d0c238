use std::path::PathBuf;

use clap::Args;
use melmo_tasks::{PenaltyChoice, number, rpca};

use crate::args::{Solving, known};

/// Separate a matrix, or a video, into a low-rank and a sparse part
///
/// Minimises ½‖Y − L − S‖² + Σ ψ_L(σᵢ(L)) + Σ ψ_S(Sᵢⱼ).
///
/// Y is a matrix, or a film with a frame a row: then L is the background and S what moves before it. A film of more than 2²⁰
/// numbers is computed in single precision unless --precision says otherwise. Blank and NaN cells are missing and left out of the
/// sum. Weights that are not given come from the noise, estimated unless given: λ_S = 3·noise, λ_L = 3·noise·√max(rows, columns).
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples: melmo rpca video.npy -o parts.npy   (parts.background.npy, …)\n          \
                        melmo rpca frames/ --images separated/")]
pub struct Rpca {
    /// A matrix (.npy, .csv, .mtx, an image), frames × rows × columns or these × 3 colours
    /// (.npy), or a folder of images of one size, in the order of their names: in colour where
    /// the first is
    #[arg(value_name = "Y")]
    pub input: PathBuf,
    /// ψ_L: the penalty of the singular values of L; λ is chosen unless given
    #[arg(long, value_name = "NAME:KEY=VALUE,…", value_parser = known::penalties(), hide_possible_values = true, default_value = rpca::PENALTY)]
    pub low_rank: PenaltyChoice,
    /// ψ_S: the penalty of the entries of S; λ is chosen unless given
    #[arg(long, value_name = "NAME:KEY=VALUE,…", value_parser = known::penalties(), hide_possible_values = true, default_value = rpca::PENALTY)]
    pub sparse: PenaltyChoice,
    /// The standard deviation of the noise; estimated unless given
    #[arg(long, value_name = "LEVEL", value_parser = number::parse)]
    pub noise: Option<f64>,
    /// Where to write: OUT.npy gives OUT.background.npy and OUT.foreground.npy, in Y's shape
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// A new folder for the frames as PNG: background-0001.png, foreground-0001.png, …;
    /// the background as bright as Y, the foreground with 0 as middle grey
    #[arg(long, value_name = "FOLDER")]
    pub images: Option<PathBuf>,
    #[command(flatten)]
    pub solving: Solving,
}
