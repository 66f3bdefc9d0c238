//! The pages of a TIFF.

use std::io::Cursor;

use exif::{Exif, Tag};
use tiff::decoder::{Decoder, DecodingResult, Limits as DecoderLimits};
use tiff::{ColorType, TiffError, tags};

use super::{HINT, PROFILE, XMP, check, fields};
use crate::error::{Error, Place, brief};
use crate::image::metadata::{Density, Metadata, Own};
use crate::image::{Depth, Image, orientation};
use crate::limits::{Limits, RAISE};

const EXPECTED: &str = "8 or 16 bit or float, grey or RGB";
/// What a decoder may use beside the image itself.
const WORKSPACE: usize = 1 << 24;

pub(super) type Pages<'a> = Decoder<Cursor<&'a [u8]>>;

/// All pages; together they may have as many samples as a limit says.
pub(in crate::image) fn read(bytes: &[u8], limits: &Limits) -> Result<Vec<Image>, Error> {
    let count = check::pages(bytes)?;
    let mut left = limits.of(bytes.len());
    let mut decoder = Decoder::new(Cursor::new(bytes)).map_err(refused)?;
    let said = fields::read(bytes);
    let mut pages = Vec::new();
    for page in 0..count {
        if page > 0 {
            decoder.next_image().map_err(refused)?;
        }
        let (back, image) = one(decoder, bytes, &mut left, || limits.because(bytes.len()))?;
        decoder = back;
        pages.push(finished(image, &mut decoder, said.as_ref(), page)?);
    }
    Ok(pages)
}

/// The samples of the page where the decoder is.
fn one<'a>(
    mut decoder: Pages<'a>,
    bytes: &[u8],
    left: &mut usize,
    because: impl Fn() -> String,
) -> Result<(Pages<'a>, Image), Error> {
    let (width, height) = decoder.dimensions().map_err(refused)?;
    let colour = decoder.colortype().map_err(refused)?;
    let stored = usize::from(colour.num_samples());
    let size = (width as usize).checked_mul(height as usize).and_then(|pixels| pixels.checked_mul(stored));
    let Some(size) = size.filter(|size| size <= left) else {
        return Err(Error::too_large(Place::Whole, format!("{width}×{height} pixels"), because(), RAISE));
    };
    *left -= size;
    check::pieces(&mut decoder, bytes, size)?;
    let mut limits = DecoderLimits::default();
    limits.decoding_buffer_size = size.saturating_mul(8);
    limits.intermediate_buffer_size = size.saturating_mul(8).saturating_add(WORKSPACE);
    decoder = decoder.with_limits(limits);
    let mut found = DecodingResult::U8(Vec::new());
    let layout = decoder.read_image_to_buffer(&mut found).map_err(refused)?;
    if layout.planes > 1 && layout.planes < stored {
        return Err(Error::unsupported(format!("{} planes", layout.planes), EXPECTED, HINT));
    }
    let (depth, mut data) = samples(found, colour, width as usize)?;
    if data.len() < size {
        return Err(Error::malformed(Place::Whole, "fewer samples than pixels", "a complete image", HINT));
    }
    data.truncate(size);
    if layout.planes > 1 {
        data = interleaved(&data, stored);
    }
    let (channels, data) = match colour {
        ColorType::Gray(_) => (1, data),
        ColorType::GrayA(_) | ColorType::Multiband { num_samples: 2, .. } => (2, data),
        ColorType::RGB(_) => (3, data),
        ColorType::RGBA(_) => (4, data),
        ColorType::CMYK(_) => (3, data.as_chunks::<4>().0.iter().flat_map(rgb).collect()),
        other => return Err(Error::unsupported(format!("the colours {other:?}"), EXPECTED, HINT)),
    };
    let (width, height, maximum) = (width as usize, height as usize, depth.maximum());
    Ok((decoder, Image { width, height, channels, depth, maximum, data, metadata: Metadata::default() }))
}

