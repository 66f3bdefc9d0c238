use crate::block::Layout;
use crate::error::Error;
use crate::operator::difference::{backward_add, forward, plane, plane_adjoint_add};
use crate::operator::{Form, LinOp};
use crate::real::Real;
use crate::vector::simd;

/// [∇ₓ | ∇ᵧ | ∇_z]: forward differences along columns, rows and slices of a volume, zero at the last of each.
///
/// The volume is one matrix `x` of depth·rows rows, slice after slice; `dx`, `dy`, `dz` have its shape.
/// ‖T‖₂² ≤ 12: (a − b)² ≤ 2a² + 2b², and an entry stands in at most two differences of each of the three kinds.
/// Not surjective: no right inverse.
#[derive(Clone, Debug)]
pub struct Difference3d {
    domain: Layout,
    range: Layout,
    rows: usize,
}

impl Difference3d {
    /// Differences of `depth` slices of rows×cols.
    pub fn new(depth: usize, rows: usize, cols: usize) -> Result<Self, Error> {
        let all_rows = depth.saturating_mul(rows); // a saturated count is refused below: three such blocks fit nowhere
        let domain = Layout::matrix(all_rows, cols)?;
        let range = Layout::new(["dx", "dy", "dz"].map(|name| (name, all_rows, cols)))?;
        Ok(Self { domain, range, rows })
    }

    /// Slices, rows and columns of the volume.
    pub fn shape(&self) -> (usize, usize, usize) {
        let block = &self.domain.blocks()[0];
        (block.rows / self.rows, self.rows, block.cols)
    }
}

impl<S: Real> LinOp<S> for Difference3d {
    fn domain(&self) -> &Layout {
        &self.domain
    }

    fn range(&self) -> &Layout {
        &self.range
    }

    fn norm_bound(&self) -> f64 {
        12f64.sqrt()
    }

    /// At most six terms a sum: 6·√12, rounded up.
    fn rounding(&self) -> f64 {
        32.0 * S::EPSILON
    }

    fn apply(&self, y: &mut [S], x: &[S], _: &mut [S]) {
        let (_, rows, cols) = self.shape();
        let slice = rows * cols;
        let (dx, rest) = y.split_at_mut(x.len());
        let (dy, dz) = rest.split_at_mut(x.len());
        simd(
            #[inline(always)]
            || {
                for start in (0..x.len()).step_by(slice) {
                    let here = start..start + slice;
                    let next = x.get(start + slice..start + 2 * slice).unwrap_or_default();
                    plane(&mut dx[here.clone()], &mut dy[here.clone()], &x[here.clone()], cols);
                    forward(&mut dz[here.clone()], &x[here], next);
                }
            },
        )
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], _: &mut [S]) {
        let (_, rows, cols) = self.shape();
        let slice = rows * cols;
        let last = x.len() - slice;
        let (dx, rest) = y.split_at(x.len());
        let (dy, dz) = rest.split_at(x.len());
        simd(
            #[inline(always)]
            || {
                for (start, x) in (0..).step_by(slice).zip(x.chunks_exact_mut(slice)) {
                    let here = start..start + slice;
                    plane_adjoint_add(x, &dx[here.clone()], &dy[here.clone()], cols);
                    let before = start.saturating_sub(slice)..start;
                    backward_add(x, &dz[start..last.min(here.end).max(start)], &dz[before]);
                }
            },
        )
    }

    fn form(&self) -> Form<'_, S> {
        Form::Difference3d(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::laws;

    #[test]
    fn small_volumes_obey_the_laws() {
        for (depth, rows, cols) in [(1, 1, 1), (4, 1, 1), (1, 3, 4), (2, 2, 2), (3, 2, 4), (4, 3, 1)] {
            let t = Difference3d::new(depth, rows, cols).unwrap();
            assert_eq!(t.shape(), (depth, rows, cols));
            laws::check::<f32>(&t);
            laws::check::<f64>(&t);
        }
        laws::assert_adjoint::<f32>(&Difference3d::new(5, 40, 50).unwrap());
        laws::assert_adjoint::<f64>(&Difference3d::new(40, 5, 50).unwrap());
    }

    #[test]
    fn differences_of_a_known_volume() {
        let t = Difference3d::new(2, 2, 2).unwrap();
        let mut y = [f64::NAN; 24];
        t.apply(&mut y, &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0], &mut []);
        assert_eq!(y[..8], [1.0, 0.0, 4.0, 0.0, 16.0, 0.0, 64.0, 0.0]);
        assert_eq!(y[8..16], [3.0, 6.0, 0.0, 0.0, 48.0, 96.0, 0.0, 0.0]);
        assert_eq!(y[16..], [15.0, 30.0, 60.0, 120.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn empty_and_unaddressable_volumes_are_refused() {
        for (depth, rows, cols) in [(0, 2, 2), (2, 0, 2), (2, 2, 0), (usize::MAX, 2, 1)] {
            assert!(matches!(Difference3d::new(depth, rows, cols), Err(Error::EmptyBlock { .. })));
        }
    }
}
