use crate::block::Layout;
use crate::error::Error;
use crate::operator::LinOp;
use crate::operator::plane::{Plane, room};
use crate::real::Real;

/// (Tx)_k = (Re x̂_k, Im x̂_k) at the frequencies k that were measured, x̂ = the unitary Fourier transform of an image: magnetic resonance.
///
/// Complex data by pairs: row after row of the mask, real and imaginary part side by side. ‖T‖₂ ≤ 1. Frequencies stand as in
/// `numpy.fft.fft2(x, norm="ortho")`, the constant one first.
pub struct Frequencies<S> {
    domain: Layout,
    range: Layout,
    plane: Plane<S>,
    /// Where each of them stands among the turned frequencies.
    places: Vec<usize>,
}

impl<S: Real> Frequencies<S> {
    /// The frequencies of a rows×cols image where the mask is 1.
    pub fn new((rows, cols): (usize, usize), mask: &[S]) -> Result<Self, Error> {
        let domain = Layout::matrix(rows, cols)?;
        domain.check("mask", mask)?;
        Error::expect_mask("mask", mask)?;
        room::<S>(rows, cols)?; // refuses what memory cannot hold
        let measured = (0..mask.len()).filter(|&at| mask[at] == S::ONE);
        let places: Vec<usize> = measured.map(|at| (at % cols) * rows + at / cols).collect();
        let range = Layout::new([("frequencies", places.len(), 2)])?;
        Ok(Self { domain, range, plane: Plane::new(rows, cols), places })
    }

    fn scale(&self) -> S {
        S::of(1.0 / ((self.plane.rows * self.plane.cols) as f64).sqrt())
    }
}

impl<S: Real> LinOp<S> for Frequencies<S> {
    fn domain(&self) -> &Layout {
        &self.domain
    }

    fn range(&self) -> &Layout {
        &self.range
    }

    fn norm_bound(&self) -> f64 {
        1.0 + 8.0 * self.plane.rounding()
    }

    /// Lengths with large factors are transformed by way of longer ones: more room than the plane itself asks for.
    fn rounding(&self) -> f64 {
        8.0 * self.plane.rounding()
    }

    fn work_len(&self) -> usize {
        self.plane.work_len()
    }

    fn apply(&self, y: &mut [S], x: &[S], work: &mut [S]) {
        let (image, frequencies, rest) = self.plane.split(work);
        image.chunks_exact_mut(2).zip(x).for_each(|(to, &x)| (to[0], to[1]) = (x, S::ZERO));
        self.plane.forward(image, frequencies, rest);
        let scale = self.scale();
        for (y, &place) in y.chunks_exact_mut(2).zip(&self.places) {
            (y[0], y[1]) = (scale * frequencies[2 * place], scale * frequencies[2 * place + 1]);
        }
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], work: &mut [S]) {
        let (image, frequencies, rest) = self.plane.split(work);
        frequencies.fill(S::ZERO);
        for (y, &place) in y.chunks_exact(2).zip(&self.places) {
            (frequencies[2 * place], frequencies[2 * place + 1]) = (y[0], y[1]);
        }
        self.plane.backward(image, frequencies, rest);
        let scale = self.scale();
        x.iter_mut().zip(image.chunks_exact(2)).for_each(|(x, v)| *x += scale * v[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::laws;

    #[test]
    fn obeys_the_laws_in_both_precisions() {
        for (rows, cols) in [(4, 5), (1, 6), (7, 3)] {
            let mask = |keep: fn(usize) -> bool| (0..rows * cols).map(|at| f64::from(u8::from(keep(at)))).collect();
            let (some, all): (Vec<f64>, Vec<f64>) = (mask(|at| at % 3 != 1), mask(|_| true));
            for mask in [some, all] {
                laws::check(&Frequencies::new((rows, cols), &mask).unwrap());
                let single: Vec<f32> = mask.iter().map(|&m| m as f32).collect();
                laws::check(&Frequencies::new((rows, cols), &single).unwrap());
            }
        }
    }

    #[test]
    fn frequencies_are_those_of_the_formula() {
        let (rows, cols) = (3, 4);
        let x: Vec<f64> = laws::random(12, 4);
        let t = Frequencies::new((rows, cols), &[1.0; 12]).unwrap();
        let mut y = [f64::NAN; 24];
        t.apply(&mut y, &x, &mut vec![f64::NAN; t.work_len()]);
        for (at, y) in y.chunks_exact(2).enumerate() {
            let (k, l) = (at / cols, at % cols);
            let phase =
                |p: usize| -std::f64::consts::TAU * ((k * (p / cols)) as f64 / 3.0 + (l * (p % cols)) as f64 / 4.0);
            let sum =
                |of: fn(f64) -> f64| x.iter().enumerate().map(|(p, x)| x * of(phase(p))).sum::<f64>() / 12f64.sqrt();
            assert!((y[0] - sum(f64::cos)).abs() < 1e-13 && (y[1] - sum(f64::sin)).abs() < 1e-13);
        }
    }

    #[test]
    fn bad_masks_are_refused() {
        assert!(Frequencies::new((2, 2), &[1.0f64; 3]).is_err());
        assert!(Frequencies::new((2, 2), &[0.0f64; 4]).is_err());
        assert!(Frequencies::new((2, 2), &[0.5f64; 4]).is_err());
    }
}
