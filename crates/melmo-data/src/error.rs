//! What a reader, a writer or a metric refuses, in one enum.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The name that stands for a file when bytes were parsed without one.
pub(crate) const UNNAMED: &str = "(bytes in memory)";

/// What makes a file of a known format of one that people have, as an end of a sentence.
fn way_out(file: &Path) -> &'static str {
    let extension = file.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match extension.as_str() {
        "xls" | "xlsx" | "ods" | "numbers" => "; try: saving the sheet as .csv",
        "heic" | "heif" | "avif" | "gif" | "svg" | "psd" => "; try: saving it as .png",
        "mp4" | "mov" | "avi" | "mkv" | "webm" => {
            "; try: its frames one by one (`ffmpeg -i film.mp4 film.y4m`, or `ffmpeg -i film.mp4 frames/%05d.png`)"
        }
        "pkl" | "pickle" | "pt" | "rds" | "feather" | "arrow" => "; try: saving it as .npy or .parquet",
        _ => "",
    }
}

/// Why data could not be read, written or compared. Each message names the file, the place, what was found, what was
/// expected, and what to try.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("{}: could not {doing}: {source}; check the path, the permissions and the free space", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What was attempted.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A file is in the way of a writer.
    #[error("{}: exists already; expected a new name: choose another, or allow overwriting", file.display())]
    Exists {
        /// The file.
        file: PathBuf,
    },
    /// A folder is in the way of a writer, and something in it would be lost.
    #[error("{}: holds other files, such as `{}`; expected a folder with nothing but what is written again: choose another", file.display(), other.display())]
    Occupied {
        /// The folder.
        file: PathBuf,
        /// What would be lost.
        other: PathBuf,
    },
    /// An extension that no format has.
    #[error("{}: no format has this extension; expected one of {}{}", file.display(), known.join(", "), way_out(file))]
    UnknownFormat {
        /// The file.
        file: PathBuf,
        /// The extensions there are.
        known: Vec<&'static str>,
    },
    /// The content contradicts its format.
    #[error("{}{place}: found {found}; expected {expected}; try: {hint}", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// Where in it.
        place: Place,
        /// What stands there.
        found: String,
        /// What would fit.
        expected: String,
        /// A way out.
        hint: &'static str,
    },
    /// A valid size that is more than the file can hold, or more than is sensible in memory.
    #[error("{}{place}: claims {claimed}, but {limit}; try: {hint}", file.display())]
    TooLarge {
        /// The file.
        file: PathBuf,
        /// Where in it.
        place: Place,
        /// The size it claims.
        claimed: String,
        /// The size there can be.
        limit: String,
        /// A way out.
        hint: &'static str,
    },
    /// A value that the format to be written cannot hold, or valid content that this reader does not read.
    #[error("{}: {found} does not fit: expected {expected}; try: {hint}", file.display())]
    Unsupported {
        /// The file.
        file: PathBuf,
        /// What is there.
        found: String,
        /// What would fit.
        expected: String,
        /// A way out.
        hint: &'static str,
    },
    /// An argument that makes no sense; no file is concerned.
    #[error("{what}: found {found}; expected {expected}")]
    Argument {
        /// The argument.
        what: &'static str,
        /// What it is.
        found: String,
        /// What would fit.
        expected: String,
    },
}

impl Error {
    /// The same error, about this file: parsers of bytes do not know where those came from.
    #[must_use]
    pub fn about(mut self, path: &Path) -> Self {
        match &mut self {
            Self::Io { file, .. }
            | Self::Exists { file }
            | Self::Occupied { file, .. }
            | Self::UnknownFormat { file, .. }
            | Self::Malformed { file, .. }
            | Self::TooLarge { file, .. }
            | Self::Unsupported { file, .. } => *file = path.to_path_buf(),
            Self::Argument { .. } => {}
        }
        self
    }

    /// The same error in a text that has so many lines more in front.
    #[must_use]
    pub(crate) fn after(mut self, lines: usize) -> Self {
        if let Self::Malformed { place: Place::Line(line), .. } = &mut self {
            *line += lines;
        }
        self
    }

    pub(crate) fn malformed(
        place: Place,
        found: impl Into<String>,
        expected: impl Into<String>,
        hint: &'static str,
    ) -> Self {
        Self::Malformed { file: UNNAMED.into(), place, found: found.into(), expected: expected.into(), hint }
    }

    pub(crate) fn too_large(
        place: Place,
        claimed: impl Into<String>,
        limit: impl Into<String>,
        hint: &'static str,
    ) -> Self {
        Self::TooLarge { file: UNNAMED.into(), place, claimed: claimed.into(), limit: limit.into(), hint }
    }

    pub(crate) fn unsupported(found: impl Into<String>, expected: impl Into<String>, hint: &'static str) -> Self {
        Self::Unsupported { file: UNNAMED.into(), found: found.into(), expected: expected.into(), hint }
    }

    pub(crate) fn argument(what: &'static str, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Argument { what, found: found.into(), expected: expected.into() }
    }
}

impl From<melmo_base::sparse::Misfit> for Error {
    fn from(misfit: melmo_base::sparse::Misfit) -> Self {
        Self::malformed(Place::Whole, misfit.0, "a matrix", "checking its sizes and indices")
    }
}

/// Where in a file something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    Whole,
    /// A line, counted from 1.
    Line(usize),
    /// A row of a table, counted from 1.
    Row(usize),
    /// A byte, counted from 0.
    Byte(usize),
    /// An entry of the array in row-major order, counted from 0.
    Entry(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Line(n) => write!(f, ", line {n}"),
            Self::Row(n) => write!(f, ", row {n}"),
            Self::Byte(n) => write!(f, ", byte {n}"),
            Self::Entry(n) => write!(f, ", entry {n}"),
        }
    }
}

/// A piece of input short enough for a message.
pub(crate) fn quote(text: &str) -> String {
    format!("`{}`", shortened(text, 40))
}

/// The first line of another library's message, which may repeat much of the input after it.
pub(crate) fn brief(message: &impl fmt::Display) -> String {
    shortened(message.to_string().lines().next().unwrap_or_default(), 120)
}

fn shortened(text: &str, shown: usize) -> String {
    match text.char_indices().nth(shown) {
        Some((end, _)) => format!("{}…", text[..end].escape_debug()),
        None => text.escape_debug().to_string(),
    }
}
