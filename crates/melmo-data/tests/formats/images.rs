use crate::{refuses, survives};
use melmo_data::image::{Density, Depth, Encoding, Image, Metadata, encode, encode_pages, parse};
use melmo_data::{Array, Error};

/// Samples that the depth holds exactly: a smooth image with its extremes.
fn image(channels: usize, depth: Depth) -> Image {
    let (width, height, top) = (9, 5, usize::from(depth.maximum()));
    let samples = width * height * channels;
    let data = (0..samples).map(|i| (i * top / (samples - 1)) as f64 / top as f64).collect();
    Image { width, height, channels, depth, maximum: depth.maximum(), data, metadata: Default::default() }
}

#[test]
fn every_lossless_format_reads_back() {
    for depth in [Depth::Eight, Depth::Sixteen] {
        for channels in [1, 2, 3, 4] {
            let image = image(channels, depth);
            let fits = depth == Depth::Eight;
            // WebP has no grey with alpha: it comes back in colour.
            let webp = encode(&image, Encoding::WebP).map(|bytes| parse(&bytes).unwrap());
            assert_eq!(webp.is_ok(), fits);
            assert!(channels == 2 || webp.is_ok_and(|back| back == image) || !fits);
            let bmp = encode(&image, Encoding::Bmp).map(|bytes| parse(&bytes).unwrap());
            assert!(bmp.is_ok_and(|back| back == image) == (fits && channels != 2), "{channels}");
        }
        let fits = [
            (Encoding::Png, &[1, 2, 3, 4][..]),
            (Encoding::Tiff, &[1, 2, 3, 4]),
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
        (2, Depth::Eight, Encoding::Bmp),
        (1, Depth::Single, Encoding::Png),
        (3, Depth::Half, Encoding::Ppm),
        (1, Depth::Sixteen, Encoding::WebP),
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
    refuses(parse, b"GIF89a", &["a GIF", "PNG"]);
    refuses(parse, b"\0\0\0\x18ftypheic\0\0\0\0", &["HEIC", "PNG"]);
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
    for encoding in [Encoding::Png, Encoding::Tiff, Encoding::Jpeg, Encoding::Pgm, Encoding::WebP, Encoding::Bmp] {
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

/// Says that the picture lies on its side, what was used, and how large it was.
const EXIF: &[u8] = b"II*\0\x08\0\0\0\x03\0\
    \x0f\x01\x02\0\x06\0\0\0\x32\0\0\0\
    \x12\x01\x03\0\x01\0\0\0\x06\0\0\0\
    \x69\x87\x04\0\x01\0\0\0\x38\0\0\0\
    \0\0\0\0Melmo\0\x01\0\x02\xa0\x04\0\x01\0\0\0\x09\0\0\0\0\0\0\0";

fn said(image: &Image) -> Image {
    let mut icc = vec![7; 200];
    icc[16..20].copy_from_slice(if image.channels < 3 { b"GRAY" } else { b"RGB " });
    let density = Density { x: 300.0, y: 200.0, inch: true };
    let (exif, xmp) = (Some(EXIF.to_vec()), Some(b"<x:xmpmeta/>".to_vec()));
    let metadata = Metadata { exif, icc: Some(icc), xmp, density: Some(density), ..Metadata::default() };
    Image { metadata, ..image.clone() }
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn what_a_file_says_beside_its_samples_is_kept_and_the_picture_stands_upright() {
    for encoding in [Encoding::Png, Encoding::Jpeg, Encoding::Tiff, Encoding::WebP] {
        // WebP has no grey, and so no profile for it.
        for channels in if encoding == Encoding::WebP { &[3][..] } else { &[1, 3] }.iter().copied() {
            let lying = said(&image(channels, Depth::Eight));
            let bytes = encode(&lying, encoding).unwrap();
            let back = parse(&bytes).unwrap();
            // Pages of a TIFF have an orientation of their own, which was honoured when they were read.
            let turned = encoding != Encoding::Tiff;
            assert_eq!((back.width, back.height), if turned { (5, 9) } else { (9, 5) }, "{encoding:?}");
            let found = &back.metadata;
            assert_eq!((&found.icc, &found.xmp), (&lying.metadata.icc, &lying.metadata.xmp), "{encoding:?}");
            assert!(holds(found.exif.as_ref().unwrap(), b"Melmo\0"), "{encoding:?}");
            // WebP says a density in EXIF alone, and that has none here.
            let (x, y) = if turned { (200.0, 300.0) } else { (300.0, 200.0) };
            let near = |d: &Density| d.inch && (d.x - x).abs() < 0.01 && (d.y - y).abs() < 0.01;
            assert!(found.density.as_ref().is_some_and(near) || encoding == Encoding::WebP, "{encoding:?} {found:?}");
            // It is not turned a second time.
            let again = parse(&encode(&back, encoding).unwrap()).unwrap();
            assert_eq!((again.width, again.height), (back.width, back.height));
            assert_eq!((&again.metadata.icc, &again.metadata.xmp), (&found.icc, &found.xmp));
            for other in [Encoding::Png, Encoding::Jpeg, Encoding::Tiff, Encoding::WebP] {
                if channels == 1 && other == Encoding::WebP {
                    continue;
                }
                let there = parse(&encode(&back, other).unwrap()).unwrap().metadata;
                assert!(there.icc == found.icc && there.exif.is_some_and(|exif| holds(&exif, b"Melmo\0")), "{other:?}");
            }
        }
    }
}

#[test]
fn every_orientation_is_turned_upright() {
    // 1 2 3 over 4 5 6, as seen, and as sensors held in eight ways store it.
    let seen = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|v| v / 255.0);
    let stored: [(u8, [u8; 6]); 8] = [
        (1, [1, 2, 3, 4, 5, 6]),
        (2, [3, 2, 1, 6, 5, 4]),
        (3, [6, 5, 4, 3, 2, 1]),
        (4, [4, 5, 6, 1, 2, 3]),
        (5, [1, 4, 2, 5, 3, 6]),
        (6, [3, 6, 2, 5, 1, 4]),
        (7, [6, 3, 5, 2, 4, 1]),
        (8, [4, 1, 5, 2, 6, 3]),
    ];
    for (orientation, samples) in stored {
        let (width, height) = if orientation < 5 { (3, 2) } else { (2, 3) };
        let data = samples.iter().map(|&v| f64::from(v) / 255.0).collect();
        let mut lying = said(&Image::from_array(&Array::new([height, width], data).unwrap(), Depth::Eight).unwrap());
        lying.metadata.exif.as_mut().unwrap()[30] = orientation;
        let back = parse(&encode(&lying, Encoding::Png).unwrap()).unwrap();
        assert_eq!((back.width, back.height, &back.data[..]), (3, 2, &seen[..]), "{orientation}");
        assert_eq!(back.metadata.exif.unwrap()[30], 1);
    }
}

#[test]
fn pages_and_floats_of_a_tiff() {
    let mut pages = Vec::new();
    for (channels, depth) in [
        (1, Depth::Half),
        (3, Depth::Single),
        (4, Depth::Double),
        (2, Depth::Single),
        (1, Depth::Eight),
        (4, Depth::Half),
    ] {
        let mut page = said(&image(channels, if depth.is_whole() { depth } else { Depth::Eight }));
        if !depth.is_whole() {
            (page.depth, page.maximum) = (depth, 1);
            page.data = (0..page.data.len()).map(|i| i as f64 / 4.0 - 3.0).collect();
            page.data[7] = f64::NAN;
        }
        pages.push(page);
    }
    let bytes = encode_pages(&pages, Encoding::Tiff).unwrap();
    let back = melmo_data::image::pages_within(&bytes, &melmo_data::Limits::default()).unwrap();
    assert_eq!(back.len(), pages.len());
    for (page, back) in pages.iter().zip(&back) {
        assert_eq!((page.channels, page.depth, page.maximum), (back.channels, back.depth, back.maximum));
        let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
        assert!(page.data.iter().zip(&back.data).all(same), "{:?}", page.depth);
        assert_eq!((&page.metadata.icc, page.metadata.density), (&back.metadata.icc, back.metadata.density));
        assert!(holds(back.metadata.exif.as_ref().unwrap(), b"Melmo\0"));
    }
    assert!(encode_pages(&pages, Encoding::Png).unwrap_err().to_string().contains("6 pages"));
    // Pages together may not be more than the file's bytes allow, nor may they go round in a circle.
    let flat = vec![image(1, Depth::Eight); 3];
    let small = encode_pages(&flat, Encoding::Tiff).unwrap();
    let error = melmo_data::image::pages_within(&small, &melmo_data::Limits::entries(2 * 45)).unwrap_err();
    assert!(error.to_string().contains("9×5 pixels"), "{error}");
    let mut circle = small.clone();
    let first = u32::from_le_bytes(circle[4..8].try_into().unwrap()) as usize;
    let entries = usize::from(u16::from_le_bytes(circle[first..first + 2].try_into().unwrap()));
    let next = first + 2 + 12 * entries;
    circle[next..next + 4].copy_from_slice(&(first as u32).to_le_bytes());
    refuses(parse, &circle, &["follows itself"]);
}

#[test]
fn moving_pictures_are_refused() {
    let mut webp = b"RIFF\x1a\0\0\0WEBPVP8X\x0a\0\0\0".to_vec();
    webp.extend([2, 0, 0, 0, 8, 0, 0, 4, 0, 0]);
    refuses(parse, &webp, &["moving picture", "ffmpeg"]);
    let header = vec![0, 0, 0, 4, 0, 0, 0, 1, 8, 0, 0, 0, 0];
    let apng = png(&[(b"IHDR", header), (b"acTL", vec![0, 0, 0, 2, 0, 0, 0, 0]), (b"IEND", Vec::new())]);
    refuses(parse, &apng, &["moving picture"]);
}
