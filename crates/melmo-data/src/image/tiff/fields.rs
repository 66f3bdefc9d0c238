//! What a page's directory says beside its samples: as EXIF, and back.

use std::borrow::Cow;
use std::io::{Cursor, Seek, Write};

use exif::experimental::Writer;
use exif::{Context, Exif, Field, In, Reader, Tag, Value};
use tiff::encoder::{DirectoryEncoder, Rational, SRational, TiffEncoder, TiffKindStandard, TiffValue};
use tiff::tags::{self, Type};
use tiff::{TiffError, TiffResult};

use super::{PROFILE, XMP};
use crate::image::exif::is_honest;

/// Tags that say how samples are stored, and pointers: another file stores them otherwise.
const STORED: [u16; 29] = [
    254, 255, 256, 257, 258, 259, 262, 266, 273, 274, 277, 278, 279, 284, 317, 320, 322, 323, 324, 325, 330, 338, 339,
    340, 341, 347, 34665, 34853, 40965,
];
/// Pixels per length: metadata of their own here.
const RESOLUTION: [Tag; 3] = [Tag::XResolution, Tag::YResolution, Tag::ResolutionUnit];
/// JPEG inside, and how colours were coded.
const CODED: std::ops::RangeInclusive<u16> = 512..=532;

/// All that the directories of a file say.
pub(super) fn read(bytes: &[u8]) -> Option<Exif> {
    let found = is_honest(bytes).then(|| Reader::new().continue_on_error(true).read_raw(bytes.to_vec()))?;
    found.or_else(|error| error.distill_partial_result(|_| ())).ok()
}

/// What one page says, as EXIF; none where it says nothing.
pub(super) fn of_page(all: &Exif, page: u16) -> Option<Vec<u8>> {
    let kept: Vec<Field> = all
        .fields()
        .filter(|field| field.ifd_num == In(page) && is_said(field))
        .map(|field| Field { ifd_num: In::PRIMARY, ..field.clone() })
        .collect();
    let mut writer = Writer::new();
    kept.iter().for_each(|field| writer.push_field(field));
    let mut bytes = Cursor::new(Vec::new());
    // A resolution is said elsewhere, and by every writer.
    let says_more = kept.iter().any(|field| !RESOLUTION.contains(&field.tag));
    says_more.then(|| writer.write(&mut bytes, all.little_endian()).ok())??;
    Some(bytes.into_inner())
}

fn is_said(field: &Field) -> bool {
    let of_the_picture = field.tag.context() != Context::Tiff;
    let tag = field.tag.number();
    let known = !matches!(field.value, Value::Unknown(..)) && !is_empty(&field.value);
    known && (of_the_picture || !(STORED.contains(&tag) || CODED.contains(&tag) || tag == XMP || tag == PROFILE))
}

/// A field without values can be written by nobody.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Ascii(texts) => texts.is_empty(),
        Value::Undefined(bytes, _) => bytes.is_empty(),
        Value::Byte(v) => v.is_empty(),
        Value::Short(v) => v.is_empty(),
        Value::Long(v) => v.is_empty(),
        Value::Rational(v) => v.is_empty(),
        Value::SByte(v) => v.is_empty(),
        Value::SShort(v) => v.is_empty(),
        Value::SLong(v) => v.is_empty(),
        Value::SRational(v) => v.is_empty(),
        Value::Float(v) => v.is_empty(),
        Value::Double(v) => v.is_empty(),
        Value::Unknown(..) => true,
    }
}

/// A number of the page's own directory: resolutions.
pub(super) fn number(all: &Exif, page: u16, tag: Tag) -> Option<f64> {
    match &all.get_field(tag, In(page))?.value {
        Value::Rational(values) => values.first().map(exif::Rational::to_f64),
        other => other.get_uint(0).map(f64::from),
    }
}

/// The bytes of a field of the page's own directory.
pub(super) fn bytes(all: &Exif, page: u16, tag: u16) -> Option<Vec<u8>> {
    match &all.get_field(Tag(Context::Tiff, tag), In(page))?.value {
        Value::Byte(bytes) | Value::Undefined(bytes, _) => Some(bytes.clone()),
        _ => None,
    }
}

