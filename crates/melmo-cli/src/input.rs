//! Reading inputs, and remembering which they were.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use melmo::real::Real;
use melmo_data::image::{Encoding, Image};
use melmo_data::list::{self, Duplicates, List};
use melmo_data::svmlight::Labelled;
use melmo_data::{Array, Csr, Data, Frame, Limits, bundled};
use melmo_tasks::Until;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::args::Solving;
use crate::error::Error;
use crate::nearest;
use crate::render::{Summary, progress};

/// Standard input, and standard output.
pub const STANDARD: &str = "-";

/// Whether the name stands for standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new(STANDARD)
}

/// The content of a file that this program wrote. Nothing but a file is one: a pipe may never speak, and a device never ends.
pub fn own(path: &Path) -> std::io::Result<Vec<u8>> {
    match std::fs::metadata(path)?.is_file() {
        true => std::fs::read(path),
        false => Err(std::io::Error::other("it is no file")),
    }
}

/// The text of a configuration: from a file or a pipe, and at most a million bytes of it.
pub fn configuration(path: &Path) -> std::io::Result<String> {
    const MOST: u64 = 1_000_000;
    let mut text = String::new();
    match std::fs::File::open(path)?.take(MOST + 1).read_to_string(&mut text)? as u64 > MOST {
        true => Err(std::io::Error::other("it is longer than a million bytes")),
        false => Ok(text),
    }
}

/// A file that a job read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    pub path: PathBuf,
    /// SHA-256 of its bytes; of a bundled set, its name.
    pub digest: String,
}

/// What was read so far.
pub struct Inputs {
    /// The files, where they are to be known again.
    pub sources: Vec<Source>,
    /// Files that are read piece by piece: on ranks, everybody has to see the same.
    pub in_pieces: Vec<PathBuf>,
    known_again: bool,
    /// Until when reading and preparing may go on.
    pub until: Until,
    limits: Limits,
    /// The bytes of what was read last.
    length: usize,
    /// What was read before its turn. An input that is a pipe can be read once only.
    ahead: Option<(PathBuf, Data)>,
    /// Which of several pages is meant, from 0.
    page: usize,
    /// What standard input held; none before it was read, or where it was no image.
    sniffed: Option<Encoding>,
    /// What a reader took a table for, where that was not plain.
    notes: Vec<String>,
}

/// A matrix with real entries, NaN where it has none.
pub struct Matrix {
    pub rows: usize,
    pub cols: usize,
    pub data: Vec<f64>,
    /// Column names, of a table.
    pub names: Option<Vec<String>>,
}

impl Matrix {
    /// The entries in the precision of the run.
    pub fn entries<S: Real>(&self) -> Vec<S> {
        convert(&self.data)
    }
}

/// Numbers in the precision of the run.
pub fn convert<S: Real>(data: &[f64]) -> Vec<S> {
    data.iter().map(|&value| S::of(value)).collect()
}

impl Inputs {
    /// As these options say. Digests are worth their time only where they go into a file, to be `known_again`.
    pub fn new(solving: &Solving, known_again: bool, until: &Until) -> Self {
        let limits = solving.max_entries.map(Limits::entries).unwrap_or_default();
        Self { known_again, limits, ..Self::plain(until) }
    }

    /// Files that need not be known again.
    pub fn plain(until: &Until) -> Self {
        let (sources, notes) = (Vec::new(), Vec::new());
        Self {
            sources,
            in_pieces: Vec::new(),
            known_again: false,
            until: until.clone(),
            limits: Limits::default(),
            length: 0,
            ahead: None,
            page: 0,
            sniffed: None,
            notes,
        }
    }

    /// The same for one page of an input that was read; other files have it too, or it is that of all pages.
    pub fn for_page(&self, input: &Path, page: usize, image: Image) -> Self {
        let ahead = Some((input.to_path_buf(), Data::Image(image)));
        let (known_again, limits, sniffed) = (self.known_again, self.limits, self.sniffed);
        Self { known_again, limits, sniffed, ahead, page, ..Self::plain(&self.until) }
    }

    /// The page that is meant, of what is open; one that a file lacks is refused.
    pub fn image(&mut self, path: &Path, mut pages: Vec<Image>) -> Result<Image, Error> {
        if self.page >= pages.len() {
            let message = format!("has {} pages, and none for page {}", pages.len(), self.page + 1);
            return Err(Error::input(path, message));
        }
        if self.page == 0 {
            self.note(path, &format!("the first of {} pages", pages.len()));
        }
        Ok(pages.swap_remove(self.page))
    }

    /// The format that standard input had.
    pub fn sniffed(&self) -> Option<Encoding> {
        self.sniffed
    }

