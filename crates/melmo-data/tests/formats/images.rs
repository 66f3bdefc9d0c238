use crate::{refuses, survives};
use melmo_data::image::{Depth, Encoding, Image, encode, parse};
use melmo_data::{Array, Error};

/// Samples that the depth holds exactly: a smooth image with its extremes.
fn image(channels: usize, depth: Depth) -> Image {
    let (width, height, top) = (9, 5, usize::from(depth.maximum()));
    let samples = width * height * channels;
    let data = (0..samples).map(|i| (i * top / (samples - 1)) as f64 / top as f64).collect();
    Image { width, height, channels, depth, maximum: depth.maximum(), data }
}

#[test]
fn every_lossless_format_reads_back() {
    for depth in [Depth::Eight, Depth::Sixteen] {
        let fits = [
            (Encoding::Png, &[1, 2, 3, 4][..]),
            (Encoding::Tiff, &[1, 3, 4]),
            (Encoding::Pgm, &[1]),
            (Encoding::Ppm, &[3]),
        ];
        for (encoding, channels) in fits {
            for &channels in channels {
                let image = image(channels, depth);
                assert_eq!(parse(&encode(&image, encoding).unwrap()).unwrap(), image, "{encoding:?} {channels}");
            }
        }
    }
}

#[test]
fn jpeg_is_close() {
    for channels in [1, 3] {
        let image = image(channels, Depth::Eight);
        let back = parse(&encode(&image, Encoding::Jpeg).unwrap()).unwrap();
        assert_eq!((back.width, back.height, back.channels, back.depth), (9, 5, channels, Depth::Eight));
        let error = back.data.iter().zip(&image.data).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(error < 0.06, "{channels}: {error}");
    }
}

#[test]
fn what_a_format_cannot_hold_is_not_written() {
    let cases = [
        (2, Depth::Eight, Encoding::Tiff),
        (1, Depth::Sixteen, Encoding::Jpeg),
        (4, Depth::Eight, Encoding::Jpeg),
        (3, Depth::Eight, Encoding::Pgm),
        (1, Depth::Eight, Encoding::Ppm),
    ];
    for (channels, depth, encoding) in cases {
        let error = encode(&image(channels, depth), encoding).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    }
    let mut holey = image(1, Depth::Eight);
    holey.data[3] = f64::NAN;
    assert!(encode(&holey, Encoding::Png).unwrap_err().to_string().contains("entry 3"));
    holey.data.pop();
    assert!(encode(&holey, Encoding::Png).is_err());
    assert!(Image::from_array(&Array::new([4], vec![0.0; 4]).unwrap(), Depth::Eight).is_err());
}

#[test]
fn samples_outside_the_range_are_clipped() {
    let array = Array::new([1, 2], vec![-0.5, 1.5]).unwrap();
    let image = Image::from_array(&array, Depth::Eight).unwrap();
    for encoding in [Encoding::Png, Encoding::Pgm] {
        assert_eq!(parse(&encode(&image, encoding).unwrap()).unwrap().data, [0.0, 1.0]);
    }
}

#[test]
fn a_maximum_of_its_own() {
    let plain = parse(b"P2 # grey\n3 1\n# levels\n15\n0 15 3").unwrap();
    assert_eq!((plain.maximum, plain.depth), (15, Depth::Eight));
    assert_eq!(plain.data, [0.0, 1.0, 0.2]);
    assert_eq!(parse(&encode(&plain, Encoding::Pgm).unwrap()).unwrap(), plain);
    let wide = parse(b"P6 1 1 1000\n\x00\x00\x03\xe8\x01\xf4").unwrap();
    assert_eq!((wide.channels, wide.depth, wide.data.as_slice()), (3, Depth::Sixteen, &[0.0, 1.0, 0.5][..]));
    assert_eq!(wide.channel(2).unwrap().data, [0.5]);
    assert_eq!((wide.channel(3), wide.to_array().shape), (None, vec![1, 1, 3]));
}

#[test]
fn malformed() {
    refuses(parse, b"", &["byte 0", "PNG"]);
    refuses(parse, b"GIF89a", &["byte 0", "PNG"]);
    for (header, word) in [
        ("P5 3 x 255\n", "height"),
        ("P5 3", "height"),
        ("P5 1000000 1000000 255\n", "1000000×1000000"),
        ("P5 18446744073709551615 18446744073709551615 255\n", "pixels"),
        ("P5 0 3 255\n", "pixel"),
        ("P5 3 3 0\n", "1 to 65535"),
        ("P5 3 3 65536\n", "1 to 65535"),
        ("P5 3 1 7\n\x01\x02\x08", "sample 8"),
        ("P5 3 1 255\n\x01\x02", "2 bytes"),
        ("P5 3 1 255", "one blank"),
        ("P5 1 1 255#\x01\x02", "one blank"),
        ("P2 3 1 255\n1 2\n", "bytes"),
        ("P2 3 1 255\n1 2 x x x", "a sample"),
        ("P2 3 1 255\n1 2 256", "sample 256"),
    ] {
        refuses(parse, header.as_bytes(), &[word]);
    }
    for encoding in [Encoding::Png, Encoding::Tiff, Encoding::Jpeg, Encoding::Pgm] {
        let bytes = encode(&image(1, Depth::Eight), encoding).unwrap();
        let short = match encoding {
            Encoding::Png => bytes.len() - 16,
            _ => bytes.len() - 2,
        };
        for end in [9, bytes.len() / 2, short] {
            refuses_within(&bytes[..end]);
        }
        survives(parse, &bytes, 1 << 27);
    }
}

