//! NumPy's `.npy`: versions 1 to 3, real numbers, integers and truth values, either byte order, C or Fortran order.

mod header;
mod rows;
mod write;

pub use rows::Rows;
pub use write::{encode, header, write};

use crate::array::{Array, Kind, count};
use crate::error::{Error, Place, brief, quote};
use crate::file;
use npyz::{DType, Endianness, NpyHeader, Order, TypeChar};
use std::path::Path;

const HINT: &str = "saving the array as float64: numpy.save(name, x.astype('f8'))";

/// Reads an array.
pub fn read(path: &Path) -> Result<Array, Error> {
    file::read_with(path, parse)
}

/// An array from the bytes of an npy file. Integers of 64 bits have to lie within ±2⁵³, where `f64` is exact.
pub fn parse(bytes: &[u8]) -> Result<Array, Error> {
    let Head { start, kind, swapped, shape, order } = Head::parse(bytes, bytes.len())?;
    let mut data = vec![0.0; (bytes.len() - start) / kind.bytes()];
    fill(&mut data, &bytes[start..], kind, swapped);
    let data = if order == Order::Fortran && shape.len() > 1 { row_major(&shape, &data) } else { data };
    let array = Array { shape, data, kind };
    array.check_kind()?;
    Ok(array)
}

/// What a header says.
struct Head {
    /// Where the first entry stands.
    start: usize,
    kind: Kind,
    /// The highest byte of a number comes first.
    swapped: bool,
    shape: Vec<usize>,
    order: Order,
}

impl Head {
    /// Of a file of so many bytes, from its first ones.
    fn parse(bytes: &[u8], length: usize) -> Result<Self, Error> {
        let start = header::check(bytes)?;
        let npy =
            NpyHeader::from_reader(bytes).map_err(|e| header::wrong(0, brief(&e), "descr, fortran_order and shape"))?;
        let ((kind, swapped), shape) = (kind(&npy.dtype())?, shape(&npy)?);
        check_length(&shape, kind, length - start)?;
        Ok(Self { start, kind, swapped, shape, order: npy.order() })
    }
}

/// The letters of an array of bytes, as SciPy writes the name of a format.
pub(crate) fn text(bytes: &[u8]) -> Result<String, Error> {
    let start = header::check(bytes)?;
    Ok(bytes[start..].iter().filter(|byte| **byte != 0).map(|&byte| char::from(byte)).collect())
}

/// What the numbers are, and whether their highest byte comes first.
fn kind(dtype: &DType) -> Result<(Kind, bool), Error> {
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
            return Ok((kind, plain.endianness() == Endianness::Big));
        }
    }
    let expected = "float32, float64, integers of 8 to 64 bits or bool";
    Err(Error::unsupported(format!("the dtype {}", quote(&dtype.descr())), expected, HINT))
}

fn shape(npy: &NpyHeader) -> Result<Vec<usize>, Error> {
    let axes: Option<Vec<usize>> = npy.shape().iter().map(|&axis| usize::try_from(axis).ok()).collect();
    match axes {
        Some(axes) if (1..=4).contains(&axes.len()) => Ok(axes),
        _ => Err(Error::unsupported(format!("the shape {:?}", npy.shape()), "1 to 4 axes", "numpy.reshape")),
    }
}

fn check_length(shape: &[usize], kind: Kind, available: usize) -> Result<(), Error> {
    let claimed = count(shape).and_then(|n| n.checked_mul(kind.bytes()));
    match claimed {
        Some(bytes) if bytes == available => Ok(()),
        _ => Err(Error::too_large(
            Place::Whole,
            format!("the shape {shape:?} of {} bytes an entry", kind.bytes()),
            format!("{available} bytes follow the header"),
            "copying the file again, or saving one array a file",
        )),
    }
}

/// The entries in one pass; their bytes have been counted.
fn fill(to: &mut [f64], bytes: &[u8], kind: Kind, swapped: bool) {
    match kind {
        Kind::F32 => decode(to, bytes, swapped, |b| f64::from(f32::from_le_bytes(b))),
        Kind::F64 => decode(to, bytes, swapped, f64::from_le_bytes),
        Kind::I8 => decode(to, bytes, swapped, |b| f64::from(i8::from_le_bytes(b))),
        Kind::I16 => decode(to, bytes, swapped, |b| f64::from(i16::from_le_bytes(b))),
        Kind::I32 => decode(to, bytes, swapped, |b| f64::from(i32::from_le_bytes(b))),
        Kind::I64 => decode(to, bytes, swapped, |b| i64::from_le_bytes(b) as f64),
        Kind::U8 => decode(to, bytes, swapped, |b| f64::from(u8::from_le_bytes(b))),
        Kind::U16 => decode(to, bytes, swapped, |b| f64::from(u16::from_le_bytes(b))),
        Kind::U32 => decode(to, bytes, swapped, |b| f64::from(u32::from_le_bytes(b))),
        Kind::U64 => decode(to, bytes, swapped, |b| u64::from_le_bytes(b) as f64),
        Kind::Bool => decode(to, bytes, swapped, |b| f64::from(u8::from_le_bytes(b))),
    }
}

fn decode<const N: usize>(to: &mut [f64], bytes: &[u8], swapped: bool, f64_of: impl Fn([u8; N]) -> f64) {
    let (chunks, _) = bytes.as_chunks::<N>();
    if !swapped {
        return to.iter_mut().zip(chunks).for_each(|(to, &chunk)| *to = f64_of(chunk));
    }
    let reversed = |mut chunk: [u8; N]| {
        chunk.reverse();
        chunk
    };
    to.iter_mut().zip(chunks).for_each(|(to, &chunk)| *to = f64_of(reversed(chunk)));
}

/// The entries of a Fortran-ordered array, last index fastest.
pub(crate) fn row_major(shape: &[usize], fortran: &[f64]) -> Vec<f64> {
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
