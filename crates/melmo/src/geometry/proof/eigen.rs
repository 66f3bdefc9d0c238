//! Singular values from the eigenvalues of G = XᵀX, with an error δ that is proven: √(λᵢ − δ) ≤ σᵢ ≤ √(λᵢ + δ).

use super::residual::{of_eigen, of_gram, off_orthonormal};
use super::{UNIT, parts};
use crate::geometry::Bracket;
use crate::geometry::spectral::Shape;
use crate::linalg::{Dense, Into, Mat};
use crate::vector::{norm2, norm2_squared};

/// Vectors less orthogonal than this prove nothing.
const DEFECT: f64 = 0.01;

/// Eigenvalues below so many δ may have a share of Σσᵢ that their vectors know better.
const FAINT: f64 = 1e6;

pub(super) struct Eigen {
    shape: Shape,
    /// Ascending; row i of `q` is the i-th vector.
    values: Vec<f64>,
    q: Vec<f64>,
    /// No λᵢ is further than this from σᵢ².
    delta: f64,
}

impl Eigen {
    /// Of X; none where the iteration fails or its vectors are not orthonormal.
    pub fn new(x: &[f64], shape: Shape) -> Option<Self> {
        let n = shape.short();
        let (mut g, mut q, mut values) = (vec![0.0; n * n], vec![0.0; n * n], vec![0.0; n]);
        shape.gram(&mut g, x);
        if !f64::eigen(&mut values, &mut q, &g, n, &mut vec![0.0; f64::eigen_work_len(n)]) {
            return None;
        }
        let mut work = vec![0.0; n * n];
        let defect = off_orthonormal(Mat::new(&q, n, n).t(), &mut work);
        let trace = g.iter().step_by(n + 1).sum();
        let delta = of_gram(shape, trace) + of_eigen(&g, &q, &values, defect, &mut work);
        (defect <= DEFECT && delta.is_finite()).then_some(Self { shape, values, q, delta })
    }

    /// σ₁.
    pub fn largest(&self) -> Bracket {
        self.roots(self.values.len() - 1)
    }

    /// Σσᵢ: all by their eigenvalues, or the smallest j together by ‖Xqᵢ‖, whichever j is best.
    pub fn sum(&self, x: &[f64]) -> Bracket {
        let Bracket { lower, mut upper } = self.roots(0);
        let n = self.shape.short();
        let count = self.values.partition_point(|&v| v < FAINT * self.delta);
        if count > 0 {
            let lengths = [self.shape.long() * count, count];
            let mut room = vec![0.0; lengths.iter().sum()];
            let [images, squares] = parts(&mut room, lengths);
            f64::gemm(images, Into::Replace, 1.0, self.shape.tall(x), Mat::new(&self.q, count, n).t());
            for row in images.chunks_exact(count) {
                squares.iter_mut().zip(row).for_each(|(square, v)| *square += v * v);
            }
            // An image is rounded by n + 1 units of ‖X‖_F‖qᵢ‖, and its square is a sum of one sign.
            let (off, long) = (1.01 * UNIT * (n + 4) as f64 * norm2(x), 1.0 + UNIT * (self.shape.long() + 8) as f64);
            let mut total = 0.0;
            for (j, square) in (1..).zip(squares) {
                total += *square;
                let j_f = j as f64;
                let faint = (DEFECT + 1.01) * ((j_f * total).sqrt() * long + j_f * off);
                upper = upper.min((self.roots(j).upper + faint) * (1.0 + 1e-15));
            }
        }
        Bracket { lower, upper: upper.min((n as f64).sqrt() * norm2_squared(x).sqrt() * (1.0 + 1e-12)) }
    }

    /// Σσᵢ without the j smallest.
    fn roots(&self, j: usize) -> Bracket {
        let sum = |shift: f64| self.values[j..].iter().map(|&v| (v + shift).max(0.0).sqrt()).sum::<f64>();
        let relative = 2.0 * UNIT * (8 + self.values.len()) as f64;
        Bracket { lower: sum(-self.delta) * (1.0 - relative), upper: sum(self.delta) * (1.0 + relative) }
    }
}
