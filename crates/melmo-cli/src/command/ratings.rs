//! Lists of entries, `row, column, value`: the matrix they are entries of, and what its rows and columns are called.

use std::path::Path;

use melmo_data::{Array, Data};
use melmo_tasks::complete::Entries;

use crate::error::Error;
use crate::input::Inputs;

/// A list and the numbers of its rows and columns, ascending.
pub struct Ratings {
    pub entries: Entries,
    pub row_ids: Vec<f64>,
    pub column_ids: Vec<f64>,
    /// Entries that were given more than once.
    pub repeated: usize,
}

/// Reads a list.
pub fn read(inputs: &mut Inputs, path: &Path) -> Result<Ratings, Error> {
    let array = match inputs.open(path)? {
        Data::Table(table) => table.array,
        Data::Array(array) => array,
        _ => return Err(Error::input(path, "is no list: --ratings expects a table of row, column, value")),
    };
    let Array { shape, data, .. } = array;
    let wrong = |shape: &[usize]| {
        let message = format!("found an array of shape {shape:?}; --ratings expects three columns: row, column, value");
        Error::input(path, message)
    };
    let &[lines, cells] = &shape[..] else { return Err(wrong(&shape)) };
    if cells < 3 {
        return Err(wrong(&shape));
    };
    if lines == 0 {
        return Err(Error::input(path, "the list is empty"));
    }
    let cell = |line: usize, at: usize| data[line * cells + at];
    for (line, at) in (0..lines).flat_map(|line| [(line, 0), (line, 1)]) {
        if cell(line, at).fract() != 0.0 || cell(line, at).is_nan() {
            let (which, found) = (["row", "column"][at], cell(line, at));
            let message = format!("entry {}: the {which} is {found}; expected a whole number", line + 1);
            return Err(Error::input(path, message));
        }
    }
    let ids = |at: usize| {
        let mut ids: Vec<f64> = (0..lines).map(|line| cell(line, at)).collect();
        ids.sort_by(f64::total_cmp);
        ids.dedup();
        ids
    };
    let (row_ids, column_ids) = (ids(0), ids(1));
    // Dense arrays are made of it.
    let most = inputs.most();
    if row_ids.len().checked_mul(column_ids.len()).is_none_or(|size| size > most) {
        let (rows, cols) = (row_ids.len(), column_ids.len());
        let message = format!("stands for {rows}×{cols} entries, more than {most}: --max-entries allows more");
        return Err(Error::input(path, message));
    }
    let place = |ids: &[f64], id: f64| ids.partition_point(|known| *known < id);
    let list: Vec<_> = (0..lines)
        .map(|line| (place(&row_ids, cell(line, 0)), place(&column_ids, cell(line, 1)), cell(line, 2)))
        .filter(|entry| !entry.2.is_nan())
        .collect();
    let given = list.len();
    let entries = Entries::new(row_ids.len(), column_ids.len(), list)?;
    let repeated = given - entries.list.len();
    Ok(Ratings { entries, row_ids, column_ids, repeated })
}

/// Whether a table without a gap looks like a list: few columns, whole numbers in the first two, and many lines.
pub fn resembles(data: &[f64], rows: usize, cols: usize) -> bool {
    let whole = |line: &[f64]| line[..2].iter().all(|id| id.fract() == 0.0);
    (3..=4).contains(&cols) && rows > 10 * cols && data.chunks(cols).all(whole)
}
