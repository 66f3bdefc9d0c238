//! d = −UVᵀ over the nonzero singular values, ‖φ‖_* = Σσᵢ, by a dense SVD in `f64`: the reference.

use super::gram::of_decomposition;
use super::shape::Shape;
use super::{Polar, normalise};
use crate::geometry::{Answer, Bracket, Inexactness};
use crate::linalg::{Dense, Into, Mat};
use crate::real::Real;
use crate::vector::dot;

/// How far U and V are from orthonormal, as a rule at most.
const ORTHONORMAL: f64 = 1e-12;

pub(super) struct Svd {
    shape: Shape,
    x: Vec<f64>,
    u: Vec<f64>,
    v: Vec<f64>,
    values: Vec<f64>,
    work: Vec<f64>,
    d: Vec<f64>,
}

impl Svd {
    pub fn new(shape: Shape) -> Self {
        let Shape { rows, cols } = shape;
        Self {
            shape,
            x: vec![0.0; shape.size()],
            u: vec![0.0; rows * shape.short()],
            v: vec![0.0; cols * shape.short()],
            values: vec![0.0; shape.short()],
            work: vec![0.0; f64::svd_work_len(rows, cols)],
            d: vec![0.0; shape.size()],
        }
    }
}

impl<S: Real> Polar<S> for Svd {
    fn polar(&mut self, d: &mut [S], phi: &[S], frobenius: f64) -> Answer {
        let Shape { rows, cols } = self.shape;
        let short = self.shape.short();
        normalise(&mut self.x, phi, frobenius);
        let x = Mat::new(&self.x, rows, cols);
        if !f64::svd(&mut self.values, &mut self.u, &mut self.v, x, &mut self.work) {
            return super::lost(d);
        }
        // Singular values at the level of the data's rounding errors belong to no direction.
        let threshold = self.values[0] * S::EPSILON * self.shape.long() as f64;
        let rank = self.values.iter().take_while(|&&s| s > threshold).count();
        for row in self.u.chunks_exact_mut(short) {
            row[rank..].fill(0.0);
        }
        let (u, v) = (Mat::new(&self.u, rows, short), Mat::new(&self.v, cols, short));
        f64::gemm(&mut self.d, Into::Replace, -1.0, u, v.t());
        d.iter_mut().zip(&self.d).for_each(|(d, &v)| *d = S::of(v));
        let sum: f64 = self.values.iter().sum();
        let error = 8.0 * f64::EPSILON * short as f64 * self.values[0];
        Answer {
            dual_norm: Bracket { lower: (sum - error) * frobenius, upper: (sum + error) * frobenius },
            decrease: -dot(phi, d),
            excess: 0.0,
        }
    }

    fn inexactness(&self) -> Inexactness {
        of_decomposition::<S>(self.shape, ORTHONORMAL)
    }
}
