//! JPEG: what has to hold before the decoder may see it, and what stands beside the samples.

use ::image::codecs::jpeg::{PixelDensity, PixelDensityUnit};

use super::decode::HINT;
use super::metadata::{Density, Metadata, Own};
use crate::error::{Error, Place};

/// The most samples times scans: a few seconds of a decoder's work. A progressive JPEG has about ten scans, each of which goes
/// over the whole picture, and a scan can be ten bytes long.
const WORK: u64 = 1 << 33;

const APP0: u8 = 0xe0;
const APP1: u8 = 0xe1;
const APP13: u8 = 0xed;
const COMMENT: u8 = 0xfe;
const SCAN: u8 = 0xda;
/// Of frames: at once, extended, progressive.
const FRAMES: [u8; 3] = [0xc0, 0xc1, 0xc2];
const EXIF: &[u8] = b"Exif\0\0";
const XMP: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
/// What a segment can hold, beside its length.
const LONGEST: usize = 65533;

/// The decoder fills a truncated JPEG with grey; this asks for the end marker after the last scan's start.
pub(super) fn check_end(bytes: &[u8]) -> Result<(), Error> {
    let last = |marker: u8| bytes.windows(2).rposition(|pair| pair == [0xff, marker]);
    match (last(SCAN), last(0xd9)) {
        (Some(scan), Some(end)) if scan < end => Ok(()),
        _ => Err(Error::malformed(Place::Byte(bytes.len()), "the end of the file", "the rest of a JPEG", HINT)),
    }
}

/// Refuses more scans than a picture of so many samples can need.
pub(super) fn check_scans(bytes: &[u8], samples: u64) -> Result<(), Error> {
    let scans = bytes.windows(2).filter(|pair| *pair == [0xff, SCAN]).count() as u64;
    if samples.saturating_mul(scans) <= WORK {
        return Ok(());
    }
    let limit = format!("a picture of its size has {} at most", (WORK / samples).max(1));
    Err(Error::too_large(Place::Whole, format!("{scans} scans"), limit, HINT))
}

/// A frame takes at most so many coefficients for each of its samples (colours at half the width and the height take two), and
/// so many more, since its blocks are whole.
const COEFFICIENTS: u64 = 4;
const WHOLE_BLOCKS: u64 = 1 << 22;

/// Refuses frames of more samples than the picture has, or of many more coefficients than samples: the decoder keeps those of
/// all blocks, and a component may claim sixteen blocks where others have one.
pub(super) fn check_frames(bytes: &[u8], most: u64) -> Result<(), Error> {
    for (_, content) in segments(bytes).filter(|(marker, _)| FRAMES.contains(marker)) {
        let &[_, a, b, c, d, count, ref components @ ..] = content else { continue };
        let (height, width) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        let samples = u64::from(height) * u64::from(width) * u64::from(count);
        if samples > most {
            let claimed = format!("a frame of {width}×{height} pixels and {count} components");
            return Err(Error::too_large(Place::Whole, claimed, format!("the picture has {most} samples"), HINT));
        }
        let blocks = |[_, factors, _]: &[u8; 3]| u64::from(factors >> 4) * u64::from(factors & 15);
        // Of one component alone the factors say nothing.
        let factors = if count == 1 { 1 } else { components.as_chunks().0.iter().map(blocks).sum() };
        let coefficients = 64 * u64::from(height.div_ceil(8)) * u64::from(width.div_ceil(8)) * factors;
        if coefficients > COEFFICIENTS * samples + WHOLE_BLOCKS {
            let claimed = format!("{coefficients} coefficients");
            return Err(Error::too_large(Place::Whole, claimed, format!("its frame has {samples} samples"), HINT));
        }
    }
    Ok(())
}

/// Marker and content of every segment before the first scan.
fn segments(bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut at = 2;
    std::iter::from_fn(move || {
        // Decoders pass over what is no marker of a segment: fillers, and bytes that are nothing.
        while let Some(&[first, second]) = bytes.get(at..at + 2)
            && (first != 0xff || matches!(second, 0 | 1 | 0xd0..=0xd8 | 0xff))
        {
            at += 1;
        }
        let &[0xff, marker, high, low] = bytes.get(at..at + 4)? else { return None };
        let length = usize::from(u16::from_be_bytes([high, low]));
        let content = bytes.get(at + 4..at + 2 + length).filter(|_| marker != SCAN)?;
        at += 2 + length;
        Some((marker, content))
    })
}

/// What stands beside the samples, but the profile.
pub(super) fn metadata(bytes: &[u8]) -> Metadata {
    let (mut found, mut own) = (Metadata::default(), Vec::new());
    for (marker, content) in segments(bytes) {
        match marker {
            APP0 => found.density = found.density.or_else(|| density(content)),
            APP1 if content.starts_with(EXIF) => found.exif = Some(content[EXIF.len()..].to_vec()),
            APP1 if content.starts_with(XMP) => found.xmp = Some(content[XMP.len()..].to_vec()),
            APP13 | COMMENT => own.push((marker, content.to_vec())),
            _ => {}
        }
    }
    if !own.is_empty() {
        found.own = Own::Jpeg(own);
    }
    found
}

fn density(content: &[u8]) -> Option<Density> {
    let &[unit, a, b, c, d] = content.strip_prefix(b"JFIF\0")?.get(2..7)? else { return None };
    let per_inch = match unit {
        1 => Some(1.0),
        2 => Some(Density::CENTIMETRE),
        _ => None,
    };
    Density::new(u16::from_be_bytes([a, b]).into(), u16::from_be_bytes([c, d]).into(), per_inch)
}

/// As the encoder takes it.
pub(super) fn pixel_density(density: Density) -> PixelDensity {
    let whole = |v: f64| v.round().clamp(1.0, f64::from(u16::MAX)) as u16;
    let unit = if density.inch { PixelDensityUnit::Inches } else { PixelDensityUnit::PixelAspectRatio };
    PixelDensity { density: (whole(density.x), whole(density.y)), unit }
}

/// Puts metadata into an encoded JPEG, after its first segment (JFIF). What no segment can hold is left out.
pub(super) fn insert(bytes: &mut Vec<u8>, metadata: &Metadata) {
    let mut segments = Vec::new();
    let mut add = |marker: u8, parts: &[&[u8]]| {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if length <= LONGEST {
            segments.extend_from_slice(&[0xff, marker]);
            segments.extend_from_slice(&(length as u16 + 2).to_be_bytes());
            parts.iter().for_each(|part| segments.extend_from_slice(part));
        }
    };
    metadata.exif.iter().for_each(|exif| add(APP1, &[EXIF, exif]));
    metadata.xmp.iter().for_each(|xmp| add(APP1, &[XMP, xmp]));
    if let Own::Jpeg(own) = &metadata.own {
        own.iter().for_each(|(marker, content)| add(*marker, &[content]));
    }
    // The start of the image, and the segment that every encoder begins with.
    let at = match bytes.get(2..6) {
        Some(&[0xff, APP0, high, low]) => 4 + usize::from(u16::from_be_bytes([high, low])),
        _ => 2,
    };
    bytes.splice(at..at, segments);
}
