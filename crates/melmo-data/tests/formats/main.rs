//! Every format: what is written reads back, and what is malformed is refused with a message and little memory.

mod bombs;
mod csv;
mod files;
mod frame;
mod gml;
mod hdf5;
mod images;
mod list;
mod matrix_market;
mod npy;
mod parquet;
mod sparse;
mod y4m;

use melmo_data::Error;
use std::fmt::Debug;

/// The parser refuses these bytes, says each of `words`, and asks for no more memory than a few times the input.
fn refuses<T: Debug>(parse: impl Fn(&[u8]) -> Result<T, Error>, bytes: &[u8], words: &[&str]) {
    let mut answer = None;
    let memory = allocation_counter::measure(|| answer = Some(parse(bytes)));
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
    let message = match answer {
        Some(Err(error)) => error.to_string(),
        other => panic!("{shown:?} should be refused, gave {other:?}"),
    };
    for word in words {
        assert!(message.contains(word), "{shown:?}: `{word}` is missing in: {message}");
    }
    assert!(message.len() < 600, "{message}");
    assert!(message.contains("expected") || message.contains("claims"), "{message}");
    let allowed = (4 << 20) + 100 * bytes.len() as u64;
    assert!(memory.bytes_max <= allowed, "{shown:?} took {} bytes", memory.bytes_max);
}

/// Truncated anywhere, or with any byte changed: an answer, whichever, without a panic and without much memory.
fn survives<T>(parse: impl Fn(&[u8]) -> Result<T, Error>, bytes: &[u8], allowed: u64) {
    let calm = |bytes: &[u8]| {
        let memory = allocation_counter::measure(|| drop(parse(bytes)));
        assert!(memory.bytes_max <= allowed, "{} bytes", memory.bytes_max);
    };
    for at in 0..bytes.len() {
        calm(&bytes[..at]);
        for flip in [0x01, 0x10, 0x80, 0xff] {
            let mut changed = bytes.to_vec();
            changed[at] ^= flip;
            calm(&changed);
        }
    }
}
