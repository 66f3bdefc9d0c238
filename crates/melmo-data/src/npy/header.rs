//! What has to hold of an npy header before a general parser may see it.
//!
//! The parser allocates the header length a file claims, multiplies the axes without looking at overflow, and recurses
//! into brackets: each is checked here first.

use crate::error::{Error, Place, quote};

pub(super) const MAGIC: &[u8] = b"\x93NUMPY";
const HINT: &str = "writing the array again with numpy.save";
/// NumPy's own limit.
const LONGEST: usize = 10_000;
/// A dictionary that holds a list of field tuples with a shape; anything deeper is no array of numbers.
const DEEPEST: usize = 4;

/// The bytes up to the first entry; everything claimed in them is bounded.
pub(super) fn check(bytes: &[u8]) -> Result<usize, Error> {
    let start = match bytes.get(..8) {
        Some(head) if head.starts_with(MAGIC) => match head[6] {
            1 => 10,
            2 | 3 => 12,
            version => return Err(wrong(6, format!("format version {version}"), "version 1, 2 or 3")),
        },
        _ => return Err(wrong(0, "no npy signature", "the bytes \\x93NUMPY and a version")),
    };
    let size = bytes.get(8..start).ok_or_else(|| wrong(8, "the end of the file", "the header's length"))?;
    let length = size.iter().rev().fold(0_usize, |n, &byte| n << 8 | usize::from(byte));
    let available = bytes.len() - start;
    if length > available.min(LONGEST) {
        let limit = format!("{available} bytes follow and {LONGEST} are allowed");
        return Err(Error::too_large(Place::Byte(8), format!("a header of {length} bytes"), limit, HINT));
    }
    let text = std::str::from_utf8(&bytes[start..start + length])
        .map_err(|error| wrong(start + error.valid_up_to(), "bytes that are not text", "a header in UTF-8"))?;
    check_depth(text, start)?;
    check_axes(text, start)?;
    Ok(start + length)
}

fn check_depth(text: &str, start: usize) -> Result<(), Error> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return Err(wrong(start + at, "brackets in brackets", format!("at most {DEEPEST} levels")));
        }
    }
    Ok(())
}

/// The product of the axes fits: a zero among them counts as one, since strides are multiplied as well.
///
/// The axes have to be where this looks for them: after the one key `shape`, in parentheses, with nothing written as an
/// escape, since the parser would also take a list, or a second key in escapes.
fn check_axes(text: &str, start: usize) -> Result<(), Error> {
    let mut keys = text.match_indices("shape");
    let (Some((at, _)), None, false) = (keys.next(), keys.next(), text.contains('\\')) else {
        return Err(wrong(start, quote(text), "the key 'shape', once, and no escapes"));
    };
    let tuple = text[at + "shape".len()..].trim_start_matches(['\'', '"']).trim_start();
    let axes = tuple.strip_prefix(':').and_then(|rest| rest.trim_start().strip_prefix('(')).and_then(|rest| {
        let end = rest.find(')')?;
        Some(&rest[..end])
    });
    let Some(axes) = axes else {
        return Err(wrong(start + at, quote(&text[at..]), "'shape': and whole numbers in parentheses"));
    };
    let product = axes.split(',').filter(|axis| !axis.trim().is_empty()).try_fold(1_u64, |product, axis| {
        axis.trim().trim_end_matches('L').parse::<u64>().ok().and_then(|axis| product.checked_mul(axis.max(1)))
    });
    match product {
        Some(_) => Ok(()),
        None => Err(wrong(start + at, format!("the shape {}", quote(axes)), "whole numbers that fit in memory")),
    }
}

pub(super) fn wrong(at: usize, found: impl Into<String>, expected: impl Into<String>) -> Error {
    Error::malformed(Place::Byte(at), found, expected, HINT)
}
