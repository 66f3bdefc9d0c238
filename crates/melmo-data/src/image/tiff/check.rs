//! What has to hold of a TIFF's directories before the decoder may see them: that one allocates what a field claims to hold.

use super::HINT;
use crate::error::{Error, Place};
use crate::image::exif::{kind_size, number};

/// Bytes of the numbers that a file of this kind is held together by: an offset, a count of entries, an entry, a count of values.
struct Widths {
    offset: usize,
    entries: usize,
    entry: usize,
    first: usize,
}

const CLASSIC: Widths = Widths { offset: 4, entries: 2, entry: 12, first: 4 };
const BIG: Widths = Widths { offset: 8, entries: 8, entry: 20, first: 8 };

/// How many pages there are, where no field of their directories claims more bytes than the file has and no page follows itself.
pub(super) fn pages(bytes: &[u8]) -> Result<usize, Error> {
    let read = |at: usize, size: usize| {
        number(bytes, at, size).ok_or_else(|| {
            Error::malformed(Place::Byte(at), "the end of the file", "the directory of a TIFF image", HINT)
        })
    };
    let widths = if read(2, 2)? == 43 { BIG } else { CLASSIC };
    let mut seen = std::collections::BTreeSet::new();
    let mut next = read(widths.first, widths.offset)?;
    while next != 0 {
        if !seen.insert(next) {
            return Err(Error::malformed(Place::Byte(next), "a page that follows itself", "pages in a row", HINT));
        }
        let entries = read(next, widths.entries)?;
        let start = next.saturating_add(widths.entries);
        let end = entries.checked_mul(widths.entry).and_then(|size| start.checked_add(size));
        let Some(end) = end.filter(|&end| end <= bytes.len()) else {
            let limit = format!("the file has {} bytes", bytes.len());
            return Err(Error::too_large(Place::Byte(next), format!("a directory of {entries} fields"), limit, HINT));
        };
        for at in (start..end).step_by(widths.entry) {
            let (kind, count) = (read(at + 2, 2)?, read(at + 4, widths.offset)?);
            if count.checked_mul(kind_size(kind)).is_none_or(|claimed| claimed > bytes.len()) {
                let limit = format!("the file has {} bytes", bytes.len());
                return Err(Error::too_large(Place::Byte(at), format!("a field of {count} values"), limit, HINT));
            }
        }
        // Some writers leave out the end of the last directory.
        next = number(bytes, end, widths.offset).unwrap_or(0);
    }
    match seen.len() {
        0 => Err(Error::malformed(Place::Whole, "no page", "a picture", HINT)),
        pages => Ok(pages),
    }
}
