//! Files of every format, damaged in every way.

use std::time::{Duration, Instant};

use melmo::seeded::Seeded;
use melmo_data::image::{Depth, Encoding, Image};
use melmo_data::{Array, Limits, csv, formats, gml, image, matrix_market, npy};

use crate::run::{Run, below, one_of};

/// What a reader may take: so many bytes whatever the file, so many more for each of its bytes, so much time.
const MEMORY: u64 = 192 << 20;
const PER_BYTE: u64 = 2048;
const TIME: Duration = Duration::from_secs(5);

/// What files are made of that mean something: huge numbers, signs, brackets, markers.
const WORDS: [&[u8]; 20] = [
    b"18446744073709551615",
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
    b"node [ id 1 ]",
    b"\n",
    b",,,,",
    b"PLTE",
    b"IDAT",
    b"\xff\xda",
    b"\xff\xd9",
    b"%%MatrixMarket matrix coordinate real general\n9 9 1\n",
    b"\xff\xc2",
];

/// Small files of every format that the writers write, and what once broke something.
fn seeds() -> Vec<(usize, Vec<u8>)> {
    let format = |name: &str| formats().iter().position(|format| format.name == name).unwrap_or(0);
    let array = Array::new([4, 5], (0..20).map(|i| f64::from(i) / 19.0).collect()).expect("sizes that fit");
    let labels = (0..4).map(|i| format!("n{i}")).collect();
    let adjacency = Array {
        shape: vec![4, 4],
        data: vec![0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0],
        kind: melmo_data::Kind::Bool,
    };
    let graph = gml::Graph { labels, directed: false, edges: 3, adjacency };
    let table = csv::Table {
        names: Some(vec!["a".into(), "b".into(), "c".into(), "d".into(), "e".into()]),
        array: array.clone(),
    };
    let mut all = vec![
        (format("npy"), npy::encode(&array)),
        (format("csv"), csv::encode(&table)),
        (format("Matrix Market"), matrix_market::encode(&array)),
        (
            format("Matrix Market"),
            Ok(b"%%MatrixMarket matrix coordinate real symmetric\n5 5 3\n1 1 2\n3 1 1e3\n5 4 -1\n".to_vec()),
        ),
        (format("GML"), gml::encode(&graph, None)),
    ];
    for (channels, depth) in [(1, Depth::Eight), (3, Depth::Eight), (4, Depth::Sixteen)] {
        let data = (0..9 * 7 * channels).map(|i| (i % 17) as f64 / 16.0).collect();
        let shape = if channels == 1 { vec![9, 7] } else { vec![9, 7, channels] };
        let picture =
            Array::new(shape, data).and_then(|array| Image::from_array(&array, depth)).expect("sizes that fit");
        for encoding in [Encoding::Png, Encoding::Jpeg, Encoding::Tiff, Encoding::Pgm, Encoding::Ppm] {
            if let Ok(bytes) = image::encode(&picture, encoding) {
                all.push((format("image"), Ok(bytes)));
            }
        }
    }
    let mut seeds: Vec<(usize, Vec<u8>)> =
        all.into_iter().filter_map(|(format, bytes)| Some((format, bytes.ok()?))).collect();
    seeds.extend(past().map(|(name, bytes)| (format(name), bytes)));
    seeds
}

/// What once broke something: a palette of four bytes, sides of 8000 in 64 bytes, a folder of TIFF fields without end.
fn past() -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    let palette: &[u8] = include_bytes!("../../past/palette-of-4.png");
    [
        ("image", palette.to_vec()),
        ("Matrix Market", b"%%MatrixMarket matrix coordinate real general\n8000 8000 1\n1 1 1\n".to_vec()),
        (
            "GML",
            (0..3000)
                .fold("graph [\n".to_string(), |text, i| text + &format!("node [ id {i} ]\n"))
                .into_bytes()
                .into_iter()
                .chain(*b"]\n")
                .collect(),
        ),
    ]
    .into_iter()
}

fn damage(seeded: &mut Seeded, bytes: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..1 + below(seeded, 6) {
        let at = below(seeded, bytes.len() + 1);
        match below(seeded, 8) {
            0 | 1 if at < bytes.len() => bytes[at] ^= 1 << below(seeded, 8),
            2 if at < bytes.len() => bytes[at] = seeded.bits() as u8,
            3 => bytes.truncate(at),
            4 => drop(bytes.splice(at..at, one_of(seeded, &WORDS).iter().copied())),
            5 => {
                let end = (at + below(seeded, 9)).min(bytes.len());
                drop(bytes.splice(at..end, one_of(seeded, &WORDS).iter().copied()));
            }
            6 => bytes.extend_from_slice(&other[below(seeded, other.len() + 1)..]),
            _ => {
                let piece = bytes[at..(at + below(seeded, 40)).min(bytes.len())].to_vec();
                drop(bytes.splice(at..at, piece));
            }
        }
    }
    bytes.truncate(1 << 16);
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

pub fn campaign(run: &mut Run) {
    let seeds = seeds();
    run.until_the_end(|number, seeded| {
        let (format, seed) = match seeds.get(number as usize) {
            Some(first) => first, // each as it is, once
            None => one_of(seeded, &seeds),
        };
        let mut bytes = seed.clone();
        if number as usize >= seeds.len() {
            let other = &one_of(seeded, &seeds).1;
            damage(seeded, &mut bytes, other);
            if bytes.starts_with(b"\x89PNG") && below(seeded, 4) > 0 {
                mend(&mut bytes);
            }
        }
        let (begun, mut told) = (Instant::now(), String::new());
        let memory = allocation_counter::measure(|| {
            if let Err(error) = (formats()[*format].parse)(&bytes, &Limits::default()) {
                told = error.to_string();
            }
        });
        let allowed = MEMORY + PER_BYTE * bytes.len() as u64;
        if memory.bytes_max > allowed {
            return Err(format!(
                "{}: {} bytes of memory for a file of {}",
                formats()[*format].name,
                memory.bytes_max,
                bytes.len()
            ));
        }
        if begun.elapsed() > TIME {
            return Err(format!(
                "{}: {:?} for a file of {} bytes",
                formats()[*format].name,
                begun.elapsed(),
                bytes.len()
            ));
        }
        if told.len() > 3000 { Err(format!("a message of {} bytes", told.len())) } else { Ok(()) }
    });
}
