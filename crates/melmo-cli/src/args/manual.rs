use std::path::PathBuf;

use clap::Args;

/// Man pages: one for the program and one for every command
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example: melmo manual ~/.local/share/man/man1 && man melmo-denoise")]
pub struct Manual {
    /// The folder to write them to; it is made where it is not there
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}
