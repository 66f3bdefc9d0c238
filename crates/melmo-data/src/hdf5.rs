//! HDF5, and `.mat` of MATLAB 7.3, which is HDF5: the one array of numbers that a file holds, or its one sparse matrix.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use hdf5_pure::{AttrValue, DType, Dataset, File, Group};
use melmo_base::sparse::Csr;

use crate::array::{Array, Kind, check_size, count};
use crate::error::{Error, Place, brief, quote};
use crate::limits::{Limits, RAISE};
use crate::{file, matrix_market};

/// Groups within groups that are looked into.
const DEEPEST: usize = 8;
/// Arrays that are named where one was expected.
const NAMED: usize = 8;
const HINT: &str = "a file with one array of numbers of 1 to 3 axes, or one sparse matrix of MATLAB";

/// Reads an array.
pub fn read(path: &Path) -> Result<Array, Error> {
    file::read_with(path, |bytes| parse(bytes, &Limits::default()))
}

/// The array of a file; a sparse matrix with its zeros.
pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Array, Error> {
    match only(bytes)? {
        Found::Array { data, transposed } => whole(&data, transposed, limits, bytes.len()),
        Found::Sparse { group, rows } => {
            matrix_market::spread(&sparse(&group, rows, limits, bytes.len())?, limits, bytes.len())
        }
    }
}

/// The sparse matrix of a file; `None` where it holds an array.
pub fn parse_sparse(bytes: &[u8], limits: &Limits) -> Result<Option<Csr<f64>>, Error> {
    match only(bytes)? {
        Found::Array { .. } => Ok(None),
        Found::Sparse { group, rows } => sparse(&group, rows, limits, bytes.len()).map(Some),
    }
}

/// What a file holds.
enum Found {
    /// MATLAB writes columns first, and the axes in reverse.
    Array { data: Dataset, transposed: bool },
    /// Columns `jc`, rows `ir` and values `data`, of so many rows.
    Sparse { group: Group, rows: usize },
}

/// The one thing that can be read; refuses none and several.
fn only(bytes: &[u8]) -> Result<Found, Error> {
    if bytes.starts_with(b"MATLAB 5.0 MAT-file") {
        let hint = "save('name.mat', 'x', '-v7.3') in MATLAB, or scipy.sparse.save_npz and numpy.save";
        return Err(Error::unsupported("a .mat file of version 5", "version 7.3, which is HDF5", hint));
    }
    let matlab = bytes.starts_with(b"MATLAB 7.3 MAT-file");
    let mut found = Vec::new();
    calmly(|| look(&File::from_bytes(bytes.to_vec())?.root(), "", matlab, 0, &mut found))?;
    if found.len() == 1 {
        return Ok(found.remove(0).1);
    }
    let names: Vec<String> = found.iter().take(NAMED).map(|(name, _)| quote(name)).collect();
    let what = if names.is_empty() { "no array of numbers".into() } else { format!("several: {}", names.join(", ")) };
    Err(Error::malformed(Place::Whole, what, "one array", HINT))
}

fn look(
    group: &Group,
    path: &str,
    matlab: bool,
    depth: usize,
    found: &mut Vec<(String, Found)>,
) -> Result<(), hdf5_pure::Error> {
    let inside = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
    for name in group.datasets()? {
        let data = group.dataset(&name)?;
        if kind(&data.dtype()?).is_some() && (1..=3).contains(&data.shape()?.len()) {
            found.push((inside(&name), Found::Array { data, transposed: matlab }));
        }
    }
    // What begins so is MATLAB's own.
    for name in group.groups()?.into_iter().filter(|name| depth < DEEPEST && !(matlab && name.starts_with('#'))) {
        let group = group.group(&name)?;
        match group.attrs()?.get("MATLAB_sparse").and_then(whole_number) {
            Some(rows) => found.push((inside(&name), Found::Sparse { group, rows })),
            None => look(&group, &inside(&name), matlab, depth + 1, found)?,
        }
    }
    Ok(())
}

fn whole_number(value: &AttrValue) -> Option<usize> {
    match value {
        AttrValue::U64(number) => usize::try_from(*number).ok(),
        AttrValue::I64(number) => usize::try_from(*number).ok(),
        AttrValue::U32(number) => usize::try_from(*number).ok(),
        AttrValue::I32(number) => usize::try_from(*number).ok(),
        _ => None,
    }
}

fn kind(dtype: &DType) -> Option<Kind> {
    Some(match dtype {
        DType::F32 => Kind::F32,
        DType::F64 => Kind::F64,
        DType::I8 => Kind::I8,
        DType::I16 => Kind::I16,
        DType::I32 => Kind::I32,
        DType::I64 => Kind::I64,
        DType::U8 => Kind::U8,
        DType::U16 => Kind::U16,
        DType::U32 => Kind::U32,
        DType::U64 => Kind::U64,
        _ => return None,
    })
}

fn whole(data: &Dataset, transposed: bool, limits: &Limits, bytes: usize) -> Result<Array, Error> {
    let mut shape: Vec<usize> = calmly(|| data.shape())?.into_iter().map(|axis| axis as usize).collect();
    if count(&shape).is_none_or(|count| count > limits.of(bytes)) {
        return Err(Error::too_large(Place::Whole, format!("the shape {shape:?}"), limits.because(bytes), RAISE));
    }
    let mut numbers = calmly(|| data.read_f64())?;
    if transposed {
        shape.reverse();
        numbers = crate::npy::row_major(&shape, &numbers);
    }
    let mut array = Array::new(shape, numbers)?;
    array.kind = kind(&calmly(|| data.dtype())?).unwrap_or(Kind::F64);
    Ok(array)
}

fn sparse(group: &Group, rows: usize, limits: &Limits, bytes: usize) -> Result<Csr<f64>, Error> {
    let has = |name: &str| calmly(|| group.datasets()).is_ok_and(|names| names.iter().any(|known| known == name));
    let numbers = |name: &str| -> Result<Vec<f64>, Error> {
        if !has(name) {
            return Ok(Vec::new()); // of a matrix without an entry
        }
        let data = calmly(|| group.dataset(name))?;
        let shape: Vec<usize> = calmly(|| data.shape())?.into_iter().map(|axis| axis as usize).collect();
        let length = count(&shape).unwrap_or(usize::MAX);
        check_size(length, 1, limits, bytes)?;
        calmly(|| data.read_f64())
    };
    let starts: Vec<usize> = numbers("jc")?.into_iter().map(|at| at as usize).collect();
    let Some(cols) = starts.len().checked_sub(1) else {
        return Err(Error::malformed(
            Place::Whole,
            "a sparse matrix without columns",
            "its parts jc, ir and data",
            HINT,
        ));
    };
    limits.sides(rows, cols, bytes)?;
    let places: Vec<u32> = numbers("ir")?.into_iter().map(|at| at as u32).collect();
    Ok(Csr::new(cols, rows, starts, places, numbers("data")?)?.transposed())
}

/// What the crate answers, also where a broken file makes it panic.
fn calmly<T>(work: impl FnOnce() -> Result<T, hdf5_pure::Error>) -> Result<T, Error> {
    let wrong = |found: String| Error::malformed(Place::Whole, found, "HDF5", HINT);
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(answer) => answer.map_err(|error| wrong(brief(&error))),
        Err(_) => Err(wrong("numbers that contradict each other".into())),
    }
}
