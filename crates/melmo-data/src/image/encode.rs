//! Images to bytes, of the depth that the image says; samples outside 0 to 1 are clipped, but floats.

use super::{Depth, Image, bmp, jpeg, png, pnm, tiff};
use crate::error::{Error, brief};
use crate::file;
use ::image::codecs::{bmp::BmpEncoder, jpeg::JpegEncoder, png::PngEncoder};
use ::image::{ExtendedColorType as Color, ImageEncoder};
use image_webp::WebPEncoder;
use std::path::Path;

/// The quality of a written JPEG, of 100. JPEG is lossy at any.
pub const JPEG_QUALITY: u8 = 95;

/// A format an image can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// PNG: 1 to 4 channels, 8 or 16 bit.
    Png,
    /// JPEG: grey or RGB, 8 bit, lossy.
    Jpeg,
    /// TIFF: 1 to 4 channels, 8 or 16 bit or floats, any number of pages.
    Tiff,
    /// WebP: 1 to 4 channels, 8 bit, lossless; grey becomes RGB.
    WebP,
    /// BMP: 1, 3 or 4 channels, 8 bit.
    Bmp,
    /// PGM: grey, 8 or 16 bit.
    Pgm,
    /// PPM: RGB, 8 or 16 bit.
    Ppm,
}

/// Extensions, and what they stand for.
const EXTENSIONS: [(&str, Encoding); 9] = [
    ("png", Encoding::Png),
    ("jpg", Encoding::Jpeg),
    ("jpeg", Encoding::Jpeg),
    ("tif", Encoding::Tiff),
    ("tiff", Encoding::Tiff),
    ("webp", Encoding::WebP),
    ("bmp", Encoding::Bmp),
    ("pgm", Encoding::Pgm),
    ("ppm", Encoding::Ppm),
];

impl Encoding {
    /// The encoding an extension stands for.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        Self::named(path.extension()?.to_str()?)
    }

    /// The same, without a file.
    #[must_use]
    pub fn named(extension: &str) -> Option<Self> {
        let extension = extension.to_ascii_lowercase();
        EXTENSIONS.iter().find(|(known, _)| *known == extension).map(|(_, encoding)| *encoding)
    }

    /// The format of a file, by its first bytes.
    #[must_use]
    pub fn sniffed(bytes: &[u8]) -> Option<Self> {
        Some(match bytes {
            [b'P', b'2' | b'5', ..] => Self::Pgm,
            [b'P', b'3' | b'6', ..] => Self::Ppm,
            [0x89, b'P', b'N', b'G', ..] => Self::Png,
            [b'I', b'I', 42 | 43, 0, ..] | [b'M', b'M', 0, 42 | 43, ..] => Self::Tiff,
            [0xff, 0xd8, 0xff, ..] => Self::Jpeg,
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Self::WebP,
            [b'B', b'M', ..] => Self::Bmp,
            _ => return None,
        })
    }

    /// Whether it holds this depth.
    #[must_use]
    pub fn holds(self, depth: Depth) -> bool {
        match self {
            Self::Tiff => true,
            Self::Png | Self::Pgm | Self::Ppm => depth.is_whole(),
            Self::Jpeg | Self::WebP | Self::Bmp => depth == Depth::Eight,
        }
    }

    /// Every extension that stands for one.
    pub fn extensions() -> impl Iterator<Item = &'static str> {
        EXTENSIONS.iter().map(|(extension, _)| *extension)
    }
}

/// Writes an image in the format its extension says; an existing file is refused unless `overwrite`.
pub fn write(path: &Path, image: &Image, overwrite: bool) -> Result<(), Error> {
    let unknown = || Error::UnknownFormat { file: path.to_path_buf(), known: Encoding::extensions().collect() };
    let encoding = Encoding::of(path).ok_or_else(unknown)?;
    file::write_with(path, overwrite, || encode(image, encoding))
}

/// The bytes of an image file.
pub fn encode(image: &Image, encoding: Encoding) -> Result<Vec<u8>, Error> {
    image.check()?;
    check_fit(image, encoding)?;
    let mut bytes = Vec::new();
    let metadata = &image.metadata;
    match encoding {
        Encoding::Pgm | Encoding::Ppm => return Ok(pnm::encode(image)),
        Encoding::Tiff => return tiff::write(std::slice::from_ref(image)),
        Encoding::Png => {
            compress(image, PngEncoder::new(&mut bytes), true)?;
            png::insert(&mut bytes, metadata);
        }
        Encoding::Jpeg => {
            let mut encoder = JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY);
            metadata.density.into_iter().for_each(|density| encoder.set_pixel_density(jpeg::pixel_density(density)));
            compress(image, encoder, false)?;
            jpeg::insert(&mut bytes, metadata);
        }
        Encoding::Bmp => {
            compress(image, BmpEncoder::new(&mut bytes), false)?;
            bmp::insert(&mut bytes, metadata);
        }
        Encoding::WebP => webp(image, &mut bytes)?,
    }
    Ok(bytes)
}

