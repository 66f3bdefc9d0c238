//! Some lines of a `.mtx` file: what one of several processes reads of it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::{Body, HINT, Header, Layout, Sparse, check_length, sizes, skipped};
use crate::array::Kind;
use crate::error::{Error, Place};
use crate::file::io_error;
use crate::limits::Limits;

/// Longer than the lines up to that of the sizes may be.
const HEAD: u64 = 1 << 16;

/// The entries in some of the lines, and what the file says of the whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Rows and columns of the whole.
    pub shape: (usize, usize),
    /// Lines of entries that the whole has, as the file says.
    pub stored: usize,
    /// Those that were read here.
    pub found: usize,
    /// What the values are in the file.
    pub kind: Kind,
    /// Row, column and value, in the order of the lines; both places of an entry that a symmetric file has once.
    pub entries: Vec<(u32, u32, f64)>,
}

impl Part {
    /// The `part`-th of `parts` parts of the lines: equally long, and every line is in one of them. Coordinates alone, and not packed.
    pub fn read(path: &Path, part: usize, parts: usize, limits: &Limits) -> Result<Self, Error> {
        Self::of(path, part, parts, limits).map_err(|error| error.about(path))
    }

    fn of(path: &Path, part: usize, parts: usize, limits: &Limits) -> Result<Self, Error> {
        let mut file = File::open(path).map_err(io_error(path, "open it"))?;
        let length = file.metadata().map_err(io_error(path, "look at it"))?.len();
        let mut head = Vec::new();
        file.by_ref().take(HEAD).read_to_end(&mut head).map_err(io_error(path, "read it"))?;
        // The last line may be cut, and a letter of it.
        let head = String::from_utf8_lossy(&head);
        let header = Header::parse(head.lines().next().unwrap_or_default())?;
        let (before, size, rest) = sizes(&head)?;
        let [rows, cols, stored] = header.sizes(before, size)?;
        if header.layout != Layout::Coordinate {
            let found = "an array, column after column";
            return Err(Error::unsupported(found, "coordinates, an entry a line", "writing it as .npy"));
        }
        check_length(before, &header, stored, length as usize)?;
        limits.sides(rows, cols, length as usize)?;
        let (kind, start) = (header.kind(), (head.len() - rest.len()) as u64);
        let (at, text) = lines(&mut file, start, length, [part, parts]).map_err(io_error(path, "read it"))?;
        let text = std::str::from_utf8(&text)
            .map_err(|_| Error::malformed(Place::Whole, "bytes that are not text", "UTF-8", HINT))?;
        let body = Body { header, rows, cols, stored, before: 0 };
        let (mut entries, mut found) = (Vec::new(), 0);
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !skipped(line)) {
            let read = body.coordinate(number + 1, line);
            let (i, j, value) = read.map_err(|error| error.after(lines_before(&mut file, at)))?;
            body.push(&mut entries, i, j, value);
            found += 1;
        }
        Ok(Self { shape: (rows, cols), stored, found, kind, entries })
    }

    /// Entries of some rows as a matrix of so many: as in the whole, those of one place are added up.
    pub fn gathered(&self, rows: usize, entries: Vec<(u32, u32, f64)>) -> Result<Sparse, Error> {
        Sparse::of(rows, self.shape.1, self.kind, &[entries])
    }
}

/// Lines that end before a byte: a mistake is named by its line, which is counted where there is one.
fn lines_before(file: &mut File, at: u64) -> usize {
    if file.seek(SeekFrom::Start(0)).is_err() {
        return 0;
    }
    let (mut lines, mut piece) = (0, vec![0; 1 << 16]);
    let mut rest = file.by_ref().take(at);
    while let Ok(read @ 1..) = rest.read(&mut piece) {
        lines += piece[..read].iter().filter(|&&byte| byte == b'\n').count();
    }
    lines
}

/// The lines that begin in a part of the bytes from `start` on, and the first one's first byte.
fn lines(file: &mut File, start: u64, length: u64, [part, parts]: [usize; 2]) -> std::io::Result<(u64, Vec<u8>)> {
    let cut = |part: usize| start + ((length - start) as u128 * part as u128 / parts as u128) as u64;
    let (first, last) = (cut(part), cut(part + 1));
    // From the byte before: a line that begins at `first` follows the end of another there.
    let from = if first > start { first - 1 } else { first };
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.by_ref().take(last - from).read_to_end(&mut bytes)?;
    let skip = match first > start {
        false => Some(0),
        true => bytes.iter().position(|&byte| byte == b'\n').map(|at| at + 1),
    };
    let Some(skip) = skip else { return Ok((last, Vec::new())) }; // within a line of another part
    let mut piece = [0u8; 256];
    while bytes.last().is_some_and(|&byte| byte != b'\n') {
        let read = file.read(&mut piece)?;
        let end = piece[..read].iter().position(|&byte| byte == b'\n').map_or(read, |at| at + 1);
        bytes.extend_from_slice(&piece[..end]);
        if read == 0 {
            break;
        }
    }
    bytes.drain(..skip);
    Ok((from + skip as u64, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_in_one_part() {
        let folder = std::env::temp_dir().join(format!("melmo-part-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("y.mtx");
        let all: Vec<(u32, u32, f64)> = (0..57).map(|k| (k % 9, k / 9, f64::from(k * k) - 0.5)).collect();
        let text: String = all.iter().map(|(i, j, y)| format!("{} {} {y}\n", i + 1, j + 1)).collect();
        for (general, last) in [(true, "\n"), (true, ""), (false, "")] {
            let kind = if general { "general" } else { "symmetric" };
            let text = if general { text.clone() } else { "3 1 2.5\n2 2 1\n".into() };
            let (sides, count) = if general { ("9 7", 57) } else { ("3 3", 2) };
            let head = format!("%%MatrixMarket matrix coordinate real {kind}\n% made for a test\n{sides} {count}\n");
            std::fs::write(&path, head + text.trim_end() + last).unwrap();
            for parts in [1, 2, 3, 7, 100] {
                let read = |part| Part::read(&path, part, parts, &Limits::default()).unwrap();
                let read: Vec<Part> = (0..parts).map(read).collect();
                let found: usize = read.iter().map(|part| part.found).sum();
                let entries: Vec<_> = read.iter().flat_map(|part| part.entries.clone()).collect();
                assert_eq!((found, read[0].stored), (count, count), "{parts}");
                let whole = super::super::parse_sparse(&std::fs::read(&path).unwrap()).unwrap();
                assert_eq!(read[0].gathered(whole.matrix.rows(), entries).unwrap(), whole);
            }
        }
        let text = "%%MatrixMarket matrix coordinate real general\n9 9 4\n1 1 1\n2 2 2\n3 3 x3\n4 4 4\n";
        std::fs::write(&path, text).unwrap();
        for parts in 1..5 {
            let read = (0..parts).find_map(|part| Part::read(&path, part, parts, &Limits::default()).err());
            assert!(read.unwrap().to_string().contains("line 5"), "{parts}");
        }
        std::fs::write(&path, "%%MatrixMarket matrix array real general\n1 1\n2\n").unwrap();
        assert!(Part::read(&path, 0, 2, &Limits::default()).unwrap_err().to_string().contains("coordinates"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
