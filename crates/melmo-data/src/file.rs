//! Whole files in, whole files out: a reader never sees a path, a writer never leaves half a file.

use crate::error::Error;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Reads a file and parses it; errors name the file.
pub(crate) fn read_with<T>(path: &Path, parse: impl FnOnce(&[u8]) -> Result<T, Error>) -> Result<T, Error> {
    let bytes = fs::read(path).map_err(io_error(path, "read it"))?;
    parse(&bytes).map_err(|error| error.about(path))
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
/// one. An existing file is refused unless `overwrite`.
pub fn save(path: &Path, bytes: &[u8], overwrite: bool) -> Result<(), Error> {
    if !overwrite && path.symlink_metadata().is_ok() {
        return Err(Error::Exists { file: path.to_path_buf() });
    }
    let (temporary, mut file) = temporary_beside(path)?;
    let placed = file
        .write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(io_error(path, "write a temporary file beside it"))
        .and_then(|()| place(&temporary, path, overwrite));
    if placed.is_err() {
        // The first error is the one to report; a leftover that cannot be removed changes nothing about it.
        let _ = fs::remove_file(&temporary);
    }
    placed
}

/// Renaming replaces silently, so a file that must be new is linked instead, where the file system has links.
fn place(temporary: &Path, path: &Path, overwrite: bool) -> Result<(), Error> {
    if overwrite {
        return fs::rename(temporary, path).map_err(io_error(path, "put it in place"));
    }
    match fs::hard_link(temporary, path) {
        Ok(()) => fs::remove_file(temporary).map_err(io_error(path, "remove the temporary file beside it")),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Error::Exists { file: path.to_path_buf() }),
        Err(_) => fs::rename(temporary, path).map_err(io_error(path, "put it in place")),
    }
}

fn temporary_beside(path: &Path) -> Result<(PathBuf, fs::File), Error> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let Some(name) = path.file_name() else {
        return Err(Error::argument(
            "the file to write",
            format!("`{}`", path.display()),
            "a path that ends in a name",
        ));
    };
    loop {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{}.part", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
        let temporary = path.with_file_name(hidden);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(io_error(path, "create a temporary file beside it")(error)),
        }
    }
}

fn io_error(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> Error {
    let file = path.to_path_buf();
    move |source| Error::Io { file, doing, source }
}
