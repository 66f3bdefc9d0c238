//! `.gz` and `.zst`: the file inside, by the name that is left.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{Error, Place, brief};
use crate::limits::{Limits, RAISE};

/// The name without `.gz` or `.zst`.
pub(crate) fn inner(path: &Path) -> PathBuf {
    match kind(path) {
        Some(_) => path.with_extension(""),
        None => path.to_path_buf(),
    }
}

/// What the bytes of this file stand for: as many as the numbers that they may become have, and no more.
pub(crate) fn plain(path: &Path, bytes: Vec<u8>, limits: &Limits) -> Result<Vec<u8>, Error> {
    let broken = |e: &dyn std::fmt::Display| {
        Error::malformed(Place::Whole, brief(&e), "a file that can be unpacked", "copying it again")
    };
    match kind(path) {
        Some("gz") => unpacked(flate2::read::MultiGzDecoder::new(&bytes[..]), bytes.len(), limits),
        Some(_) => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(&bytes[..]).map_err(|e| broken(&e))?;
            unpacked(decoder, bytes.len(), limits)
        }
        None => Ok(bytes),
    }
}

fn kind(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    ["gz", "zst"].into_iter().find(|known| *known == extension)
}

/// Everything that a reader gives, within the limit for so many bytes.
pub(crate) fn unpacked(reader: impl Read, bytes: usize, limits: &Limits) -> Result<Vec<u8>, Error> {
    let most = limits.of(bytes).saturating_mul(size_of::<f64>());
    let mut plain = Vec::new();
    let read = reader.take(most as u64 + 1).read_to_end(&mut plain);
    read.map_err(|e| Error::malformed(Place::Whole, brief(&e), "a file that can be unpacked", "copying it again"))?;
    if plain.len() > most {
        return Err(Error::too_large(Place::Whole, format!("more than {most} bytes"), limits.because(bytes), RAISE));
    }
    Ok(plain)
}
