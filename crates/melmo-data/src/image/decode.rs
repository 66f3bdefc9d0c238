//! Bytes to images.

use super::{Depth, Image, jpeg, png, pnm, tiff};
use crate::error::{Error, Place, brief};
use crate::limits::{Limits, RAISE};
use ::image::{ColorType, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits as DecoderLimits};
use std::io::Cursor;

pub(super) const HINT: &str = "copying the file again, or saving it as an 8 or 16 bit PNG";
/// What a decoder may use beside the image itself.
const WORKSPACE: u64 = 1 << 24;

/// An image from the bytes of a PNG, JPEG, TIFF, PGM or PPM file.
///
/// A JPEG damaged in its middle is decoded as far as it goes, as other programs do; one that lacks its end is refused.
pub fn parse(bytes: &[u8]) -> Result<Image, Error> {
    parse_within(bytes, &Limits::default())
}

/// The same, of as many samples as a limit says. PGM and PPM need none: they hold every sample.
pub fn parse_within(bytes: &[u8], limits: &Limits) -> Result<Image, Error> {
    match bytes {
        [b'P', b'2' | b'3' | b'5' | b'6', ..] => pnm::parse(bytes),
        [0x89, b'P', b'N', b'G', ..] => {
            png::check(bytes)?;
            decode(bytes, ImageFormat::Png, limits)
        }
        [b'I', b'I', 42, 0, ..] | [b'M', b'M', 0, 42, ..] => {
            tiff::check(bytes)?;
            decode(bytes, ImageFormat::Tiff, limits)
        }
        [0xff, 0xd8, 0xff, ..] => {
            jpeg::check_end(bytes)?;
            decode(bytes, ImageFormat::Jpeg, limits)
        }
        _ => Err(Error::malformed(Place::Byte(0), "no known signature", "a PNG, JPEG, TIFF, PGM or PPM image", HINT)),
    }
}

fn decode(bytes: &[u8], format: ImageFormat, limits: &Limits) -> Result<Image, Error> {
    let most = limits.of(bytes.len()) as u64;
    let mut lent = DecoderLimits::default();
    // Two bytes a sample at most, once as they are stored and once as they are given.
    lent.max_alloc = Some(most.saturating_mul(4).saturating_add(WORKSPACE));
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(lent);
    let decoder = reader.into_decoder().map_err(refused)?;
    let (width, height) = decoder.dimensions();
    let (channels, depth) = layout(decoder.color_type())?;
    let samples = decoder.total_bytes() / u64::from(depth.bytes());
    if samples > most {
        let claimed = format!("{width}×{height} pixels");
        return Err(Error::too_large(Place::Whole, claimed, limits.because(bytes.len()), RAISE));
    }
    if format == ImageFormat::Jpeg {
        jpeg::check_scans(bytes, samples)?;
    }
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
