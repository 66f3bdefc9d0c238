//! Arrays of the whole, of which every rank writes its own entries into one file.

use std::fs::OpenOptions;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use melmo::real::Real;
use melmo_data::npy;
use melmo_mpi::Extent;

use crate::error::Error;
use crate::output::Outputs;
use crate::ranks::Crew;

/// Numbers that are made bytes at a time.
const PIECE: usize = 1 << 16;

/// Entries of this rank, and where they begin in the whole.
pub type Entries<'a, S> = Vec<(usize, &'a [S])>;

/// Those that this rank counts: others may have them too.
pub fn counted<'a, S>(extents: &[Extent], own: &'a [S]) -> Entries<'a, S> {
    let counted = extents.iter().filter(|extent| extent.counted);
    counted.map(|extent| (extent.whole.start, &own[extent.own.clone()])).collect()
}

/// Whether the numbers of a run are single ones, and so those that it writes.
pub fn is_single<S: Real>() -> bool {
    S::NAME == "f32"
}

/// Writes these entries, as single numbers or not, into a file that begins with so many bytes of a header.
pub fn write<S: Real>(path: &Path, single: bool, header: usize, entries: &Entries<'_, S>) -> Result<(), Error> {
    write_all(path, single, header, entries)
        .map_err(|error| Error::input(path, format!("could not be written: {error}")))
}

fn write_all<S: Real>(path: &Path, single: bool, header: usize, entries: &Entries<'_, S>) -> io::Result<()> {
    let width = if single { 4 } else { 8 };
    let mut file = OpenOptions::new().write(true).open(path)?;
    let mut bytes = Vec::with_capacity(PIECE * width);
    for (start, numbers) in entries {
        file.seek(SeekFrom::Start((header + start * width) as u64))?;
        for piece in numbers.chunks(PIECE) {
            bytes.clear();
            match single {
                true => piece.iter().for_each(|v| bytes.extend((v.f64() as f32).to_le_bytes())),
                false => piece.iter().for_each(|v| bytes.extend(v.f64().to_le_bytes())),
            }
            file.write_all(&bytes)?;
        }
    }
    file.sync_data()
}

/// An array of the whole in one `.npy`: rank 0 makes the file, everybody writes into it. Outputs are rank 0's.
pub fn array<S: Real>(
    crew: &mut Crew,
    outputs: &mut Option<Outputs>,
    (path, single): (&Path, bool),
    shape: &[usize],
    entries: &Entries<'_, S>,
) -> Result<(), Error> {
    let header = npy::header(shape, single)?;
    let begun = outputs.as_mut().map_or(Ok(PathBuf::new()), |outputs| outputs.begin(path, &header));
    let begun = crew.agree(begun)?;
    let part = crew.told(&begun.to_string_lossy())?;
    let written = write(Path::new(&part), single, header.len(), entries);
    crew.agree(written)
}
