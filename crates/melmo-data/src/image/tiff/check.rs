//! What has to hold of a TIFF's directories before the decoder may see them: that one allocates what a field claims to hold.

use tiff::tags::Tag;

use super::HINT;
use super::read::{Pages, refused};
use crate::error::{Error, Place};
use crate::image::exif::{kind_size, number};
use crate::image::jpeg;
use crate::limits::Limits;

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

/// The number by which a page says that its pieces are JPEG.
const JPEG: u16 = 7;
/// Rows that a tile may have below the page.
const TILE: u32 = 4096;

/// `Ok` where no piece of a page (a strip or a tile) claims many more samples than the page of so many has: the decoder takes
/// memory for a row of a piece, and for the whole piece where that is a JPEG.
pub(super) fn pieces(decoder: &mut Pages<'_>, bytes: &[u8], samples: usize) -> Result<(), Error> {
    let (width, height) = decoder.chunk_dimensions();
    let (_, rows) = decoder.dimensions().map_err(refused)?;
    let channels = decoder.find_tag_unsigned::<u16>(Tag::SamplesPerPixel).map_err(refused)?.unwrap_or(1);
    let is_jpeg = decoder.find_tag_unsigned(Tag::Compression).map_err(refused)? == Some(JPEG);
    let row = u64::from(width) * u64::from(channels);
    // The last strip may be a part of what all strips are said to have.
    let piece = if is_jpeg { row.saturating_mul(height.min(rows.saturating_add(TILE)).into()) } else { row };
    if piece > samples.saturating_add(Limits::LEAST) as u64 {
        let limit = format!("the page has {samples} samples");
        return Err(Error::too_large(Place::Whole, format!("a tile of {width}×{height} pixels"), limit, HINT));
    }
    if !is_jpeg {
        return Ok(());
    }
    if let Some(tables) = decoder.find_tag(Tag::JPEGTables).map_err(refused)? {
        jpeg::check_frames(&tables.into_u8_vec().map_err(refused)?, piece)?;
    }
    let mut numbers = |tag| decoder.find_tag_unsigned_vec::<u64>(tag).map_err(refused);
    for [offsets, lengths] in [[Tag::StripOffsets, Tag::StripByteCounts], [Tag::TileOffsets, Tag::TileByteCounts]] {
        let (offsets, lengths) = (numbers(offsets)?.unwrap_or_default(), numbers(lengths)?.unwrap_or_default());
        for (offset, length) in offsets.into_iter().zip(lengths) {
            let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
            let end = start.saturating_add(usize::try_from(length).unwrap_or(usize::MAX)).min(bytes.len());
            jpeg::check_frames(&bytes[start..end], piece)?;
        }
    }
    Ok(())
}
