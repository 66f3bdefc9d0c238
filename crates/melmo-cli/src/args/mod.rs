//! What was typed.

mod check;
mod compare;
mod complete;
mod denoise;
mod factorize;
mod known;
mod manual;
mod recover;
mod regress;
mod reproduce;
mod restore;
mod rpca;
mod solving;
mod theory;

pub use check::Check;
pub use compare::Compare;
pub use complete::{Answer, Complete, Duplicates, OffsetSteps};
pub use denoise::Denoise;
pub use factorize::{Factorize, Loss, Scaling};
pub use manual::Manual;
pub use recover::Recover;
pub use regress::{Missing, Predict, Regress, Selection};
pub use reproduce::Reproduce;
pub use restore::{Deblur, Inpaint, Restoring, Upscale};
pub use rpca::Rpca;
pub use solving::Solving;
pub use theory::{Completions, Explain, Kind, List, Verify};

use clap::{Parser, Subcommand};

/// Minimise f(x) + g(Tx) for a smooth f and a non-smooth, possibly non-convex g: denoise and restore images, factorise, complete
/// and separate matrices, fit sparse regressions; with a certificate that anyone can re-check.
#[derive(Parser, Debug)]
#[command(name = "melmo", version, max_term_width = 100, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Exit status: 0 done, 1 stopped without the certificate asked for, 2 an error.")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

/// The commands; each says what it does where its options are.
#[derive(Subcommand, Debug)]
pub enum Command {
    #[command(flatten)]
    Solve(Problem),
    Compare(Compare),
    Check(Check),
    Reproduce(Reproduce),
    List(List),
    Explain(Explain),
    Predict(Predict),
    Verify(Verify),
    Completions(Completions),
    Manual(Manual),
}

/// Commands that solve a problem of the user's.
#[derive(Subcommand, Clone, Debug)]
pub enum Problem {
    Complete(Complete),
    Deblur(Deblur),
    Denoise(Denoise),
    Factorize(Factorize),
    Inpaint(Inpaint),
    Recover(Recover),
    Regress(Regress),
    Rpca(Rpca),
    Upscale(Upscale),
}
