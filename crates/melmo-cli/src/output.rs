//! Writing results: checked before the work begins, written whole or not at all.

use std::path::{Path, PathBuf};

use melmo_data::file;

use crate::error::Error;

/// Where results go.
#[derive(Default)]
pub struct Outputs {
    force: bool,
    pub written: Vec<PathBuf>,
}

impl Outputs {
    /// Refuses now what would be refused after hours of work: a file that exists (unless `force`), a folder that does not,
    /// or one that cannot be written to.
    pub fn plan(force: bool, planned: &[PathBuf]) -> Result<Self, Error> {
        for path in planned {
            if !force && path.symlink_metadata().is_ok() {
                return Err(Error::input(path, "exists already: choose another name, or overwrite it with --force"));
            }
            if path.is_dir() && path.extension().is_some() {
                return Err(Error::input(path, "is a folder; expected the name of a file"));
            }
            let folder = folder(path);
            if !folder.is_dir() {
                return Err(Error::input(path, format!("the folder `{}` does not exist: create it", folder.display())));
            }
            let probe = folder.join(format!(".melmo-{}.part", std::process::id()));
            let created = std::fs::OpenOptions::new().write(true).create(true).truncate(true).open(&probe);
            created.map_err(|error| {
                Error::input(path, format!("cannot write to the folder `{}`: {error}", folder.display()))
            })?;
            // The probe has done its duty; a leftover would do no harm.
            let _ = std::fs::remove_file(&probe);
        }
        Ok(Self { force, written: Vec::new() })
    }

    /// Writes bytes.
    pub fn bytes(&mut self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        file::save(path, bytes, self.force)?;
        self.written.push(path.into());
        Ok(())
    }

    /// Writes an array by the file's extension, with column names where the format has them.
    pub fn array(&mut self, path: &Path, array: &melmo_data::Array, names: Option<&[String]>) -> Result<(), Error> {
        match extension(path).as_str() {
            "csv" => {
                let table = melmo_data::csv::Table { names: names.map(Into::into), array: array.clone() };
                melmo_data::csv::write(path, &table, self.force)?;
            }
            "mtx" => melmo_data::matrix_market::write(path, array, self.force)?,
            _ => melmo_data::npy::write(path, array, self.force)?,
        }
        self.written.push(path.into());
        Ok(())
    }

    /// Files may be overwritten.
    pub fn force(&self) -> bool {
        self.force
    }
}

/// The folder that a path lies in.
pub fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The extension, in lower case.
pub fn extension(path: &Path) -> String {
    path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// OUT.npy with `part` before the extension: OUT.part.npy.
pub fn part(path: &Path, part: &str) -> PathBuf {
    let extension = path.extension().map_or("npy".into(), |extension| extension.to_string_lossy().into_owned());
    path.with_extension(format!("{part}.{extension}"))
}

/// Refuses a name whose extension no array format has.
pub fn expect_array(path: &Path) -> Result<(), Error> {
    match extension(path).as_str() {
        "npy" | "csv" | "mtx" => Ok(()),
        _ => Err(Error::input(path, "expected a name that ends in .npy, .csv or .mtx")),
    }
}
