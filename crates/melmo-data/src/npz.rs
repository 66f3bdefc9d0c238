//! SciPy's `.npz` of a sparse matrix, as `scipy.sparse.save_npz` writes it: in rows, in columns, or as a list.

use std::io::Cursor;
use std::path::Path;

use melmo_base::sparse::{Csr, check_starts};
use zip::ZipArchive;

use crate::array::Array;
use crate::compressed::unpacked;
use crate::error::{Error, Place, brief, quote};
use crate::limits::Limits;
use crate::{file, npy};

const HINT: &str = "writing it with scipy.sparse.save_npz, as csr, csc or coo";

/// Reads a sparse matrix.
pub fn read(path: &Path) -> Result<Csr<f64>, Error> {
    file::read_with(path, |bytes| parse(bytes, &Limits::default()))
}

/// A sparse matrix from the bytes of such a file. Entries of one place are added up.
pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Csr<f64>, Error> {
    let broken = |e: zip::result::ZipError| Error::malformed(Place::Whole, brief(&e), "an archive of arrays", HINT);
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
    let mut member = |name: &str| -> Result<Vec<u8>, Error> {
        let Ok(found) = archive.by_name(&format!("{name}.npy")) else {
            let found = format!("no array `{name}`");
            return Err(Error::malformed(Place::Whole, found, "the parts of a sparse matrix", HINT));
        };
        unpacked(found, bytes.len(), limits)
    };
    let form = npy::text(&member("format")?)?;
    let mut array = |name: &str| npy::parse(&member(name)?).map_err(|error| in_part(error, name));
    let [rows, cols] = sizes(&array("shape")?)?;
    limits.sides(rows, cols, bytes.len())?;
    match form.as_str() {
        "csr" => compressed(rows, cols, &array("indptr")?, &array("indices")?, &array("data")?),
        "csc" => Ok(compressed(cols, rows, &array("indptr")?, &array("indices")?, &array("data")?)?.transposed()),
        "coo" => entries(rows, cols, indices(&array("row")?)?.into_iter(), &array("col")?, &array("data")?),
        other => Err(Error::unsupported(format!("the format {}", quote(other)), "csr, csc or coo", HINT)),
    }
}

fn in_part(error: Error, name: &str) -> Error {
    Error::malformed(Place::Whole, format!("in `{name}`: {}", brief(&error)), "an array of numbers", HINT)
}

fn sizes(shape: &Array) -> Result<[usize; 2], Error> {
    let whole = |v: f64| (v >= 0.0 && v.fract() == 0.0).then_some(v as usize);
    match shape.data[..] {
        [rows, cols] => whole(rows).zip(whole(cols)).map(|(rows, cols)| [rows, cols]),
        _ => None,
    }
    .ok_or_else(|| Error::malformed(Place::Whole, format!("the shape {:?}", shape.data), "rows and columns", HINT))
}

/// Indices of 32 bits.
fn indices(array: &Array) -> Result<Vec<u32>, Error> {
    let one = |&v: &f64| (v >= 0.0 && v < f64::from(u32::MAX) && v.fract() == 0.0).then_some(v as u32);
    array.data.iter().map(one).collect::<Option<_>>().ok_or_else(|| {
        let expected = format!("whole numbers from 0 to {}", u32::MAX - 1);
        Error::malformed(Place::Whole, "an index that is none", expected, HINT)
    })
}

fn compressed(rows: usize, cols: usize, starts: &Array, columns: &Array, data: &Array) -> Result<Csr<f64>, Error> {
    let starts: Vec<usize> = starts.data.iter().map(|&v| v as usize).collect();
    check_starts(rows, &starts, columns.data.len())?;
    let row_of = (0..rows as u32).flat_map(|i| std::iter::repeat_n(i, starts[i as usize + 1] - starts[i as usize]));
    entries(rows, cols, row_of, columns, data)
}

/// Entries in any order; of one place the sum is meant, as in SciPy.
fn entries(
    rows: usize,
    cols: usize,
    row_of: impl Iterator<Item = u32> + Clone,
    columns: &Array,
    data: &Array,
) -> Result<Csr<f64>, Error> {
    if columns.data.len() != data.data.len() {
        let found = format!("{} indices and {} values", columns.data.len(), data.data.len());
        return Err(Error::malformed(Place::Whole, found, "as many of both", HINT));
    }
    if let Some(at) = data.data.iter().position(|value| !value.is_finite()) {
        return Err(Error::malformed(Place::Entry(at), data.data[at].to_string(), "finite numbers", HINT));
    }
    let columns = indices(columns)?;
    let entries = row_of.zip(&columns).zip(&data.data).map(|((i, &j), &value)| (i, j, value));
    Csr::from_entries(rows, cols, entries, |_, _, values| Ok(values.iter().sum()))
}
