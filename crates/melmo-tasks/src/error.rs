//! What a task refuses.

/// Why a task could not be done. Messages say what was found, what was expected and what to try.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The library refused a term, a start or a parameter.
    #[error(transparent)]
    Library(#[from] melmo::error::Error),
    /// Something that was given does not make sense here.
    #[error("{what}: found {found}; expected {expected}")]
    Input {
        /// What was given.
        what: String,
        /// What it is.
        found: String,
        /// What would fit, and what to try.
        expected: String,
    },
}

impl Error {
    /// Something given does not make sense here.
    pub fn input(what: impl Into<String>, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Input { what: what.into(), found: found.into(), expected: expected.into() }
    }
}