/// A decoder's own workspace does not count as asking for what a file claims.
fn refuses_within(bytes: &[u8]) {
    assert!(parse(bytes).is_err(), "{} bytes of {:?}…", bytes.len(), &bytes[..4]);
}

#[test]
fn a_png_that_claims_to_be_huge() {
    let mut bytes = encode(&image(1, Depth::Eight), Encoding::Png).unwrap();
    bytes[16..24].copy_from_slice(&[0, 15, 66, 64, 0, 15, 66, 64]);
    let crc = crc32(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&crc.to_be_bytes());
    refuses(parse, &bytes, &["pixels"]);
}

#[test]
fn an_honest_png_of_two_thousand_rows_in_six_hundred_bytes() {
    let black = parse(include_bytes!("../files/black-bilevel.png")).unwrap();
    assert_eq!((black.width, black.height, black.channels, black.depth), (2048, 2048, 1, Depth::Eight));
    assert!(black.data.iter().all(|&v| v == 0.0));
}

#[test]
fn a_tiff_with_a_field_that_claims_to_be_huge() {
    let bytes = encode(&image(1, Depth::Eight), Encoding::Tiff).unwrap();
    let directory = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    let mut huge = bytes.clone();
    huge[directory + 6..directory + 10].copy_from_slice(&200_000_000_u32.to_le_bytes());
    refuses(parse, &huge, &["200000000 values"]);
    let mut away = bytes;
    away[4..8].copy_from_slice(&[0xff; 4]);
    refuses(parse, &away, &["byte 4294967295", "directory"]);
}

#[test]
fn a_tiff_or_a_jpeg_of_huge_sides() {
    let mut tiff = encode(&image(1, Depth::Eight), Encoding::Tiff).unwrap();
    let directory = u32::from_le_bytes(tiff[4..8].try_into().unwrap()) as usize;
    // Width, height and the rows of a strip, as one number of 32 bits each.
    for entry in tiff[directory + 2..].chunks_exact_mut(12).filter(|entry| matches!(entry[..2], [0 | 1 | 22, 1])) {
        entry[2..12].copy_from_slice(&[4, 0, 1, 0, 0, 0, 64, 66, 15, 0]);
    }
    refuses(parse, &tiff, &["1000000×1000000 pixels"]);
    let mut jpeg = encode(&image(3, Depth::Eight), Encoding::Jpeg).unwrap();
    let frame = jpeg.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    for sides in [[0xff; 4], [7, 0xd0, 5, 0xdc]] {
        jpeg[frame + 5..frame + 9].copy_from_slice(&sides);
        refuses(parse, &jpeg, &["pixels"]);
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc: u32, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| step(crc)))
}

/// A PNG of chunks, with their checksums.
fn png(chunks: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
    let mut bytes = vec![0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n'];
    for (name, data) in chunks {
        let named = [&name[..], data].concat();
        bytes.extend((data.len() as u32).to_be_bytes());
        bytes.extend(&named);
        bytes.extend(crc32(&named).to_be_bytes());
    }
    bytes
}

#[test]
fn a_palette_of_parts_of_colours() {
    let header = vec![0, 0, 0, 4, 0, 0, 0, 1, 8, 3, 0, 0, 0];
    // Four pixels, in a stored block.
    let data = vec![0x78, 1, 1, 5, 0, 0xfa, 0xff, 0, 0, 1, 0, 1, 0, 9, 0, 3];
    let with = |palette: usize| {
        let palette = (0..palette).map(|i| i as u8).collect();
        png(&[(b"IHDR", header.clone()), (b"PLTE", palette), (b"IDAT", data.clone()), (b"IEND", Vec::new())])
    };
    for wrong in [0, 1, 2, 4, 5, 7, 257, 769, 771] {
        refuses(parse, &with(wrong), &["palette", "three bytes a colour"]);
    }
    for palette in [3, 6, 768] {
        drop(parse(&with(palette))); // whatever it says, it says it
    }
}

#[test]
fn a_few_bytes_become_no_gigabytes() {
    // An honest PNG of 6000×6000 black pixels in a few hundred kilobytes.
    let black = Image::from_array(&Array::new([6000, 6000], vec![0.0; 36_000_000]).unwrap(), Depth::Eight).unwrap();
    let bytes = encode(&black, Encoding::Png).unwrap();
    assert!(bytes.len() < 300_000, "{}", bytes.len());
    refuses(parse, &bytes, &["6000×6000 pixels", "--max-entries"]);
    let allowed = melmo_data::image::parse_within(&bytes, &melmo_data::Limits::entries(36_000_000)).unwrap();
    assert_eq!((allowed.width, allowed.height), (6000, 6000));
}

#[test]
fn a_jpeg_with_thousands_of_scans() {
    let bytes = encode(&image(1, Depth::Eight), Encoding::Jpeg).unwrap();
    let mut frame = bytes.clone();
    let start = frame.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    frame[start + 5..start + 9].copy_from_slice(&[8, 0, 8, 0]); // 2048×2048
    let end = frame.len() - 2;
    let scan = frame[frame.windows(2).position(|pair| pair == [0xff, 0xda]).unwrap()..end].to_vec();
    let many = [&frame[..end], &scan.repeat(4000), &frame[end..]].concat();
    refuses(parse, &many, &["4001 scans"]);
    assert!(parse(&[&bytes[..bytes.len() - 2], &[], &bytes[bytes.len() - 2..]].concat()).is_ok());
}
