//! Images: PNG, JPEG, TIFF, WebP and BMP through the crates that know them, PGM and PPM here, since the `image` crate drops their
//! maximum.
//!
//! Channels and bit depth stay as they are in the file; 1, 2 and 4 bit PNG become 8 bit, palettes RGB, CMYK RGB. Samples are
//! divided by their maximum, floats are as they are: no gamma, no colour profile. A picture stands upright, whatever way the camera
//! was held. What else the file says (EXIF, profile, XMP, resolution) is kept: [`Metadata`].

mod bmp;
mod decode;
mod encode;
mod exif;
mod jpeg;
mod metadata;
mod orientation;
mod png;
mod pnm;
mod tiff;
mod webp;

pub use decode::{pages_within, parse, parse_within};
pub use encode::{Encoding, JPEG_QUALITY, encode, encode_pages, write};
pub use metadata::{Density, Metadata, Own};

use crate::array::{Array, Kind, count};
use crate::error::{Error, Place};
use crate::file;
use std::path::Path;

/// The bits of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Depth {
    /// 8 bits: 256 levels.
    Eight,
    /// 16 bits: 65536 levels.
    Sixteen,
    /// Floats of 16 bits, of a TIFF: any number, as it is.
    Half,
    /// Floats of 32 bits, of a TIFF.
    Single,
    /// Floats of 64 bits, of a TIFF.
    Double,
}

impl Depth {
    /// The largest sample; of floats, that which stands for 1.
    #[must_use]
    pub fn maximum(self) -> u16 {
        match self {
            Self::Eight => u8::MAX.into(),
            Self::Sixteen => u16::MAX,
            Self::Half | Self::Single | Self::Double => 1,
        }
    }

    /// Whether samples are whole numbers.
    #[must_use]
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Eight | Self::Sixteen)
    }
}

/// An image with samples from 0 to 1 (floats: any), row by row, the channels of a pixel together.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA.
    pub channels: usize,
    /// The bits of a sample in the file.
    pub depth: Depth,
    /// The sample that stands for 1: 255 or 65535, or what a PGM or PPM says.
    pub maximum: u16,
    /// height × width × channels samples.
    pub data: Vec<f64>,
    /// What else the file says.
    pub metadata: Metadata,
}

/// Reads an image, of a TIFF the first page; its first bytes, not its name, say which format it is.
pub fn read(path: &Path) -> Result<Image, Error> {
    file::read_with(path, parse)
}

/// Pages of one size, one behind the other: pages × height × width of grey ones. Of others the first alone.
pub(crate) fn stack(pages: &[Image]) -> Array {
    let first = &pages[0];
    let size = |page: &Image| (page.height, page.width, page.channels);
    if pages.iter().any(|page| size(page) != (first.height, first.width, 1)) {
        return first.to_array();
    }
    let data = pages.iter().flat_map(|page| &page.data).copied().collect();
    Array { shape: vec![pages.len(), first.height, first.width], data, kind: Kind::F64 }
}

impl Image {
    /// An image of height × width or height × width × channels samples, to be written with this depth.
    pub fn from_array(array: &Array, depth: Depth) -> Result<Self, Error> {
        let (height, width, channels) = match array.shape[..] {
            [height, width] => (height, width, 1),
            [height, width, channels] => (height, width, channels),
            _ => {
                let found = format!("{:?}", array.shape);
                return Err(Error::argument("the shape of an image", found, "height, width and perhaps channels"));
            }
        };
        let (maximum, metadata) = (depth.maximum(), Metadata::default());
        let image = Self { width, height, channels, depth, maximum, data: array.data.clone(), metadata };
        image.check()?;
        Ok(image)
    }

    /// height × width for one channel, height × width × channels for more.
    #[must_use]
    pub fn to_array(&self) -> Array {
        let mut shape = vec![self.height, self.width];
        shape.extend((self.channels > 1).then_some(self.channels));
        Array { shape, data: self.data.clone(), kind: Kind::F64 }
    }

    /// One channel as height × width, counted from 0; `None` when there is no such channel.
    #[must_use]
    pub fn channel(&self, channel: usize) -> Option<Array> {
        if channel >= self.channels {
            return None;
        }
        let data = self.data.iter().skip(channel).step_by(self.channels).copied().collect();
        Some(Array { shape: vec![self.height, self.width], data, kind: Kind::F64 })
    }

    /// `Ok` when the sizes agree and no sample is NaN or ∞, unless floats are written: the fields are public, so writers ask.
    pub fn check(&self) -> Result<(), Error> {
        let sizes = [self.height, self.width, self.channels];
        let fits = count(&sizes) == Some(self.data.len()) && !self.data.is_empty();
        if !(fits && self.channels <= 4 && (1..=self.depth.maximum()).contains(&self.maximum)) {
            let found = format!("{sizes:?} with {} samples and the maximum {}", self.data.len(), self.maximum);
            let expected = "1 to 4 channels, as many samples as height × width × channels, a maximum within the depth";
            return Err(Error::argument("an image", found, expected));
        }
        match self.data.iter().position(|v| !v.is_finite()).filter(|_| self.depth.is_whole()) {
            None => Ok(()),
            Some(at) => {
                let found = self.data[at].to_string();
                Err(Error::malformed(Place::Entry(at), found, "a finite sample", "looking for where it became so"))
            }
        }
    }
}