/// The bytes of a file of several pages; only TIFF has more than one.
pub fn encode_pages(pages: &[Image], encoding: Encoding) -> Result<Vec<u8>, Error> {
    match pages {
        [only] => encode(only, encoding),
        [_, _, ..] if encoding == Encoding::Tiff => {
            pages.iter().try_for_each(Image::check)?;
            tiff::write(pages)
        }
        _ => Err(Error::unsupported(
            format!("{} pages", pages.len()),
            "one picture",
            "TIFF, which holds any number of pages",
        )),
    }
}

fn check_fit(image: &Image, encoding: Encoding) -> Result<(), Error> {
    let (fits, expected) = match encoding {
        Encoding::Png => (true, "8 or 16 bit for PNG"),
        Encoding::Jpeg => (image.channels % 2 == 1, "8 bit grey or RGB for JPEG"),
        Encoding::Tiff => (true, ""),
        Encoding::WebP => {
            (image.width.max(image.height) <= WEBP_SIDE, "8 bit, and sides of at most 16384 pixels, for WebP")
        }
        Encoding::Bmp => (image.channels != 2, "8 bit grey, RGB or RGBA for BMP"),
        Encoding::Pgm => (image.channels == 1, "grey of 8 or 16 bit for PGM"),
        Encoding::Ppm => (image.channels == 3, "RGB of 8 or 16 bit for PPM"),
    };
    if fits && encoding.holds(image.depth) {
        return Ok(());
    }
    let found = format!("an image of {} channels, {:?} bit", image.channels, image.depth);
    Err(Error::unsupported(found, expected, "PNG for whole numbers, TIFF for floats: they hold them all"))
}

fn refused(why: &impl std::fmt::Display) -> Error {
    Error::unsupported(brief(why), "an image the encoder takes", "PNG, or a smaller image")
}

fn sides(image: &Image) -> Result<(u32, u32), Error> {
    let side = |n: usize| u32::try_from(n).map_err(|_| refused(&format!("a side of {n} pixels")));
    Ok((side(image.width)?, side(image.height)?))
}

/// Through an encoder that takes a profile, and perhaps EXIF too.
fn compress(image: &Image, mut encoder: impl ImageEncoder, with_exif: bool) -> Result<(), Error> {
    let (width, height) = sides(image)?;
    if let Some(icc) = image.metadata.icc.clone() {
        // A format without profiles has none.
        let _ = encoder.set_icc_profile(icc);
    }
    if let Some(exif) = image.metadata.exif.clone().filter(|_| with_exif) {
        let _ = encoder.set_exif_metadata(exif);
    }
    let color = match (image.depth, image.channels) {
        (Depth::Eight, 1) => Color::L8,
        (Depth::Eight, 2) => Color::La8,
        (Depth::Eight, 3) => Color::Rgb8,
        (Depth::Eight, _) => Color::Rgba8,
        (_, 1) => Color::L16,
        (_, 2) => Color::La16,
        (_, 3) => Color::Rgb16,
        (..) => Color::Rgba16,
    };
    encoder.write_image(&samples(image), width, height, color).map_err(|error| refused(&error))
}

/// The longest side that a WebP can have.
const WEBP_SIDE: usize = 1 << 14;

fn webp(image: &Image, bytes: &mut Vec<u8>) -> Result<(), Error> {
    let (width, height) = sides(image)?;
    let mut encoder = WebPEncoder::new(bytes);
    let metadata = image.metadata.with_density_in_exif();
    // A profile for grey does not fit what it becomes.
    metadata.icc.filter(|_| image.channels > 2).into_iter().for_each(|icc| encoder.set_icc_profile(icc));
    metadata.exif.into_iter().for_each(|exif| encoder.set_exif_metadata(exif));
    metadata.xmp.into_iter().for_each(|xmp| encoder.set_xmp_metadata(xmp));
    let color = match image.channels {
        1 => image_webp::ColorType::L8,
        2 => image_webp::ColorType::La8,
        3 => image_webp::ColorType::Rgb8,
        _ => image_webp::ColorType::Rgba8,
    };
    encoder.encode(&samples(image), width, height, color).map_err(|error| refused(&error))
}

/// The level that a sample is written as.
pub(super) fn level(sample: f64, depth: Depth) -> f64 {
    (sample.clamp(0.0, 1.0) * f64::from(depth.maximum())).round()
}

/// The samples in the machine's byte order, as the encoders take them.
fn samples(image: &Image) -> Vec<u8> {
    match image.depth {
        Depth::Eight => image.data.iter().map(|&v| level(v, image.depth) as u8).collect(),
        _ => image.data.iter().flat_map(|&v| (level(v, Depth::Sixteen) as u16).to_ne_bytes()).collect(),
    }
}
