//! WebP: what has to hold before the decoder may see it, and what stands beside the samples. The decoder takes as much memory as
//! a frame or a chunk claims to need, so neither is left to it.

use super::decode::HINT;
use super::exif;
use super::metadata::Metadata;
use crate::error::{Error, Place};

/// The bytes before the first chunk.
const SIGNATURE: usize = 12;
/// The bytes of a chunk's name and length.
const HEAD: usize = 8;
/// What EXIF begins with in a JPEG, and now and then here.
const EXIF: &[u8] = b"Exif\0\0";
/// The bits of a frame's side; the two above them ask for another scale.
const SIDE: usize = 0x3fff;

/// Place, name and content of every chunk; what the file lacks, the content lacks: whole ones are as long as they say.
fn chunks(bytes: &[u8]) -> impl Iterator<Item = (usize, [u8; 4], usize, &[u8])> {
    let mut at = SIGNATURE;
    std::iter::from_fn(move || {
        let &[a, b, c, d, e, f, g, h] = bytes.get(at..at.saturating_add(HEAD))? else { return None };
        let (start, length) = (at + HEAD, u32::from_le_bytes([e, f, g, h]) as usize);
        // To an even byte.
        at = start.saturating_add(length).next_multiple_of(2);
        Some((start, [a, b, c, d], length, &bytes[start..start.saturating_add(length).min(bytes.len())]))
    })
}

/// Of three bytes or two, the lowest first.
fn number(bytes: &[u8]) -> usize {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte))
}

/// `Ok` where the picture stands still and its frame has the size that its header says.
pub(super) fn check(bytes: &[u8]) -> Result<(), Error> {
    let mut chunks = chunks(bytes);
    // Only a file that begins so says a size of its own.
    let Some((_, name, _, &[flags, _, _, _, a, b, c, d, e, f, ..])) = chunks.next() else { return Ok(()) };
    if &name != b"VP8X" {
        return Ok(());
    }
    if flags & 2 != 0 {
        return Err(super::decode::moving());
    }
    let picture = (number(&[a, b, c]) + 1, number(&[d, e, f]) + 1);
    let Some((at, .., frame)) = chunks.find(|(_, name, ..)| name == b"VP8 ") else { return Ok(()) };
    let Some(&[a, b, c, d]) = frame.get(6..10) else { return Ok(()) };
    let found = (number(&[a, b]) & SIDE, number(&[c, d]) & SIDE);
    if found == picture {
        return Ok(());
    }
    let show = |(width, height)| format!("{width}×{height} pixels");
    let expected = format!("{}, as the header says", show(picture));
    Err(Error::malformed(Place::Byte(at), format!("a frame of {}", show(found)), expected, HINT))
}

/// What stands beside the samples, of every kind the first that is there as a whole.
pub(super) fn metadata(bytes: &[u8], channels: usize) -> Metadata {
    let whole = |wanted: &[u8; 4]| {
        let mut whole = chunks(bytes).filter(|(.., length, content)| *length == content.len());
        whole.find(|(_, name, ..)| name == wanted).map(|(.., content)| content)
    };
    let exif = whole(b"EXIF").map(|exif| exif.strip_prefix(EXIF).unwrap_or(exif).to_vec());
    let density = exif.as_deref().and_then(exif::density);
    let mut found = Metadata { exif, xmp: whole(b"XMP ").map(<[u8]>::to_vec), density, ..Metadata::default() };
    found.profile(whole(b"ICCP").map(<[u8]>::to_vec), channels);
    found
}
