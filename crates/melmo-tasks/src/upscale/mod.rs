//! Upscaling: a picture of which every pixel that is given is the mean of s×s.

use melmo::operator::{Downsample, LinOp, RightInverse};
use melmo::real::Real;

use crate::denoise::Planes;
use crate::error::Error;
use crate::restore::{Frame, Instrument, Options, Restoration};

/// The largest factor.
pub const MOST: usize = 4;

/// What is to be done to make a picture `factor` times as high and wide: 2 to 4.
pub fn plan<S: Real>(image: Planes<'_, S>, factor: usize, options: &Options) -> Result<Restoration<S>, Error> {
    if !(2..=MOST).contains(&factor) {
        return Err(Error::input("the factor", factor.to_string(), format!("2 to {MOST}")));
    }
    let Planes { rows, cols, channels, .. } = image;
    let size = (rows * factor, cols * factor);
    let t = Downsample::new(size.0, size.1, factor)?;
    let larger = |c: usize| {
        let mut x = vec![S::ZERO; size.0 * size.1];
        RightInverse::right_inverse(&t, &mut x, image.channel(c), &mut []);
        x
    };
    let frame = Frame { size, part: (0..size.0, 0..size.1), start: (0..channels).map(larger).collect() };
    let make = move || -> Result<Box<dyn LinOp<S>>, Error> { Ok(Box::new(Downsample::new(size.0, size.1, factor)?)) };
    Restoration::new(image, Instrument::Operator(Box::new(make)), frame, options)
}
