//! What can go wrong with a browser.

use std::fmt;

/// Why a browser did not do as it was told.
#[derive(Debug)]
pub enum Error {
    /// It could not be started or reached.
    Io(std::io::Error),
    /// It closed its pipe.
    Closed,
    /// It did not answer in time.
    Late {
        /// The command it was given.
        method: String,
    },
    /// It refused a command.
    Refused {
        /// The command.
        method: String,
        /// Its answer.
        answer: String,
    },
    /// A script in the page threw.
    Script {
        /// The script.
        source: String,
        /// What it threw.
        thrown: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "browser: {error}"),
            Self::Closed => write!(f, "the browser has closed its pipe"),
            Self::Late { method } => write!(f, "the browser did not answer {method} in time"),
            Self::Refused { method, answer } => write!(f, "the browser refused {method}: {answer}"),
            Self::Script { source, thrown } => write!(f, "{thrown}\nin {source}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}
