//! Bytes to images.

use super::{Depth, Image, pnm, tiff};
use crate::error::{Error, Place, brief};
use ::image::{ColorType, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};
use std::io::Cursor;

const HINT: &str = "copying the file again, or saving it as an 8 or 16 bit PNG";
/// The most bytes of samples an image may have, whatever the file's length.
const MOST: u64 = 1 << 28;
/// What a decoder may use beside the image itself.
const WORKSPACE: u64 = 1 << 24;

/// An image from the bytes of a PNG, JPEG, TIFF, PGM or PPM file; all but the last two have at most 2²⁸ bytes of
/// samples.
///
/// A JPEG damaged in its middle is decoded as far as it goes, as other programs do; one that lacks its end is refused.
pub fn parse(bytes: &[u8]) -> Result<Image, Error> {
    match bytes {
        [b'P', b'2' | b'3' | b'5' | b'6', ..] => pnm::parse(bytes),
        [0x89, b'P', b'N', b'G', ..] => decode(bytes, ImageFormat::Png),
        [b'I', b'I', 42, 0, ..] | [b'M', b'M', 0, 42, ..] => {
            tiff::check(bytes)?;
            decode(bytes, ImageFormat::Tiff)
        }
        [0xff, 0xd8, 0xff, ..] => {
            check_jpeg_end(bytes)?;
            decode(bytes, ImageFormat::Jpeg)
        }
        _ => Err(Error::malformed(Place::Byte(0), "no known signature", "a PNG, JPEG, TIFF, PGM or PPM image", HINT)),
    }
}

fn decode(bytes: &[u8], format: ImageFormat) -> Result<Image, Error> {
    let most = (bytes.len() as u64).saturating_mul(expansion(format)).min(MOST);
    let mut limits = Limits::default();
    limits.max_alloc = Some(2 * most + WORKSPACE);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    let decoder = reader.into_decoder().map_err(refused)?;
    let (width, height) = decoder.dimensions();
    if decoder.total_bytes() > most {
        let limit = format!("{} bytes hold at most {most} bytes of samples", bytes.len());
        return Err(Error::too_large(Place::Whole, format!("{width}×{height} pixels"), limit, HINT));
    }
    let (channels, depth) = layout(decoder.color_type())?;
    let mut samples = vec![0; decoder.total_bytes() as usize];
    decoder.read_image(&mut samples).map_err(refused)?;
    let data = match depth {
        Depth::Eight => samples.iter().map(|&v| f64::from(v) / 255.0).collect(),
        Depth::Sixteen => {
            samples.chunks_exact(2).map(|v| f64::from(u16::from_ne_bytes([v[0], v[1]])) / 65535.0).collect()
        }
    };
    let image =
        Image { width: width as usize, height: height as usize, channels, depth, maximum: depth.maximum(), data };
    image.check()?;
    Ok(image)
}

/// The most samples of a byte. Deflate ends at 1032 bytes, LZW below 4096, and each of those may be 8 pixels, for a
/// palette of 3 samples each. JPEG, where the decoder makes up what is missing, needs a bit a block and ends below 1300.
fn expansion(format: ImageFormat) -> u64 {
    if matches!(format, ImageFormat::Jpeg) { 1 << 12 } else { 1 << 15 }
}

fn layout(color: ColorType) -> Result<(usize, Depth), Error> {
    match color {
        ColorType::L8 => Ok((1, Depth::Eight)),
        ColorType::La8 => Ok((2, Depth::Eight)),
        ColorType::Rgb8 => Ok((3, Depth::Eight)),
        ColorType::Rgba8 => Ok((4, Depth::Eight)),
        ColorType::L16 => Ok((1, Depth::Sixteen)),
        ColorType::La16 => Ok((2, Depth::Sixteen)),
        ColorType::Rgb16 => Ok((3, Depth::Sixteen)),
        ColorType::Rgba16 => Ok((4, Depth::Sixteen)),
        other => Err(Error::unsupported(format!("the colour type {other:?}"), "8 or 16 bit grey or RGB", HINT)),
    }
}

fn refused(error: ImageError) -> Error {
    match error {
        ImageError::Unsupported(what) => Error::unsupported(brief(&what), "8 or 16 bit grey or RGB", HINT),
        ImageError::Limits(what) => {
            Error::too_large(Place::Whole, "more pixels than the file can hold", brief(&what), HINT)
        }
        other => Error::malformed(Place::Whole, brief(&other), "a complete image", HINT),
    }
}

/// The decoder fills a truncated JPEG with grey; this asks for the end marker after the last scan's start.
fn check_jpeg_end(bytes: &[u8]) -> Result<(), Error> {
    let last = |marker: u8| bytes.windows(2).rposition(|pair| pair == [0xff, marker]);
    match (last(0xda), last(0xd9)) {
        (Some(scan), Some(end)) if scan < end => Ok(()),
        _ => Err(Error::malformed(Place::Byte(bytes.len()), "the end of the file", "the rest of a JPEG", HINT)),
    }
}
