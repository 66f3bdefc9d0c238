//! The rows of a matrix in an `.npy` file, read a few at a time: of a file that does not fit into memory.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{Head, fill, header};
use crate::array::Kind;
use crate::error::Error;
use crate::file::io_error;
use npyz::Order;

/// Bytes that are read at a time.
const PIECE: usize = 1 << 20;
/// Longer than any header may be.
const HEADER: u64 = 1 << 14;

/// A matrix of an open file, or a stack of them, a row each. Reading needs a piece of memory and no more.
#[derive(Debug)]
pub struct Rows {
    path: PathBuf,
    axes: Vec<usize>,
    rows: usize,
    cols: usize,
    kind: Kind,
    swapped: bool,
    /// Where the first entry stands.
    start: u64,
    open: Mutex<Open>,
}

#[derive(Debug)]
struct Open {
    file: File,
    bytes: Vec<u8>,
    numbers: Vec<f64>,
}

impl Rows {
    /// Looks at the header alone. Refuses what is no matrix (a vector is one column), and one in Fortran's order, whose rows are scattered
    /// over the file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let rows = Self::of_stack(path)?;
        match rows.axes.len() {
            1 | 2 => Ok(rows),
            _ => {
                let found = format!("the shape {:?}", rows.axes);
                Err(header::wrong(0, found, "a matrix: rows and columns").about(path))
            }
        }
    }

    /// The same of any number of axes: a row is what lies under one place of the first.
    pub fn of_stack(path: &Path) -> Result<Self, Error> {
        let mut file = File::open(path).map_err(io_error(path, "open it"))?;
        let length = file.metadata().map_err(io_error(path, "look at it"))?.len();
        let mut bytes = Vec::new();
        file.by_ref().take(HEADER).read_to_end(&mut bytes).map_err(io_error(path, "read it"))?;
        let head = Head::parse(&bytes, length as usize).map_err(|error| error.about(path))?;
        if head.order == Order::Fortran && head.shape.len() > 1 {
            let hint = "numpy.save(name, numpy.ascontiguousarray(x))";
            let expected = "C order, where a row is in one place";
            return Err(Error::unsupported("an array in Fortran order", expected, hint).about(path));
        }
        let axes = head.shape;
        let (rows, cols) = (axes[0], axes[1..].iter().product());
        let (kind, swapped, start) = (head.kind, head.swapped, head.start as u64);
        let open = Open { file, bytes: vec![0; PIECE], numbers: vec![0.0; PIECE / kind.bytes()] };
        Ok(Self { path: path.into(), axes, rows, cols, kind, swapped, start, open: Mutex::new(open) })
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// All axes, rows first.
    pub fn axes(&self) -> &[usize] {
        &self.axes
    }

    /// What the numbers are in the file.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Hands on the numbers of `count` rows from `first` on, piece by piece.
    pub fn read(&self, first: usize, count: usize, each: impl FnMut(&[f64])) -> Result<(), Error> {
        self.read_entries(first * self.cols, count * self.cols, each)
    }

    /// The same of `count` entries from the `first` on, row after row: a part of a row can be read.
    pub fn read_entries(&self, first: usize, count: usize, mut each: impl FnMut(&[f64])) -> Result<(), Error> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Open { file, bytes, numbers } = &mut *open;
        let width = self.kind.bytes();
        let at = self.start + (first * width) as u64;
        file.seek(SeekFrom::Start(at)).map_err(io_error(&self.path, "read it"))?;
        let mut left = count;
        while left > 0 {
            let n = left.min(numbers.len());
            file.read_exact(&mut bytes[..n * width]).map_err(io_error(&self.path, "read it"))?;
            fill(&mut numbers[..n], &bytes[..n * width], self.kind, self.swapped);
            each(&numbers[..n]);
            left -= n;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::Array;

    #[test]
    fn rows_are_those_of_the_whole() {
        let folder = std::env::temp_dir().join(format!("melmo-rows-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("y.npy");
        for kind in [Kind::F32, Kind::F64, Kind::U8] {
            let data: Vec<f64> = (0..600 * 701).map(|k| f64::from(k % 97)).collect();
            let array = Array { shape: vec![600, 701], data, kind };
            super::super::write(&path, &array, true).unwrap();
            let rows = Rows::open(&path).unwrap();
            assert_eq!(rows.shape(), (600, 701));
            let mut found = Vec::new();
            rows.read(7, 590, |numbers| found.extend_from_slice(numbers)).unwrap();
            assert!(found == array.data[7 * 701..597 * 701]);
        }
        super::super::write(&path, &Array::new([6], vec![0.0; 6]).unwrap(), true).unwrap();
        assert_eq!(Rows::open(&path).unwrap().shape(), (6, 1), "a vector is one column");
        let stack = Array::new([2, 3, 4], (0..24).map(f64::from).collect::<Vec<_>>()).unwrap();
        super::super::write(&path, &stack, true).unwrap();
        assert!(Rows::open(&path).unwrap_err().to_string().contains("rows and columns"));
        let (rows, mut found) = (Rows::of_stack(&path).unwrap(), Vec::new());
        rows.read(1, 1, |numbers| found.extend_from_slice(numbers)).unwrap();
        assert_eq!((rows.axes(), rows.shape(), &found[..]), (&[2, 3, 4][..], (2, 12), &stack.data[12..]));
        rows.read_entries(5, 3, |numbers| assert_eq!(numbers, [5.0, 6.0, 7.0])).unwrap();
        std::fs::write(&path, &std::fs::read(&path).unwrap()[..100]).unwrap();
        assert!(Rows::open(&path).is_err() && Rows::open(&folder.join("none.npy")).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
