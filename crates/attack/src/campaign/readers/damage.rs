//! Damage: bits, bytes and words changed, pieces cut, doubled and exchanged.

use melmo::seeded::Seeded;

use crate::run::{below, one_of};

/// Longer files are cut.
const LONGEST: usize = 1 << 16;

/// What files are made of that mean something: huge numbers, signs, brackets, markers.
const WORDS: [&[u8]; 31] = [
    b"18446744073709551615",
    b"2147483648",
    b"-1",
    b"1e308",
    b"nan",
    b"0",
    b"\xff\xff\xff\xff",
    b"\x00\x00\x00\x00",
    b"\x7f\xff\xff\xff",
    b"\"",
    b"[",
    b"]",
    b"(",
    b"node [ id 1 ]",
    b"\n",
    b",,,,",
    b"PLTE",
    b"IDAT",
    b"tRNS",
    b"\xff\xda",
    b"\xff\xd9",
    b"\xff\xc2",
    b"II*\x00",
    b"II+\x00",
    b"VP8X",
    b"ICCP",
    b"eXIf",
    b"Exif\x00\x00II*\x00",
    b"FRAME\n",
    b" C420p16",
    b"%%MatrixMarket matrix coordinate real general\n9 9 1\n",
];

/// Damages a file in one to six places, now and then with a piece of another.
pub fn damage(seeded: &mut Seeded, bytes: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..1 + below(seeded, 6) {
        let at = below(seeded, bytes.len() + 1);
        match below(seeded, 9) {
            0 | 1 if at < bytes.len() => bytes[at] ^= 1 << below(seeded, 8),
            2 if at < bytes.len() => bytes[at] = seeded.bits() as u8,
            3 => bytes.truncate(at),
            4 => drop(bytes.splice(at..at, one_of(seeded, &WORDS).iter().copied())),
            5 => {
                let end = (at + below(seeded, 9)).min(bytes.len());
                drop(bytes.splice(at..end, one_of(seeded, &WORDS).iter().copied()));
            }
            6 => {
                let from = below(seeded, other.len() + 1);
                bytes.extend_from_slice(&other[from..(from + 2000).min(other.len())]);
            }
            7 => digit(seeded, bytes, at),
            _ => {
                let piece = bytes[at..(at + below(seeded, 40)).min(bytes.len())].to_vec();
                drop(bytes.splice(at..at, piece));
            }
        }
    }
    bytes.truncate(LONGEST);
    if bytes.starts_with(b"\x89PNG") && below(seeded, 4) > 0 {
        mend(bytes);
    }
}

/// The next digit from here becomes another: sizes that nearly fit.
fn digit(seeded: &mut Seeded, bytes: &mut [u8], from: usize) {
    if let Some(digit) = bytes[from..].iter_mut().find(|byte| byte.is_ascii_digit()) {
        *digit = b'0' + below(seeded, 10) as u8;
    }
}

/// A PNG's checksums once more: damage behind them is otherwise never seen.
fn mend(bytes: &mut [u8]) {
    let mut at = 8_usize;
    while let Some(head) = bytes.get(at..at.saturating_add(8)) {
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let end = at.saturating_add(8).saturating_add(length);
        let Some(named) = bytes.get(at + 4..end) else { return };
        let crc = crc32(named);
        let Some(place) = bytes.get_mut(end..end.saturating_add(4)) else { return };
        place.copy_from_slice(&crc.to_be_bytes());
        at = end + 4;
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc: u32, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| step(crc)))
}
