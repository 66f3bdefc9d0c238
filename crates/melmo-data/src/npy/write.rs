//! Writing `.npy`: little-endian, C order, the kind the array has.

use crate::array::{Array, Kind};
use crate::error::Error;
use crate::file;
use npyz::{DType, WriteOptions, WriterBuilder};
use std::path::Path;

/// Writes an array; an existing file is refused unless `overwrite`.
pub fn write(path: &Path, array: &Array, overwrite: bool) -> Result<(), Error> {
    file::write_with(path, overwrite, || encode(array))
}

/// The bytes of an npy file. Every entry has to be a number of the array's kind; `F32` rounds.
pub fn encode(array: &Array) -> Result<Vec<u8>, Error> {
    array.check_shape()?;
    array.check_kind()?;
    match array.kind {
        Kind::F32 => numbers(array, "<f4", |v| (v as f32).to_le_bytes()),
        Kind::F64 => numbers(array, "<f8", f64::to_le_bytes),
        Kind::I8 => numbers(array, "|i1", |v| (v as i8).to_le_bytes()),
        Kind::I16 => numbers(array, "<i2", |v| (v as i16).to_le_bytes()),
        Kind::I32 => numbers(array, "<i4", |v| (v as i32).to_le_bytes()),
        Kind::I64 => numbers(array, "<i8", |v| (v as i64).to_le_bytes()),
        Kind::U8 => numbers(array, "|u1", |v| (v as u8).to_le_bytes()),
        Kind::U16 => numbers(array, "<u2", |v| (v as u16).to_le_bytes()),
        Kind::U32 => numbers(array, "<u4", |v| (v as u32).to_le_bytes()),
        Kind::U64 => numbers(array, "<u8", |v| (v as u64).to_le_bytes()),
        Kind::Bool => numbers(array, "|b1", |v| [u8::from(v != 0.0)]),
    }
}

/// The bytes before the entries of an array of `f32` or `f64` whose entries others write: in C order, little-endian.
pub fn header(shape: &[usize], single: bool) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    head(&mut bytes, shape, if single { "<f4" } else { "<f8" })?;
    Ok(bytes)
}

fn head(bytes: &mut Vec<u8>, shape: &[usize], dtype: &str) -> Result<(), Error> {
    let shape: Vec<u64> = shape.iter().map(|&axis| axis as u64).collect();
    let dtype = DType::Plain(dtype.parse().expect("a dtype of the table above"));
    let header = WriteOptions::new_header_only().dtype(dtype).shape(&shape).writer(bytes).write_header_only();
    header.map(drop).map_err(|source| Error::Io { file: "npy".into(), doing: "encode it", source })
}

/// The header, and the entries in one pass.
fn numbers<const N: usize>(array: &Array, dtype: &str, bytes_of: impl Fn(f64) -> [u8; N]) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::with_capacity(array.data.len() * N + 128);
    head(&mut bytes, &array.shape, dtype)?;
    bytes.extend(array.data.iter().flat_map(|&v| bytes_of(v)));
    Ok(bytes)
}
