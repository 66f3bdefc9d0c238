use crate::error::Error;
use crate::metric::Metric;
use crate::real::Real;
use crate::vector::simd;
use melmo_base::cosines::Line;

/// M = c + T*T/β for forward differences T of an image or a volume: diagonal in the cosine basis,
/// c + Σ_axes (2 − 2cos(πk/n))/β.
///
/// Separable transforms along one axis after another; between two axes the array is turned so that the next one is
/// contiguous.
pub struct Cosine<S> {
    axes: Vec<Axis<S>>,
    curvature: f64,
    beta: f64,
    turned: Vec<S>,
    /// c + |ω|²/β times the scale of the transforms, inverted, in the order of the transformed array.
    inverse: Vec<S>,
    work: Vec<S>,
}

struct Axis<S> {
    len: usize,
    line: Box<dyn Line<S>>,
    /// 2 − 2cos(πk/n): the eigenvalues of the differences along this axis.
    eigenvalues: Vec<f64>,
}

impl<S: Real> Cosine<S> {
    /// For an array of this shape, row-major, and a loss whose Hessian is at most c.
    pub fn new(shape: &[usize], curvature: f64) -> Result<Self, Error> {
        let size: usize = shape.iter().product();
        if size == 0 || shape.is_empty() {
            return Err(Error::EmptyBlock { name: "x".into(), rows: size, cols: shape.len() });
        }
        Error::expect_parameter("curvature", curvature, curvature >= 0.0 && curvature.is_finite(), "at least 0")?;
        let axis = |&len: &usize| {
            let frequency = |k: usize| std::f64::consts::PI * k as f64 / len as f64;
            let eigenvalues = (0..len).map(|k| 2.0 - 2.0 * frequency(k).cos()).collect();
            Axis { len, line: S::line(len), eigenvalues }
        };
        let axes: Vec<Axis<S>> = shape.iter().map(axis).collect();
        let work_len = axes.iter().map(|axis| axis.line.work_len()).max().unwrap_or(0);
        Ok(Self {
            axes,
            curvature,
            beta: 0.0,
            turned: vec![S::ZERO; size],
            inverse: vec![S::ZERO; size],
            work: vec![S::ZERO; work_len],
        })
    }

    /// After the turns the first axis is innermost, and the others stand before it in their order.
    fn fill_inverse(&mut self) {
        let scale: f64 = self.axes.iter().map(|axis| 2.0 / axis.len as f64).product();
        let Self { axes, inverse, curvature, beta, .. } = self;
        let (first, rest) = (&axes[0].eigenvalues, &axes[1..]);
        for (outer, line) in inverse.chunks_exact_mut(first.len()).enumerate() {
            let (mut place, mut omega) = (outer, 0.0);
            for axis in rest.iter().rev() {
                omega += axis.eigenvalues[place % axis.len];
                place /= axis.len;
            }
            for (inverse, eigenvalue) in line.iter_mut().zip(first) {
                *inverse = S::of(scale / (*curvature + (omega + eigenvalue) / *beta));
            }
        }
    }
}

impl<S: Real> Metric<S> for Cosine<S> {
    fn prepare(&mut self, _: &[S], beta: f64) {
        if beta != self.beta {
            self.beta = beta;
            self.fill_inverse();
        }
    }

    fn solve(&mut self, v: &mut [S]) {
        let Self { axes, turned, inverse, work, .. } = self;
        // Every turn changes the buffer; there are as many back as forth, so the end is in v.
        let (mut here, mut there): (&mut [S], &mut [S]) = (v, turned);
        for (i, axis) in axes.iter().enumerate().rev() {
            here.chunks_exact_mut(axis.len).for_each(|line| axis.line.forward(line, work));
            if i > 0 {
                turn(there, here, axis.len);
                std::mem::swap(&mut here, &mut there);
            }
        }
        simd(
            #[inline(always)]
            || here.iter_mut().zip(&*inverse).for_each(|(v, &inverse)| *v *= inverse),
        );
        for (i, axis) in axes.iter().enumerate() {
            if i > 0 {
                turn(there, here, here.len() / axis.len);
                std::mem::swap(&mut here, &mut there);
            }
            here.chunks_exact_mut(axis.len).for_each(|line| axis.line.backward(line, work));
        }
    }
}

/// out ← the transpose of `v`, a matrix of `cols` columns; tiles keep both in cache.
fn turn<S: Real>(out: &mut [S], v: &[S], cols: usize) {
    const TILE: usize = 16;
    let rows = v.len() / cols;
    for top in (0..rows).step_by(TILE) {
        for left in (0..cols).step_by(TILE) {
            for j in left..cols.min(left + TILE) {
                for i in top..rows.min(top + TILE) {
                    out[j * rows + i] = v[i * cols + j];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::{Difference2d, Difference3d, LinOp};
    use crate::seeded::Seeded;
    use crate::vector;

    /// M(M⁻¹v) = v.
    fn inverts<S: Real>(t: &dyn LinOp<S>, shape: &[usize], tolerance: f64) {
        let mut metric = Cosine::<S>::new(shape, 0.7).unwrap();
        let n: usize = shape.iter().product();
        let v: Vec<S> = Seeded::new(3).normals(n);
        for beta in [2.0, 0.01] {
            let mut solved = v.clone();
            metric.prepare(&v, beta);
            metric.solve(&mut solved);
            let (mut d, mut back) = (vec![S::ZERO; t.range().size()], vec![S::ZERO; n]);
            t.apply(&mut d, &solved, &mut []);
            vector::scale_into(&mut back, 0.7, &solved);
            let scaled: Vec<S> = d.iter().map(|&d| d * S::of(1.0 / beta)).collect();
            t.adjoint_add(&mut back, &scaled, &mut []);
            let apart = back.iter().zip(&v).map(|(a, b)| (a.f64() - b.f64()).abs()).fold(0.0, f64::max);
            assert!(apart < tolerance / beta.min(1.0), "{shape:?} β = {beta}: {apart}");
        }
    }

    #[test]
    fn images_of_any_size_are_inverted() {
        for (rows, cols) in [(1, 1), (1, 7), (5, 1), (6, 4), (16, 16), (17, 31), (64, 20)] {
            let t = Difference2d::new(rows, cols).unwrap();
            inverts::<f64>(&t, &[rows, cols], 1e-12);
            inverts::<f32>(&t, &[rows, cols], 1e-4);
        }
    }

    #[test]
    fn volumes_of_any_size_are_inverted() {
        for (depth, rows, cols) in [(1, 1, 1), (3, 1, 1), (2, 5, 4), (7, 3, 6), (4, 8, 1)] {
            let t = Difference3d::new(depth, rows, cols).unwrap();
            inverts::<f64>(&t, &[depth, rows, cols], 1e-12);
            inverts::<f32>(&t, &[depth, rows, cols], 1e-4);
        }
    }
}
