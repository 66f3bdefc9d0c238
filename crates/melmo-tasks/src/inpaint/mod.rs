//! Inpainting: pixels that are missing, from those that are there.
//!
//! With noise of 0, which is the default, known pixels are kept as they are, and x is what is missing. With noise the known pixels are data
//! like any others, and all pixels are looked for.

mod fill;

use melmo::block::Layout;
use melmo::operator::{LinOp, Sample};
use melmo::real::Real;

use crate::denoise::Planes;
use crate::error::Error;
use crate::restore::{Frame, Instrument, Options, Restoration};

/// What is to be done to a picture of which the pixels where `missing` says so are not known; they may hold anything finite.
pub fn plan<S: Real>(image: Planes<'_, S>, missing: &[bool], options: &Options) -> Result<Restoration<S>, Error> {
    let Planes { rows, cols, channels, .. } = image;
    melmo::error::Error::expect_len("the mask", rows * cols, missing.len())?;
    let (free, known): (Vec<usize>, Vec<usize>) = (0..missing.len()).partition(|&at| missing[at]);
    if free.is_empty() || known.is_empty() {
        let found = if free.is_empty() { "no pixel that is missing" } else { "no pixel that is known" };
        return Err(Error::input("the mask", found, "some pixels of both kinds: not 0 where they are to be filled in"));
    }
    let start: Vec<Vec<S>> = (0..channels).map(|c| fill::filled(image.channel(c), missing, cols)).collect();
    let frame = Frame { size: (rows, cols), part: (0..rows, 0..cols), start };
    match options.noise.unwrap_or(0.0) == 0.0 {
        true => {
            let options = Options { noise: Some(0.0), ..options.clone() };
            Restoration::new(image, Instrument::Lost(free), frame, &options)
        }
        false => {
            let data: Vec<S> = (0..channels).flat_map(|c| known.iter().map(move |&at| image.channel(c)[at])).collect();
            let seen = Planes::new(&data, 1, known.len(), channels)?;
            let make = move || -> Result<Box<dyn LinOp<S>>, Error> {
                Ok(Box::new(Sample::new(Layout::matrix(rows, cols)?, known.clone())?))
            };
            Restoration::new(seen, Instrument::Operator(Box::new(make)), frame, options)
        }
    }
}
