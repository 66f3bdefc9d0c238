//! What has to hold of a TIFF directory before the decoder may see it: that one allocates what a field claims to hold.

use crate::error::{Error, Place};

const HINT: &str = "copying the file again, or saving it as PNG";
/// The bytes of a directory entry: tag, type, count, value.
const ENTRY: usize = 12;

/// `Ok` when no field of the first directory claims more bytes than the file has.
pub(super) fn check(bytes: &[u8]) -> Result<(), Error> {
    let number = |at: usize, size: usize| number(bytes, at, size);
    let directory = number(4, 4)?;
    let entries = number(directory, 2)?;
    for at in (0..entries).map(|i| directory + 2 + ENTRY * i) {
        let (kind, count) = (number(at + 2, 2)?, number(at + 4, 4)?);
        if count.checked_mul(size_of_kind(kind)).is_none_or(|claimed| claimed > bytes.len()) {
            let limit = format!("the file has {} bytes", bytes.len());
            return Err(Error::too_large(Place::Byte(at), format!("a field of {count} values"), limit, HINT));
        }
    }
    Ok(())
}

fn size_of_kind(kind: usize) -> usize {
    match kind {
        3 | 8 => 2,
        4 | 9 | 11 | 13 => 4,
        5 | 10 | 12 | 16 | 17 | 18 => 8,
        _ => 1,
    }
}

/// An unsigned number in the file's byte order.
fn number(bytes: &[u8], at: usize, size: usize) -> Result<usize, Error> {
    let end = at.checked_add(size);
    let digits = end.and_then(|end| bytes.get(at..end)).ok_or_else(|| {
        Error::malformed(Place::Byte(at), "the end of the file", "the directory of a TIFF image", HINT)
    })?;
    let push = |number: usize, &byte: &u8| number << 8 | usize::from(byte);
    Ok(if bytes[0] == b'I' { digits.iter().rev().fold(0, push) } else { digits.iter().fold(0, push) })
}
