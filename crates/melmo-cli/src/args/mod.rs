//! What was typed.

mod complete;
mod denoise;
mod factorize;
mod recover;
mod regress;
mod reproduce;
mod rpca;
mod solving;
mod theory;

pub use complete::{Answer, Complete};
pub use denoise::Denoise;
pub use factorize::{Factorize, Scaling};
pub use recover::Recover;
pub use regress::{Regress, Selection};
pub use reproduce::Reproduce;
pub use rpca::Rpca;
pub use solving::Solving;
pub use theory::{Completions, Explain, Kind, List, Verify};

use clap::{Parser, Subcommand};

/// Minimise f(x) + g(Tx) for a smooth f and a non-smooth, possibly non-convex g: denoise images, factorise, complete and
/// separate matrices, fit sparse regressions; with a certificate that anyone can re-check.
#[derive(Parser, Debug)]
#[command(name = "melmo", version, max_term_width = 100, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Exit status: 0 done, 1 stopped without the certificate asked for, 2 an error.")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Fill in the missing entries of a matrix
    Complete(Complete),
    /// Remove noise from an image
    Denoise(Denoise),
    /// Sparse low-rank factors of a matrix: Y ≈ WH
    Factorize(Factorize),
    /// Recover a sparse matrix from some of its entries, as in the paper
    Recover(Recover),
    /// Sparse linear, Huber or logistic regression, λ chosen by cross-validation
    Regress(Regress),
    /// Separate a matrix, or a video, into a low-rank and a sparse part
    Rpca(Rpca),
    /// Run the paper's experiments again: tables, figures, one page
    Reproduce(Reproduce),
    /// What there is: penalties, losses, operators, geometries, methods, data, formats
    List(List),
    /// What the theory guarantees for a method, a geometry and a problem
    Explain(Explain),
    /// Re-check the certificate of a saved result
    Verify(Verify),
    /// A completion script for your shell
    Completions(Completions),
}
