//! What has to hold of a PNG before the decoder may see it: that one panics on a palette that is not made of colours.

use super::decode::HINT;
use crate::error::{Error, Place};

/// The bytes of the signature.
const SIGNATURE: usize = 8;
/// The bytes of a chunk's length and name.
const HEAD: usize = 8;
/// The bytes of a chunk's checksum.
const CHECKSUM: usize = 4;

/// `Ok` when every palette is of whole colours: red, green and blue, 256 of them at most.
pub(super) fn check(bytes: &[u8]) -> Result<(), Error> {
    let mut at = SIGNATURE;
    while let Some([a, b, c, d, name @ ..]) = bytes.get(at..at.saturating_add(HEAD)) {
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        if name == b"PLTE" && (!length.is_multiple_of(3) || length == 0 || length > 3 * 256) {
            let found = format!("a palette of {length} bytes");
            return Err(Error::malformed(Place::Byte(at), found, "three bytes a colour, 1 to 256 colours", HINT));
        }
        at = at.saturating_add(HEAD + CHECKSUM).saturating_add(length);
    }
    Ok(())
}
