//! SVMlight's lines: a target, then `column:value` for every entry that is not zero; `#` begins a comment.
//!
//! Columns count from 1; from 0 where one of them is 0. `qid:` is not looked at.

use std::path::Path;

use melmo_base::sparse::Csr;

use crate::error::{Error, Place, quote};
use crate::limits::Limits;
use crate::{file, pieces};

const HINT: &str = "a line a row: its target, then column:value, column:value, …";

/// What such a file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Labelled {
    /// The first number of each line.
    pub targets: Vec<f64>,
    /// The rows.
    pub matrix: Csr<f64>,
}

/// Reads rows and their targets.
pub fn read(path: &Path) -> Result<Labelled, Error> {
    file::read_seen(path, &Limits::default(), |_| (), |bytes| parse(bytes, &Limits::default()))
}

/// Some lines.
#[derive(Default)]
struct Piece {
    targets: Vec<f64>,
    /// Entries of each row.
    lengths: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

/// Rows and targets from the bytes of a text. A column that a row has twice is refused.
pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Labelled, Error> {
    let text = std::str::from_utf8(bytes)
        .map_err(|e| Error::malformed(Place::Byte(e.valid_up_to()), "bytes that are not text", "UTF-8", HINT))?;
    let read = pieces::read(text, |_, text| {
        let mut piece = Piece::default();
        for (at, line) in text.lines().enumerate() {
            let added = piece.add(line.split('#').next().unwrap_or_default());
            added.map_err(|(found, expected)| Error::malformed(Place::Line(at + 1), found, expected, HINT))?;
        }
        Ok(piece)
    })?;
    let all = || read.iter().flat_map(|piece| &piece.columns);
    let (least, most) = (all().min().copied(), all().max().copied());
    let from = least.map_or(0, |least| least.min(1));
    let cols = most.map_or(0, |most| (most - from) as usize + 1);
    limits.sides(0, cols, bytes.len())?;
    let columns: Vec<u32> = all().map(|column| column - from).collect();
    let mut starts = vec![0];
    for length in read.iter().flat_map(|piece| &piece.lengths) {
        starts.push(starts[starts.len() - 1] + length);
    }
    let targets: Vec<f64> = read.iter().flat_map(|piece| &piece.targets).copied().collect();
    let values = read.iter().flat_map(|piece| &piece.values).copied().collect();
    Ok(Labelled { matrix: Csr::new(targets.len(), cols, starts, columns, values)?, targets })
}

impl Piece {
    fn add(&mut self, line: &str) -> Result<(), (String, &'static str)> {
        let mut words = line.split_ascii_whitespace();
        let Some(target) = words.next() else { return Ok(()) };
        let finite = |word: &str| word.parse().ok().filter(|v: &f64| v.is_finite());
        let before = self.columns.len();
        self.targets.push(finite(target).ok_or_else(|| (quote(target), "a target that is a finite number"))?);
        for word in words.filter(|word| !word.starts_with("qid:")) {
            let entry = word.split_once(':').and_then(|(column, value)| Some((column.parse().ok()?, finite(value)?)));
            let (column, value) =
                entry.ok_or_else(|| (quote(word), "column:value, a whole number and a finite one"))?;
            self.columns.push(column);
            self.values.push(value);
        }
        self.lengths.push(self.columns.len() - before);
        Ok(())
    }
}
