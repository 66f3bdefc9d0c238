//! An image as the task sees it: one plane of numbers after another.

use melmo::real::Real;

use crate::error::Error;
use crate::magnitude;

/// `channels` planes of rows×cols numbers, one after another, in any units.
#[derive(Clone, Copy, Debug)]
pub struct Planes<'a, S> {
    /// The numbers: channel, row, column; the column runs fastest.
    pub data: &'a [S],
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// Channels; noise is taken to be as strong in all of them.
    pub channels: usize,
}

impl<'a, S: Real> Planes<'a, S> {
    /// Refuses a size that does not fit and numbers that are none.
    pub fn new(data: &'a [S], rows: usize, cols: usize, channels: usize) -> Result<Self, Error> {
        let samples = rows.checked_mul(cols).and_then(|pixels| pixels.checked_mul(channels));
        if samples != Some(data.len()) || data.is_empty() {
            let found = format!("{} numbers for {rows}×{cols} pixels of {channels} channels", data.len());
            return Err(Error::input("an image", found, "rows·columns·channels numbers, and not none"));
        }
        if let Some(at) = data.iter().position(|v| !v.is_finite()) {
            let (row, col) = (at / cols % rows, at % cols);
            let found = format!("{} at row {row}, column {col}", data[at]);
            return Err(Error::input("an image", found, "finite numbers; fill in or mask what is missing"));
        }
        magnitude::check_known("an image", data)?;
        Ok(Self { data, rows, cols, channels })
    }

    /// One channel.
    pub fn channel(&self, c: usize) -> &'a [S] {
        let pixels = self.rows * self.cols;
        &self.data[c * pixels..(c + 1) * pixels]
    }

    /// These rows of one channel.
    pub fn stretch(&self, c: usize, rows: std::ops::Range<usize>) -> &'a [S] {
        &self.channel(c)[rows.start * self.cols..rows.end * self.cols]
    }
}