    /// How many numbers a file may become.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Numbers that may be made of what was read last.
    pub fn most(&self) -> usize {
        self.limits.of(self.length)
    }

    /// Says what tables were taken for, where that was not plain.
    pub fn tell(&mut self, summary: &mut Summary) {
        let notes = std::mem::take(&mut self.notes);
        if !notes.is_empty() {
            summary.add("notes", notes.clone(), "note", notes.join("; "));
        }
    }

    fn remember(&mut self, path: &Path, digest: impl FnOnce() -> String) {
        // A file that turned out to hold no entries alone is read once more.
        if self.known_again && self.sources.last().is_none_or(|last| last.path != path) {
            self.sources.push(Source { path: path.into(), digest: digest() });
        }
    }

    /// Reads a file before its turn, to find out how large it is.
    pub fn look_ahead(&mut self, path: &Path) -> Result<&Data, Error> {
        let data = self.open(path)?;
        Ok(&self.ahead.insert((path.into(), data)).1)
    }

    /// Whatever the file holds. A name of `melmo list data`, where no such file exists, is the bundled set.
    pub fn open(&mut self, path: &Path) -> Result<Data, Error> {
        if let Some((_, data)) = self.ahead.take_if(|(known, _)| known == path) {
            return Ok(data);
        }
        if is_standard(path) {
            return self.standard(path);
        }
        match self.bundled(path)? {
            Some(array) => Ok(Data::Array(array)),
            None => self.read(path, |limits, see| melmo_data::open_seen(path, limits, see)),
        }
    }

