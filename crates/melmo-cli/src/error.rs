//! What ends the program with status 2: messages that name the file, the line or the option.

use std::path::{Path, PathBuf};

/// Why the program gave up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read or written.
    #[error(transparent)]
    Data(#[from] melmo_data::Error),
    /// A task refused what it was given.
    #[error(transparent)]
    Task(#[from] melmo_tasks::Error),
    /// The paper's experiments could not be run.
    #[error(transparent)]
    Reproduce(#[from] melmo_reproduce::Error),
    /// An input has the wrong shape or content for this command.
    #[error("{}: {message}", file.display())]
    Input { file: PathBuf, message: String },
    /// Standard output takes no more.
    #[error("standard output could not be written to: {0}; files that were asked for are in place")]
    Printing(std::io::Error),
    /// Ranks cannot do it, or could not go on: all of them have the same message.
    #[error("{0}")]
    Ranks(String),
    /// An option does not fit.
    #[error("--{option}: {message}")]
    Option { option: String, message: String },
}

impl From<melmo::error::Error> for Error {
    fn from(error: melmo::error::Error) -> Self {
        Self::Task(error.into())
    }
}

impl Error {
    /// Something is wrong with this input.
    pub fn input(file: &Path, message: impl Into<String>) -> Self {
        Self::Input { file: file.to_path_buf(), message: message.into() }
    }

    /// Something is wrong with this option.
    pub fn option(option: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Option { option: option.into(), message: message.into() }
    }
}
