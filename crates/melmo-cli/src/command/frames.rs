//! Stacks of frames: read from an array or a folder of images, written as a folder of images.

use std::fs;
use std::path::{Path, PathBuf};

use melmo_data::image::{Depth, Encoding, Image, encode};
use melmo_data::{Array, Data};

use crate::error::Error;
use crate::input::Inputs;

/// A matrix, or frames with a frame a row.
pub struct Stack {
    /// As read: rows and columns, or frames, rows and columns.
    pub shape: Vec<usize>,
    pub data: Vec<f64>,
}

impl Stack {
    /// As a matrix: a frame a row.
    pub fn rows_cols(&self) -> (usize, usize) {
        let rows = self.shape[0];
        (rows, self.data.len() / rows)
    }
}

/// Reads a matrix, a stack, or a folder of images.
pub fn read(inputs: &mut Inputs, path: &Path) -> Result<Stack, Error> {
    if path.is_dir() {
        return read_folder(inputs, path);
    }
    let array = match inputs.open(path)? {
        Data::Image(image) => grey(&image),
        Data::Pages(pages) => behind_one_another(path, &pages)?,
        other => other.into_array(),
    };
    let shape = match array.shape[..] {
        [n] => vec![n, 1],
        [_, _] | [_, _, _] => array.shape.clone(),
        _ => vec![0],
    };
    if shape.contains(&0) {
        let message =
            format!("found an array of shape {:?}; expected a matrix, or frames × rows × columns", array.shape);
        return Err(Error::input(path, message));
    }
    Ok(Stack { shape, data: array.data })
}

/// Pages of one size, as frames.
fn behind_one_another(path: &Path, pages: &[Image]) -> Result<Array, Error> {
    let (height, width) = (pages[0].height, pages[0].width);
    if let Some(at) = pages.iter().position(|page| (page.height, page.width) != (height, width)) {
        let message = format!("page {} is of another size than the first: all have to be of one", at + 1);
        return Err(Error::input(path, message));
    }
    let data = pages.iter().flat_map(|page| grey(page).data).collect();
    Ok(Array { shape: vec![pages.len(), height, width], data, kind: melmo_data::Kind::F64 })
}

fn read_folder(inputs: &mut Inputs, folder: &Path) -> Result<Stack, Error> {
    let failed = |error: std::io::Error| Error::input(folder, format!("could not be read: {error}"));
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        files.extend(Encoding::of(&path).is_some().then_some(path));
    }
    files.sort();
    let mut stack = Stack { shape: Vec::new(), data: Vec::new() };
    for file in &files {
        let Data::Image(image) = inputs.open(file)? else { continue };
        let frame = grey(&image);
        let shape = [&[files.len()], &frame.shape[..]].concat();
        if stack.shape.is_empty() {
            stack.shape = shape;
        } else if stack.shape != shape {
            let (rows, cols) = (stack.shape[1], stack.shape[2]);
            let message = format!(
                "is {}×{}, the first frame {rows}×{cols}: all have to be of one size",
                image.height, image.width
            );
            return Err(Error::input(file, message));
        }
        stack.data.extend(frame.data);
    }
    match files.len() {
        0 | 1 => {
            let message = format!(
                "found {} images; expected two or more, as .png, .jpg, .tif, .webp, .bmp, .pgm or .ppm",
                files.len()
            );
            Err(Error::input(folder, message))
        }
        _ => Ok(stack),
    }
}

/// The luminance of colours (ITU-R BT.601), a grey image as it is; without alpha.
fn grey(image: &Image) -> Array {
    const LUMINANCE: [f64; 3] = [0.299, 0.587, 0.114];
    let pixel = |samples: &[f64]| match image.channels {
        1 | 2 => samples[0],
        _ => LUMINANCE.iter().zip(samples).map(|(weight, sample)| weight * sample).sum(),
    };
    let data = image.data.chunks(image.channels).map(pixel).collect();
    Array { shape: vec![image.height, image.width], data, kind: melmo_data::Kind::F64 }
}

/// Refuses a folder that exists and holds anything but frames of these names: it is to be overwritten by them.
pub fn expect_folder(folder: &Path, names: &[String]) -> Result<(), Error> {
    if folder.symlink_metadata().is_err() {
        return Ok(());
    }
    Ok(melmo_data::staged::expect_only(folder, &names.iter().map(Into::into).collect::<Vec<_>>())?)
}

/// Writes frames (of `rows`×`cols`, samples from 0 to 1) by name into a folder.
pub fn write(folder: &Path, frames: &[(String, &[f64])], rows: usize, cols: usize) -> Result<(), Error> {
    for (name, samples) in frames {
        let image = Image::from_array(&Array::new(vec![rows, cols], samples.to_vec())?, Depth::Eight)?;
        let written = fs::write(folder.join(name), encode(&image, Encoding::Png)?);
        written.map_err(|error| Error::input(folder, format!("could not be written: {error}")))?;
    }
    Ok(())
}
