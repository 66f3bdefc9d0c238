//! PNG: what has to hold before the decoder may see it (that one panics on a palette that is not made of colours), and what
//! stands beside the samples.

use super::decode::HINT;
use super::metadata::{Density, Metadata, Own};
use crate::error::{Error, Place};

/// The bytes of the signature.
const SIGNATURE: usize = 8;
/// The bytes of a chunk's length and name.
const HEAD: usize = 8;
/// The bytes of a chunk's checksum.
const CHECKSUM: usize = 4;
/// The bytes of the header, a chunk that always comes first.
const HEADER: usize = 13;
/// The name of the text that XMP is.
const XMP: &[u8] = b"XML:com.adobe.xmp\0";
/// Chunks that are taken as they are into another PNG: how colours are meant, texts, a time.
const KEPT: [&[u8; 4]; 7] = [b"gAMA", b"cHRM", b"sRGB", b"cICP", b"tEXt", b"zTXt", b"iTXt"];

/// Place, name and content of every chunk; what the file lacks, the content lacks.
fn chunks(bytes: &[u8]) -> impl Iterator<Item = (usize, [u8; 4], usize, &[u8])> {
    let mut at = SIGNATURE;
    std::iter::from_fn(move || {
        let &[a, b, c, d, e, f, g, h] = bytes.get(at..at.saturating_add(HEAD))? else { return None };
        let (place, length) = (at, u32::from_be_bytes([a, b, c, d]) as usize);
        let start = at + HEAD;
        at = start.saturating_add(length).saturating_add(CHECKSUM);
        let content = &bytes[start..start.saturating_add(length).min(bytes.len())];
        Some((place, [e, f, g, h], length, content))
    })
}

/// `Ok` when every palette is of whole colours (red, green and blue, 256 of them at most), and nothing moves.
pub(super) fn check(bytes: &[u8]) -> Result<(), Error> {
    for (at, name, length, content) in chunks(bytes) {
        if &name == b"PLTE" && (!length.is_multiple_of(3) || length == 0 || length > 3 * 256) {
            let found = format!("a palette of {length} bytes");
            return Err(Error::malformed(Place::Byte(at), found, "three bytes a colour, 1 to 256 colours", HINT));
        }
        if &name == b"acTL" && content.get(..4) > Some(&[0, 0, 0, 1][..]) {
            return Err(super::decode::moving());
        }
    }
    Ok(())
}

/// What stands beside the samples, but what the decoder unpacks: EXIF, profile, XMP.
pub(super) fn metadata(bytes: &[u8]) -> Metadata {
    let (mut found, mut own) = (Metadata::default(), Vec::new());
    for (_, name, length, content) in chunks(bytes).filter(|(_, _, length, content)| *length == content.len()) {
        match &name {
            b"pHYs" if length == 9 => {
                let number = |at: usize| f64::from(u32::from_be_bytes([0, 1, 2, 3].map(|i| content[at + i])));
                found.density = Density::new(number(0), number(4), (content[8] == 1).then_some(Density::METRE));
            }
            b"iTXt" if content.starts_with(XMP) => {}
            _ if KEPT.contains(&&name) => own.push((name, content.to_vec())),
            _ => {}
        }
    }
    if !own.is_empty() {
        found.own = Own::Png(own);
    }
    found
}

/// Puts metadata that the encoder does not take into an encoded PNG, after its header.
pub(super) fn insert(bytes: &mut Vec<u8>, metadata: &Metadata) {
    let mut chunks = Vec::new();
    let mut add = |name: &[u8; 4], parts: &[&[u8]]| {
        let content = parts.concat();
        let Ok(length) = u32::try_from(content.len()) else { return };
        let mut sum = flate2::Crc::new();
        sum.update(name);
        sum.update(&content);
        chunks.extend_from_slice(&length.to_be_bytes());
        chunks.extend_from_slice(name);
        chunks.extend_from_slice(&content);
        chunks.extend_from_slice(&sum.sum().to_be_bytes());
    };
    if let Own::Png(own) = &metadata.own {
        own.iter().for_each(|(name, content)| add(name, &[content]));
    }
    if let Some(density) = metadata.density {
        let whole = |v: f64| ((if density.inch { v / Density::METRE } else { v }).round() as u32).to_be_bytes();
        add(b"pHYs", &[&whole(density.x), &whole(density.y), &[u8::from(density.inch)]]);
    }
    // Neither packed nor in a language.
    metadata.xmp.iter().for_each(|xmp| add(b"iTXt", &[XMP, &[0; 4], xmp]));
    let at = SIGNATURE + HEAD + HEADER + CHECKSUM;
    bytes.splice(at..at, chunks);
}
