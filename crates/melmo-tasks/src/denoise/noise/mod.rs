//! What noise an image has, from the image alone: how strong it is, whether it grows with brightness, whether neighbours share it.

mod curve;
mod outliers;
mod squares;
mod texture;

pub use curve::{Curve, Stabiliser};
pub use outliers::Outliers;

use melmo::real::Real;
use melmo::threads;

use super::planes::Planes;
use squares::{Squares, squares};

/// One square in so many is taken to hold nothing but noise.
const QUIET: usize = 20;
/// What a picture does from pixel to pixel grows about so much where pixels are twice as large; noise does not.
const GROWTH: f64 = 2.2;
/// Rows and columns below which nothing is asked of larger pixels.
const SMALL: usize = 64;
/// Noise below so many steps of samples is what rounding and JPEG leave in any photograph.
const STEPS: f64 = 1.5;
/// The same of noise that pixels share, which a faint texture of colours looks like.
const SHARED_STEPS: f64 = 3.0;

/// The noise of an image.
#[derive(Clone, Debug, Default)]
pub struct Noise {
    /// Its standard deviation, in the image's units; 0 where none can be seen.
    pub level: f64,
    /// Its variance by brightness, where that differs.
    pub curve: Option<Curve>,
    /// Neighbouring pixels share it, as demosaiced ones do.
    pub correlated: bool,
    /// Samples that say nothing: salt and pepper.
    pub outliers: Option<Outliers>,
}

impl Noise {
    /// White noise of this strength.
    pub fn white(level: f64) -> Self {
        Self { level, ..Self::default() }
    }

    /// The level is all there is to say.
    pub fn is_white(&self) -> bool {
        self.curve.is_none() && !self.correlated && self.outliers.is_none()
    }

    /// Looks at an image. `step` is what its samples are multiples of, where they are.
    pub fn of<S: Real>(image: &Planes<'_, S>, step: Option<f64>) -> Self {
        let outliers = Outliers::find(image);
        match &outliers {
            Some(found) => {
                let filled = found.filled(image);
                Self { outliers, ..Self::of_samples(&Planes { data: &filled, ..*image }, step) }
            }
            None => Self::of_samples(image, step),
        }
    }

    fn of_samples<S: Real>(image: &Planes<'_, S>, step: Option<f64>) -> Self {
        let seen = Seen::new(image);
        let correlated = seen.is_correlated(image);
        let level = if correlated { seen.coarse } else { seen.white() };
        let least = if correlated { SHARED_STEPS } else { STEPS };
        if step.is_some_and(|step| level < least * step) {
            return Self::default();
        }
        let curve = if level > 0.0 { Curve::of(image, correlated, seen.unit) } else { None };
        Self { level: curve.as_ref().map_or(level, Curve::level), curve, correlated, outliers: None }
    }

    /// In a few words.
    pub fn words(&self, short: impl Fn(f64) -> String) -> String {
        let mut words = match &self.curve {
            _ if self.level == 0.0 && self.outliers.is_none() => return "there is no noise to remove".into(),
            Some(curve) => {
                let (dark, bright) = curve.ends();
                format!("{} in the dark to {} in the light", short(dark), short(bright))
            }
            None => short(self.level),
        };
        if self.correlated {
            words += ", shared by neighbouring pixels";
        }
        if let Some(outliers) = &self.outliers {
            words += &format!("; {:.1} % of the samples are outliers and filled in", 100.0 * outliers.share());
        }
        words
    }
}

/// The standard deviation of white noise, in the image's units; 0 where none can be seen.
///
/// Of the mean squares of second differences (`squares.rs`), one twentieth from below is taken to be noise alone. Textures and edges
/// make other squares larger. Means of squares, unlike medians, count the rounding to 8 bits as the noise it is. Channels are combined by
/// their mean variance. Where pixels of 2×2 say much more than noise would, that part which grows is taken for the picture's.
pub fn estimate<S: Real>(image: &Planes<'_, S>) -> f64 {
    Seen::new(image).white()
}

/// The noise as pixels say, and as squares of 2×2 pixels do.
struct Seen {
    fine: f64,
    coarse: f64,
    unit: f64,
}

impl Seen {
    fn new<S: Real>(image: &Planes<'_, S>) -> Self {
        let (unit, shape) = (unit(image), (image.rows, image.cols));
        let large = image.rows.min(image.cols) >= SMALL;
        let of_channel = |c: usize| {
            let fine = squares(image.channel(c), shape, 16, unit).quiet(QUIET);
            let coarse = if large { 4.0 * halved(image.channel(c), shape, unit).quiet(QUIET) } else { fine };
            (fine, coarse)
        };
        let found = threads::map(0..image.channels, of_channel);
        let mean = |of: fn(&(f64, f64)) -> f64| (found.iter().map(of).sum::<f64>() / image.channels as f64).sqrt();
        Self { fine: mean(|v| v.0) * unit, coarse: mean(|v| v.1) * unit, unit }
    }

    /// White noise, without what grows with the size of pixels.
    fn white(&self) -> f64 {
        if self.fine == 0.0 {
            return 0.0;
        }
        let growth = GROWTH * GROWTH;
        let part = (growth - (self.coarse / self.fine).powi(2)) / (growth - 1.0);
        self.fine * part.clamp(0.0, 1.0).sqrt()
    }

    /// Noise that pixels share is smooth, as textures are. Channels of a texture agree; a grey texture is rarely as smooth, and differs
    /// from place to place.
    fn is_correlated<S: Real>(&self, image: &Planes<'_, S>) -> bool {
        let ratio = if self.fine > 0.0 { self.coarse / self.fine } else { 0.0 };
        match image.channels {
            3 => ratio > 1.7 && texture::agreement(image, self.unit) < 0.25,
            _ => ratio > 5.0 && texture::unevenness(image, self.unit) < 1.75,
        }
    }
}

/// The squares of a channel whose pixels are means of 2×2.
fn halved<S: Real>(x: &[S], shape: (usize, usize), unit: f64) -> Squares {
    let (half, shape) = texture::half(x, shape, unit);
    squares(&half, shape, 8, 1.0)
}

/// 1, or for samples whose squares would overflow or vanish a power of two of about their size.
fn unit<S: Real>(image: &Planes<'_, S>) -> f64 {
    let largest = image.data.iter().map(|v| v.f64().abs()).fold(0.0, f64::max);
    if largest == 0.0 || (1e-100..1e100).contains(&largest) {
        1.0
    } else {
        largest.log2().clamp(-1000.0, 1000.0).floor().exp2()
    }
}
