//! Fourier transforms of an image, for the operators that are made of them.

use melmo_base::fourier::Lines;

use crate::error::Error;
use crate::operator::bound::zeros;
use crate::real::Real;

/// The transforms of complex images of one size. Frequencies come out turned: column after column.
pub(super) struct Plane<S> {
    pub rows: usize,
    pub cols: usize,
    /// Along rows and down columns, forwards and backwards.
    along: [Box<dyn Lines<S>>; 2],
    down: [Box<dyn Lines<S>>; 2],
}

impl<S: Real> Plane<S> {
    pub fn new(rows: usize, cols: usize) -> Self {
        let both = |n: usize| [false, true].map(|backwards| S::lines(n, backwards));
        Self { rows, cols, along: both(cols), down: both(rows) }
    }

    /// Numbers of a complex image.
    pub fn size(&self) -> usize {
        2 * self.rows * self.cols
    }

    /// Two images and what the lines need.
    pub fn work_len(&self) -> usize {
        let lines = self.along.iter().chain(&self.down).map(|lines| lines.work_len()).max();
        2 * self.size() + lines.unwrap_or(0)
    }

    /// An image, another one for its frequencies, and scratch.
    pub fn split<'a>(&self, work: &'a mut [S]) -> (&'a mut [S], &'a mut [S], &'a mut [S]) {
        let (image, rest) = work.split_at_mut(self.size());
        let (frequencies, rest) = rest.split_at_mut(self.size());
        (image, frequencies, rest)
    }

    /// frequencies ← the image's, times rows·cols where they go back; the image is used up.
    pub fn forward(&self, image: &mut [S], frequencies: &mut [S], work: &mut [S]) {
        self.along[0].transform(image, work);
        turn(frequencies, image, self.cols);
        self.down[0].transform(frequencies, work);
    }

    /// image ← rows·cols times the image of these frequencies, which are used up.
    pub fn backward(&self, image: &mut [S], frequencies: &mut [S], work: &mut [S]) {
        self.down[1].transform(frequencies, work);
        turn(image, frequencies, self.rows);
        self.along[1].transform(image, work);
    }

    /// How far rounding moves what one transform gives, relative to what goes in (ℓ1 to ℓ∞, and ℓ2 to ℓ2 after scaling): a few
    /// roundings for each of log₂ of the size levels of sums.
    pub fn rounding(&self) -> f64 {
        8.0 * (((self.rows * self.cols) as f64).log2() + 4.0) * S::EPSILON
    }
}

/// out ← the transpose of a complex matrix of `cols` columns, a tile at a time.
fn turn<S: Real>(out: &mut [S], v: &[S], cols: usize) {
    const TILE: usize = 16;
    let rows = v.len() / 2 / cols;
    for top in (0..rows).step_by(TILE) {
        for left in (0..cols).step_by(TILE) {
            for j in left..cols.min(left + TILE) {
                for i in top..rows.min(top + TILE) {
                    let (to, from) = (2 * (j * rows + i), 2 * (i * cols + j));
                    out[to..to + 2].copy_from_slice(&v[from..from + 2]);
                }
            }
        }
    }
}

/// The least 2ᵃ3ᵇ5ᶜ that is at least n: lengths whose transforms are quick, and accurate.
pub(super) fn quick(n: usize) -> usize {
    let is_quick = |n: &usize| {
        let mut rest = *n;
        [2, 3, 5].iter().for_each(|p| {
            while rest.is_multiple_of(*p) {
                rest /= p;
            }
        });
        rest == 1
    };
    (n.max(1)..).find(is_quick).unwrap_or(n)
}

/// Zeros, as many as a complex image of this size has numbers; an error where memory does not hold them.
pub(super) fn room<S: Real>(rows: usize, cols: usize) -> Result<Vec<S>, Error> {
    let size = rows.checked_mul(cols).and_then(|size| size.checked_mul(2)).unwrap_or(usize::MAX);
    zeros("numbers of a Fourier transform", size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeded::Seeded;

    #[test]
    fn goes_there_and_back() {
        for (rows, cols) in [(6, 5), (1, 8), (7, 1), (17, 12)] {
            let plane = Plane::<f64>::new(rows, cols);
            let x: Vec<f64> = Seeded::new(2).normals(plane.size());
            let mut work = vec![f64::NAN; plane.work_len()];
            let (image, frequencies, rest) = plane.split(&mut work);
            image.copy_from_slice(&x);
            plane.forward(image, frequencies, rest);
            let sum: f64 = x.iter().step_by(2).sum();
            assert!((frequencies[0] - sum).abs() < 1e-12);
            plane.backward(image, frequencies, rest);
            let scale = (rows * cols) as f64;
            assert!(image.iter().zip(&x).all(|(a, b)| (a / scale - b).abs() < 1e-12));
        }
    }

    #[test]
    fn quick_lengths_have_small_factors() {
        assert_eq!([1, 7, 11, 17, 97, 121].map(quick), [1, 8, 12, 18, 100, 125]);
    }
}
