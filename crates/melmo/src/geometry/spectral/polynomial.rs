//! d = −p(φ/s) for a composition p = p_K∘…∘p_1 of odd quintics acting on singular values, s ≥ σ₁.
//!
//! s is ‖φ‖_F; or, where [`Scale::Tight`] asks for it, ‖GG‖_F^{1/4} = (Σσᵢ⁸)^{1/8}, which the first step knows before it
//! needs it: it exceeds σ₁ by no more than the factor r^{1/8}, and by a third or so where ‖φ‖_F exceeds it eightfold. That
//! saves a step or two. Of several polynomials the shortest is taken whose bracket cannot be too wide at this s/‖φ‖_F: φ of
//! nearly equal singular values needs fewer steps than one of low rank.
//!
//! Directly: X ← X(aI + bG + cG²), G = XᵀX, K times. In Gram space: G is all that the factors P_k = aI + bG + cG²
//! need, for G ← GP_k² follows it, and they commute; so d = −X·P_1⋯P_K takes one Gram matrix and one product with the
//! long side instead of K of each. The error of G counts there relative to σ², so that is for `f64` and moderate
//! slopes at 0 only.

#[cfg(test)]
use super::bounds::Bounds;
use super::bounds::{Arithmetic, Found, Path};
use super::plans::Polynomials;
use super::quintic::Quintic;
use super::shape::Shape;
use super::{Polar, normalise};
use crate::geometry::{Answer, Inexactness};
use crate::patience;
use crate::real::Real;
use crate::vector::{combine, dot_and_square, map_into, norm2};

/// What φ is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// ‖φ‖_F.
    Frobenius,
    /// (Σσᵢ⁸)^{1/8}, and room for rounding.
    Tight,
}

pub(super) struct Polynomial<S> {
    shape: Shape,
    polynomials: Polynomials,
    path: Path,
    scale: Scale,
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
    /// By one of several polynomials, the shortest first.
    pub fn new(shape: Shape, steps: Vec<Vec<Quintic>>, scale: Scale) -> Self {
        let path = steps.first().map_or(Path::Direct, |steps| Self::path(shape, steps));
        // In Gram space the error of G counts relative to s².
        let scale = if path == Path::Direct { scale } else { Scale::Frobenius };
        let direct = path == Path::Direct;
        let zeros = |wanted: bool, len: usize| vec![S::ZERO; if wanted { len } else { 0 }];
        Self {
            shape,
            polynomials: Polynomials::new(steps, shape, Arithmetic::Plain(S::EPSILON), path),
            path,
            scale,
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
        self.polynomials.first()
    }

    #[cfg(test)]
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// K(3mn² + n³) flops directly, 3mn² + 4Kn³ in Gram space: the latter pays from m = 1.5n on (measured).
    fn path(shape: Shape, steps: &[Quintic]) -> Path {
        let pays = 2 * shape.long() >= 3 * shape.short() && steps.len() > 1;
        if pays && Polynomials::serve_in_gram_space(steps, shape, S::EPSILON) { Path::GramSpace } else { Path::Direct }
    }

    /// d ← −p(X/s) for the X that stands in `x`, ‖X‖_F = 1; returns which p, and s. NaN where it is given up.
    fn run(&mut self, d: &mut [S]) -> (usize, f64) {
        match self.path {
            Path::Direct => self.directly(d),
            Path::GramSpace => self.in_gram_space(d),
        }
    }

    fn directly(&mut self, d: &mut [S]) -> (usize, f64) {
        let Self { shape, polynomials, scale, x, y, g, p, h, .. } = self;
        let n = shape.short();
        shape.gram(g, x);
        S::symmetric_product(h, g, g, n);
        let s = if *scale == Scale::Tight { polynomials.scale(norm2(h)) } else { 1.0 };
        let chosen = polynomials.choose(s);
        let steps = polynomials.steps(chosen);
        for (k, step) in steps.iter().enumerate() {
            if k > 0 {
                shape.gram(g, x);
                S::symmetric_product(h, g, g, n);
            }
            factor(p, &if k == 0 { step.of_quotient(s) } else { *step }, g, h, n);
            if patience::is_over() {
                d.fill(S::of(f64::NAN));
                break;
            }
            if k + 1 == steps.len() {
                shape.times(d, -1.0, x, p);
            } else {
                shape.times(y, 1.0, x, p);
                std::mem::swap(x, y);
            }
        }
        (chosen, s)
    }

    fn in_gram_space(&mut self, d: &mut [S]) -> (usize, f64) {
        let Self { shape, polynomials, x, g, p, q, h, .. } = self;
        let steps = polynomials.steps(0);
        let (n, last) = (shape.short(), steps.len() - 1);
        shape.gram(g, x);
        for (k, step) in steps.iter().enumerate() {
            if patience::is_over() {
                d.fill(S::of(f64::NAN));
                return (0, 1.0);
            }
            S::symmetric_product(h, g, g, n);
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
        (0, 1.0)
    }

    /// What is known of the d that was found.
    fn answer<T: Real>(&self, (chosen, s): (usize, f64), phi: &[T], d: &[T], frobenius: f64) -> Answer {
        let (ip, squared) = dot_and_square(phi, d);
        self.polynomials.answer(chosen, Found { ip: -ip, squared, s }, frobenius)
    }
}

impl<S: Real> Polar<S> for Polynomial<S> {
    fn polar(&mut self, d: &mut [S], phi: &[S], frobenius: f64) -> Answer {
        normalise(&mut self.x, phi, frobenius);
        let how = self.run(d);
        self.answer(how, phi, d, frobenius)
    }

    fn inexactness(&self) -> Inexactness {
        self.polynomials.inexactness()
    }
}

/// P ← aI + bG + cH, H = G².
fn factor<S: Real>(p: &mut [S], step: &Quintic, g: &[S], h: &[S], n: usize) {
    combine(p, [step.b, step.c], g, h);
    p.iter_mut().step_by(n + 1).for_each(|p| *p += S::of(step.a));
}

/// The polynomial of a matrix in `f64` evaluated in `f32`: twice the speed; ⟨φ, d⟩ is that of the given φ and d.
pub(super) struct Single {
    inner: Polynomial<f32>,
    d: Vec<f32>,
}

impl Single {
    pub fn new(shape: Shape, polynomials: Vec<Vec<Quintic>>, scale: Scale) -> Self {
        Self { inner: Polynomial::new(shape, polynomials, scale), d: vec![0.0; shape.size()] }
    }
}

impl<S: Real> Polar<S> for Single {
    fn polar(&mut self, d: &mut [S], phi: &[S], frobenius: f64) -> Answer {
        normalise(&mut self.inner.x, phi, frobenius);
        let how = self.inner.run(&mut self.d);
        widen(d, &self.d);
        self.inner.answer(how, phi, d, frobenius)
    }

    fn inexactness(&self) -> Inexactness {
        self.inner.polynomials.inexactness()
    }
}

/// d ← the same numbers in the precision of φ.
fn widen<S: Real>(d: &mut [S], single: &[f32]) {
    map_into(
        d,
        single,
        #[inline(always)]
        |single| S::of(single.into()),
    );
}
