//! Pictures of any kind: images keep their depth, their alpha and what else their files say, arrays their kind and their range.

use std::path::Path;

use melmo::real::Real;
use melmo_data::image::{Encoding, Image, Metadata};
use melmo_data::{Array, Data, Kind, image};

use crate::error::Error;
use crate::input::Inputs;
use crate::output::Outputs;
use crate::target::{Format, Target};

/// Channels of equal size; what is not denoised (alpha) lies aside.
#[derive(Clone, Debug)]
pub struct Picture {
    pub rows: usize,
    pub cols: usize,
    /// Each rows×cols: grey, or red, green, blue.
    pub planes: Vec<Vec<f64>>,
    alpha: Option<Vec<f64>>,
    origin: Origin,
    /// How it came.
    format: Format,
}

/// What it was read from: decides how it is written.
#[derive(Clone, Debug)]
enum Origin {
    Image { depth: image::Depth, maximum: u16, metadata: Box<Metadata> },
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
        let mut picture = match inputs.open(path)? {
            Data::Image(image) => Self::of_image(&image),
            Data::Pages(pages) => Self::of_image(&inputs.image(path, pages)?),
            other => Self::of_array(path, other.into_array())?,
        };
        if let Some(format) = Format::of(path).or(inputs.sniffed().map(Format::Image)) {
            picture.format = format;
        }
        Ok(picture)
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
        match &mut origin {
            Origin::Array { shape, .. } => shape[..2].copy_from_slice(&[rows, cols]),
            Origin::Image { metadata, .. } => **metadata = metadata.sized(cols, rows),
        }
        Self {
            rows,
            cols,
            planes: self.planes.iter().map(plane).collect(),
            alpha: self.alpha.as_ref().map(plane),
            origin,
            format: self.format,
        }
    }

    /// Rows, columns and channels of the picture that this would be; none where it is no picture.
    pub fn shape(data: &Data) -> Option<[usize; 3]> {
        let shape = match data {
            Data::Image(image) => return Some(Self::shape_of(image)),
            Data::Pages(pages) => return Some(Self::shape_of(&pages[0])),
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

    /// The same of an image.
    pub fn shape_of(image: &Image) -> [usize; 3] {
        [image.height, image.width, if image.channels < 3 { 1 } else { 3 }]
    }

    /// A picture as its file has it.
    pub fn of_image(image: &Image) -> Self {
        let plane =
            |channel: usize| image.data.iter().skip(channel).step_by(image.channels).copied().collect::<Vec<_>>();
        let colours = if image.channels < 3 { 1 } else { 3 };
        Self {
            rows: image.height,
            cols: image.width,
            planes: (0..colours).map(plane).collect(),
            alpha: (image.channels > colours).then(|| plane(colours)),
            origin: Origin::Image {
                depth: image.depth,
                maximum: image.maximum,
                metadata: Box::new(image.metadata.sized(image.width, image.height)),
            },
            format: Format::Image(Encoding::Png),
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
        let origin = Origin::Array { kind: array.kind, shape: array.shape };
        Ok(Self { rows, cols, planes, alpha: None, origin, format: Format::Npy })
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

    /// The same picture with other colours: all planes, one after another, times `scale`.
    pub fn with<S: Real>(&self, all: &[S], scale: f64) -> Self {
        let plane = |new: &[S]| new.iter().map(|v| v.f64() * scale).collect();
        Self {
            planes: all.chunks_exact(self.rows * self.cols).map(plane).collect(),
            alpha: self.alpha.clone(),
            origin: self.origin.clone(),
            ..*self
        }
    }

    /// Lets its samples go, where whoever has them needs the memory. What is left can be written with others: [`Picture::write_with`].
    pub fn let_go(&mut self) {
        self.planes.iter_mut().for_each(|plane| *plane = Vec::new());
    }

    /// One line about it.
    pub fn about(&self) -> String {
        let colours = if self.planes.len() == 3 { "colour" } else { "grey" };
        let alpha = if self.alpha.is_some() { ", alpha kept" } else { "" };
        let kind = match &self.origin {
            Origin::Image { depth: image::Depth::Eight, .. } => "8 bit".into(),
            Origin::Image { depth: image::Depth::Sixteen, .. } => "16 bit".into(),
            Origin::Image { depth: image::Depth::Half, .. } => "16 bit float".into(),
            Origin::Image { depth: image::Depth::Single, .. } => "32 bit float".into(),
            Origin::Image { depth: image::Depth::Double, .. } => "64 bit float".into(),
            Origin::Array { kind, .. } => format!("{kind:?} array").to_lowercase(),
        };
        let left = matches!(&self.origin, Origin::Image { metadata, .. } if metadata.profile_left);
        let left = if left { ", its colour profile left out: it is for other colours" } else { "" };
        format!("{}×{}, {colours}, {kind}{alpha}{left}", self.rows, self.cols)
    }

    /// What counts as full range: 1 for images; for arrays the kind's, or the range of the numbers.
    pub fn range(&self) -> f64 {
        match &self.origin {
            Origin::Image { depth, .. } if depth.is_whole() => 1.0,
            Origin::Array { kind: Kind::U8, .. } => 255.0,
            Origin::Array { kind: Kind::U16, .. } => 65535.0,
            _ => {
                let spread = spread(&self.planes);
                if spread <= 2.0 { 1.0 } else { spread }
            }
        }
    }

    /// The same where it is stated, not measured.
    pub fn full_range(&self) -> Option<f64> {
        let stated = match &self.origin {
            Origin::Image { depth, .. } => depth.is_whole(),
            Origin::Array { kind, .. } => matches!(kind, Kind::U8 | Kind::U16),
        };
        stated.then(|| self.range())
    }

    /// Its planes, one by one.
    fn planes(&self) -> Vec<&[f64]> {
        self.planes.iter().map(Vec::as_slice).collect()
    }

    /// Writes it, as an image of its own depth (8 bit for arrays) or as an array of its own kind.
    pub fn write(&self, outputs: &mut Outputs, target: &Target) -> Result<(), Error> {
        match target.format(self.format) {
            Format::Npy => outputs.array(&target.path, &self.array(), None),
            Format::Image(encoding) => {
                outputs.picture(&target.path, self.image(&self.planes(), encoding, self.alpha.as_ref()), encoding)
            }
        }
    }

    /// The same with other samples, all planes one after another: they are gone before the file is made.
    pub fn write_with<S: Real>(&self, all: Vec<S>, outputs: &mut Outputs, target: &Target) -> Result<(), Error> {
        let Format::Image(encoding) = target.format(self.format) else {
            return self.with(&all, 1.0).write(outputs, target);
        };
        let planes: Vec<&[S]> = all.chunks_exact(self.rows * self.cols).collect();
        let image = self.image(&planes, encoding, self.alpha.as_ref());
        drop(all);
        outputs.picture(&target.path, image, encoding)
    }

    fn array(&self) -> Array {
        let (kind, shape) = match &self.origin {
            Origin::Array { kind, shape } => (*kind, shape.clone()),
            Origin::Image { .. } if self.planes.len() == 1 => (Kind::F64, vec![self.rows, self.cols]),
            Origin::Image { .. } => (Kind::F64, vec![self.rows, self.cols, 3]),
        };
        let bounds = kind.bounds();
        let fitted = |v: f64| bounds.map_or(v, |(low, high)| v.round().clamp(low, high));
        Array { shape, data: interleaved(&self.planes(), None, fitted), kind }
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
    pub fn expect_to_fit(&self, target: &Target) -> Result<(), Error> {
        let Format::Image(encoding) = target.format(self.format) else { return Ok(()) };
        let pixel = Self {
            rows: 1,
            cols: 1,
            planes: vec![vec![0.0]; self.planes.len()],
            alpha: self.alpha.as_ref().map(|_| vec![1.0]),
            origin: self.origin.clone(),
            format: self.format,
        };
        image::encode(&pixel.image(&pixel.planes(), encoding, pixel.alpha.as_ref()), encoding)
            .map(drop)
            .map_err(|error| error.about(&target.path).into())
    }

    /// As an image of its own depth; where the format has no floats 16 bits of their range, where it has no more 8, as for arrays.
    fn image<S: Real>(&self, planes: &[&[S]], encoding: Encoding, alpha: Option<&Vec<f64>>) -> Image {
        use image::Depth;
        let depth = match &self.origin {
            Origin::Image { depth, .. } if encoding.holds(*depth) => *depth,
            Origin::Image { depth, .. } if !depth.is_whole() && encoding.holds(Depth::Sixteen) => Depth::Sixteen,
            _ => Depth::Eight,
        };
        let (maximum, metadata) = match &self.origin {
            Origin::Image { depth: own, maximum, metadata } if depth == *own => (*maximum, (**metadata).clone()),
            Origin::Image { metadata, .. } => (depth.maximum(), (**metadata).clone()),
            Origin::Array { .. } => (depth.maximum(), Metadata::default()),
        };
        let data = match depth.is_whole() {
            true => {
                let high = self.range();
                interleaved(planes, alpha, |v| (v / high).clamp(0.0, 1.0))
            }
            false => interleaved(planes, alpha, |v| v),
        };
        let channels = self.planes.len() + usize::from(alpha.is_some());
        Image { width: self.cols, height: self.rows, channels, depth, maximum, data, metadata }
    }

    /// For a page: PNG, 8 bit, without alpha.
    pub fn preview(&self, caption: &str) -> Option<melmo_page::Image> {
        let plain = Image { metadata: Metadata::default(), ..self.image(&self.planes(), Encoding::Jpeg, None) }; // 8 bit
        let png = image::encode(&plain, Encoding::Png).ok()?;
        melmo_page::Image::png(melmo_page::plain(caption), png).ok()
    }
}

/// All channels of a pixel together, each sample through `map`.
fn interleaved<S: Real>(planes: &[&[S]], alpha: Option<&Vec<f64>>, map: impl Fn(f64) -> f64) -> Vec<f64> {
    let pixels = planes.first().map_or(0, |plane| plane.len());
    let mut out = Vec::with_capacity(pixels * (planes.len() + usize::from(alpha.is_some())));
    match (planes, alpha) {
        ([only], None) => out.extend(only.iter().map(|v| map(v.f64()))),
        _ => (0..pixels).for_each(|at| {
            out.extend(planes.iter().map(|plane| map(plane[at].f64())));
            out.extend(alpha.map(|alpha| map(alpha[at])));
        }),
    }
    out
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
