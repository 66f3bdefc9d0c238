//! Writing results: checked before the work begins, made beside their places, put there together at the end.

use std::path::{Path, PathBuf};

use std::io::{IsTerminal, Write};

use melmo_data::image::{self, Encoding, Image};
use melmo_data::staged::{self, Staged};
use melmo_data::{Array, csv, matrix_market, npy};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::input::{digest, digest_of, is_standard};
use crate::render::say;

/// Where results go.
#[derive(Default)]
pub struct Outputs {
    force: bool,
    /// What an earlier part of the same run had put in place before it was killed.
    mine: Vec<PathBuf>,
    staged: Vec<Staged>,
    pub written: Vec<PathBuf>,
    /// What goes to standard output.
    standard: Option<Vec<u8>>,
    /// Pages that become one file, and how many of them there will be.
    pages: Vec<Image>,
    expected: usize,
}

/// A file, or a folder of files, that a run is about to put in place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed {
    pub path: PathBuf,
    /// SHA-256 of its bytes; of a folder, of the names and digests of its files.
    pub digest: String,
}

impl Placed {
    /// It is there, as it was.
    pub fn is_there(&self) -> bool {
        fingerprint(&self.path).as_ref() == Some(&self.digest)
    }
}

impl Outputs {
    /// Refuses now what would be refused after hours of work: a file that exists (unless `force`), a folder that does not,
    /// or one that cannot be written to. What was `placed` by the run that is taken up, and is still what it was, may be
    /// replaced by it.
    pub fn plan(force: bool, planned: &[PathBuf], placed: &[Placed]) -> Result<Self, Error> {
        let is_mine = |path: &&PathBuf| placed.iter().any(|placed| placed.path == **path && placed.is_there());
        let mine: Vec<PathBuf> = planned.iter().filter(is_mine).cloned().collect();
        for path in planned {
            if is_standard(path) {
                if std::io::stdout().is_terminal() {
                    let message = "standard output is a terminal: send the picture somewhere, as in `-o - > out.png`";
                    return Err(Error::input(path, message));
                }
                continue;
            }
            if !force && !mine.contains(path) && path.symlink_metadata().is_ok() {
                return Err(Error::input(path, "exists already: choose another name, or overwrite it with --force"));
            }
            if path.is_dir() && path.extension().is_some() {
                return Err(Error::input(path, "is a folder; expected the name of a file"));
            }
            let folder = folder(path);
            if !folder.is_dir() {
                return Err(Error::input(path, format!("the folder `{}` does not exist: create it", folder.display())));
            }
            staged::sweep(path);
            staged::probe(path)?;
        }
        Ok(Self { force, mine, expected: 1, ..Self::default() })
    }

    fn stage(&mut self, staged: Staged) {
        self.written.push(staged.path().into());
        self.staged.push(staged);
    }

    /// From now on so many pictures are pages of one file.
    pub fn expect_pages(&mut self, pages: usize) {
        self.expected = pages;
    }

    /// A picture; where several are expected they are one file, when the last of them is there.
    pub fn picture(&mut self, path: &Path, picture: Image, encoding: Encoding) -> Result<(), Error> {
        self.pages.push(picture);
        if self.pages.len() < self.expected {
            return Ok(());
        }
        let pages = std::mem::take(&mut self.pages);
        let bytes = image::encode_pages(&pages, encoding).map_err(|error| error.about(path))?;
        self.bytes(path, &bytes)
    }

    /// A file with these bytes.
    pub fn bytes(&mut self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        if is_standard(path) {
            self.standard = Some(bytes.to_vec());
            self.written.push(path.into());
            return Ok(());
        }
        self.stage(Staged::file(path, bytes)?);
        Ok(())
    }

    /// A file that begins with these bytes and that others write into; where it lies until it is put in place.
    pub fn begin(&mut self, path: &Path, bytes: &[u8]) -> Result<PathBuf, Error> {
        self.bytes(path, bytes)?;
        Ok(self.part().into())
    }

    /// Where the last file or folder lies that will be put in place.
    pub fn part(&self) -> &Path {
        self.staged.last().map_or(Path::new(""), Staged::part)
    }

    /// An array by the file's extension, with column names where the format has them.
    pub fn array(&mut self, path: &Path, array: &Array, names: Option<&[String]>) -> Result<(), Error> {
        let encoded = match extension(path).as_str() {
            "csv" => csv::encode(&csv::Table { names: names.map(Into::into), array: array.clone(), index: None }),
            "mtx" => matrix_market::encode(array),
            _ => npy::encode(array),
        };
        self.bytes(path, &encoded.map_err(|error| error.about(path))?)
    }

    /// A folder that `fill` fills with files; it may replace one that has files of these names as well.
    pub fn folder(
        &mut self,
        path: &Path,
        replaced: &[&str],
        fill: impl FnOnce(&Path) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.stage(Staged::folder(path, replaced, fill)?);
        Ok(())
    }

    /// What will be put in place.
    pub fn coming(&self) -> Vec<Placed> {
        let placed = |staged: &Staged| Some(Placed { path: staged.path().into(), digest: fingerprint(staged.part())? });
        self.staged.iter().filter_map(placed).collect()
    }

    /// Puts everything in place, and then says what standard output is to have.
    pub fn place(&mut self) -> Result<(), Error> {
        for staged in std::mem::take(&mut self.staged) {
            let overwrite = self.force || self.mine.iter().any(|mine| mine == staged.path());
            staged.place(overwrite)?;
        }
        let Some(bytes) = self.standard.take() else { return Ok(()) };
        let mut out = std::io::stdout().lock();
        say::printed(out.write_all(&bytes).and_then(|()| out.flush()))
    }
}

/// What tells a file, or a folder of files, from any other.
fn fingerprint(path: &Path) -> Option<String> {
    let data = path.symlink_metadata().ok()?;
    if !data.is_dir() {
        return data.is_file().then(|| digest_of(path).ok()).flatten();
    }
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(path).ok()?.map(|entry| Some(entry.ok()?.path())).collect::<Option<_>>()?;
    files.sort();
    let line = |file: &PathBuf| Some(format!("{:?} {}\n", file.file_name()?, digest_of(file).ok()?));
    Some(digest(files.iter().map(line).collect::<Option<String>>()?.as_bytes()))
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

/// A name as a cell of a CSV file.
pub fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.into() }
}

/// Refuses a name whose extension no array format has.
pub fn expect_array(path: &Path) -> Result<(), Error> {
    match extension(path).as_str() {
        "npy" | "csv" | "mtx" => Ok(()),
        _ => expect_no_folder(path)
            .and_then(|()| Err(Error::input(path, "expected a name that ends in .npy, .csv or .mtx"))),
    }
}

/// Refuses a folder where a file is to be written.
pub fn expect_no_folder(path: &Path) -> Result<(), Error> {
    match path.is_dir() {
        true => Err(Error::input(path, "this is a folder; expected the name of a file")),
        false => Ok(()),
    }
}
