//! The data sets that come with the program; `data/README.md` has where each is from and its licence.

use crate::array::{Array, Kind};
use crate::error::Error;
use crate::gml::{self, Graph};
use crate::image::{self, Image};

macro_rules! data {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/", $name))
    };
}

/// A row of the table of bundled sets.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    /// The name.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Its matrix.
    pub load: fn() -> Result<Array, Error>,
}

/// The matrices there are.
#[must_use]
pub fn sets() -> &'static [Set] {
    &SETS
}

static SETS: [Set; 4] = [
    Set { name: "camera", about: "256×256 grey image, 0 to 1: a photographer", load: camera256 },
    Set {
        name: "football",
        about: "115×115 0/1 adjacency: college football games of fall 2000",
        load: || football().map(|graph| graph.adjacency),
    },
    Set {
        name: "miserables",
        about: "77×77 0/1 adjacency: characters of Les Misérables who meet",
        load: || miserables(None).map(|graph| graph.adjacency),
    },
    Set {
        name: "miserables-weighted",
        about: "77×77 adjacency: how often characters of Les Misérables meet",
        load: || miserables(Some("value")).map(|graph| graph.adjacency),
    },
];

/// The 512×512 camera image, 8 bit grey.
pub fn camera() -> Result<Image, Error> {
    image::parse(data!("camera.png"))
}

/// The camera image at 256×256: smoothed by a Gaussian of standard deviation 0.5, then the mean of each 2×2 block.
pub fn camera256() -> Result<Array, Error> {
    halved(&camera()?.to_array())
}

/// Games between 115 colleges.
pub fn football() -> Result<Graph, Error> {
    gml::parse(data!("football.gml"), None)
}

/// Who meets whom in Les Misérables; the attribute `value` counts how often.
pub fn miserables(weight: Option<&str>) -> Result<Graph, Error> {
    gml::parse(data!("miserables.gml"), weight)
}

/// Half an image: a separable Gaussian (standard deviation 0.5, radius 2, mirrored without repeating the edge), 2×2 block means,
/// clipped to the input's range. An odd last row or column is left out.
pub fn halved(image: &Array) -> Result<Array, Error> {
    let [rows, cols] = image.shape[..] else {
        return Err(Error::argument("the image to halve", format!("{:?}", image.shape), "rows and columns"));
    };
    image.check_shape()?;
    if rows < 3 || cols < 3 {
        return Err(Error::argument("the image to halve", format!("{rows}×{cols}"), "at least 3×3"));
    }
    let down = smoothed(&image.data, cols, rows, cols, 1);
    let both = smoothed(&down, 1, cols, rows, cols);
    let (low, high) = image.data.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
    let (m, n) = (rows / 2, cols / 2);
    let block = |at: usize| (both[at] + both[at + 1] + both[at + cols] + both[at + cols + 1]) / 4.0;
    // Not `clamp`, which panics when a NaN leaves the range empty.
    let data = (0..m * n).map(|k| block(2 * (k / n) * cols + 2 * (k % n)).max(low).min(high)).collect();
    Ok(Array { shape: vec![m, n], data, kind: Kind::F64 })
}

/// Gaussian smoothing along one axis of `len` entries, `stride` apart, of `lines` lines that start `step` apart.
fn smoothed(data: &[f64], stride: usize, len: usize, lines: usize, step: usize) -> Vec<f64> {
    let taps = gaussian();
    let mut out = vec![0.0; data.len()];
    for start in (0..lines).map(|line| line * step) {
        for i in 0..len {
            let near = |offset: usize| data[start + mirrored(i + offset, len) * stride];
            out[start + i * stride] = taps.iter().enumerate().map(|(offset, tap)| tap * near(offset)).sum();
        }
    }
    out
}

/// exp(−2t²) for t = −2..2, of sum 1.
fn gaussian() -> [f64; 5] {
    let weights = [-2.0_f64, -1.0, 0.0, 1.0, 2.0].map(|t| (-2.0 * t * t).exp());
    let sum: f64 = weights.iter().sum();
    weights.map(|weight| weight / sum)
}

/// Index `shifted` − 2 of 0..len, mirrored at the first and the last entry.
fn mirrored(shifted: usize, len: usize) -> usize {
    let i = shifted.abs_diff(2);
    if shifted >= 2 && i >= len { 2 * (len - 1) - i } else { i }
}
