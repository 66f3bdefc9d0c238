use crate::block::Layout;
use crate::error::Error;
use crate::operator::LinOp;
use crate::operator::bound::{finite, zeros};
use crate::real::Real;
use crate::threads;
use crate::vector::norm_inf;

/// (Tx)_{θj} = ∫ x along ray j at angle θ: what a scanner measures, in pixels, one row for each angle.
///
/// Rays are parallel, or come from a source that turns with the detector. Along a ray the image is taken row by row (or, where the ray
/// lies flatter, column by column), between the two nearest pixels linearly (Joseph 1982). All weights are positive, and
/// ‖T‖₂² ≤ max T1·max T*1. Angles, centre and detectors are those of `skimage.transform.radon`, whose result is the transpose of this
/// one: the image turns about pixel (⌊m/2⌋, ⌊n/2⌋), which detector ⌊d/2⌋ sees.
#[derive(Clone, Debug)]
pub struct Radon {
    domain: Layout,
    range: Layout,
    /// sin θ and cos θ.
    angles: Vec<(f64, f64)>,
    detectors: usize,
    /// How far the source is from the centre, in pixels; none for parallel rays.
    source: Option<f64>,
    norm_bound: f64,
}

/// A line: row + t·down, column + t·right.
#[derive(Clone, Copy)]
struct Ray {
    row: f64,
    column: f64,
    down: f64,
    right: f64,
}

impl Radon {
    /// Of a rows×cols image, at angles in degrees, on so many detectors a pixel apart. A source at a finite distance stands outside
    /// the image; detectors are then counted on the line through the centre.
    pub fn new(
        (rows, cols): (usize, usize),
        degrees: &[f64],
        detectors: usize,
        source: Option<f64>,
    ) -> Result<Self, Error> {
        let domain = Layout::matrix(rows, cols)?;
        let range = Layout::new([("sinogram", degrees.len(), detectors)])?;
        Error::expect_finite("angles", degrees)?;
        if let Some(distance) = source {
            let outside = distance.is_finite() && 2.0 * distance > (rows as f64).hypot(cols as f64);
            Error::expect_parameter("distance", distance, outside, "more than half of the image's diagonal")?;
        }
        let angles = degrees.iter().map(|degrees| degrees.to_radians().sin_cos()).collect();
        let mut t = Self { domain, range, angles, detectors, source, norm_bound: 0.0 };
        let (size, seen) = (LinOp::<f64>::domain(&t).size(), LinOp::<f64>::range(&t).size());
        let (mut ones, mut sums) = (zeros("pixels", size)?, zeros("measurements", seen)?);
        ones.fill(1.0);
        t.apply(&mut sums, &ones, &mut []);
        let (mut weights, mut unit) = (zeros("pixels", size)?, zeros("measurements", seen)?);
        unit.fill(1.0);
        t.adjoint_add(&mut weights, &unit, &mut []);
        let enlarged = 1.0 + (t.terms() + 8) as f64 * f64::EPSILON;
        t.norm_bound = finite((norm_inf::<f64>(&sums) * norm_inf::<f64>(&weights)).sqrt() * enlarged)?;
        Ok(t)
    }

    /// Numbers that an entry of Tx or T*y is the sum of, at most: two a row of a ray, or a few rays an angle.
    fn terms(&self) -> usize {
        let block = &self.domain.blocks()[0];
        2 * block.rows.max(block.cols) + 8 * self.angles.len()
    }

    fn ray(&self, (sin, cos): (f64, f64), detector: usize) -> Ray {
        let block = &self.domain.blocks()[0];
        let s = detector as f64 - (self.detectors / 2) as f64;
        let (row, column) = ((block.rows / 2) as f64 - s * sin, (block.cols / 2) as f64 + s * cos);
        let (down, right) = match self.source {
            None => (cos, sin),
            Some(distance) => {
                let (down, right) = (distance * cos - s * sin, distance * sin + s * cos);
                let length = down.hypot(right);
                (down / length, right / length)
            }
        };
        Ray { row, column, down, right }
    }

