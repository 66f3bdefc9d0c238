//! Writing `.npy`: little-endian, C order, the kind the array has.

use crate::array::{Array, Kind};
use crate::error::Error;
use crate::file;
use npyz::{AutoSerialize, WriteOptions, WriterBuilder};
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
        Kind::F32 => numbers(array, |v| v as f32),
        Kind::F64 => numbers(array, |v| v),
        Kind::I8 => numbers(array, |v| v as i8),
        Kind::I16 => numbers(array, |v| v as i16),
        Kind::I32 => numbers(array, |v| v as i32),
        Kind::I64 => numbers(array, |v| v as i64),
        Kind::U8 => numbers(array, |v| v as u8),
        Kind::U16 => numbers(array, |v| v as u16),
        Kind::U32 => numbers(array, |v| v as u32),
        Kind::U64 => numbers(array, |v| v as u64),
        Kind::Bool => numbers(array, |v| v != 0.0),
    }
}

fn numbers<T: AutoSerialize>(array: &Array, of_f64: fn(f64) -> T) -> Result<Vec<u8>, Error> {
    let shape: Vec<u64> = array.shape.iter().map(|&axis| axis as u64).collect();
    let mut bytes = Vec::with_capacity(array.data.len() * array.kind.bytes() + 128);
    let written = WriteOptions::new()
        .default_dtype()
        .shape(&shape)
        .writer(&mut bytes)
        .begin_nd()
        .and_then(|mut npy| npy.extend(array.data.iter().map(|&v| of_f64(v))).and_then(|()| npy.finish()));
    written.map_err(|source| Error::Io { file: "npy".into(), doing: "encode it", source })?;
    Ok(bytes)
}
