//! Pictures whose parts claim more than the picture: refused, or read without the part, in little memory.

use crate::refuses;
use melmo_data::image::{Depth, Encoding, Image, encode, parse};
use melmo_data::{Array, Error};

/// A grey or a coloured picture, encoded.
fn encoded(channels: usize, encoding: Encoding) -> Vec<u8> {
    let shape = [6, 8, channels];
    let array = Array::new(shape, (0..6 * 8 * channels).map(|i| i as f64 / 255.0).collect()).unwrap();
    encode(&Image::from_array(&array, Depth::Eight).unwrap(), encoding).unwrap()
}

/// What a parser takes at most while it reads.
fn taken(bytes: &[u8]) -> (u64, Result<Image, Error>) {
    let mut answer = None;
    let memory = allocation_counter::measure(|| answer = Some(parse(bytes)));
    (memory.bytes_max, answer.unwrap())
}

/// A WebP of chunks, the first of which says 8×6 pixels.
fn webp(chunks: &[(&[u8; 4], u32, &[u8])]) -> Vec<u8> {
    let mut bytes = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x07\0\0\x05\0\0".to_vec();
    for (name, length, content) in chunks {
        bytes.extend_from_slice(*name);
        bytes.extend(length.to_le_bytes());
        bytes.extend_from_slice(content);
        bytes.extend(vec![0; content.len() % 2]);
    }
    let length = bytes.len() as u32 - 8;
    bytes[4..8].copy_from_slice(&length.to_le_bytes());
    bytes
}

#[test]
fn a_webp_with_a_frame_larger_than_the_picture() {
    let mut frame = vec![0xf0, 1, 0, 0x9d, 1, 0x2a, 0xff, 0x3f, 0xff, 0x3f];
    frame.extend([7; 90]);
    refuses(parse, &webp(&[(b"VP8 ", 100, &frame)]), &["16383×16383", "8×6 pixels"]);
}

#[test]
fn a_webp_with_metadata_that_claims_gigabytes() {
    let whole = encoded(3, Encoding::WebP);
    let samples = &whole[20..];
    let length = u32::from_le_bytes(whole[16..20].try_into().unwrap());
    let samples = (b"VP8L", length, &samples[..length as usize]);
    for name in [b"ICCP", b"EXIF", b"XMP "] {
        let (memory, read) = taken(&webp(&[samples, (name, 2_000_000_000, b"<x:xmpmeta/>")]));
        let read = read.unwrap();
        assert_eq!((read.width, read.height, &read.metadata), (8, 6, &Default::default()));
        assert!(memory < 16 << 20, "{memory} bytes");
    }
    let read = parse(&webp(&[samples, (b"XMP ", 12, b"<x:xmpmeta/>")])).unwrap();
    assert_eq!(read.metadata.xmp.as_deref(), Some(&b"<x:xmpmeta/>"[..]));
}

/// A JPEG whose frame says other sides, and that it is progressive.
fn jpeg(channels: usize, height: u16, width: u16, factors: u8) -> Vec<u8> {
    let mut bytes = encoded(channels, Encoding::Jpeg);
    let frame = bytes.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    bytes[frame + 1] = 0xc2;
    bytes[frame + 5..frame + 7].copy_from_slice(&height.to_be_bytes());
    bytes[frame + 7..frame + 9].copy_from_slice(&width.to_be_bytes());
    for component in 0..channels {
        bytes[frame + 11 + 3 * component] = factors;
    }
    bytes
}

#[test]
fn a_jpeg_of_many_more_coefficients_than_samples() {
    refuses(parse, &jpeg(3, 1100, 1200, 0x44), &["coefficients", "3960000 samples"]);
    // Few enough: read, or refused for what it is, in the memory that its samples take.
    let (memory, _) = taken(&jpeg(3, 1100, 1200, 0x11));
    assert!(memory < 128 << 20, "{memory} bytes");
}

/// A TIFF of 8×6 grey pixels: what they are stored in, and what its fields say of that.
fn tiff(piece: &[u8], of_the_piece: &[(u16, u32)]) -> Vec<u8> {
    let mut bytes = [&b"II*\0"[..], &(8 + piece.len() as u32).to_le_bytes(), piece].concat();
    let mut fields = [&[(256, 8), (257, 6), (262, 1), (277, 1)], of_the_piece].concat();
    fields.sort_unstable();
    bytes.extend((fields.len() as u16).to_le_bytes());
    for (tag, value) in fields {
        bytes.extend([&tag.to_le_bytes()[..], &[4, 0, 1, 0, 0, 0], &value.to_le_bytes()].concat());
    }
    bytes.extend([0; 4]);
    bytes
}

#[test]
fn a_tiff_with_a_jpeg_larger_than_the_page() {
    let strip = |jpeg: Vec<u8>| tiff(&jpeg, &[(258, 8), (259, 7), (273, 8), (278, 6), (279, jpeg.len() as u32)]);
    let read = parse(&strip(encoded(1, Encoding::Jpeg))).unwrap();
    assert_eq!((read.width, read.height, read.channels), (8, 6, 1));
    refuses(parse, &strip(jpeg(1, 16000, 16000, 0x11)), &["16000×16000 pixels", "claims"]);
}

#[test]
fn a_tiff_with_a_tile_larger_than_the_page() {
    // Floats, the bytes of a row apart: the decoder holds a row of a tile.
    let tile = |width: u32| {
        let fields = [(258, 32), (259, 1), (317, 3), (322, width), (323, 16), (324, 8), (325, 1024), (339, 3)];
        tiff(&[0; 1024], &fields)
    };
    assert_eq!(parse(&tile(16)).unwrap().data, [0.0; 48]);
    refuses(parse, &tile(1 << 28), &["a tile of 268435456×16"]);
}
