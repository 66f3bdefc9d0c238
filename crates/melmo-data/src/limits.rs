//! How many numbers a file may become. A few bytes can stand for gigabytes: a sparse matrix of huge sides, a picture of one
//! colour. What a file claims is counted before memory is asked for.

use crate::error::{Error, Place};

/// The most numbers that a file may become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    entries: Option<usize>,
}

impl Limits {
    /// What any file may become: 2²² numbers, 32 MiB in memory.
    pub const LEAST: usize = 1 << 22;
    /// What a longer file may become, for each of its bytes. A photograph as JPEG has about 8, a sparse matrix of ratings 2.
    pub const PER_BYTE: usize = 64;
    /// What no file may become unless it is allowed to: 2²⁸ numbers, 2 GiB in memory.
    pub const MOST: usize = 1 << 28;

    /// Any file may become so many numbers, and no more.
    #[must_use]
    pub fn entries(most: usize) -> Self {
        Self { entries: Some(most) }
    }

    /// What a file of so many bytes may become.
    #[must_use]
    pub fn of(&self, bytes: usize) -> usize {
        self.entries.unwrap_or_else(|| bytes.saturating_mul(Self::PER_BYTE).clamp(Self::LEAST, Self::MOST))
    }

    /// Why a file of so many bytes may not become more, for a message.
    pub(crate) fn because(&self, bytes: usize) -> String {
        let most = self.of(bytes);
        match self.entries {
            Some(_) => format!("at most {most} numbers were allowed"),
            None => format!("a file of {bytes} bytes may become {most} numbers"),
        }
    }
}

impl Limits {
    /// `Ok` where a sparse matrix of this shape, of a file of so many bytes, may be held by rows or by columns: a number for each.
    pub(crate) fn sides(&self, rows: usize, cols: usize, bytes: usize) -> Result<(), Error> {
        if rows.max(cols) <= self.of(bytes).min(u32::MAX as usize) {
            return Ok(());
        }
        let claimed = format!("a {rows}×{cols} matrix");
        Err(Error::too_large(Place::Whole, claimed, self.because(bytes), RAISE))
    }
}

/// The way out of a limit.
pub(crate) const RAISE: &str = "a larger limit, if the file can be trusted: --max-entries, or `Limits` in the library";
