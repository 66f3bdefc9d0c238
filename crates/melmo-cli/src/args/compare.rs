use std::path::PathBuf;

use clap::Args;

use crate::args::Problem;

/// Solve one problem by several methods, from the same start
///
/// The problem is written as for its own command, with the same options; only the method differs from run to run. F, steps,
/// seconds and certificates come as a table, and with --report or --chart as a picture. No solution is written.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  melmo compare factorize camera --rank 10 --methods auto,melmo,ipalm --report race.html
  melmo compare denoise camera --add-noise 0.05 --penalty mcp:lambda=0.05,mu=2 --methods tilted,admm:penalty=2")]
pub struct Compare {
    #[command(subcommand)]
    pub problem: Problem,
    /// Methods of `melmo list methods`, with parameters as in admm:penalty=2; `all` tries every one
    #[arg(long, global = true, default_value = "all", value_name = "A,B:KEY=VALUE,…", help_heading = "Comparison")]
    pub methods: String,
    /// Write F against seconds as a picture
    #[arg(long, global = true, value_name = "FILE.svg|.png", help_heading = "Comparison")]
    pub chart: Option<PathBuf>,
}
