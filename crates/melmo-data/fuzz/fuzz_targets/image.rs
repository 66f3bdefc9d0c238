#![no_main]
//! What PNG, JPEG and TIFF read is written as PNG and as TIFF and read again as the same image.

use libfuzzer_sys::fuzz_target;
use melmo_data::image::{Encoding, encode, parse};
use melmo_data_fuzz::read;

/// Larger images are read only: compressing them would take most of a run.
const MOST: usize = 1 << 14;

fuzz_target!(|bytes: &[u8]| {
    // PGM and PPM are the target `pnm`.
    if bytes.first() == Some(&b'P') {
        return;
    }
    let Some(image) = read(parse(bytes)) else { return };
    image.check().unwrap();
    if image.data.len() > MOST {
        return;
    }
    assert_eq!(image, parse(&encode(&image, Encoding::Png).unwrap()).unwrap());
    if image.channels != 2 {
        assert_eq!(image, parse(&encode(&image, Encoding::Tiff).unwrap()).unwrap());
    }
});
