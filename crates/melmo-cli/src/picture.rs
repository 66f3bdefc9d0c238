//! Pictures of any kind: images keep their depth and their alpha, arrays their kind and their range.

use std::path::Path;

use melmo::real::Real;
use melmo_data::image::{Encoding, Image};
use melmo_data::{Array, Data, Kind, image};

use crate::error::Error;
use crate::input::Inputs;
use crate::output::{Outputs, extension};

/// Channels of equal size; what is not denoised (alpha) lies aside.
#[derive(Clone, Debug)]
pub struct Picture {
    pub rows: usize,
    pub cols: usize,
    /// Each rows×cols: grey, or red, green, blue.
    pub planes: Vec<Vec<f64>>,
    alpha: Option<Vec<f64>>,
    origin: Origin,
}

/// What it was read from: decides how it is written.
#[derive(Clone, Debug)]
enum Origin {
    Image { depth: image::Depth, maximum: u16 },
    Array { kind: Kind, shape: Vec<usize> },
}

impl Picture {
    /// Reads an image, or a rows×cols or rows×cols×3 array. A bundled set is an array.
    pub fn read(inputs: &mut Inputs, path: &Path) -> Result<Self, Error> {
        let picture = Self::read_with_gaps(inputs, path)?;
        picture.expect_finite(path)?;
        Ok(picture)
    }

    /// The same of a picture whose samples may be missing: NaN in an array.
    pub fn read_with_gaps(inputs: &mut Inputs, path: &Path) -> Result<Self, Error> {
        match inputs.open(path)? {
            Data::Image(image) => Ok(Self::of_image(&image)),
            other => Self::of_array(path, other.into_array()),
        }
    }

    /// Where a sample of a pixel is missing.
    pub fn gaps(&self) -> Vec<bool> {
        (0..self.rows * self.cols).map(|at| self.planes.iter().any(|plane| !plane[at].is_finite())).collect()
    }

    /// Replaces samples that are missing by the mean of their plane: any number would do.
    pub fn fill_gaps(&mut self, missing: &[bool]) {
        for plane in &mut self.planes {
            let known = || plane.iter().zip(missing).filter(|(_, missing)| !**missing).map(|(value, _)| *value);
            let mean = known().sum::<f64>() / known().count().max(1) as f64;
            plane.iter_mut().zip(missing).filter(|(_, missing)| **missing).for_each(|(value, _)| *value = mean);
        }
    }

    fn expect_finite(&self, path: &Path) -> Result<(), Error> {
        let Some(at) = self.gaps().iter().position(|&gap| gap) else { return Ok(()) };
        let value = self.planes.iter().map(|plane| plane[at]).find(|value| !value.is_finite()).unwrap_or(f64::NAN);
        let (row, column) = (at / self.cols + 1, at % self.cols + 1);
        Err(Error::input(path, format!("row {row}, column {column} is {value}; expected a number")))
    }

    /// A picture of another size, every pixel that of the nearest place: as a frame to be filled.
    pub fn sized(&self, rows: usize, cols: usize) -> Self {
        if (rows, cols) == (self.rows, self.cols) {
            return self.clone();
        }
        let plane = |plane: &Vec<f64>| -> Vec<f64> {
            let at = |p: usize| plane[p / cols * self.rows / rows * self.cols + p % cols * self.cols / cols];
            (0..rows * cols).map(at).collect()
        };
        let mut origin = self.origin.clone();
        if let Origin::Array { shape, .. } = &mut origin {
            shape[..2].copy_from_slice(&[rows, cols]);
        }
        Self {
            rows,
            cols,
            planes: self.planes.iter().map(plane).collect(),
            alpha: self.alpha.as_ref().map(plane),
            origin,
        }
    }

    /// Rows, columns and channels of the picture that this would be; none where it is no picture.
    pub fn shape(data: &Data) -> Option<[usize; 3]> {
        let shape = match data {
            Data::Image(image) => return Some([image.height, image.width, if image.channels < 3 { 1 } else { 3 }]),
            Data::Array(array) => &array.shape,
            Data::Table(table) => &table.array.shape,
            _ => return None,
        };
        match shape[..] {
            [rows, cols] => Some([rows, cols, 1]),
            [rows, cols, channels @ (1 | 3)] => Some([rows, cols, channels]),
            _ => None,
        }
    }

