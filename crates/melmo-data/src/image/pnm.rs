//! PGM and PPM, plain (P2, P3) and binary (P5, P6), with any maximum up to 65535.

use super::{Depth, Image, Metadata};
use crate::error::{Error, Place};

const HINT: &str = "copying the file again, or writing it with another program";

pub(super) fn parse(bytes: &[u8]) -> Result<Image, Error> {
    let (plain, channels) = match bytes.get(..2) {
        Some(b"P2") => (true, 1),
        Some(b"P3") => (true, 3),
        Some(b"P5") => (false, 1),
        Some(b"P6") => (false, 3),
        _ => return Err(wrong(0, "no known signature", "P2, P3, P5 or P6")),
    };
    let mut scanner = Scanner { bytes, at: 2 };
    let width = scanner.number("the width")?;
    let height = scanner.number("the height")?;
    let maximum = scanner.number("the maximum")?;
    let maximum = match u16::try_from(maximum) {
        Ok(maximum) if maximum > 0 => maximum,
        _ => return Err(wrong(scanner.at, format!("the maximum {maximum}"), "1 to 65535")),
    };
    let depth = if maximum < 256 { Depth::Eight } else { Depth::Sixteen };
    if !plain && !bytes.get(scanner.at).is_some_and(u8::is_ascii_whitespace) {
        return Err(wrong(scanner.at, "something else", "one blank between the maximum and the samples"));
    }
    // A plain sample is at least a blank and a digit, a binary one a byte or two.
    let available = bytes.len().saturating_sub(scanner.at + usize::from(!plain));
    let size = if plain || depth == Depth::Sixteen { 2 } else { 1 };
    let samples = width.checked_mul(height).and_then(|pixels| pixels.checked_mul(channels)).filter(|&n| n > 0);
    let Some(samples) = samples.filter(|&n| n <= available / size) else {
        let limit = format!("{available} bytes follow, and every image has a pixel");
        return Err(Error::too_large(Place::Byte(scanner.at), format!("{width}×{height} pixels"), limit, HINT));
    };
    let data = if plain {
        (0..samples).map(|_| scanner.sample(maximum)).collect::<Result<_, _>>()?
    } else {
        binary(bytes, scanner.at + 1, samples, size, maximum)?
    };
    Ok(Image { width, height, channels, depth, maximum, data, metadata: Metadata::default() })
}

fn binary(bytes: &[u8], start: usize, samples: usize, size: usize, maximum: u16) -> Result<Vec<f64>, Error> {
    let chunks = bytes.get(start..).unwrap_or_default().chunks_exact(size).take(samples);
    let samples = chunks.enumerate().map(|(i, sample)| {
        let value = sample.iter().fold(0_u16, |value, &byte| value << 8 | u16::from(byte));
        scaled(value.into(), maximum).ok_or_else(|| too_bright(start + i * size, value.into(), maximum))
    });
    samples.collect()
}

fn scaled(value: usize, maximum: u16) -> Option<f64> {
    (value <= maximum.into()).then(|| value as f64 / f64::from(maximum))
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    /// A whole number after blanks and comments.
    fn number(&mut self, what: &str) -> Result<usize, Error> {
        self.skip();
        let digits = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let word = std::str::from_utf8(&self.bytes[self.at..self.at + digits]).unwrap_or_default();
        let value = word.parse().map_err(|_| wrong(self.at, "something else", format!("{what}, a whole number")))?;
        self.at += digits;
        Ok(value)
    }

    fn sample(&mut self, maximum: u16) -> Result<f64, Error> {
        let value = self.number("a sample")?;
        scaled(value, maximum).ok_or_else(|| too_bright(self.at, value, maximum))
    }

    fn skip(&mut self) {
        let mut comment = false;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' | b'\r' => comment = false,
                b'#' => comment = true,
                _ if comment || byte.is_ascii_whitespace() => {}
                _ => return,
            }
            self.at += 1;
        }
    }
}

fn too_bright(at: usize, value: usize, maximum: u16) -> Error {
    wrong(at, format!("the sample {value}"), format!("at most {maximum}, the file's maximum"))
}

fn wrong(at: usize, found: impl Into<String>, expected: impl Into<String>) -> Error {
    Error::malformed(Place::Byte(at), found, expected, HINT)
}

/// The binary form, with the image's own maximum.
pub(super) fn encode(image: &Image) -> Vec<u8> {
    let signature = if image.channels == 1 { "P5" } else { "P6" };
    let mut bytes = format!("{signature}\n{} {}\n{}\n", image.width, image.height, image.maximum).into_bytes();
    for &v in &image.data {
        let sample = (v.clamp(0.0, 1.0) * f64::from(image.maximum)).round() as u16;
        let big_endian = sample.to_be_bytes();
        bytes.extend_from_slice(if image.maximum < 256 { &big_endian[1..] } else { &big_endian });
    }
    bytes
}
