//! Bytes to images.

use super::{Depth, Encoding, Image, Metadata, bmp, exif, jpeg, orientation, png, pnm, tiff, webp};
use crate::error::{Error, Place, brief};
use crate::limits::{Limits, RAISE};
use ::image::{ColorType, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits as DecoderLimits};
use std::io::Cursor;

pub(super) const HINT: &str = "copying the file again, or saving it as an 8 or 16 bit PNG";
/// What a decoder may use beside the image itself.
const WORKSPACE: u64 = 1 << 24;

/// An image from the bytes of a PNG, JPEG, TIFF, WebP, BMP, PGM or PPM file; of several pages the first.
///
/// A JPEG damaged in its middle is decoded as far as it goes, as other programs do; one that lacks its end is refused.
pub fn parse(bytes: &[u8]) -> Result<Image, Error> {
    parse_within(bytes, &Limits::default())
}

/// The same, of as many samples as a limit says. PGM and PPM need none: they hold every sample.
pub fn parse_within(bytes: &[u8], limits: &Limits) -> Result<Image, Error> {
    Ok(pages_within(bytes, limits)?.swap_remove(0))
}

/// All pages, at least one.
pub fn pages_within(bytes: &[u8], limits: &Limits) -> Result<Vec<Image>, Error> {
    let Some(encoding) = Encoding::sniffed(bytes) else { return Err(unknown(bytes)) };
    let one = match encoding {
        Encoding::Pgm | Encoding::Ppm => pnm::parse(bytes),
        Encoding::Tiff => return tiff::read(bytes, limits),
        Encoding::Png => {
            png::check(bytes)?;
            decode(bytes, ImageFormat::Png, png::metadata(bytes), limits)
        }
        Encoding::Jpeg => {
            jpeg::check_end(bytes)?;
            decode(bytes, ImageFormat::Jpeg, jpeg::metadata(bytes), limits)
        }
        Encoding::Bmp => decode(bytes, ImageFormat::Bmp, bmp::metadata(bytes), limits).map(without_equal_colours),
        Encoding::WebP => {
            webp::check(bytes)?;
            decode(bytes, ImageFormat::WebP, Metadata::default(), limits).map(without_equal_colours)
        }
    };
    one.map(|image| vec![image])
}

/// Several pictures that are shown one after another.
pub(super) fn moving() -> Error {
    let hint = "taking its pictures apart first, as in: ffmpeg -i IN picture-%03d.png";
    Error::unsupported("a moving picture", "a picture that stands still", hint)
}

/// Not one of ours; some are named, since people have them.
fn unknown(bytes: &[u8]) -> Error {
    const KNOWN: &str = "a PNG, JPEG, TIFF, WebP, BMP, PGM or PPM image";
    let named = match bytes {
        [b'G', b'I', b'F', b'8', ..] => Some("a GIF"),
        [_, _, _, _, b'f', b't', b'y', b'p', b'a', b'v', b'i', ..] => Some("an AVIF picture"),
        [_, _, _, _, b'f', b't', b'y', b'p', b'h' | b'm', ..] => Some("a HEIC picture, as some telephones take them"),
        [0xff, 0x0a, ..] | [0, 0, 0, 12, b'J', b'X', b'L', ..] => Some("a JPEG XL picture"),
        _ => None,
    };
    match named {
        Some(named) => Error::unsupported(named, KNOWN, "saving it as PNG with the program that shows it"),
        None => Error::malformed(Place::Byte(0), "no known signature", KNOWN, HINT),
    }
}

/// WebP has no grey, and BMP hardly: three equal colours are one, unless a profile says what they mean.
fn without_equal_colours(mut image: Image) -> Image {
    if image.channels == 3
        && image.metadata.icc.is_none()
        && image.data.as_chunks::<3>().0.iter().all(|[r, g, b]| r == g && g == b)
    {
        image.data = image.data.into_iter().step_by(3).collect();
        image.channels = 1;
    }
    image
}

fn decode(bytes: &[u8], format: ImageFormat, metadata: Metadata, limits: &Limits) -> Result<Image, Error> {
    let most = limits.of(bytes.len()) as u64;
    let mut lent = DecoderLimits::default();
    // Two bytes a sample at most, once as they are stored and once as they are given.
    lent.max_alloc = Some(most.saturating_mul(4).saturating_add(WORKSPACE));
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(lent);
    let mut decoder = reader.into_decoder().map_err(refused)?;
    let (width, height) = decoder.dimensions();
    let (channels, depth) = layout(decoder.color_type())?;
    let size = if depth == Depth::Eight { 1 } else { 2 };
    let samples = decoder.total_bytes() / size;
    if samples > most {
        let claimed = format!("{width}×{height} pixels");
        return Err(Error::too_large(Place::Whole, claimed, limits.because(bytes.len()), RAISE));
    }
    if format == ImageFormat::Jpeg {
        jpeg::check_scans(bytes, samples)?;
        // Inks are four, and become three colours.
        jpeg::check_frames(bytes, samples.div_ceil(3).saturating_mul(4))?;
    }
    let metadata = match format {
        ImageFormat::WebP => webp::metadata(bytes, channels),
        _ => unpacked(&mut decoder, metadata, channels),
    };
    let mut samples = vec![0; decoder.total_bytes() as usize];
    decoder.read_image(&mut samples).map_err(refused)?;
    let data = match depth {
        Depth::Eight => samples.iter().map(|&v| f64::from(v) / 255.0).collect(),
        _ => samples.chunks_exact(2).map(|v| f64::from(u16::from_ne_bytes([v[0], v[1]])) / 65535.0).collect(),
    };
    let (width, height, maximum) = (width as usize, height as usize, depth.maximum());
    let mut image = Image { width, height, channels, depth, maximum, data, metadata };
    image.check()?;
    let turned = image.metadata.exif.as_deref().and_then(exif::orientation);
    orientation::upright(&mut image, turned.unwrap_or(1));
    Ok(image)
}

/// What is packed beside the samples; what cannot be unpacked is left, for the picture is what counts.
fn unpacked(decoder: &mut impl ImageDecoder, mut metadata: Metadata, channels: usize) -> Metadata {
    metadata.profile(decoder.icc_profile().ok().flatten(), channels);
    metadata.exif = metadata.exif.or_else(|| decoder.exif_metadata().ok().flatten());
    metadata.xmp = metadata.xmp.or_else(|| decoder.xmp_metadata().ok().flatten());
    metadata
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
