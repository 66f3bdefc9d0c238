//! The header of a page: a structure in Thrift's compact form, of which a few numbers count.

use parquet::basic::Encoding;

/// Structures within structures; a header has two levels.
const DEEPEST: usize = 4;
/// Fields with larger numbers are of no interest.
const FIELDS: usize = 10;

/// A field of a structure.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Field {
    /// It has none, or one that is of no interest.
    #[default]
    Absent,
    /// Whole, or 1 and 0 for yes and no.
    Number(i64),
    /// By number.
    Fields(Vec<Field>),
}

impl Field {
    /// A whole number that is not negative.
    pub fn count(&self) -> Option<usize> {
        match self {
            Self::Number(number) => usize::try_from(*number).ok().filter(|number| *number <= i32::MAX as usize),
            _ => None,
        }
    }

    /// The same, for a page.
    pub fn count32(&self) -> Option<u32> {
        self.count().map(|count| count as u32)
    }

    /// How values are encoded.
    pub fn encoding(&self) -> Option<Encoding> {
        Some(match self.count()? {
            0 => Encoding::PLAIN,
            2 => Encoding::PLAIN_DICTIONARY,
            3 => Encoding::RLE,
            5 => Encoding::DELTA_BINARY_PACKED,
            6 => Encoding::DELTA_LENGTH_BYTE_ARRAY,
            7 => Encoding::DELTA_BYTE_ARRAY,
            8 => Encoding::RLE_DICTIONARY,
            9 => Encoding::BYTE_STREAM_SPLIT,
            _ => return None,
        })
    }
}

/// The fields of a structure, and the bytes that it takes.
pub(super) fn read(bytes: &[u8]) -> Option<(Vec<Field>, usize)> {
    let mut from = From { bytes, at: 0 };
    let fields = from.structure(0)?;
    Some((fields, from.at))
}

struct From<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl From<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.at = self.at.checked_add(bytes).filter(|at| *at <= self.bytes.len())?;
        Some(())
    }

    /// Seven bits a byte, the lowest first.
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// With the sign in the lowest bit.
    fn signed(&mut self) -> Option<i64> {
        self.varint().map(|number| (number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn structure(&mut self, depth: usize) -> Option<Vec<Field>> {
        if depth > DEEPEST {
            return None;
        }
        let (mut fields, mut id) = (vec![Field::Absent; FIELDS], 0_i64);
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(fields);
            }
            id = match head >> 4 {
                0 => self.signed()?,
                more => id + i64::from(more),
            };
            let field = self.value(head & 0x0f, depth)?;
            if let Some(place) = usize::try_from(id).ok().and_then(|id| fields.get_mut(id)) {
                *place = field;
            }
        }
    }

    /// A field of this type. Lists, sets and maps stand in no page's header.
    fn value(&mut self, kind: u8, depth: usize) -> Option<Field> {
        match kind {
            1 => Some(Field::Number(1)),
            2 => Some(Field::Number(0)),
            3 => self.skip(1).map(|()| Field::Absent),
            4..=6 => self.signed().map(Field::Number),
            7 => self.skip(8).map(|()| Field::Absent),
            8 => {
                let length = self.varint()?;
                self.skip(usize::try_from(length).ok()?).map(|()| Field::Absent)
            }
            12 => self.structure(depth + 1).map(Field::Fields),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_number_and_broken_ones_refused() {
        // 1: i32 3, 2: i32 -2, 4: binary "ab", 5: {1: i32 300, 2: true}
        let bytes = [0x15, 6, 0x15, 3, 0x28, 2, b'a', b'b', 0x1c, 0x15, 0xd8, 0x04, 0x11, 0, 0, 99];
        let (fields, length) = read(&bytes).unwrap();
        assert_eq!((length, &fields[1], &fields[2]), (15, &Field::Number(3), &Field::Number(-2)));
        assert_eq!((fields[1].count(), fields[2].count(), &fields[4]), (Some(3), None, &Field::Absent));
        let Field::Fields(inner) = &fields[5] else { panic!() };
        assert_eq!((&inner[1], &inner[2]), (&Field::Number(300), &Field::Number(1)));
        assert!((0..15).all(|end| read(&bytes[..end]).is_none()));
        assert!(read(&[0x1c; 50]).is_none(), "too deep");
        assert!(read(&[0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]).is_none(), "too long");
    }
}
