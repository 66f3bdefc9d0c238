use std::f64::consts::SQRT_2;

use crate::block::Layout;
use crate::error::Error;
use crate::operator::difference::{backward_add, forward};
use crate::operator::{Form, LinOp};
use crate::real::Real;
use crate::vector;

/// T X = [∇X | weight·∇²X]: the first and second differences of an image of several channels.
///
/// With X_{ij} of each channel, and 0 wherever a neighbour is missing:
///
/// ```text
/// ∇ₓ  = X_{i,j+1} − X_{ij}                     ∇ₓₓ   = X_{i,j+1} − 2X_{ij} + X_{i,j−1}
/// ∇ᵧ  = X_{i+1,j} − X_{ij}                     ∇ᵧᵧ   = X_{i+1,j} − 2X_{ij} + X_{i−1,j}
///                                              √2∇ₓᵧ = √2(X_{i+1,j+1} − X_{i+1,j} − X_{i,j+1} + X_{ij})
/// ```
///
/// The image is one matrix `x` of channels·rows rows, channel after channel. The range has a block `first` of 2·channels rows and, unless the weight is 0, a block `second` of 3·channels rows: a column is all
/// that is known about one pixel, so that penalties of columns are isotropic and join the channels. ‖T‖₂² ≤ 8 + 64·weight².
/// Not surjective: no right inverse.
#[derive(Clone, Debug)]
pub struct Jet {
    domain: Layout,
    range: Layout,
    rows: usize,
    cols: usize,
    channels: usize,
    weight: f64,
}

impl Jet {
    /// Differences of a rows×cols image of so many channels, the second ones times `weight` ≥ 0.
    pub fn new(rows: usize, cols: usize, channels: usize, weight: f64) -> Result<Self, Error> {
        let holds = weight >= 0.0 && weight.is_finite();
        Error::expect_parameter("weight", weight, holds, "a finite number, at least 0")?;
        let all_rows = channels.saturating_mul(rows); // a saturated count is refused below: twice as much fits nowhere
        let domain = Layout::matrix(all_rows, cols)?;
        let blocks = [("first", 2 * channels, rows * cols), ("second", 3 * channels, rows * cols)];
        let range = Layout::new(blocks.into_iter().take(if weight > 0.0 { 2 } else { 1 }))?;
        Ok(Self { domain, range, rows, cols, channels, weight })
    }

    /// Rows, columns and channels of the image.
    pub fn shape(&self) -> (usize, usize, usize) {
        (self.rows, self.cols, self.channels)
    }

    /// What second differences are multiplied by.
    pub fn weight(&self) -> f64 {
        self.weight
    }
}

impl<S: Real> LinOp<S> for Jet {
    fn domain(&self) -> &Layout {
        &self.domain
    }

    fn range(&self) -> &Layout {
        &self.range
    }

    fn norm_bound(&self) -> f64 {
        (8.0 + 64.0 * self.weight * self.weight).sqrt()
    }

    /// At most sixteen terms a sum.
    fn rounding(&self) -> f64 {
        16.0 * S::EPSILON * LinOp::<S>::norm_bound(self)
    }

    fn apply(&self, y: &mut [S], x: &[S], _: &mut [S]) {
        let n = self.rows * self.cols;
        let (first, second) = y.split_at_mut(2 * self.channels * n);
        for (x, first) in x.chunks_exact(n).zip(first.chunks_exact_mut(2 * n)) {
            let (dx, dy) = first.split_at_mut(n);
            self.first(dx, dy, x);
        }
        for (x, second) in x.chunks_exact(n).zip(second.chunks_exact_mut(3 * n)) {
            let (dxx, rest) = second.split_at_mut(n);
            let (dyy, dxy) = rest.split_at_mut(n);
            self.second(dxx, dyy, dxy, x);
        }
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], _: &mut [S]) {
        let n = self.rows * self.cols;
        let (first, second) = y.split_at(2 * self.channels * n);
        for (x, first) in x.chunks_exact_mut(n).zip(first.chunks_exact(2 * n)) {
            self.first_adjoint(x, &first[..n], &first[n..]);
        }
        for (x, second) in x.chunks_exact_mut(n).zip(second.chunks_exact(3 * n)) {
            self.second_adjoint(x, &second[..n], &second[n..2 * n], &second[2 * n..]);
        }
    }

    fn form(&self) -> Form<'_, S> {
        Form::Jet(self)
    }
}

impl Jet {
    fn first<S: Real>(&self, dx: &mut [S], dy: &mut [S], x: &[S]) {
        for (dx, x) in dx.chunks_exact_mut(self.cols).zip(x.chunks_exact(self.cols)) {
            forward(dx, x, &x[1..]);
        }
        forward(dy, x, &x[self.cols..]);
    }

    fn first_adjoint<S: Real>(&self, x: &mut [S], dx: &[S], dy: &[S]) {
        let (inner, last_row) = (self.cols - 1, x.len() - self.cols);
        for (x, dx) in x.chunks_exact_mut(self.cols).zip(dx.chunks_exact(self.cols)) {
            backward_add(x, &dx[..inner], &dx[..inner]);
        }
        backward_add(x, &dy[..last_row], &dy[..last_row]);
    }