    fn of_image(image: &Image) -> Self {
        let plane =
            |channel: usize| image.data.iter().skip(channel).step_by(image.channels).copied().collect::<Vec<_>>();
        let colours = if image.channels < 3 { 1 } else { 3 };
        Self {
            rows: image.height,
            cols: image.width,
            planes: (0..colours).map(plane).collect(),
            alpha: (image.channels > colours).then(|| plane(colours)),
            origin: Origin::Image { depth: image.depth, maximum: image.maximum },
        }
    }

    fn of_array(path: &Path, array: Array) -> Result<Self, Error> {
        let (rows, cols, channels) = match array.shape[..] {
            [rows, cols] => (rows, cols, 1),
            [rows, cols, channels @ (1 | 3)] => (rows, cols, channels),
            _ => {
                let message =
                    format!("found an array of shape {:?}; expected rows × columns, or × 3 colours", array.shape);
                return Err(Error::input(path, message));
            }
        };
        if array.data.is_empty() {
            return Err(Error::input(path, "has no pixels"));
        }
        let plane = |channel: usize| array.data.iter().skip(channel).step_by(channels).copied().collect();
        let planes = if channels == 1 { vec![array.data] } else { (0..channels).map(plane).collect() };
        Ok(Self { rows, cols, planes, alpha: None, origin: Origin::Array { kind: array.kind, shape: array.shape } })
    }

    /// Numbers of all planes.
    pub fn samples(&self) -> usize {
        self.planes.len() * self.rows * self.cols
    }

    /// All planes, one after another, in the precision of a run.
    pub fn together<S: Real>(&self) -> Vec<S> {
        let mut all = Vec::with_capacity(self.planes.len() * self.rows * self.cols);
        self.planes.iter().for_each(|plane| all.extend(plane.iter().map(|&value| S::of(value))));
        all
    }

    /// Takes its colours from all planes, one after another.
    pub fn fill<S: Real>(&mut self, all: &[S], scale: f64) {
        for (plane, new) in self.planes.iter_mut().zip(all.chunks_exact(self.rows * self.cols)) {
            plane.iter_mut().zip(new).for_each(|(old, new)| *old = new.f64() * scale);
        }
    }

    /// The same picture with other colours.
    pub fn with<S: Real>(&self, all: &[S], scale: f64) -> Self {
        let mut picture = self.clone();
        picture.fill(all, scale);
        picture
    }

    /// One line about it.
    pub fn about(&self) -> String {
        let colours = if self.planes.len() == 3 { "colour" } else { "grey" };
        let alpha = if self.alpha.is_some() { ", alpha kept" } else { "" };
        let kind = match &self.origin {
            Origin::Image { depth: image::Depth::Eight, .. } => "8 bit".into(),
            Origin::Image { depth: image::Depth::Sixteen, .. } => "16 bit".into(),
            Origin::Array { kind, .. } => format!("{kind:?} array").to_lowercase(),
        };
        format!("{}×{}, {colours}, {kind}{alpha}", self.rows, self.cols)
    }

    /// What counts as full range: 1 for images; for arrays the kind's, or the range of the numbers.
    pub fn range(&self) -> f64 {
        match &self.origin {
            Origin::Image { .. } => 1.0,
            Origin::Array { kind, .. } => match kind {
                Kind::U8 => 255.0,
                Kind::U16 => 65535.0,
                _ => {
                    let spread = spread(&self.planes);
                    if spread <= 2.0 { 1.0 } else { spread }
                }
            },
        }
    }

    /// The same where it is stated, not measured.
    pub fn full_range(&self) -> Option<f64> {
        let measured = matches!(&self.origin, Origin::Array { kind, .. } if !matches!(kind, Kind::U8 | Kind::U16));
        (!measured).then(|| self.range())
    }

    /// All channels of a pixel together, each sample through `map`.
    fn interleaved(&self, alpha: Option<&Vec<f64>>, map: impl Fn(f64) -> f64) -> Vec<f64> {
        let all: Vec<&Vec<f64>> = self.planes.iter().chain(alpha).collect();
        let mut out = Vec::with_capacity(self.rows * self.cols * all.len());
        match all[..] {
            [only] => out.extend(only.iter().map(|&v| map(v))),
            _ => (0..self.rows * self.cols).for_each(|at| out.extend(all.iter().map(|plane| map(plane[at])))),
        }
        out
    }

