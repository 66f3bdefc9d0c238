//! d = −φQΛ^{−1/2}Qᵀ with φᵀφ = QΛQᵀ, ‖φ‖_* = Σ√λᵢ: exact while the squared singular values keep their digits.
//!
//! G is known up to δ, so σᵢ lies between √(λᵢ − δ) and √(λᵢ + δ); δ is of its usual size (docs/brackets.md). The direction X(G + Δ)^{−1/2} is an isometry on
//! the range of X up to e = δ/λ_min only:
//! - e ≤ 10⁻⁸: taken as it is;
//! - e ≤ 10⁻⁴: one Newton–Schulz step D ← D(3I − DᵀD)/2 makes it an isometry up to ¾e². It is then turned from −UVᵀ by
//!   less than e, which ⟨φ, d⟩ feels as e² (it is stationary at the polar factor): both facts that proofs use hold to
//!   10⁻⁸, for one Gram matrix and one product instead of an SVD that costs ten times as much on tall blocks;
//! - above: the SVD. That is σ_min/σ₁ below 10⁻⁵ or so.
//!
//! A λ too small to be told from 0 is told by its vector: ‖Xqᵢ‖ at the level of the data's rounding errors means that
//! qᵢ is in the null space, where d is 0. So matrices of low rank (a factor's dead component) need no SVD.
//!
//! All in `f64`, also for `f32` data: squares of single precision would leave σ_min/σ₁ ≥ 10⁻² only.

use super::shape::Shape;
use super::svd::Svd;
use super::{Polar, normalise};
use crate::geometry::{Answer, Bracket, Inexactness};
use crate::linalg::{Dense, Into, Mat};
use crate::real::Real;
use crate::vector::{dot, map_into, norm2_squared};

/// e up to which the direction is taken as it is.
const EXACT: f64 = 1e-8;
/// e up to which one Newton–Schulz step brings it there.
const POLISH: f64 = 1e-4;

pub(super) struct Gram {
    shape: Shape,
    x: Vec<f64>,
    d: Vec<f64>,
    g: Vec<f64>,
    /// Row i is the i-th eigenvector.
    q: Vec<f64>,
    values: Vec<f64>,
    work: Vec<f64>,
    fallback: Svd,
}

/// The first `count` eigenvectors span the null space, up to singular values that sum to no more than `lost`.
struct Null {
    count: usize,
    lost: f64,
}

impl Gram {
    pub fn new(shape: Shape) -> Self {
        Self {
            shape,
            x: vec![0.0; shape.size()],
            d: vec![0.0; shape.size()],
            g: vec![0.0; shape.square()],
            q: vec![0.0; shape.square()],
            values: vec![0.0; shape.short()],
            work: vec![0.0; f64::eigen_work_len(shape.short())],
            fallback: Svd::new(shape),
        }
    }

    /// The null space, when every eigenvalue below `limit` belongs to it: ‖Xqᵢ‖ ≤ tolerance.
    fn null(&mut self, limit: f64, tolerance: f64) -> Option<Null> {
        let Self { shape, x, d, q, values, .. } = self;
        let (n, long) = (shape.short(), shape.long());
        let count = values.partition_point(|&v| v < limit);
        let mut squares = 0.0;
        for q in q.chunks_exact(n).take(count) {
            f64::gemm(d, Into::Replace, 1.0, shape.tall(x), Mat::new(q, n, 1));
            let square = norm2_squared(&d[..long]);
            if square > tolerance * tolerance {
                return None;
            }
            squares += square;
        }
        // The squares of the smallest singular values sum to no more than those of any orthonormal vectors' images.
        Some(Null { count, lost: (count as f64 * squares).sqrt() })
    }

    /// D ← X·QΛ^{−1/2}Qᵀ off the null space: the rows of Q, scaled by λ^{−1/4}, have the factor as their Gram matrix.
    fn inverse_root(&mut self, null: usize) {
        let Self { shape, x, d, g, q, values, .. } = self;
        let n = shape.short();
        for (i, (row, &lambda)) in q.chunks_exact_mut(n).zip(&*values).enumerate() {
            let scale = if i < null { 0.0 } else { 1.0 / lambda.sqrt().sqrt() };
            row.iter_mut().for_each(|v| *v *= scale);
        }
        f64::gram(g, Mat::new(q, n, n));
        shape.times(d, 1.0, x, g);
    }

    /// D ← D(3I − DᵀD)/2.
    fn polish(&mut self) {
        let Self { shape, x, d, g, .. } = self;
        shape.gram(g, d);
        g.iter_mut().for_each(|v| *v *= -0.5);
        g.iter_mut().step_by(shape.short() + 1).for_each(|v| *v += 1.5);
        shape.times(x, 1.0, d, g);
        std::mem::swap(x, d);
    }
}

impl<S: Real> Polar<S> for Gram {
    fn polar(&mut self, d: &mut [S], phi: &[S], frobenius: f64) -> Answer {
        let (n, long) = (self.shape.short(), self.shape.long());
        normalise(&mut self.x, phi, frobenius);
        self.shape.gram(&mut self.g, &self.x);
        if !f64::eigen(&mut self.values, &mut self.q, &self.g, n, &mut self.work) {
            return self.fallback.polar(d, phi, frobenius);
        }
        let delta = eigenvalue_error(self.shape, self.values.iter().sum());
        let noise = S::EPSILON * long as f64 * self.values[n - 1].sqrt();
        let Some(null) = self.null(delta / POLISH, noise) else {
            return self.fallback.polar(d, phi, frobenius);
        };
        self.inverse_root(null.count);
        let mut e = self.values.get(null.count).map_or(0.0, |least| delta / least);
        if e > EXACT {
            self.polish();
            e *= e;
        }
        map_into(
            d,
            &self.d,
            #[inline(always)]
            |v| S::of(-v),
        );
        let roots = root_sums(&self.values[null.count..], delta);
        Answer {
            dual_norm: Bracket { lower: roots.lower * frobenius, upper: (roots.upper + null.lost) * frobenius },
            decrease: -dot(phi, d),
            excess: e,
        }
    }

    fn inexactness(&self) -> Inexactness {
        of_decomposition::<S>(self.shape, EXACT)
    }
}

/// Of a direction that is an isometry up to `off`, but for singular values that are taken for rounding errors of S; d is rounded
/// to S as well.
pub(super) fn of_decomposition<S: Real>(shape: Shape, off: f64) -> Inexactness {
    let (short, long) = (shape.short() as f64, shape.long() as f64);
    let rounded = S::EPSILON * short.sqrt();
    let eta = (S::EPSILON * short * long + rounded + 4.0 * off).min(1.0);
    Inexactness { eta, excess: off + rounded, proven: false }
}

/// δ: how far the eigenvalues of a computed G are off, beside a relative error. Twice what was seen in 10⁴ matrices.
pub(crate) fn eigenvalue_error(shape: Shape, trace: f64) -> f64 {
    f64::EPSILON * (4.0 + (shape.long() as f64).sqrt() / 8.0) * trace
}

/// Σ√(λᵢ ∓ δ), and 16ε for the relative error.
pub(super) fn root_sums(values: &[f64], delta: f64) -> Bracket {
    let sum = |shift: f64| values.iter().map(|&v| (v + shift).max(0.0).sqrt()).sum::<f64>();
    let relative = 16.0 * f64::EPSILON;
    Bracket { lower: sum(-delta) * (1.0 - relative), upper: sum(delta) * (1.0 + relative) }
}