    /// The pixels that ∇ₓₓ, ∇ᵧᵧ and ∇ₓᵧ weigh, as steps from the pixel itself, and where they exist.
    fn stencils(&self) -> [Stencil; 3] {
        let (cols, weight) = (self.cols, self.weight);
        let line = |step: usize| [(0, weight), (step, -weight), (step, -weight), (2 * step, weight)];
        let twist = SQRT_2 * weight;
        let square = [(0, twist), (1, -twist), (cols, -twist), (cols + 1, twist)];
        let (inner_rows, inner_cols) = (self.rows.saturating_sub(2), cols.saturating_sub(2));
        [
            Stencil { at: 1, rows: self.rows, cols: inner_cols, terms: line(1) },
            Stencil { at: cols, rows: inner_rows, cols, terms: line(cols) },
            Stencil { at: 0, rows: self.rows - 1, cols: cols - 1, terms: square },
        ]
    }

    fn second<S: Real>(&self, dxx: &mut [S], dyy: &mut [S], dxy: &mut [S], x: &[S]) {
        for (d, stencil) in [dxx, dyy, dxy].into_iter().zip(self.stencils()) {
            d.fill(S::ZERO);
            for i in 0..stencil.rows() {
                let corner = i * self.cols;
                let d = &mut d[corner + stencil.at..][..stencil.cols];
                for &(step, factor) in &stencil.terms {
                    vector::axpy(d, factor, &x[corner + step..][..stencil.cols]);
                }
            }
        }
    }

    fn second_adjoint<S: Real>(&self, x: &mut [S], dxx: &[S], dyy: &[S], dxy: &[S]) {
        for (d, stencil) in [dxx, dyy, dxy].into_iter().zip(self.stencils()) {
            for i in 0..stencil.rows() {
                let corner = i * self.cols;
                let d = &d[corner + stencil.at..][..stencil.cols];
                for &(step, factor) in &stencil.terms {
                    vector::axpy(&mut x[corner + step..][..stencil.cols], factor, d);
                }
            }
        }
    }
}

/// A second difference: of the pixels at these steps from the top left one, `at` from where the difference stands, on this
/// many rows and columns.
struct Stencil {
    at: usize,
    rows: usize,
    cols: usize,
    terms: [(usize, f64); 4],
}

impl Stencil {
    /// Rows that have such a difference: none where there are no columns for it.
    fn rows(&self) -> usize {
        if self.cols == 0 { 0 } else { self.rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::{Difference2d, laws};

    #[test]
    fn small_images_obey_the_laws() {
        for (rows, cols) in [(1, 1), (1, 2), (2, 1), (1, 5), (5, 1), (2, 2), (3, 3), (4, 7), (7, 3)] {
            for (channels, weight) in [(1, 0.0), (1, 0.5), (3, 0.5), (2, 2.0)] {
                let t = Jet::new(rows, cols, channels, weight).unwrap();
                laws::check::<f32>(&t);
                laws::check::<f64>(&t);
            }
        }
    }

    #[test]
    fn first_differences_are_those_of_an_image() {
        let x: Vec<f64> = crate::seeded::Seeded::new(3).normals(20);
        let (mut a, mut b) = (vec![0.0; 40], vec![0.0; 40]);
        Jet::new(4, 5, 1, 0.0).unwrap().apply(&mut a, &x, &mut []);
        Difference2d::new(4, 5).unwrap().apply(&mut b, &x, &mut []);
        assert_eq!(a, b);
    }

    #[test]
    fn second_differences_of_known_images() {
        let (t, mut y) = (Jet::new(3, 3, 1, 2.0).unwrap(), [f64::NAN; 45]);
        let quadratic: Vec<f64> = (0..9).map(|p| f64::from((p % 3) * (p % 3) + 10 * (p / 3) * (p / 3))).collect();
        t.apply(&mut y, &quadratic, &mut []);
        let (dxx, dyy, dxy) = (&y[18..27], &y[27..36], &y[36..]);
        assert_eq!(dxx, [0.0, 4.0, 0.0, 0.0, 4.0, 0.0, 0.0, 4.0, 0.0]);
        assert_eq!(dyy, [0.0, 0.0, 0.0, 40.0, 40.0, 40.0, 0.0, 0.0, 0.0]);
        assert!(dxy.iter().all(|d| d.abs() < 1e-13), "{dxy:?}");
        let product: Vec<f64> = (0..9).map(|p| f64::from((p % 3) * (p / 3))).collect();
        t.apply(&mut y, &product, &mut []);
        assert!((y[36] - 2.0 * SQRT_2).abs() < 1e-15 && y[38] == 0.0 && y[42] == 0.0);
    }

    #[test]
    fn bad_shapes_are_refused() {
        assert!(Jet::new(0, 3, 1, 0.5).is_err());
        assert!(Jet::new(3, 3, 0, 0.5).is_err());
        assert!(Jet::new(3, 3, 1, -1.0).is_err());
        assert!(Jet::new(3, 3, 1, f64::NAN).is_err());
    }
}