    /// Writes it by the name's extension: as an image of its own depth (8 bit for arrays), or as an array of its own kind.
    pub fn write(&self, outputs: &mut Outputs, path: &Path) -> Result<(), Error> {
        if extension(path) == "npy" {
            let (kind, shape) = match &self.origin {
                Origin::Array { kind, shape } => (*kind, shape.clone()),
                Origin::Image { .. } if self.planes.len() == 1 => (Kind::F64, vec![self.rows, self.cols]),
                Origin::Image { .. } => (Kind::F64, vec![self.rows, self.cols, 3]),
            };
            let bounds = kind.bounds();
            let fitted = |v: f64| bounds.map_or(v, |(low, high)| v.round().clamp(low, high));
            let data = self.interleaved(None, fitted);
            return outputs.array(path, &Array { shape, data, kind }, None);
        }
        let encoding = Encoding::of(path).unwrap_or(Encoding::Png);
        outputs.bytes(
            path,
            &image::encode(&self.image(encoding, self.alpha.as_ref()), encoding).map_err(|error| error.about(path))?,
        )
    }

    /// Another picture of the same size and channels.
    pub fn read_like(&self, inputs: &mut Inputs, path: &Path) -> Result<Self, Error> {
        let other = Self::read(inputs, path)?;
        let size = |picture: &Self| (picture.rows, picture.cols, picture.planes.len());
        if size(&other) == size(self) {
            return Ok(other);
        }
        let message = format!(
            "found {}; expected {}×{} pixels of {} channels",
            other.about(),
            self.rows,
            self.cols,
            self.planes.len()
        );
        Err(Error::input(path, message))
    }

    /// Refuses, before any work, a format that cannot hold this picture: alpha in a JPEG, colour in a PGM.
    pub fn expect_to_fit(&self, path: &Path) -> Result<(), Error> {
        let Some(encoding) = Encoding::of(path) else { return Ok(()) };
        let pixel = Self {
            rows: 1,
            cols: 1,
            planes: vec![vec![0.0]; self.planes.len()],
            alpha: self.alpha.as_ref().map(|_| vec![1.0]),
            origin: self.origin.clone(),
        };
        image::encode(&pixel.image(encoding, pixel.alpha.as_ref()), encoding)
            .map(drop)
            .map_err(|error| error.about(path).into())
    }

    /// As an image of its own depth, 8 bit for arrays and where the format has no more.
    fn image(&self, encoding: Encoding, alpha: Option<&Vec<f64>>) -> Image {
        let (depth, maximum, high) = match &self.origin {
            Origin::Image { .. } if encoding == Encoding::Jpeg => (image::Depth::Eight, 255, 1.0),
            Origin::Image { depth, maximum } => (*depth, *maximum, 1.0),
            Origin::Array { .. } => (image::Depth::Eight, 255, self.range()),
        };
        let data = self.interleaved(alpha, |v| (v / high).clamp(0.0, 1.0));
        let channels = self.planes.len() + usize::from(alpha.is_some());
        Image { width: self.cols, height: self.rows, channels, depth, maximum, data }
    }

    /// For a page: PNG, 8 bit, without alpha.
    pub fn preview(&self, caption: &str) -> Option<melmo_page::Image> {
        let image = self.image(Encoding::Jpeg, None); // 8 bit
        let png = image::encode(&image, Encoding::Png).ok()?;
        melmo_page::Image::png(melmo_page::plain(caption), png).ok()
    }

    /// Refuses a name that no picture can be written to.
    pub fn expect_format(path: &Path) -> Result<(), Error> {
        let known = ["png", "jpg", "jpeg", "tif", "tiff", "pgm", "ppm", "npy"];
        match known.contains(&extension(path).as_str()) {
            true => Ok(()),
            false => Err(Error::input(path, format!("expected a name that ends in one of .{}", known.join(" .")))),
        }
    }
}

/// The largest number less the smallest, in one pass.
fn spread(planes: &[Vec<f64>]) -> f64 {
    let (mut low, mut high) = ([f64::INFINITY; 8], [f64::NEG_INFINITY; 8]);
    for plane in planes {
        let (chunks, rest) = plane.as_chunks::<8>();
        let mut take = |lane: usize, value: f64| {
            low[lane] = low[lane].min(value);
            high[lane] = high[lane].max(value);
        };
        chunks.iter().for_each(|chunk| (0..8).for_each(|lane| take(lane, chunk[lane])));
        rest.iter().for_each(|&value| take(0, value));
    }
    high.into_iter().fold(f64::NEG_INFINITY, f64::max) - low.into_iter().fold(f64::INFINITY, f64::min)
}