    /// Calls `each` with the places and weights that a ray has in the image: the only description of T that there is.
    #[inline(always)]
    fn walk(&self, ray: Ray, mut each: impl FnMut(usize, f64)) {
        let block = &self.domain.blocks()[0];
        let steep = ray.down.abs() >= ray.right.abs();
        let (steps, width, stride, across) =
            if steep { (block.rows, block.cols, block.cols, 1) } else { (block.cols, block.rows, 1, block.cols) };
        let (begin, at, along, aside) = match steep {
            true => (ray.row, ray.column, ray.down, ray.right),
            false => (ray.column, ray.row, ray.right, ray.down),
        };
        let (slope, length) = (aside / along, 1.0 / along.abs());
        for step in 0..steps {
            let place = at + (step as f64 - begin) * slope;
            let before = place.floor();
            let (part, before) = (place - before, before as i64);
            if (0..width as i64).contains(&before) {
                each(step * stride + before as usize * across, (1.0 - part) * length);
            }
            if (0..width as i64).contains(&(before + 1)) {
                each(step * stride + (before + 1) as usize * across, part * length);
            }
        }
    }
}

impl<S: Real> LinOp<S> for Radon {
    fn domain(&self) -> &Layout {
        &self.domain
    }

    fn range(&self) -> &Layout {
        &self.range
    }

    fn norm_bound(&self) -> f64 {
        self.norm_bound * (1.0 + 4.0 * S::EPSILON) // weights are rounded to S
    }

    fn rounding(&self) -> f64 {
        (self.terms() + 4) as f64 * S::EPSILON * self.norm_bound
    }

    fn apply(&self, y: &mut [S], x: &[S], _: &mut [S]) {
        let nanoseconds = 4 * self.terms() * y.len();
        threads::share(nanoseconds, y.chunks_exact_mut(self.detectors).zip(&self.angles), |(row, &angle)| {
            for (j, y) in row.iter_mut().enumerate() {
                let mut sum = 0.0;
                self.walk(self.ray(angle, j), |place, weight| sum += weight * x[place].f64());
                *y = S::of(sum);
            }
        });
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], _: &mut [S]) {
        for (row, &angle) in y.chunks_exact(self.detectors).zip(&self.angles) {
            for (j, &y) in row.iter().enumerate() {
                self.walk(self.ray(angle, j), |place, weight| x[place] += S::of(weight) * y);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::laws;

    #[test]
    fn obeys_the_laws_in_both_precisions() {
        let degrees = [0.0, 17.0, 45.0, 90.0, 133.0, 271.5];
        for source in [None, Some(9.0)] {
            for (rows, cols) in [(6, 6), (5, 7)] {
                let t = Radon::new((rows, cols), &degrees, 9, source).unwrap();
                laws::check::<f32>(&t);
                laws::check::<f64>(&t);
            }
        }
    }

    #[test]
    fn upright_rays_are_sums_of_columns_and_rows() {
        let x: Vec<f64> = (0..16).map(f64::from).collect();
        let t = Radon::new((4, 4), &[0.0, 90.0], 4, None).unwrap();
        let mut y = [f64::NAN; 8];
        t.apply(&mut y, &x, &mut []);
        let close = |y: &[f64], expected: [f64; 4]| y.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close(&y[..4], [24.0, 28.0, 32.0, 36.0]), "{y:?}");
        // At 90° detector 2 + s sees row 2 − s; detector 0 looks at row 4, which is not there.
        assert!(close(&y[4..], [0.0, 54.0, 38.0, 22.0]), "{y:?}");
    }

    #[test]
    fn a_disk_weighs_the_same_from_everywhere() {
        let inside = |at: usize| ((at / 40) as f64 - 20.0).hypot((at % 40) as f64 - 20.0) < 12.0;
        let x: Vec<f64> = (0..1600).map(|at| f64::from(u8::from(inside(at)))).collect();
        let t = Radon::new((40, 40), &[0.0, 30.0, 45.0, 77.0, 120.0], 57, None).unwrap();
        let mut y = vec![f64::NAN; 5 * 57];
        t.apply(&mut y, &x, &mut []);
        let weight: f64 = x.iter().sum();
        assert!(y.chunks_exact(57).all(|row| (row.iter().sum::<f64>() / weight - 1.0).abs() < 0.01));
    }

    #[test]
    fn bad_geometry_is_refused() {
        assert!(Radon::new((4, 4), &[], 4, None).is_err());
        assert!(Radon::new((4, 4), &[0.0], 0, None).is_err());
        assert!(Radon::new((4, 4), &[f64::NAN], 4, None).is_err());
        assert!(Radon::new((4, 4), &[0.0], 4, Some(2.0)).is_err());
    }
}
