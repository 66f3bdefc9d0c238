//! Whole files in, whole files out: a reader never sees a path, a writer never leaves half a file.

use crate::compressed;
use crate::error::Error;
use crate::limits::Limits;
use crate::staged::Staged;
use std::fs;
use std::io;
use std::path::Path;

/// Reads a file and parses it; errors name the file.
pub(crate) fn read_with<T>(path: &Path, parse: impl FnOnce(&[u8]) -> Result<T, Error>) -> Result<T, Error> {
    let bytes = fs::read(path).map_err(io_error(path, "read it"))?;
    parse(&bytes).map_err(|error| error.about(path))
}

/// The same of a file that may be compressed: shows its bytes, as they are, to whoever wants to know them again, and parses what
/// they stand for.
pub(crate) fn read_seen<T>(
    path: &Path,
    limits: &Limits,
    see: impl FnOnce(&[u8]),
    parse: impl FnOnce(&[u8]) -> Result<T, Error>,
) -> Result<T, Error> {
    let bytes = fs::read(path).map_err(io_error(path, "read it"))?;
    see(&bytes);
    let plain = compressed::plain(path, bytes, limits).map_err(|error| error.about(path))?;
    parse(&plain).map_err(|error| error.about(path))
}

/// Writes what `encode` gives, through [`save`]; errors name the file.
pub(crate) fn write_with(
    path: &Path,
    overwrite: bool,
    encode: impl FnOnce() -> Result<Vec<u8>, Error>,
) -> Result<(), Error> {
    let bytes = encode().map_err(|error| error.about(path))?;
    save(path, &bytes, overwrite)
}

/// Writes the bytes to a temporary file beside `path` and renames it, so that a reader sees the old file or the new
/// one. An existing file is refused unless `overwrite`; then its permissions stay as they are.
pub fn save(path: &Path, bytes: &[u8], overwrite: bool) -> Result<(), Error> {
    if !overwrite && path.symlink_metadata().is_ok() {
        return Err(Error::Exists { file: path.to_path_buf() });
    }
    Staged::file(path, bytes)?.place(overwrite)
}

/// What went wrong with a file, for an error that names it.
pub fn io_error(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> Error {
    let file = path.to_path_buf();
    move |source| Error::Io { file, doing, source }
}
