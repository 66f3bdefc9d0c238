//! What has to hold of a JPEG before the decoder may see it.

use super::decode::HINT;
use crate::error::{Error, Place};

/// The most samples times scans: a few seconds of a decoder's work. A progressive JPEG has about ten scans, each of which goes
/// over the whole picture, and a scan can be ten bytes long.
const WORK: u64 = 1 << 33;

/// The decoder fills a truncated JPEG with grey; this asks for the end marker after the last scan's start.
pub(super) fn check_end(bytes: &[u8]) -> Result<(), Error> {
    let last = |marker: u8| bytes.windows(2).rposition(|pair| pair == [0xff, marker]);
    match (last(0xda), last(0xd9)) {
        (Some(scan), Some(end)) if scan < end => Ok(()),
        _ => Err(Error::malformed(Place::Byte(bytes.len()), "the end of the file", "the rest of a JPEG", HINT)),
    }
}

/// Refuses more scans than a picture of so many samples can need.
pub(super) fn check_scans(bytes: &[u8], samples: u64) -> Result<(), Error> {
    let scans = bytes.windows(2).filter(|pair| *pair == [0xff, 0xda]).count() as u64;
    if samples.saturating_mul(scans) <= WORK {
        return Ok(());
    }
    let limit = format!("a picture of its size has {} at most", (WORK / samples).max(1));
    Err(Error::too_large(Place::Whole, format!("{scans} scans"), limit, HINT))
}
