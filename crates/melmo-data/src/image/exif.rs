//! EXIF: a TIFF structure without a picture. It is changed in place, so that what only its camera understands (offsets in a
//! maker's note) stays valid.

const ORIENTATION: u16 = 0x112;
const EXIF: u16 = 0x8769;
const GPS: u16 = 0x8825;
const WIDTH: u16 = 0xa002;
const HEIGHT: u16 = 0xa003;
const THUMBNAIL: u16 = 0x201;
const THUMBNAIL_LENGTH: u16 = 0x202;
/// The bytes of an entry: tag, type, count, value.
const ENTRY: usize = 12;

/// Orientation, 1 to 8, where it is said.
pub(super) fn orientation(exif: &[u8]) -> Option<u8> {
    let place = Directory::first(exif)?.entry(exif, ORIENTATION)?;
    u8::try_from(place.value(exif)?).ok().filter(|known| (1..=8).contains(known))
}

/// Says that the picture stands upright.
pub(super) fn without_orientation(exif: &mut [u8]) {
    if let Some(entry) = Directory::first(exif).and_then(|first| first.entry(exif, ORIENTATION)) {
        entry.set(exif, 1);
    }
}

/// Takes out the thumbnail, bytes included: it shows the picture as it was.
pub(super) fn without_thumbnail(exif: &mut [u8]) {
    let Some(first) = Directory::first(exif) else { return };
    let after = first.at + 2 + ENTRY * first.entries;
    let thumbnail = number(exif, after, 4).filter(|&at| at > 0).and_then(|at| Directory::at(exif, at));
    let Some(next) = exif.get_mut(after..after + 4) else { return };
    next.fill(0);
    let Some(thumbnail) = thumbnail else { return };
    let value = |tag| thumbnail.entry(exif, tag)?.value(exif);
    if let (Some(start), Some(length)) = (value(THUMBNAIL), value(THUMBNAIL_LENGTH))
        && let Some(picture) = exif.get_mut(start..start.saturating_add(length))
        && picture.starts_with(&[0xff, 0xd8])
    {
        picture.fill(0);
    }
}

/// Says how many pixels there are, where that is said.
pub(super) fn set_size(exif: &mut [u8], width: usize, height: usize) {
    let inner = || Directory::at(exif, Directory::first(exif)?.entry(exif, EXIF)?.value(exif)?);
    let Some(inner) = inner() else { return };
    for (tag, size) in [(WIDTH, width), (HEIGHT, height)] {
        if let Some(entry) = inner.entry(exif, tag) {
            entry.set(exif, size);
        }
    }
}

/// A directory of entries.
#[derive(Clone, Copy)]
struct Directory {
    at: usize,
    entries: usize,
}

impl Directory {
    fn first(exif: &[u8]) -> Option<Self> {
        matches!(exif.get(..4)?, b"II*\0" | b"MM\0*").then_some(())?;
        Self::at(exif, number(exif, 4, 4)?)
    }

    fn at(exif: &[u8], at: usize) -> Option<Self> {
        Some(Self { at, entries: number(exif, at, 2)? })
    }

    fn entry(self, exif: &[u8], tag: u16) -> Option<Entry> {
        let places = (0..self.entries).map(|i| self.at + 2 + ENTRY * i);
        places.map(Entry).find(|entry| number(exif, entry.0, 2) == Some(tag.into()))
    }
}

/// Where an entry begins.
#[derive(Clone, Copy)]
struct Entry(usize);

impl Entry {
    /// The bytes of its value, where that is one whole number.
    fn size(self, exif: &[u8]) -> Option<usize> {
        match (number(exif, self.0 + 2, 2)?, number(exif, self.0 + 4, 4)?) {
            (3, 1) => Some(2),
            (4 | 13, 1) => Some(4),
            _ => None,
        }
    }

    fn value(self, exif: &[u8]) -> Option<usize> {
        number(exif, self.0 + 8, self.size(exif)?)
    }

