//! A sparse matrix in lines (Matrix Market): every rank reads some of the lines, and has the entries of its rows from all of them.

use std::path::Path;

use melmo_data::{Csr, Limits, matrix_market};

use crate::error::Error;
use crate::nearest;
use crate::ranks::Crew;

/// A rank's rows of a matrix whose entries alone are stored.
pub struct Lines {
    /// Rows and columns of the whole.
    pub shape: (usize, usize),
    /// The entries of this rank's rows, of which the first is row 0 here.
    pub matrix: Csr<f64>,
    /// Entries of the whole.
    pub entries: usize,
}

/// Whether a file has an entry a line.
pub fn is_lines(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("mtx"))
}

impl Lines {
    /// Reads it together; `share` says which of so many rows are a rank's.
    pub fn read(
        path: &Path,
        limits: &Limits,
        share: impl Fn(usize, usize) -> std::ops::Range<usize>,
        crew: &mut Crew,
    ) -> Result<Self, Error> {
        let (rank, size) = (crew.rank(), crew.size());
        let part = match path.exists() {
            true => matrix_market::Part::read(path, rank, size, limits).map_err(Error::from),
            false => Err(Error::input(path, nearest::missing(path))),
        };
        let mut part = crew.agree(part)?;
        let [found] = crew.sums([part.found as f64])?;
        if found != part.stored as f64 {
            let message = format!("found {found} entries; its sizes say {}", part.stored);
            return Err(Error::Ranks(format!("{}: {message}", path.display())));
        }
        let (rows, cols) = part.shape;
        let starts: Vec<usize> = (0..size).map(|rank| share(rows, rank).start).collect();
        let mut own = vec![Vec::new(); size];
        for (i, j, value) in std::mem::take(&mut part.entries) {
            let to = starts.partition_point(|start| *start <= i as usize) - 1;
            own[to].extend([f64::from(i), f64::from(j), value]);
        }
        let received = crew.traded(&own)?;
        let mine = share(rows, rank);
        let entry = |entry: &[f64]| (entry[0] as u32 - mine.start as u32, entry[1] as u32, entry[2]);
        let entries = received.chunks_exact(3).map(entry).collect();
        let gathered = part.gathered(mine.len(), entries).map_err(|error| error.about(path).into());
        let matrix = crew.agree(gathered)?.matrix;
        let [entries] = crew.sums([matrix.len() as f64])?;
        Ok(Self { shape: (rows, cols), matrix, entries: entries as usize })
    }
}
