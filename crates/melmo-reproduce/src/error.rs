//! What can go wrong before and after the solving itself.

use std::path::PathBuf;

/// Why a reproduction could not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A data set could not be read, or a file not written.
    #[error(transparent)]
    Data(#[from] melmo_data::Error),
    /// The library refused a problem, a method or a start.
    #[error(transparent)]
    Melmo(#[from] melmo::error::Error),
    /// A data set has another shape than the paper's.
    #[error("{}: {message}", file.display())]
    Shape {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A folder could not be made or read.
    #[error("{}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The reader asked to stop.
    #[error("interrupted; finished runs are kept, and the same command goes on from them")]
    Interrupted,
}
