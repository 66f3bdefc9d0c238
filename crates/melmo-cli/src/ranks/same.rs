//! Whether ranks are at the same thing: what was typed, and the files that each of them sees.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::job::Job;
use crate::ranks::Crew;

/// A long file is looked at in so many pieces of so many bytes: its beginning, its end, and evenly between.
const PIECES: u64 = 16;
const PIECE: u64 = 1 << 16;

/// The first rank that said something else than rank 0.
fn other(all: &[Vec<u8>]) -> Option<usize> {
    all.iter().position(|said| *said != all[0])
}

/// Refuses, on every rank, another version of the program or other options on one of them.
pub fn expect_job(crew: &mut Crew, job: &Job) -> Result<(), Error> {
    let own = format!("{} {}", env!("CARGO_PKG_VERSION"), job.to_toml());
    match other(&crew.bytes(&Sha256::digest(own))?) {
        None => Ok(()),
        Some(rank) => {
            let message = "has other options than rank 0, or another version of this program: start all alike";
            Err(Error::Ranks(format!("rank {rank} {message}")))
        }
    }
}

/// Refuses, on every rank, a file that is another one where one of them sees it.
pub fn expect_files(crew: &mut Crew, files: &[PathBuf]) -> Result<(), Error> {
    for file in files {
        let looked = looked_at(file).map_err(|error| Error::input(file, format!("could not read it: {error}")));
        let looked = crew.agree(looked)?;
        if let Some(rank) = other(&crew.bytes(&looked)?) {
            let message = "is another file on that machine than on that of rank 0: every rank has to see the same";
            return Err(Error::Ranks(format!("{} of rank {rank} {message}", file.display())));
        }
    }
    Ok(())
}

/// A digest of a file's length and of some of its bytes: all of a short one.
fn looked_at(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut seen = Sha256::new();
    seen.update(length.to_le_bytes());
    let last = length.saturating_sub(PIECE);
    for piece in 0..PIECES {
        file.seek(SeekFrom::Start(last / (PIECES - 1) * piece + last % (PIECES - 1) * piece / (PIECES - 1)))?;
        let mut bytes = Vec::new();
        (&mut file).take(PIECE).read_to_end(&mut bytes)?;
        seen.update(&bytes);
    }
    Ok(seen.finalize().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_length_its_beginning_and_its_end() {
        let folder = std::env::temp_dir().join(format!("melmo-same-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let looked = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            std::fs::write(&path, bytes).unwrap();
            looked_at(&path).unwrap()
        };
        let mut long = vec![7u8; 3 << 20];
        let before = looked("a", &long);
        assert_eq!(before, looked("b", &long));
        assert_ne!(before, looked("c", &long[1..]));
        for at in [0, long.len() - 1] {
            long[at] = 8;
            assert_ne!(before, looked("d", &long));
            long[at] = 7;
        }
        assert_ne!(looked("e", b"short"), looked("f", b"shirt"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
