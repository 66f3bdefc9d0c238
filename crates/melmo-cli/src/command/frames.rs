//! Stacks of frames, grey or in colour: read from an array or a folder of images, written as a folder of images.

use std::fs;
use std::path::{Path, PathBuf};

use melmo_data::image::{Depth, Encoding, Image, encode};
use melmo_data::{Array, Data};

use crate::error::Error;
use crate::input::Inputs;

/// A matrix, or frames with a frame a row.
pub struct Stack {
    pub shape: Shape,
    pub data: Vec<f64>,
}

/// As read: rows and columns; frames, rows and columns; or these and three colours.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape(pub Vec<usize>);

impl Shape {
    /// Of an array that is a matrix or frames; none of another.
    pub fn of(axes: &[usize]) -> Option<Self> {
        let axes = match *axes {
            [n] => vec![n, 1],
            [_, _] | [_, _, _] | [_, _, _, 3] => axes.to_vec(),
            [frames, rows, cols, 1] => vec![frames, rows, cols],
            _ => return None,
        };
        (!axes.contains(&0)).then_some(Self(axes))
    }

    /// As a matrix: a frame a row.
    pub fn rows_cols(&self) -> (usize, usize) {
        (self.0[0], self.0[1..].iter().product())
    }

    /// Rows, columns and colours of a frame; none of a matrix.
    pub fn frame(&self) -> Option<[usize; 3]> {
        match self.0[..] {
            [_, rows, cols] => Some([rows, cols, 1]),
            [_, rows, cols, colours] => Some([rows, cols, colours]),
            _ => None,
        }
    }

    /// In words.
    pub fn told(&self) -> String {
        match self.0[..] {
            [frames, rows, cols] => format!("{frames} frames of {rows}×{cols}"),
            [frames, rows, cols, _] => format!("{frames} frames of {rows}×{cols} in colour"),
            _ => format!("{}×{}", self.0[0], self.0[1]),
        }
    }
}

/// Whether there are frames, and how many numbers they are; a folder's are not counted before they are read.
pub fn film(inputs: &mut Inputs, path: &Path) -> Result<Option<usize>, Error> {
    if path.is_dir() {
        return Ok(Some(usize::MAX));
    }
    let shape = match inputs.look_ahead(path)? {
        Data::Array(array) => Shape::of(&array.shape),
        Data::Pages(_) => return Ok(Some(usize::MAX)),
        _ => None,
    };
    Ok(shape.filter(|shape| shape.frame().is_some()).map(|shape| shape.0.iter().product()))
}

/// Reads a matrix, a stack, or a folder of images.
pub fn read(inputs: &mut Inputs, path: &Path) -> Result<Stack, Error> {
    if path.is_dir() {
        return read_folder(inputs, path);
    }
    let array = match inputs.open(path)? {
        // One picture is a matrix.
        Data::Image(image) => Array::new(vec![image.height, image.width], samples(&image, 1))?,
        Data::Pages(pages) => behind_one_another(path, &pages)?,
        other => other.into_array(),
    };
    let Some(shape) = Shape::of(&array.shape) else {
        let message = format!(
            "found an array of shape {:?}; expected a matrix, frames × rows × columns, or frames × rows × columns × 3",
            array.shape
        );
        return Err(Error::input(path, message));
    };
    Ok(Stack { shape, data: array.data })
}

/// Pages of one size, as frames: in colour where the first is.
fn behind_one_another(path: &Path, pages: &[Image]) -> Result<Array, Error> {
    let (height, width, colours) = (pages[0].height, pages[0].width, colours(&pages[0]));
    if let Some(at) = pages.iter().position(|page| (page.height, page.width) != (height, width)) {
        let message = format!("page {} is of another size than the first: all have to be of one", at + 1);
        return Err(Error::input(path, message));
    }
    let data = pages.iter().flat_map(|page| samples(page, colours)).collect();
    Ok(Array::new(axes(pages.len(), height, width, colours), data)?)
}

fn axes(frames: usize, rows: usize, cols: usize, colours: usize) -> Vec<usize> {
    let mut axes = vec![frames, rows, cols];
    axes.extend((colours > 1).then_some(colours));
    axes
}

/// The pictures of a folder, in the order of their names.
pub fn pictures_in(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |error: std::io::Error| Error::input(folder, format!("could not be read: {error}"));
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        files.extend(Encoding::of(&path).is_some().then_some(path));
    }
    files.sort();
    Ok(files)
}

fn read_folder(inputs: &mut Inputs, folder: &Path) -> Result<Stack, Error> {
    let files = pictures_in(folder)?;
    let (mut first, mut data) = (None, Vec::new());
    for file in &files {
        let Data::Image(image) = inputs.open(file)? else { continue };
        let (rows, cols, colours) = *first.get_or_insert((image.height, image.width, colours(&image)));
        data.reserve_exact(if data.is_empty() { files.len() * rows * cols * colours } else { 0 });
        if (rows, cols) != (image.height, image.width) {
            let message = format!(
                "is {}×{}, the first frame {rows}×{cols}: all have to be of one size",
                image.height, image.width
            );
            return Err(Error::input(file, message));
        }
        data.extend(samples(&image, colours));
    }
    let Some((rows, cols, colours)) = first.filter(|_| files.len() > 1) else {
        let message = format!(
            "found {} images; expected two or more, as .png, .jpg, .tif, .webp, .bmp, .pgm or .ppm",
            files.len()
        );
        return Err(Error::input(folder, message));
    };
    let frames = data.len() / (rows * cols * colours);
    let stack = Array::new(axes(frames, rows, cols, colours), data)?;
    Ok(Stack { shape: Shape(stack.shape), data: stack.data })
}

/// Three, or one of a grey image; alpha is none.
fn colours(image: &Image) -> usize {
    if image.channels < 3 { 1 } else { 3 }
}

/// So many colours a pixel, without alpha: grey three times where three are wanted, the luminance of colours (ITU-R BT.601) where one is.
fn samples(image: &Image, wanted: usize) -> Vec<f64> {
    const LUMINANCE: [f64; 3] = [0.299, 0.587, 0.114];
    let pixels = image.data.chunks(image.channels);
    match (colours(image), wanted) {
        (1, _) => pixels.flat_map(|pixel| std::iter::repeat_n(pixel[0], wanted)).collect(),
        (_, 1) => pixels.map(|pixel| LUMINANCE.iter().zip(pixel).map(|(weight, v)| weight * v).sum()).collect(),
        _ => pixels.flat_map(|pixel| &pixel[..3]).copied().collect(),
    }
}

/// Refuses a folder that exists and holds anything but frames of these names: it is to be overwritten by them.
pub fn expect_folder(folder: &Path, names: &[String]) -> Result<(), Error> {
    if folder.symlink_metadata().is_err() {
        return Ok(());
    }
    Ok(melmo_data::staged::expect_only(folder, &names.iter().map(Into::into).collect::<Vec<_>>())?)
}

/// Writes a frame of these rows, columns and colours, samples from 0 to 1, by name into a folder.
pub fn write(folder: &Path, name: &str, [rows, cols, colours]: [usize; 3], samples: Vec<f64>) -> Result<(), Error> {
    let image = Image::from_array(&Array::new(vec![rows, cols, colours], samples)?, Depth::Eight)?;
    let written = fs::write(folder.join(name), encode(&image, Encoding::Png)?);
    written.map_err(|error| Error::input(folder, format!("could not be written: {error}")))
}