    /// Writes another value where there is room for it.
    fn set(self, exif: &mut [u8], value: usize) {
        let Some(size) = self.size(exif).filter(|&size| value < 1 << (8 * size)) else { return };
        let little = exif.first() == Some(&b'I');
        if let Some(place) = exif.get_mut(self.0 + 8..self.0 + 8 + size) {
            let bytes = (value as u32).to_le_bytes();
            place.copy_from_slice(&bytes[..size]);
            if !little {
                place.reverse();
            }
        }
    }
}

/// An unsigned number in the order that the first byte says.
pub(super) fn number(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let digits = bytes.get(at..at.checked_add(size)?)?;
    let push = |number: usize, &byte: &u8| number << 8 | usize::from(byte);
    Some(if bytes[0] == b'I' { digits.iter().rev().fold(0, push) } else { digits.iter().fold(0, push) })
}

/// Whether all values together could lie in so many bytes: a reader makes a copy of each, and they may claim to lie in one place.
pub(super) fn is_honest(exif: &[u8]) -> bool {
    let Some(mut next) = number(exif, 4, 4) else { return false };
    let (mut claimed, mut directories) = (0_usize, 0);
    while let Some(directory) = Directory::at(exif, next).filter(|_| next > 0) {
        claimed = claimed.saturating_add(claims(exif, directory));
        for tag in [EXIF, GPS] {
            let inner = || Directory::at(exif, directory.entry(exif, tag)?.value(exif)?);
            claimed = claimed.saturating_add(inner().map_or(0, |inner| claims(exif, inner)));
        }
        directories += 1;
        // Directories that lead to one another claim more and more.
        if claimed > exif.len() || directories > usize::from(u16::MAX) {
            return false;
        }
        next = number(exif, directory.at + 2 + ENTRY * directory.entries, 4).unwrap_or(0);
    }
    true
}

/// The bytes of a directory and of all its values that lie elsewhere.
fn claims(exif: &[u8], directory: Directory) -> usize {
    let value = |i: usize| {
        let at = directory.at + 2 + ENTRY * i;
        let size = kind_size(number(exif, at + 2, 2)?).saturating_mul(number(exif, at + 4, 4)?);
        Some(if size > 4 { size } else { 0 })
    };
    (0..directory.entries).filter_map(value).fold(2 + ENTRY * directory.entries, usize::saturating_add)
}

/// The bytes of one value of a kind.
pub(super) fn kind_size(kind: usize) -> usize {
    match kind {
        3 | 8 => 2,
        4 | 9 | 11 | 13 => 4,
        5 | 10 | 12 | 16 | 17 | 18 => 8,
        _ => 1,
    }
}

/// EXIF that says the density alone: its two numbers, and that they are per inch.
pub(super) fn of_density(density: super::Density) -> Vec<u8> {
    const AFTER: u32 = 8 + 2 + 3 * ENTRY as u32 + 4;
    let mut bytes = b"II*\0\x08\0\0\0\x03\0".to_vec();
    for (tag, kind, value) in [(0x11a_u16, 5_u16, AFTER), (0x11b, 5, AFTER + 8), (0x128, 3, 2)] {
        bytes.extend_from_slice(&tag.to_le_bytes());
        bytes.extend_from_slice(&kind.to_le_bytes());
        bytes.extend_from_slice(&1_u32.to_le_bytes());
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    bytes.extend_from_slice(&[0; 4]);
    for value in [density.x, density.y] {
        bytes.extend_from_slice(&((value * 1000.0).round() as u32).to_le_bytes());
        bytes.extend_from_slice(&1000_u32.to_le_bytes());
    }
    bytes
}

/// Pixels per inch, where they are said: of WebP, which says them nowhere else.
pub(super) fn density(exif: &[u8]) -> Option<super::Density> {
    let first = Directory::first(exif)?;
    let rational = |tag| {
        let at = number(exif, first.entry(exif, tag)?.0 + 8, 4)?;
        Some(number(exif, at, 4)? as f64 / number(exif, at.checked_add(4)?, 4)?.max(1) as f64)
    };
    let per_inch = match first.entry(exif, 0x128).and_then(|entry| entry.value(exif)).unwrap_or(2) {
        2 => Some(1.0),
        3 => Some(super::Density::CENTIMETRE),
        _ => None,
    };
    super::Density::new(rational(0x11a)?, rational(0x11b)?, per_inch)
}
