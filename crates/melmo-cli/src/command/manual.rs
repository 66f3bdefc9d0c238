//! Man pages, made of what `--help` says.

use std::process::ExitCode;

use clap::CommandFactory;
use melmo_data::file::io_error;

use crate::args::{Cli, Manual};
use crate::error::Error;

pub fn run(manual: &Manual) -> Result<ExitCode, Error> {
    let folder = &manual.folder;
    std::fs::create_dir_all(folder).map_err(io_error(folder, "make it"))?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(io_error(folder, "write man pages there"))?;
    Ok(ExitCode::SUCCESS)
}
