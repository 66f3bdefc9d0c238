//! Deblurring: a sharp picture from a blurred one and the kernel that blurred it.
//!
//! The picture that is looked for is larger than the one that is given, by the kernel: its border, which was blurred into it, is estimated
//! too, and cut off at the end. Nothing is assumed about what lies outside.

mod kernel;

pub use kernel::Kernel;

use melmo::operator::{Blur, Boundary, Compose, Convolution, LinOp, Sample};
use melmo::real::Real;

use crate::denoise::Planes;
use crate::error::Error;
use crate::restore::{Frame, Instrument, Options, Restoration};

/// Kernels with more entries than this are applied by Fourier transforms.
const DIRECT: usize = 150;

/// What is to be done to a picture that this kernel blurred.
pub fn plan<S: Real>(image: Planes<'_, S>, kernel: &Kernel, options: &Options) -> Result<Restoration<S>, Error> {
    let Planes { rows, cols, channels, .. } = image;
    let (high, wide) = (kernel.rows, kernel.cols);
    let size = (rows + high - 1, cols + wide - 1);
    // Where the kernel's centre stands: as in `Convolution`.
    let (top, left) = (high - 1 - (high - 1) / 2, wide - 1 - (wide - 1) / 2);
    let taps: Vec<S> = kernel.entries.iter().map(|&k| S::of(k)).collect();
    let make = move || operator(size, &taps, (high, wide), (top, left), (rows, cols));
    let start = (0..channels).map(|c| edges_repeated(image.channel(c), (rows, cols), size, (top, left))).collect();
    let frame = Frame { size, part: (top..top + rows, left..left + cols), start };
    Restoration::new(image, Instrument::Operator(Box::new(make)), frame, options)
}

fn operator<S: Real>(
    size: (usize, usize),
    kernel: &[S],
    (high, wide): (usize, usize),
    (top, left): (usize, usize),
    (rows, cols): (usize, usize),
) -> Result<Box<dyn LinOp<S>>, Error> {
    if high * wide > DIRECT {
        return Ok(Box::new(Blur::new(size, kernel, (high, wide))?));
    }
    let whole = Convolution::new(size, kernel, (high, wide), Boundary::Zero)?;
    let places = (top..top + rows).flat_map(|i| (left..left + cols).map(move |j| i * size.1 + j)).collect();
    let inside = Sample::new(whole.domain().clone(), places)?;
    Ok(Box::new(Compose::new(Box::new(inside), Box::new(whole))?))
}

/// The picture in the middle of a larger one, its edges repeated outwards.
fn edges_repeated<S: Real>(
    plane: &[S],
    (rows, cols): (usize, usize),
    size: (usize, usize),
    (top, left): (usize, usize),
) -> Vec<S> {
    let within = |i: usize, margin: usize, n: usize| i.saturating_sub(margin).min(n - 1);
    let row = |i: usize| {
        let line = &plane[within(i, top, rows) * cols..][..cols];
        (0..size.1).map(move |j| line[within(j, left, cols)])
    };
    (0..size.0).flat_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_blur_are_one() {
        let kernel: Kernel = "motion:5,30".parse().unwrap();
        let (high, wide) = (kernel.rows, kernel.cols);
        let (rows, cols) = (11, 9);
        let size = (rows + high - 1, cols + wide - 1);
        let (top, left) = (high - 1 - (high - 1) / 2, wide - 1 - (wide - 1) / 2);
        let direct = operator(size, &kernel.entries, (high, wide), (top, left), (rows, cols)).unwrap();
        let fourier = Blur::new(size, &kernel.entries, (high, wide)).unwrap();
        let x: Vec<f64> = melmo::seeded::Seeded::new(4).normals(size.0 * size.1);
        let seen = |t: &dyn LinOp<f64>| {
            let mut y = vec![0.0; rows * cols];
            t.apply(&mut y, &x, &mut vec![0.0; t.work_len()]);
            y
        };
        assert!(seen(&*direct).iter().zip(seen(&fourier)).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}
