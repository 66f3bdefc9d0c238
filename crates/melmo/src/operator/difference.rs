use crate::block::Layout;
use crate::error::Error;
use crate::operator::{Form, LinOp};
use crate::real::Real;
use crate::vector::simd;

/// (∇ₓX)ᵢⱼ = Xᵢ,ⱼ₊₁ − Xᵢⱼ and (∇ᵧX)ᵢⱼ = Xᵢ₊₁,ⱼ − Xᵢⱼ, stored [∇ₓ | ∇ᵧ], zero in the last column and the last row.
///
/// ‖T‖₂² ≤ 8: (a − b)² ≤ 2a² + 2b², and an entry stands in at most two differences of each of the two kinds.
/// The two components have no curl, so most pairs (∇ₓ, ∇ᵧ) are never reached: not surjective, no right inverse.
#[derive(Clone, Debug)]
pub struct Difference2d {
    domain: Layout,
    range: Layout,
}

impl Difference2d {
    /// Differences of a rows×cols image.
    pub fn new(rows: usize, cols: usize) -> Result<Self, Error> {
        Ok(Self { domain: Layout::matrix(rows, cols)?, range: Layout::new([("dx", rows, cols), ("dy", rows, cols)])? })
    }

    /// Rows and columns of the image.
    pub fn shape(&self) -> (usize, usize) {
        let block = &self.domain.blocks()[0];
        (block.rows, block.cols)
    }
}

impl<S: Real> LinOp<S> for Difference2d {
    fn domain(&self) -> &Layout {
        &self.domain
    }

    fn range(&self) -> &Layout {
        &self.range
    }

    fn norm_bound(&self) -> f64 {
        8f64.sqrt()
    }

    /// At most four terms a sum, of entries that are at most doubled: 4·√8, rounded up.
    fn rounding(&self) -> f64 {
        16.0 * S::EPSILON
    }

    fn apply(&self, y: &mut [S], x: &[S], _: &mut [S]) {
        let (dx, dy) = y.split_at_mut(x.len());
        simd(
            #[inline(always)]
            || plane(dx, dy, x, self.shape().1),
        )
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], _: &mut [S]) {
        let (dx, dy) = y.split_at(x.len());
        simd(
            #[inline(always)]
            || plane_adjoint_add(x, dx, dy, self.shape().1),
        )
    }

    fn form(&self) -> Form<'_, S> {
        Form::Difference2d(self)
    }
}

/// Entries that stay in the first cache between the horizontal and the vertical differences of the same rows.
const BAND: usize = 1024;

/// Stretches of whole rows, of about [`BAND`] entries.
#[inline(always)]
fn bands(size: usize, cols: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let band = cols * (BAND / cols).max(1);
    (0..size).step_by(band).map(move |first| first..size.min(first + band))
}

/// dx, dy ← the differences of one image.
#[inline(always)]
pub(super) fn plane<S: Real>(dx: &mut [S], dy: &mut [S], x: &[S], cols: usize) {
    for band in bands(x.len(), cols) {
        for (dx, x) in dx[band.clone()].chunks_exact_mut(cols).zip(x[band.clone()].chunks_exact(cols)) {
            forward(dx, x, &x[1..]);
        }
        let below = x.len().min(band.start + cols)..x.len().min(band.end + cols);
        forward(&mut dy[band.clone()], &x[band], &x[below]);
    }
}

/// x ← x + ∇ₓ*dx + ∇ᵧ*dy for one image.
#[inline(always)]
pub(super) fn plane_adjoint_add<S: Real>(x: &mut [S], dx: &[S], dy: &[S], cols: usize) {
    let last_row = x.len() - cols;
    for band in bands(x.len(), cols) {
        for (x, dx) in x[band.clone()].chunks_exact_mut(cols).zip(dx[band.clone()].chunks_exact(cols)) {
            backward_add(x, &dx[..cols - 1], &dx[..cols - 1]);
        }
        let above = band.start.saturating_sub(cols)..band.end - cols;
        let here = band.start.min(last_row)..band.end.min(last_row);
        backward_add(&mut x[band], &dy[here], &dy[above]);
    }
}

/// d ← next − x on the entries that have a next one, the first `next.len()`; 0 on the others.
#[inline(always)]
pub(super) fn forward<S: Real>(d: &mut [S], x: &[S], next: &[S]) {
    let (inner, edge) = d.split_at_mut(next.len());
    for ((d, &x), &next) in inner.iter_mut().zip(x).zip(next) {
        *d = next - x;
    }
    edge.fill(S::ZERO);
}

/// x ← x + before − here, `here` on the first entries and `before` on the last: the adjoint of [`forward`], which never
/// reads the differences that `forward` sets to 0, and so is exact whatever they hold.
#[inline(always)]
pub(super) fn backward_add<S: Real>(x: &mut [S], here: &[S], before: &[S]) {
    for (x, &d) in x.iter_mut().zip(here) {
        *x -= d;
    }
    let start = x.len() - before.len();
    for (x, &d) in x[start..].iter_mut().zip(before) {
        *x += d;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::laws;

    #[test]
    fn small_images_obey_the_laws() {
        for (rows, cols) in [(1, 1), (1, 5), (5, 1), (2, 2), (4, 7), (7, 3)] {
            let t = Difference2d::new(rows, cols).unwrap();
            laws::check::<f32>(&t);
            laws::check::<f64>(&t);
        }
    }

    #[test]
    fn images_of_several_bands_obey_the_laws() {
        for (rows, cols) in [(3000, 1), (1, 3000), (150, 21), (3, 1500), (64, 64)] {
            let t = Difference2d::new(rows, cols).unwrap();
            laws::assert_adjoint::<f32>(&t);
            laws::assert_adjoint::<f64>(&t);
        }
    }

    #[test]
    fn differences_of_a_known_image() {
        let t = Difference2d::new(2, 3).unwrap();
        let mut y = [f64::NAN; 12];
        t.apply(&mut y, &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0], &mut []);
        assert_eq!(y, [1.0, 2.0, 0.0, 8.0, 16.0, 0.0, 7.0, 14.0, 28.0, 0.0, 0.0, 0.0]);
        assert!(matches!(LinOp::<f64>::form(&t), Form::Difference2d(t) if t.shape() == (2, 3)));
        assert!(LinOp::<f64>::right_inverse(&t).is_none());
    }

    #[test]
    fn the_edge_of_p_is_never_read() {
        let t = Difference2d::new(2, 2).unwrap();
        let (mut x, nan) = ([0.0; 4], f64::NAN);
        t.adjoint_add(&mut x, &[1.0, nan, 2.0, nan, 4.0, 8.0, nan, nan], &mut []);
        assert_eq!(x, [-5.0, -7.0, 2.0, 10.0]);
    }

    #[test]
    fn empty_images_are_refused() {
        assert!(matches!(Difference2d::new(0, 3), Err(Error::EmptyBlock { .. })));
        assert!(matches!(Difference2d::new(usize::MAX, 1), Err(Error::EmptyBlock { .. })));
    }
}