/// The EXIF of a picture, to be written as directories of a TIFF.
pub(super) struct Said(Option<Exif>);

impl Said {
    pub(super) fn new(exif: Option<&Vec<u8>>) -> Self {
        Self(exif.and_then(|exif| read(exif)))
    }

    fn fields(&self, context: Context) -> impl Iterator<Item = &Field> {
        let of_the_picture =
            move |field: &&Field| field.ifd_num == In::PRIMARY && field.tag.context() == context && is_said(field);
        self.0.iter().flat_map(Exif::fields).filter(of_the_picture)
    }

    /// Writes the directory of a camera or of a place; where it lies, if there is one.
    pub(super) fn directory<W: Write + Seek>(
        &self,
        tiff: &mut TiffEncoder<W, TiffKindStandard>,
        context: Context,
    ) -> TiffResult<Option<u32>> {
        let mut fields = self.fields(context).peekable();
        if fields.peek().is_none() {
            return Ok(None);
        }
        let mut directory = tiff.extra_directory()?;
        fields.try_for_each(|field| add(&mut directory, field))?;
        Ok(Some(directory.finish_with_offsets()?.offset))
    }

    /// Writes what belongs to the page's own directory.
    pub(super) fn page<W: Write + Seek>(&self, page: &mut DirectoryEncoder<'_, W, TiffKindStandard>) -> TiffResult<()> {
        self.fields(Context::Tiff).try_for_each(|field| add(page, field))
    }
}

fn add<W: Write + Seek>(to: &mut DirectoryEncoder<'_, W, TiffKindStandard>, field: &Field) -> TiffResult<()> {
    let tag = tags::Tag::from_u16_exhaustive(field.tag.number());
    match &field.value {
        Value::Byte(v) => to.write_tag(tag, &v[..]),
        Value::Ascii(texts) => {
            to.write_tag(tag, Text(texts.iter().flat_map(|text| [text, &b"\0"[..]].concat()).collect()))
        }
        Value::Short(v) => to.write_tag(tag, &v[..]),
        Value::Long(v) => to.write_tag(tag, &v[..]),
        Value::Rational(v) => {
            let v: Vec<Rational> = v.iter().map(|v| Rational { n: v.num, d: v.denom }).collect();
            to.write_tag(tag, &v[..])
        }
        Value::SByte(v) => to.write_tag(tag, &v[..]),
        Value::Undefined(v, _) => to.write_tag(tag, Undefined(v)),
        Value::SShort(v) => to.write_tag(tag, &v[..]),
        Value::SLong(v) => to.write_tag(tag, &v[..]),
        Value::SRational(v) => {
            let v: Vec<SRational> = v.iter().map(|v| SRational { n: v.num, d: v.denom }).collect();
            to.write_tag(tag, &v[..])
        }
        Value::Float(v) => to.write_tag(tag, &v[..]),
        Value::Double(v) => to.write_tag(tag, &v[..]),
        Value::Unknown(..) => Err(TiffError::IntSizeError),
    }
}

/// Bytes that mean something to whoever wrote them.
pub(super) struct Undefined<'a>(pub(super) &'a [u8]);

/// Texts, each with its end.
struct Text(Vec<u8>);

impl TiffValue for Undefined<'_> {
    const BYTE_LEN: u8 = 1;
    const FIELD_TYPE: Type = Type::UNDEFINED;

    fn count(&self) -> usize {
        self.0.len()
    }

    fn data(&self) -> Cow<'_, [u8]> {
        self.0.into()
    }
}

impl TiffValue for Text {
    const BYTE_LEN: u8 = 1;
    const FIELD_TYPE: Type = Type::ASCII;

    fn count(&self) -> usize {
        self.0.len()
    }

    fn data(&self) -> Cow<'_, [u8]> {
        (&self.0[..]).into()
    }
}
