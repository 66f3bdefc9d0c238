//! d = −p(φ/‖φ‖_F) for a composition p = p_K∘…∘p_1 of odd quintics acting on singular values.
//!
//! Directly: X ← X(aI + bG + cG²), G = XᵀX, K times. In Gram space: G is all that the factors P_k = aI + bG + cG²
//! need, for G ← GP_k² follows it, and they commute; so d = −X·P_1⋯P_K takes one Gram matrix and one product with the
//! long side instead of K of each. The error of G counts there relative to σ², so that is for `f64` and moderate
//! slopes at 0 only.

use super::bounds::{Bounds, Path};
use super::quintic::Quintic;
use super::shape::Shape;
use super::{Polar, normalise};
use crate::geometry::Answer;
use crate::real::Real;
use crate::vector::{dot, simd};

/// In Gram space rounding may move ⟨φ, d⟩ by so much of ‖φ‖_F: well below what the polynomials leave.
const GRAM_SPACE_SLACK: f64 = 1e-4;

pub(super) struct Polynomial<S> {
    shape: Shape,
    steps: Vec<Quintic>,
    bounds: Bounds,
    path: Path,
    /// The matrix, and the place of the next one.
    x: Vec<S>,
    y: Vec<S>,
    /// Matrices on the short side.
    g: Vec<S>,
    p: Vec<S>,
    q: Vec<S>,
    h: Vec<S>,
}

impl<S: Real> Polynomial<S> {
    pub fn new(shape: Shape, steps: Vec<Quintic>) -> Self {
        let path = Self::path(shape, &steps);
        let direct = path == Path::Direct;
        let zeros = |wanted: bool, len: usize| vec![S::ZERO; if wanted { len } else { 0 }];
        Self {
            shape,
            bounds: Bounds::new(&steps, shape, S::EPSILON, path),
            steps,
            path,
            x: zeros(true, shape.size()),
            y: zeros(direct, shape.size()),
            g: zeros(true, shape.square()),
            p: zeros(true, shape.square()),
            q: zeros(!direct, shape.square()),
            h: zeros(true, shape.square()),
        }
    }

    #[cfg(test)]
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// K(3mn² + n³) flops directly, 3mn² + 4Kn³ in Gram space: the latter pays from m = 1.5n on (measured).
    fn path(shape: Shape, steps: &[Quintic]) -> Path {
        let pays = 2 * shape.long() >= 3 * shape.short() && steps.len() > 1;
        let accurate = || Bounds::new(steps, shape, S::EPSILON, Path::GramSpace).slack() <= GRAM_SPACE_SLACK;
        if pays && accurate() { Path::GramSpace } else { Path::Direct }
    }

    /// d ← −p(X) for the X that stands in `x`, ‖X‖_F = 1.
    fn run(&mut self, d: &mut [S]) {
        match self.path {
            Path::Direct => self.directly(d),
            Path::GramSpace => self.in_gram_space(d),
        }
    }

    fn directly(&mut self, d: &mut [S]) {
        let Self { shape, steps, x, y, g, p, h, .. } = self;
        let last = steps.len() - 1;
        for (k, step) in steps.iter().enumerate() {
            shape.gram(g, x);
            factor(p, step, g, h, shape.short());
            if k == last {
                shape.times(d, -1.0, x, p);
            } else {
                shape.times(y, 1.0, x, p);
                std::mem::swap(x, y);
            }
        }
    }

    fn in_gram_space(&mut self, d: &mut [S]) {
        let Self { shape, steps, x, g, p, q, h, .. } = self;
        let (n, last) = (shape.short(), steps.len() - 1);
        shape.gram(g, x);
        for (k, step) in steps.iter().enumerate() {
            factor(p, step, g, h, n);
            if k == 0 {
                q.copy_from_slice(p);
            } else {
                S::symmetric_product(h, q, p, n);
                std::mem::swap(q, h);
            }
            if k < last {
                S::symmetric_product(h, g, p, n);
                S::symmetric_product(g, h, p, n);
            }
        }
        shape.times(d, -1.0, x, q);
    }
}

impl<S: Real> Polar<S> for Polynomial<S> {
    fn polar(&mut self, d: &mut [S], phi: &[S], frobenius: f64) -> Answer {
        normalise(&mut self.x, phi, frobenius);
        self.run(d);
        self.bounds.answer(-dot(phi, d), frobenius)
    }
}

/// P ← aI + bG + cG², with H ← G² on the way.
fn factor<S: Real>(p: &mut [S], step: &Quintic, g: &[S], h: &mut [S], n: usize) {
    S::symmetric_product(h, g, g, n);
    let (b, c) = (S::of(step.b), S::of(step.c));
    simd(
        #[inline(always)]
        || {
            for ((p, &g), &h) in p.iter_mut().zip(g).zip(&*h) {
                *p = b * g + c * h;
            }
        },
    );
    p.iter_mut().step_by(n + 1).for_each(|p| *p += S::of(step.a));
}

/// The polynomial of a matrix in `f64` evaluated in `f32`: twice the speed; ⟨φ, d⟩ is that of the given φ and d.
pub(super) struct Single {
    inner: Polynomial<f32>,
    d: Vec<f32>,
}

impl Single {
    pub fn new(shape: Shape, steps: Vec<Quintic>) -> Self {
        Self { inner: Polynomial::new(shape, steps), d: vec![0.0; shape.size()] }
    }
}

impl<S: Real> Polar<S> for Single {
    fn polar(&mut self, d: &mut [S], phi: &[S], frobenius: f64) -> Answer {
        normalise(&mut self.inner.x, phi, frobenius);
        self.inner.run(&mut self.d);
        d.iter_mut().zip(&self.d).for_each(|(d, &single)| *d = S::of(single as f64));
        self.inner.bounds.answer(-dot(phi, d), frobenius)
    }
}
