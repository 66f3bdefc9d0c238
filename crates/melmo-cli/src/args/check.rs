use clap::Args;

use crate::args::Problem;

/// Check the terms of a problem: derivative, adjoint, proximal operator, constants
///
/// The problem is written as for its own command, with the same options; it is built and not solved. Every law is tried at
/// random points (--seed) at and around the start: whether the loss's gradient is its derivative, the operator's adjoint its
/// adjoint, the penalty's proximal point the least, and the stated constants large enough.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  melmo check regress table.csv price --penalty mcp --lambda 0.1
  melmo check denoise photo.jpg --precision f32

Exit status: 0 when every law holds, 1 when one does not, 2 an error.")]
pub struct Check {
    #[command(subcommand)]
    pub problem: Problem,
}
