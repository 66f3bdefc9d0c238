//! A sparse matrix in memory: the entries that there are, row by row.

use std::ops::Range;

/// Why parts do not make a matrix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Misfit(pub String);

/// A rows×cols matrix in compressed rows, indices of 32 bits. What is not stored is zero, unknown, or whatever its user says.
///
/// Row i has `values[k]` in column `columns[k]` for k in `starts[i]..starts[i + 1]`, no column twice. The columns of a matrix are
/// the rows of its transpose: [`Csr::transposed`] is the same matrix in compressed columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Csr<S> {
    cols: usize,
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<S>,
}

impl<S> Csr<S> {
    /// From its parts: columns in any order within a row, none twice.
    pub fn new(
        rows: usize,
        cols: usize,
        starts: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<S>,
    ) -> Result<Self, Misfit> {
        check_sides(rows, cols)?;
        if columns.len() != values.len() {
            return Err(Misfit(format!("{} columns and {} values: one of each an entry", columns.len(), values.len())));
        }
        check_starts(rows, &starts, columns.len())?;
        check_columns(cols, &starts, &columns)?;
        Ok(Self { cols, starts, columns, values })
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Columns of the matrix.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// No entry at all.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Where row i stands among the entries.
    #[inline(always)]
    pub fn span(&self, i: usize) -> Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    /// Columns and values of row i.
    #[inline(always)]
    pub fn row(&self, i: usize) -> (&[u32], &[S]) {
        (&self.columns[self.span(i)], &self.values[self.span(i)])
    }

    /// All values, row by row.
    pub fn values(&self) -> &[S] {
        &self.values
    }

    /// The same, to be changed.
    pub fn values_mut(&mut self) -> &mut [S] {
        &mut self.values
    }

    /// The column of each entry, row by row.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Where each row begins, and the number of entries at the end.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }
}

impl<S: Copy> Csr<S> {
    /// From entries (row, column, value) in any order. `merge` is given the place and the values, in their order, wherever there
    /// are several of one place. Within a row the columns ascend.
    pub fn from_entries<E: From<Misfit>>(
        rows: usize,
        cols: usize,
        entries: impl Iterator<Item = (u32, u32, S)> + Clone,
        merge: impl FnMut(usize, usize, &[S]) -> Result<S, E>,
    ) -> Result<Self, E> {
        check_sides(rows, cols)?;
        if let Some((i, j, _)) = entries.clone().find(|&(i, j, _)| i as usize >= rows || j as usize >= cols) {
            return Err(Misfit(format!("entry ({i}, {j}) lies outside a {rows}×{cols} matrix")).into());
        }
        let mut this = Self::gathered(rows, cols, entries);
        if !this.ascends() {
            this = this.transposed().transposed();
        }
        this.merge(merge)?;
        Ok(this)
    }

    /// Entries by row, in the order given within a row; they may repeat.
    fn gathered(rows: usize, cols: usize, entries: impl Iterator<Item = (u32, u32, S)> + Clone) -> Self {
        let mut starts = vec![0; rows + 1];
        entries.clone().for_each(|(i, ..)| starts[i as usize + 1] += 1);
        (0..rows).for_each(|i| starts[i + 1] += starts[i]);
        let Some((_, _, some)) = entries.clone().next() else {
            return Self { cols, starts, columns: Vec::new(), values: Vec::new() };
        };
        let (mut next, mut columns, mut values) = (starts.clone(), vec![0; starts[rows]], vec![some; starts[rows]]);
        for (i, j, value) in entries {
            let at = &mut next[i as usize];
            (columns[*at], values[*at]) = (j, value);
            *at += 1;
        }
        Self { cols, starts, columns, values }
    }

    /// The transpose, its columns ascending: the same matrix in compressed columns.
    pub fn transposed(&self) -> Self {
        let turned = (0..self.rows()).flat_map(|i| {
            let (columns, values) = self.row(i);
            columns.iter().zip(values).map(move |(&j, &value)| (j, i as u32, value))
        });
        Self::gathered(self.cols, self.rows(), turned)
    }

    /// (row, column, value) of every entry, row by row.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, S)> + Clone + '_ {
        (0..self.rows()).flat_map(|i| {
            let (columns, values) = self.row(i);
            columns.iter().zip(values).map(move |(&j, &value)| (i, j as usize, value))
        })
    }

    /// The same places with values of another kind.
    pub fn map<T>(&self, value: impl Fn(S) -> T) -> Csr<T> {
        let values = self.values.iter().map(|&v| value(v)).collect();
        Csr { cols: self.cols, starts: self.starts.clone(), columns: self.columns.clone(), values }
    }

    /// The entries that `keep` says, asked in their order.
    pub fn filter(&self, mut keep: impl FnMut(usize, usize, S) -> bool) -> Self {
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..self.rows() {
            let (of, with) = self.row(i);
            for (&j, &value) in of.iter().zip(with) {
                if keep(i, j as usize, value) {
                    columns.push(j);
                    values.push(value);
                }
            }
            starts.push(columns.len());
        }
        Self { cols: self.cols, starts, columns, values }
    }

    fn ascends(&self) -> bool {
        (0..self.rows()).all(|i| self.row(i).0.is_sorted())
    }