    /// A picture from standard input, which can be read once, and by nobody later.
    fn standard(&mut self, path: &Path) -> Result<Data, Error> {
        if self.known_again {
            let message = "standard input is gone when a result or a checkpoint is looked at again: give a file";
            return Err(Error::input(path, message));
        }
        if std::io::stdin().is_terminal() {
            return Err(Error::input(
                path,
                "standard input is a terminal: expected a picture, as in `melmo denoise - < in.png`",
            ));
        }
        let (until, limits) = (self.until.clone(), self.limits);
        let (data, encoding, length) = progress::while_reading(path, &until, || {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).map_err(melmo_data::file::io_error(path, "read it"))?;
            let data = melmo_data::sniffed(&bytes, &limits).map_err(|error| error.about(path))?;
            Ok::<_, Error>((data, Encoding::sniffed(&bytes), bytes.len()))
        })?;
        (self.sniffed, self.length) = (encoding, length);
        Ok(data)
    }

    /// A table with words in it, or numbers of any other format.
    pub fn frame(&mut self, path: &Path) -> Result<Frame, Error> {
        let frame = match self.bundled(path)? {
            Some(array) => Frame::of_array(array),
            None => self.read(path, |limits, see| melmo_data::open_frame(path, limits, see))?,
        };
        let (rows, cols) = match frame.array.rows_cols() {
            Some(size) => size,
            None => return Err(no_matrix(path, &frame.array.shape)),
        };
        if rows == 0 || cols == 0 {
            return Err(Error::input(path, format!("found a {rows}×{cols} table; expected at least one cell")));
        }
        if frame.commas {
            self.note(path, "decimal commas");
        }
        self.note_index(path, frame.index.as_deref());
        Ok(frame)
    }

    /// The entries of a file that stores entries alone; `None` of one that does not, or of a bundled set.
    pub fn sparse(&mut self, path: &Path) -> Result<Option<Csr<f64>>, Error> {
        if bundled::sets().iter().any(|set| Path::new(set.name) == path) && !path.exists() {
            return Ok(None);
        }
        self.read(path, |limits, see| melmo_data::open_sparse(path, limits, see))
    }

    /// Rows and what their lines begin with, of a file of SVMlight's; `None` of another, or of a bundled set.
    pub fn labelled(&mut self, path: &Path) -> Result<Option<Labelled>, Error> {
        match path.exists() {
            true => self.read(path, |limits, see| melmo_data::open_labelled(path, limits, see)),
            false => Ok(None),
        }
    }

    /// A list of row, column and value.
    pub fn list(&mut self, path: &Path, fields: &[String], duplicates: Duplicates) -> Result<List, Error> {
        let list = self.read(path, |limits, see| list::read(path, limits, fields, duplicates, see))?;
        if list.commas {
            self.note(path, "decimal commas");
        }
        Ok(list)
    }

    /// Something about a file that people should know.
    pub fn note(&mut self, path: &Path, note: &str) {
        let file = path.file_name().unwrap_or(path.as_os_str());
        let note = format!("{}: {note}", file.display());
        // A file may be read twice: to fit, and to judge by.
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn note_index(&mut self, path: &Path, index: Option<&[String]>) {
        if index.is_some() {
            self.note(path, "the first column has no name: it is taken for the names of the rows");
        }
    }

    fn bundled(&mut self, path: &Path) -> Result<Option<Array>, Error> {
        let set = bundled::sets().iter().find(|set| Path::new(set.name) == path).filter(|_| !path.exists());
        let Some(set) = set else { return Ok(None) };
        self.remember(path, || format!("bundled {}", set.name));
        Ok(Some((set.load)()?))
    }

    /// Reads a file that is there, and remembers it.
    fn read<T: Send>(
        &mut self,
        path: &Path,
        open: impl FnOnce(&Limits, &mut dyn FnMut(&[u8])) -> Result<T, melmo_data::Error> + Send,
    ) -> Result<T, Error> {
        if is_standard(path) {
            return Err(Error::input(path, "standard input is taken for pictures only: give a file"));
        }
        if !path.exists() {
            return Err(Error::input(path, nearest::missing(path)));
        }
        if path.is_dir() {
            return Err(Error::input(path, "this is a folder; expected a file"));
        }
        let (until, limits) = (self.until.clone(), self.limits);
        progress::while_reading(path, &until, || {
            Ok(open(&limits, &mut |bytes| {
                self.length = bytes.len();
                self.remember(path, || digest(bytes));
            })?)
        })
    }

    /// Remembers a file that is read piece by piece.
    pub fn remember_file(&mut self, path: &Path) -> Result<(), Error> {
        self.in_pieces.push(path.into());
        if self.known_again {
            let until = self.until.clone();
            let digest = progress::while_reading(path, &until, || digest_of(path));
            let digest = digest.map_err(|error| Error::input(path, format!("could not read it: {error}")))?;
            self.remember(path, || digest);
        }
        Ok(())
    }

    /// A text file.
    pub fn text(&mut self, path: &Path) -> Result<String, Error> {
        self.read(path, |_, see| {
            let bytes = std::fs::read(path).map_err(melmo_data::file::io_error(path, "read it"))?;
            see(&bytes);
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        })
    }

    /// A matrix; a vector is one column.
    pub fn matrix(&mut self, path: &Path) -> Result<Matrix, Error> {
        let (names, array) = match self.open(path)? {
            Data::Table(table) => {
                self.note_index(path, table.index.as_deref());
                (table.names, table.array)
            }
            other => (None, other.into_array()),
        };
        let Some((rows, cols)) = array.rows_cols() else { return Err(no_matrix(path, &array.shape)) };
        if rows == 0 || cols == 0 {
            return Err(Error::input(path, format!("found a {rows}×{cols} matrix; expected at least one entry")));
        }
        Ok(Matrix { rows, cols, data: array.data, names })
    }

    /// A matrix of a shape that is known already.
    pub fn matrix_of(&mut self, path: &Path, rows: usize, cols: usize) -> Result<Vec<f64>, Error> {
        let found = self.matrix(path)?;
        // A vector may lie down or stand.
        let vector = rows.min(cols) == 1 && found.rows.min(found.cols) == 1;
        if (found.rows, found.cols) != (rows, cols) && !(vector && found.data.len() == rows * cols) {
            let message = format!("found a {}×{} matrix; expected {rows}×{cols}", found.rows, found.cols);
            return Err(Error::input(path, message));
        }
        Ok(found.data)
    }

    /// A mask of zeros and ones.
    pub fn mask(&mut self, path: &Path, rows: usize, cols: usize) -> Result<Vec<f64>, Error> {
        let mask = self.matrix_of(path, rows, cols)?;
        match mask.iter().position(|&m| m != 0.0 && m != 1.0) {
            None => Ok(mask),
            Some(at) => {
                let (row, column) = (at / cols + 1, at % cols + 1);
                let message = format!("row {row}, column {column} is {}; a mask holds 0 and 1 only", mask[at]);
                Err(Error::input(path, message))
            }
        }
    }
}

fn no_matrix(path: &Path, shape: &[usize]) -> Error {
    Error::input(path, format!("found an array of shape {shape:?}; expected a matrix"))
}

/// SHA-256, as hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// The same of a file, piece by piece.
pub fn digest_of(path: &Path) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    std::io::copy(&mut std::fs::File::open(path)?, &mut hasher)?;
    Ok(hexadecimal(&hasher.finalize()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An array of rows×cols in the precision of the run.
pub fn array<S: Real>(shape: Vec<usize>, data: &[S]) -> Array {
    let kind = if S::NAME == "f32" { melmo_data::Kind::F32 } else { melmo_data::Kind::F64 };
    Array { shape, data: data.iter().map(|value| value.f64()).collect(), kind }
}