/// Samples from 0 to 1, or floats as they are.
fn samples(found: DecodingResult, colour: ColorType, width: usize) -> Result<(Depth, Vec<f64>), Error> {
    let over = |v: f64, top: u16| v / f64::from(top);
    Ok(match (found, colour.bit_depth()) {
        (DecodingResult::U8(v), 1) => (Depth::Eight, bits(&v, width)),
        (DecodingResult::U8(v), 8) => (Depth::Eight, v.into_iter().map(|v| over(v.into(), 255)).collect()),
        (DecodingResult::U16(v), 16) => (Depth::Sixteen, v.into_iter().map(|v| over(v.into(), 65535)).collect()),
        (DecodingResult::F16(v), _) => (Depth::Half, v.into_iter().map(|v| v.to_f64()).collect()),
        (DecodingResult::F32(v), _) => (Depth::Single, v.into_iter().map(f64::from).collect()),
        (DecodingResult::F64(v), _) => (Depth::Double, v),
        (_, bits) => return Err(Error::unsupported(format!("{colour:?}, {bits} bit"), EXPECTED, HINT)),
    })
}

/// Black and white: eight pixels a byte, every row from a byte on.
fn bits(bytes: &[u8], width: usize) -> Vec<f64> {
    let row = |row: &[u8]| (0..width).map(|j| f64::from(row[j / 8] >> (7 - j % 8) & 1)).collect::<Vec<_>>();
    bytes.chunks_exact(width.div_ceil(8)).flat_map(row).collect()
}

/// One channel after another becomes one pixel after another.
fn interleaved(planes: &[f64], channels: usize) -> Vec<f64> {
    let pixels = planes.len() / channels;
    (0..pixels * channels).map(|at| planes[at % channels * pixels + at / channels]).collect()
}

/// Without a colour profile: what everybody shows.
fn rgb(&[c, m, y, k]: &[f64; 4]) -> [f64; 3] {
    [c, m, y].map(|ink| (1.0 - ink) * (1.0 - k))
}

/// With what is said of the page, and upright.
fn finished(mut image: Image, decoder: &mut Pages<'_>, said: Option<&Exif>, page: usize) -> Result<Image, Error> {
    if image.depth.is_whole() {
        image.check()?;
    }
    let mut metadata = Metadata::default();
    if let (Some(said), Ok(page)) = (said, u16::try_from(page)) {
        metadata.xmp = fields::bytes(said, page, XMP);
        metadata.profile(fields::bytes(said, page, PROFILE), image.channels);
        metadata.exif = fields::of_page(said, page);
        metadata.density = density(said, page);
    }
    let extra = decoder.find_tag_unsigned_vec::<u16>(tags::Tag::ExtraSamples).ok().flatten();
    if image.channels.is_multiple_of(2) && extra.is_some_and(|extra| extra.first() == Some(&1)) {
        metadata.own = Own::Premultiplied;
    }
    let turned = decoder.find_tag_unsigned::<u8>(tags::Tag::Orientation).ok().flatten();
    image.metadata = metadata;
    orientation::upright(&mut image, turned.unwrap_or(1));
    Ok(image)
}

fn density(said: &Exif, page: u16) -> Option<Density> {
    let number = |tag| fields::number(said, page, tag);
    let per_inch = match number(Tag::ResolutionUnit).unwrap_or(2.0) as u32 {
        2 => Some(1.0),
        3 => Some(Density::CENTIMETRE),
        _ => None,
    };
    Density::new(number(Tag::XResolution)?, number(Tag::YResolution)?, per_inch)
}

pub(super) fn refused(error: TiffError) -> Error {
    match error {
        TiffError::UnsupportedError(what) => Error::unsupported(brief(&what), EXPECTED, HINT),
        TiffError::LimitsExceeded => {
            Error::too_large(Place::Whole, "more than its sides say", "a page has as many bytes as its samples", HINT)
        }
        other => Error::malformed(Place::Whole, brief(&other), "a complete image", HINT),
    }
}
