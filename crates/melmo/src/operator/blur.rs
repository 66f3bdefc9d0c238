use crate::block::Layout;
use crate::error::Error;
use crate::operator::LinOp;
use crate::operator::bound::{finite, rounded_up};
use crate::operator::plane::{Plane, quick, room};
use crate::real::Real;
use crate::vector;

/// (Tx)ᵢⱼ = Σ_{a,b} k_ab x_{i+K−1−a, j+L−1−b}: convolution with a K×L kernel where it lies inside the image, by Fourier transforms.
///
/// Of an image of m×n it makes one of (m−K+1)×(n−L+1): what is seen through a lens, without a word about what lies around the picture.
/// A part of a cyclic convolution, so ‖T‖₂ ≤ max|k̂| ≤ Σ|k_ab|. What it costs does not depend on the kernel's size.
pub struct Blur<S> {
    domain: Layout,
    range: Layout,
    /// Rows and columns of the kernel, less 1.
    reach: (usize, usize),
    plane: Plane<S>,
    /// k̂ divided by the transform's size.
    spectrum: Vec<S>,
    norm_bound: f64,
    rounding: f64,
}

impl<S: Real> Blur<S> {
    /// For a rows×cols image, which is at least as large as the kernel.
    pub fn new((rows, cols): (usize, usize), kernel: &[S], (high, wide): (usize, usize)) -> Result<Self, Error> {
        let domain = Layout::matrix(rows, cols)?;
        Layout::new([("kernel", high, wide)])?.check("kernel", kernel)?;
        Error::expect_finite("kernel", kernel)?;
        let fits = high <= rows && wide <= cols;
        Error::expect_parameter("kernel", high.max(wide) as f64, fits, "no larger than the image")?;
        let range = Layout::matrix(rows - high + 1, cols - wide + 1)?;
        let (high_grid, wide_grid) = (quick(rows), quick(cols));
        let mut spectrum = room(high_grid, wide_grid)?;
        let plane = Plane::new(high_grid, wide_grid);
        let mut work = vec![S::ZERO; plane.work_len()];
        let (image, frequencies, rest) = plane.split(&mut work);
        for (i, row) in kernel.chunks_exact(wide).enumerate() {
            row.iter().enumerate().for_each(|(j, &k)| image[2 * (i * wide_grid + j)] = k);
        }
        plane.forward(image, frequencies, rest);
        let sum = rounded_up(vector::norm1(kernel), kernel.len());
        let largest = frequencies.chunks_exact(2).map(|k| k[0].f64().hypot(k[1].f64())).fold(0.0, f64::max);
        let norm_bound = finite(sum.min(rounded_up(largest + plane.rounding() * sum, 8)))?;
        let scale = S::of(1.0 / (high_grid * wide_grid) as f64);
        spectrum.iter_mut().zip(&*frequencies).for_each(|(to, &from)| *to = from * scale);
        // Two transforms, a product, and the kernel's own transform.
        let rounding = 4.0 * plane.rounding() * sum;
        Ok(Self { domain, range, reach: (high - 1, wide - 1), plane, spectrum, norm_bound, rounding })
    }

    /// Multiplies by k̂, or by its conjugate, between a transform and its inverse.
    fn pass(&self, image: &mut [S], frequencies: &mut [S], work: &mut [S], conjugate: bool) {
        self.plane.forward(image, frequencies, work);
        let sign = if conjugate { -S::ONE } else { S::ONE };
        for (v, k) in frequencies.chunks_exact_mut(2).zip(self.spectrum.chunks_exact(2)) {
            let (re, im) = (k[0], sign * k[1]);
            (v[0], v[1]) = (v[0] * re - v[1] * im, v[0] * im + v[1] * re);
        }
        self.plane.backward(image, frequencies, work);
    }
}

