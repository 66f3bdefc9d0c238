//! Images to bytes, 8 or 16 bit as the image says; samples outside 0 to 1 are clipped.

use super::{Depth, Image, pnm};
use crate::error::{Error, brief};
use crate::file;
use ::image::codecs::{jpeg::JpegEncoder, png::PngEncoder, tiff::TiffEncoder};
use ::image::{ExtendedColorType as Color, ImageEncoder};
use std::io::Cursor;
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
    /// TIFF: grey, RGB or RGBA, 8 or 16 bit.
    Tiff,
    /// PGM: grey, 8 or 16 bit.
    Pgm,
    /// PPM: RGB, 8 or 16 bit.
    Ppm,
}

impl Encoding {
    /// The encoding an extension stands for.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "png" => Some(Self::Png),
            "jpg" | "jpeg" => Some(Self::Jpeg),
            "tif" | "tiff" => Some(Self::Tiff),
            "pgm" => Some(Self::Pgm),
            "ppm" => Some(Self::Ppm),
            _ => None,
        }
    }
}

/// Writes an image in the format its extension says; an existing file is refused unless `overwrite`.
pub fn write(path: &Path, image: &Image, overwrite: bool) -> Result<(), Error> {
    let known = vec!["png", "jpg", "jpeg", "tif", "tiff", "pgm", "ppm"];
    let encoding = Encoding::of(path).ok_or_else(|| Error::UnknownFormat { file: path.to_path_buf(), known })?;
    file::write_with(path, overwrite, || encode(image, encoding))
}

/// The bytes of an image file.
pub fn encode(image: &Image, encoding: Encoding) -> Result<Vec<u8>, Error> {
    image.check()?;
    check_fit(image, encoding)?;
    let mut bytes = Vec::new();
    match encoding {
        Encoding::Pgm | Encoding::Ppm => return Ok(pnm::encode(image)),
        Encoding::Png => compress(image, PngEncoder::new(&mut bytes))?,
        Encoding::Jpeg => compress(image, JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY))?,
        Encoding::Tiff => compress(image, TiffEncoder::new(Cursor::new(&mut bytes)))?,
    }
    Ok(bytes)
}

fn check_fit(image: &Image, encoding: Encoding) -> Result<(), Error> {
    let (fits, expected) = match encoding {
        Encoding::Png => (true, ""),
        Encoding::Jpeg => (image.channels % 2 == 1 && image.depth == Depth::Eight, "8 bit grey or RGB for JPEG"),
        Encoding::Tiff => (image.channels != 2, "grey, RGB or RGBA for TIFF"),
        Encoding::Pgm => (image.channels == 1, "grey for PGM"),
        Encoding::Ppm => (image.channels == 3, "RGB for PPM"),
    };
    if fits {
        return Ok(());
    }
    let found = format!("an image of {} channels, {:?} bit", image.channels, image.depth);
    Err(Error::unsupported(found, expected, "PNG, which holds them all"))
}

fn compress(image: &Image, encoder: impl ImageEncoder) -> Result<(), Error> {
    let refused = |why: String| Error::unsupported(why, "an image the encoder takes", "PNG, or a smaller image");
    let side = |n: usize| u32::try_from(n).map_err(|_| refused(format!("a side of {n} pixels")));
    let (width, height) = (side(image.width)?, side(image.height)?);
    let color = match (image.depth, image.channels) {
        (Depth::Eight, 1) => Color::L8,
        (Depth::Eight, 2) => Color::La8,
        (Depth::Eight, 3) => Color::Rgb8,
        (Depth::Eight, _) => Color::Rgba8,
        (Depth::Sixteen, 1) => Color::L16,
        (Depth::Sixteen, 2) => Color::La16,
        (Depth::Sixteen, 3) => Color::Rgb16,
        (Depth::Sixteen, _) => Color::Rgba16,
    };
    encoder.write_image(&samples(image), width, height, color).map_err(|error| refused(brief(&error)))
}

/// The samples in the machine's byte order, as the encoders take them.
fn samples(image: &Image) -> Vec<u8> {
    let level = |v: &f64| (v.clamp(0.0, 1.0) * f64::from(image.depth.maximum())).round();
    match image.depth {
        Depth::Eight => image.data.iter().map(|v| level(v) as u8).collect(),
        Depth::Sixteen => image.data.iter().flat_map(|v| (level(v) as u16).to_ne_bytes()).collect(),
    }
}
