//! BMP: the one thing that it says beside its samples, in bytes 38 to 45: pixels a metre, across and down.

use super::metadata::{Density, Metadata};

const ACROSS: usize = 38;
const DOWN: usize = 42;
/// The smallest header that has room for them.
const HEADER: u32 = 40;

pub(super) fn metadata(bytes: &[u8]) -> Metadata {
    let number = |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let density = || {
        let has_room = number(14)? >= HEADER;
        Density::new(number(ACROSS)?.into(), number(DOWN)?.into(), Some(Density::METRE)).filter(|_| has_room)
    };
    Metadata { density: density(), ..Metadata::default() }
}

/// Puts it into an encoded BMP.
pub(super) fn insert(bytes: &mut [u8], metadata: &Metadata) {
    let Some(Density { x, y, inch: true }) = metadata.density else { return };
    for (at, value) in [(ACROSS, x), (DOWN, y)] {
        if let Some(place) = bytes.get_mut(at..at + 4) {
            place.copy_from_slice(&((value / Density::METRE).round() as u32).to_le_bytes());
        }
    }
}