/// A real image into the upper left of a complex one, `down` and `right` of its corner; zeros elsewhere.
fn place<S: Real>(complex: &mut [S], width: usize, image: &[S], cols: usize, (down, right): (usize, usize)) {
    complex.fill(S::ZERO);
    for (i, row) in image.chunks_exact(cols).enumerate() {
        let line = &mut complex[2 * ((i + down) * width + right)..];
        row.iter().zip(line.chunks_exact_mut(2)).for_each(|(&v, to)| to[0] = v);
    }
}

impl<S: Real> LinOp<S> for Blur<S> {
    fn domain(&self) -> &Layout {
        &self.domain
    }

    fn range(&self) -> &Layout {
        &self.range
    }

    fn norm_bound(&self) -> f64 {
        self.norm_bound
    }

    fn rounding(&self) -> f64 {
        self.rounding
    }

    fn work_len(&self) -> usize {
        self.plane.work_len()
    }

    fn apply(&self, y: &mut [S], x: &[S], work: &mut [S]) {
        let (image, frequencies, rest) = self.plane.split(work);
        let (wide, cols) = (self.domain.blocks()[0].cols, self.range.blocks()[0].cols);
        place(image, self.plane.cols, x, wide, (0, 0));
        self.pass(image, frequencies, rest, false);
        for (i, row) in y.chunks_exact_mut(cols).enumerate() {
            let line = &image[2 * ((i + self.reach.0) * self.plane.cols + self.reach.1)..];
            row.iter_mut().zip(line.chunks_exact(2)).for_each(|(y, v)| *y = v[0]);
        }
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], work: &mut [S]) {
        let (image, frequencies, rest) = self.plane.split(work);
        let (wide, cols) = (self.domain.blocks()[0].cols, self.range.blocks()[0].cols);
        place(image, self.plane.cols, y, cols, self.reach);
        self.pass(image, frequencies, rest, true);
        for (i, row) in x.chunks_exact_mut(wide).enumerate() {
            let line = &image[2 * i * self.plane.cols..];
            row.iter_mut().zip(line.chunks_exact(2)).for_each(|(x, v)| *x += v[0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::{Boundary, Convolution, laws};

    #[test]
    fn is_the_inside_of_a_convolution_and_obeys_the_laws() {
        for ((rows, cols), (high, wide)) in [((7, 6), (3, 2)), ((5, 9), (5, 4)), ((1, 8), (1, 3)), ((4, 4), (1, 1))] {
            let kernel: Vec<f64> = laws::random(high * wide, 3);
            let t = Blur::new((rows, cols), &kernel, (high, wide)).unwrap();
            laws::check(&t);
            let x: Vec<f64> = laws::random(rows * cols, 5);
            let whole = Convolution::new((rows, cols), &kernel, (high, wide), Boundary::Zero).unwrap();
            let (mut all, mut y) = (vec![0.0; rows * cols], vec![f64::NAN; t.range().size()]);
            whole.apply(&mut all, &x, &mut vec![0.0; whole.work_len()]);
            t.apply(&mut y, &x, &mut vec![f64::NAN; t.work_len()]);
            let (top, left) = (high - 1 - (high - 1) / 2, wide - 1 - (wide - 1) / 2);
            for (at, y) in y.iter().enumerate() {
                let (i, j) = (at / (cols - wide + 1), at % (cols - wide + 1));
                assert!((y - all[(i + top) * cols + j + left]).abs() < 1e-13, "{rows}×{cols}, {high}×{wide}");
            }
        }
    }

    #[test]
    fn a_mean_has_norm_one_at_most() {
        let t = Blur::new((20, 20), &[0.04f32; 25], (5, 5)).unwrap();
        assert!(t.norm_bound() < 1.0 + 1e-4);
        laws::assert_adjoint(&t);
    }

    #[test]
    fn kernels_that_do_not_fit_are_refused() {
        assert!(Blur::new((3, 3), &[1.0f64; 4], (4, 1)).is_err());
        assert!(Blur::new((3, 3), &[1.0f64; 3], (2, 2)).is_err());
        assert!(Blur::new((3, 3), &[f64::NAN], (1, 1)).is_err());
    }
}
