use crate::block::Layout;
use crate::error::Error;
use crate::operator::{LinOp, RightInverse};
use crate::real::Real;

/// (Tx)ᵢⱼ = the mean of the s×s pixels of x that lie there: a smaller picture.
///
/// TT* = I/s², so ‖T‖₂ = 1/s and s²T* is a right inverse: every pixel again s×s times, σ_min = 1/s.
#[derive(Clone, Debug)]
pub struct Downsample {
    domain: Layout,
    range: Layout,
    factor: usize,
}

impl Downsample {
    /// Of a rows×cols image, whose sides are multiples of the factor.
    pub fn new(rows: usize, cols: usize, factor: usize) -> Result<Self, Error> {
        let domain = Layout::matrix(rows, cols)?;
        let divides = factor > 0 && rows.is_multiple_of(factor) && cols.is_multiple_of(factor);
        Error::expect_parameter("factor", factor as f64, divides, "a whole number that divides rows and columns")?;
        Ok(Self { domain, range: Layout::matrix(rows / factor, cols / factor)?, factor })
    }

    /// x ← x + w·(every pixel of y, s×s times).
    fn spread<S: Real>(&self, x: &mut [S], y: &[S], weight: S) {
        let (wide, cols) = (self.domain.blocks()[0].cols, self.range.blocks()[0].cols);
        for (i, row) in x.chunks_exact_mut(wide).enumerate() {
            let from = &y[i / self.factor * cols..][..cols];
            for (group, &v) in row.chunks_exact_mut(self.factor).zip(from) {
                group.iter_mut().for_each(|x| *x += weight * v);
            }
        }
    }
}

impl<S: Real> LinOp<S> for Downsample {
    fn domain(&self) -> &Layout {
        &self.domain
    }

    fn range(&self) -> &Layout {
        &self.range
    }

    fn norm_bound(&self) -> f64 {
        (1.0 + 8.0 * S::EPSILON) / self.factor as f64
    }

    fn rounding(&self) -> f64 {
        (self.factor * self.factor + 2) as f64 * S::EPSILON / self.factor as f64
    }

    fn apply(&self, y: &mut [S], x: &[S], _: &mut [S]) {
        let (wide, cols) = (self.domain.blocks()[0].cols, self.range.blocks()[0].cols);
        let weight = S::of(1.0 / (self.factor * self.factor) as f64);
        for (row, lines) in y.chunks_exact_mut(cols).zip(x.chunks_exact(wide * self.factor)) {
            row.fill(S::ZERO);
            for line in lines.chunks_exact(wide) {
                for (y, group) in row.iter_mut().zip(line.chunks_exact(self.factor)) {
                    group.iter().for_each(|&v| *y += v);
                }
            }
            row.iter_mut().for_each(|y| *y *= weight);
        }
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], _: &mut [S]) {
        self.spread(x, y, S::of(1.0 / (self.factor * self.factor) as f64));
    }

    fn right_inverse(&self) -> Option<&dyn RightInverse<S>> {
        Some(self)
    }
}

impl<S: Real> RightInverse<S> for Downsample {
    fn right_inverse(&self, x: &mut [S], y: &[S], _: &mut [S]) {
        x.fill(S::ZERO);
        self.spread(x, y, S::ONE);
    }

    fn sigma_min(&self) -> f64 {
        (1.0 - 8.0 * S::EPSILON) / self.factor as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::laws;

    #[test]
    fn obeys_the_laws_in_both_precisions() {
        for (rows, cols, factor) in [(4, 6, 2), (6, 3, 3), (2, 5, 1)] {
            laws::check::<f32>(&Downsample::new(rows, cols, factor).unwrap());
            laws::check::<f64>(&Downsample::new(rows, cols, factor).unwrap());
        }
    }

    #[test]
    fn takes_means() {
        let t = Downsample::new(2, 4, 2).unwrap();
        let mut y = [f64::NAN; 2];
        t.apply(&mut y, &[1.0, 2.0, 0.0, 0.0, 3.0, 6.0, 0.0, 4.0], &mut []);
        assert_eq!(y, [3.0, 1.0]);
    }

    #[test]
    fn sides_that_do_not_divide_are_refused() {
        assert!(Downsample::new(5, 4, 2).is_err() && Downsample::new(4, 4, 0).is_err());
    }
}
