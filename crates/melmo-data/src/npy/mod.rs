//! NumPy's `.npy`: versions 1 to 3, real numbers, integers and truth values, either byte order, C or Fortran order.

mod header;
mod write;

pub use write::{encode, write};

use crate::array::{Array, Kind, count};
use crate::error::{Error, Place, brief, quote};
use crate::file;
use npyz::{DType, Deserialize, NpyFile, NpyHeader, Order, TypeChar};
use std::path::Path;

const HINT: &str = "saving the array as float64: numpy.save(name, x.astype('f8'))";

/// Reads an array.
pub fn read(path: &Path) -> Result<Array, Error> {
    file::read_with(path, parse)
}

/// An array from the bytes of an npy file. Integers of 64 bits have to lie within ±2⁵³, where `f64` is exact.
pub fn parse(bytes: &[u8]) -> Result<Array, Error> {
    let start = header::check(bytes)?;
    let npy =
        NpyHeader::from_reader(bytes).map_err(|e| header::wrong(0, brief(&e), "descr, fortran_order and shape"))?;
    let kind = kind(&npy.dtype())?;
    let shape = shape(&npy)?;
    let entries = check_length(&shape, kind, bytes.len() - start)?;
    let fortran = npy.order() == Order::Fortran;
    let data = numbers(NpyFile::with_header(npy, &bytes[start..]), kind, entries)?;
    let data = if fortran && shape.len() > 1 { row_major(&shape, &data) } else { data };
    let array = Array { shape, data, kind };
    array.check_kind()?;
    Ok(array)
}

fn kind(dtype: &DType) -> Result<Kind, Error> {
    if let DType::Plain(plain) = dtype {
        let kind = match (plain.type_char(), plain.size_field()) {
            (TypeChar::Bool, 1) => Some(Kind::Bool),
            (TypeChar::Float, 4) => Some(Kind::F32),
            (TypeChar::Float, 8) => Some(Kind::F64),
            (TypeChar::Int, 1) => Some(Kind::I8),
            (TypeChar::Int, 2) => Some(Kind::I16),
            (TypeChar::Int, 4) => Some(Kind::I32),
            (TypeChar::Int, 8) => Some(Kind::I64),
            (TypeChar::Uint, 1) => Some(Kind::U8),
            (TypeChar::Uint, 2) => Some(Kind::U16),
            (TypeChar::Uint, 4) => Some(Kind::U32),
            (TypeChar::Uint, 8) => Some(Kind::U64),
            _ => None,
        };
        if let Some(kind) = kind {
            return Ok(kind);
        }
    }
    let expected = "float32, float64, integers of 8 to 64 bits or bool";
    Err(Error::unsupported(format!("the dtype {}", quote(&dtype.descr())), expected, HINT))
}

fn shape(npy: &NpyHeader) -> Result<Vec<usize>, Error> {
    let axes: Option<Vec<usize>> = npy.shape().iter().map(|&axis| usize::try_from(axis).ok()).collect();
    match axes {
        Some(axes) if (1..=3).contains(&axes.len()) => Ok(axes),
        _ => Err(Error::unsupported(format!("the shape {:?}", npy.shape()), "1 to 3 axes", "numpy.reshape")),
    }
}

fn check_length(shape: &[usize], kind: Kind, available: usize) -> Result<usize, Error> {
    let claimed = count(shape).and_then(|n| n.checked_mul(kind.bytes()));
    match claimed {
        Some(bytes) if bytes == available => Ok(bytes / kind.bytes()),
        _ => Err(Error::too_large(
            Place::Whole,
            format!("the shape {shape:?} of {} bytes an entry", kind.bytes()),
            format!("{available} bytes follow the header"),
            "copying the file again, or saving one array a file",
        )),
    }
}

fn numbers(npy: NpyFile<&[u8]>, kind: Kind, entries: usize) -> Result<Vec<f64>, Error> {
    match kind {
        Kind::F32 => collect(npy, entries, |v: f32| f64::from(v)),
        Kind::F64 => collect(npy, entries, |v: f64| v),
        Kind::I8 => collect(npy, entries, |v: i8| f64::from(v)),
        Kind::I16 => collect(npy, entries, |v: i16| f64::from(v)),
        Kind::I32 => collect(npy, entries, |v: i32| f64::from(v)),
        Kind::I64 => collect(npy, entries, |v: i64| v as f64),
        Kind::U8 => collect(npy, entries, |v: u8| f64::from(v)),
        Kind::U16 => collect(npy, entries, |v: u16| f64::from(v)),
        Kind::U32 => collect(npy, entries, |v: u32| f64::from(v)),
        Kind::U64 => collect(npy, entries, |v: u64| v as f64),
        Kind::Bool => collect(npy, entries, |v: bool| f64::from(u8::from(v))),
    }
}

fn collect<T: Deserialize>(npy: NpyFile<&[u8]>, entries: usize, f64_of: fn(T) -> f64) -> Result<Vec<f64>, Error> {
    let items = npy.data::<T>().map_err(|e| Error::unsupported(brief(&e), "a dtype that can be read", HINT))?;
    let mut data = Vec::with_capacity(entries);
    for item in items {
        let bad = |e: std::io::Error| Error::malformed(Place::Entry(data.len()), brief(&e), "a number", HINT);
        data.push(f64_of(item.map_err(bad)?));
    }
    Ok(data)
}

/// The entries of a Fortran-ordered array, last index fastest.
fn row_major(shape: &[usize], fortran: &[f64]) -> Vec<f64> {
    let mut index = vec![0; shape.len()];
    let mut data = Vec::with_capacity(fortran.len());
    for _ in 0..fortran.len() {
        data.push(fortran[index.iter().zip(shape).rev().fold(0, |at, (i, n)| at * n + i)]);
        for (i, n) in index.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < *n {
                break;
            }
            *i = 0;
        }
    }
    data
}
