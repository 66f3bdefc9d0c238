//! Pages as a TIFF, not packed: every program reads that.

use std::io::{Cursor, Seek, Write};

use exif::Context;
use half::f16;
use tiff::encoder::colortype::{self, ColorType};
use tiff::encoder::{Rational, TiffEncoder, TiffKindStandard, TiffValue};
use tiff::tags::{ExtraSamples, PhotometricInterpretation, ResolutionUnit, SampleFormat, Tag};
use tiff::{TiffError, TiffResult};

use super::fields::{Said, Undefined};
use super::{PROFILE, XMP};
use crate::error::{Error, brief};
use crate::image::encode::level;
use crate::image::metadata::{Density, Own};
use crate::image::{Depth, Image};

type Encoder<W> = TiffEncoder<W, TiffKindStandard>;

/// Grey or RGB, as floats of 16 bits, which the encoder does not know: their bits.
struct Gray16Half;
struct Rgb16Half;

impl ColorType for Gray16Half {
    type Inner = u16;
    const TIFF_VALUE: PhotometricInterpretation = PhotometricInterpretation::BlackIsZero;
    const BITS_PER_SAMPLE: &'static [u16] = &[16];
    const SAMPLE_FORMAT: &'static [SampleFormat] = &[SampleFormat::IEEEFP];

    fn horizontal_predict(_: &[u16], _: &mut Vec<u16>) {}
}

impl ColorType for Rgb16Half {
    type Inner = u16;
    const TIFF_VALUE: PhotometricInterpretation = PhotometricInterpretation::RGB;
    const BITS_PER_SAMPLE: &'static [u16] = &[16; 3];
    const SAMPLE_FORMAT: &'static [SampleFormat] = &[SampleFormat::IEEEFP; 3];

    fn horizontal_predict(_: &[u16], _: &mut Vec<u16>) {}
}

pub(in crate::image) fn write(pages: &[Image]) -> Result<Vec<u8>, Error> {
    let mut bytes = Cursor::new(Vec::new());
    let written =
        TiffEncoder::new(&mut bytes).and_then(|mut tiff| pages.iter().try_for_each(|page| add(&mut tiff, page)));
    written.map_err(|error| Error::unsupported(brief(&error), "pages of less than 4 GB together", "smaller pages"))?;
    Ok(bytes.into_inner())
}

fn add<W: Write + Seek>(tiff: &mut Encoder<W>, image: &Image) -> TiffResult<()> {
    let colour = image.channels > 2;
    let data = &image.data;
    match image.depth {
        Depth::Eight => {
            let data: Vec<u8> = data.iter().map(|&v| level(v, Depth::Eight) as u8).collect();
            if colour {
                page::<_, colortype::RGB8>(tiff, image, &data)
            } else {
                page::<_, colortype::Gray8>(tiff, image, &data)
            }
        }
        Depth::Sixteen => {
            let data: Vec<u16> = data.iter().map(|&v| level(v, Depth::Sixteen) as u16).collect();
            if colour {
                page::<_, colortype::RGB16>(tiff, image, &data)
            } else {
                page::<_, colortype::Gray16>(tiff, image, &data)
            }
        }
        Depth::Half => {
            let data: Vec<u16> = data.iter().map(|&v| f16::from_f64(v).to_bits()).collect();
            if colour { page::<_, Rgb16Half>(tiff, image, &data) } else { page::<_, Gray16Half>(tiff, image, &data) }
        }
        Depth::Single => {
            let data: Vec<f32> = data.iter().map(|&v| v as f32).collect();
            if colour {
                page::<_, colortype::RGB32Float>(tiff, image, &data)
            } else {
                page::<_, colortype::Gray32Float>(tiff, image, &data)
            }
        }
        Depth::Double if colour => page::<_, colortype::RGB64Float>(tiff, image, data),
        Depth::Double => page::<_, colortype::Gray64Float>(tiff, image, data),
    }
}

fn page<W: Write + Seek, C: ColorType>(tiff: &mut Encoder<W>, image: &Image, data: &[C::Inner]) -> TiffResult<()>
where
    [C::Inner]: TiffValue,
{
    let metadata = &image.metadata;
    let said = Said::new(metadata.exif.as_ref());
    let camera = said.directory(tiff, Context::Exif)?;
    let place = said.directory(tiff, Context::Gps)?;
    let side = |n: usize| u32::try_from(n).map_err(|_| TiffError::IntSizeError);
    let mut page = tiff.new_image::<C>(side(image.width)?, side(image.height)?)?;
    if image.channels.is_multiple_of(2) {
        let premultiplied = metadata.own == Own::Premultiplied;
        page.extra_samples(&[if premultiplied {
            ExtraSamples::AssociatedAlpha
        } else {
            ExtraSamples::UnassociatedAlpha
        }])?;
    }
    let directory = page.encoder();
    said.page(directory)?;
    for (tag, offset) in [(Tag::ExifDirectory, camera), (Tag::GpsDirectory, place)] {
        // As numbers: of the kind for directories not every reader knows.
        offset.map_or(Ok(()), |offset| directory.write_tag(tag, offset))?;
    }
    if let Some(Density { x, y, inch }) = metadata.density {
        let rational = |v: f64| Rational { n: (v * 1000.0).round() as u32, d: 1000 };
        directory.write_tag(Tag::XResolution, rational(x))?;
        directory.write_tag(Tag::YResolution, rational(y))?;
        directory
            .write_tag(Tag::ResolutionUnit, if inch { ResolutionUnit::Inch } else { ResolutionUnit::None }.to_u16())?;
    }
    if let Some(xmp) = &metadata.xmp {
        directory.write_tag(Tag::from_u16_exhaustive(XMP), &xmp[..])?;
    }
    if let Some(icc) = &metadata.icc {
        directory.write_tag(Tag::from_u16_exhaustive(PROFILE), Undefined(icc))?;
    }
    page.write_data(data)
}
