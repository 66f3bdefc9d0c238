//! Errors of the libraries as exceptions of Python, with their own messages.

use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyTypeError, PyValueError};

/// What the libraries refuse is a `ValueError`; a word where a number belongs a `TypeError`.
pub fn raised(error: impl Into<melmo_tasks::Error>) -> PyErr {
    match error.into() {
        melmo_tasks::Error::Library(wrong @ melmo::error::Error::NotANumber { .. }) => {
            PyTypeError::new_err(wrong.to_string())
        }
        refused => PyValueError::new_err(refused.to_string()),
    }
}

/// A file that cannot be read is an `OSError`, one that makes no sense a `ValueError`.
pub fn of_data(error: melmo_data::Error) -> PyErr {
    match &error {
        melmo_data::Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            PyFileNotFoundError::new_err(error.to_string())
        }
        melmo_data::Error::Io { .. } => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}