    /// One entry for several of a place; the columns of a row ascend.
    fn merge<E>(&mut self, mut merge: impl FnMut(usize, usize, &[S]) -> Result<S, E>) -> Result<(), E> {
        let twice = |row: &[u32]| row.windows(2).any(|pair| pair[0] == pair[1]);
        if !(0..self.rows()).any(|i| twice(self.row(i).0)) {
            return Ok(());
        }
        let (mut to, mut from) = (0, 0);
        for i in 0..self.rows() {
            let end = self.starts[i + 1];
            while from < end {
                let j = self.columns[from];
                let same = self.columns[from..end].iter().take_while(|&&column| column == j).count();
                let value = match same {
                    1 => self.values[from],
                    _ => merge(i, j as usize, &self.values[from..from + same])?,
                };
                (self.columns[to], self.values[to]) = (j, value);
                (to, from) = (to + 1, from + same);
            }
            self.starts[i + 1] = to;
        }
        self.columns.truncate(to);
        self.values.truncate(to);
        Ok(())
    }
}

fn check_sides(rows: usize, cols: usize) -> Result<(), Misfit> {
    // Both are indices: of an entry, and of an entry of the transpose.
    if rows.max(cols) <= u32::MAX as usize {
        return Ok(());
    }
    Err(Misfit(format!("a {rows}×{cols} matrix: at most {} rows and columns fit in indices of 32 bits", u32::MAX)))
}

/// Starts that rise from 0 to the number of entries, one more than rows.
pub fn check_starts(rows: usize, starts: &[usize], entries: usize) -> Result<(), Misfit> {
    let wrong = |what: String| Err(Misfit(what));
    if starts.len() != rows + 1 {
        return wrong(format!("{} row starts for {rows} rows: expected one more than rows", starts.len()));
    }
    if (starts[0], starts[rows]) != (0, entries) {
        return wrong(format!("row starts from {} to {}: expected from 0 to {entries}", starts[0], starts[rows]));
    }
    match starts.windows(2).position(|w| w[0] > w[1]) {
        None => Ok(()),
        Some(i) => {
            wrong(format!("row {i} starts at {} and ends at {}: starts must not decrease", starts[i], starts[i + 1]))
        }
    }
}

fn check_columns(cols: usize, starts: &[usize], columns: &[u32]) -> Result<(), Misfit> {
    let mut sorted = Vec::new();
    for (i, w) in starts.windows(2).enumerate() {
        let row = &columns[w[0]..w[1]];
        if let Some(j) = row.iter().find(|&&j| j as usize >= cols) {
            return Err(Misfit(format!("row {i} has column {j}, but there are {cols} columns")));
        }
        if row.is_sorted_by(|a, b| a < b) {
            continue;
        }
        sorted.clear();
        sorted.extend_from_slice(row);
        sorted.sort_unstable();
        if let Some(w) = sorted.windows(2).find(|w| w[0] == w[1]) {
            return Err(Misfit(format!("row {i} has column {} twice: build it from its entries", w[0])));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(_: usize, _: usize, values: &[f64]) -> Result<f64, Misfit> {
        Ok(values.iter().sum())
    }

    #[test]
    fn entries_are_put_in_order_and_merged() {
        let entries = [(2, 1, 5.0), (0, 2, 2.0), (2, 0, 4.0), (0, 0, 1.0), (2, 1, -1.0)];
        let a = Csr::from_entries(3, 3, entries.into_iter(), sum).unwrap();
        assert_eq!(a, Csr::new(3, 3, vec![0, 2, 2, 4], vec![0, 2, 0, 1], vec![1.0, 2.0, 4.0, 4.0]).unwrap());
        assert_eq!(a.iter().collect::<Vec<_>>(), [(0, 0, 1.0), (0, 2, 2.0), (2, 0, 4.0), (2, 1, 4.0)]);
        let refused = |i, j, _: &[f64]| Err(Misfit(format!("{i} {j}")));
        assert_eq!(Csr::from_entries(3, 3, entries.into_iter(), refused), Err(Misfit("2 1".into())));
        let empty = Csr::from_entries(2, 3, std::iter::empty(), sum).unwrap();
        assert_eq!((empty.len(), empty.rows(), empty.cols(), empty.is_empty()), (0, 2, 3, true));
    }

    #[test]
    fn twice_transposed_is_the_same() {
        let entries = (0..200_u32).map(|k| (k * 37 % 90, k * 53 % 70, f64::from(k)));
        let a = Csr::from_entries(90, 70, entries, sum).unwrap();
        assert_eq!(a.transposed().transposed(), a);
        assert_eq!((a.transposed().rows(), a.transposed().cols()), (70, 90));
        let kept = a.filter(|i, _, _| i % 2 == 0);
        assert!(kept.len() < a.len() && kept.iter().all(|(i, ..)| i % 2 == 0));
        assert_eq!(kept.map(|v| v as f32).map(f64::from), kept);
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let build = |starts: &[usize], columns: &[u32], values: &[f64]| {
            Csr::new(2, 3, starts.to_vec(), columns.to_vec(), values.to_vec()).unwrap_err().0
        };
        assert!(build(&[0, 1], &[0], &[1.0]).contains("2 row starts"));
        assert!(build(&[1, 1, 1], &[0], &[1.0]).contains("from 0 to 1"));
        assert!(build(&[0, 1, 1], &[0], &[1.0, 2.0]).contains("2 values"));
        assert!(build(&[0, 5, 1], &[0], &[1.0]).contains("decrease"));
        assert!(build(&[0, 1, 1], &[3], &[1.0]).contains("column 3"));
        assert!(build(&[0, 3, 3], &[1, 0, 1], &[1.0; 3]).contains("twice"));
        assert!(Csr::from_entries(2, 3, [(2, 0, 1.0)].into_iter(), sum).unwrap_err().0.contains("outside"));
        assert!(Csr::<f64>::new(1, usize::MAX, vec![0, 0], vec![], vec![]).unwrap_err().0.contains("32 bits"));
    }
}
