#![no_main]
//! What PGM and PPM read is written and read again as the same image, with its own maximum.

use libfuzzer_sys::fuzz_target;
use melmo_data::image::{Encoding, encode, parse};
use melmo_data_fuzz::read;

fuzz_target!(|bytes: &[u8]| {
    // Any other first byte belongs to the target `image`.
    if bytes.first() != Some(&b'P') {
        return;
    }
    let Some(image) = read(parse(bytes)) else { return };
    let encoding = if image.channels == 1 { Encoding::Pgm } else { Encoding::Ppm };
    assert_eq!(image, parse(&encode(&image, encoding).unwrap()).unwrap());
});
