//! The largest eigenpair (θ, q) of A = XᵀX by thick-restart Lanczos, and a proof that no eigenvalue is much larger.
//!
//! The same Krylov spaces as Golub–Kahan bidiagonalisation of X, with one basis instead of two and one pass over X a
//! step; squaring costs the leading value no digits. The basis is kept orthogonal to rounding.
//!
//! With Ritz values θ₁ ≥ θ₂ ≥ …, residuals rᵢ = ‖Avᵢ − θᵢvᵢ‖ and the first j of them split off, A = [Θ R; Rᵀ B] with
//! ‖R‖² ≤ Σrᵢ² and, B being positive semidefinite, ‖B‖ ≤ tr B = ‖X‖_F² − Σθᵢ. So ‖A‖ is at most the larger eigenvalue
//! of [θ₁ ‖R‖; ‖R‖ tr B], for every j.

use super::{Shape, product};
use crate::linalg::{Dense, Into, Mat};
use crate::real::Real;
use crate::seeded::Seeded;
use crate::vector::{axpy, dot, norm2, norm2_squared, scale_into};

/// Vectors in the basis.
const BASIS: usize = 32;
/// Ritz vectors that survive a restart.
const KEPT: usize = 10;
/// Steps between two looks at the residual: a look costs an eigendecomposition of T.
const LOOK: usize = 4;
/// Restarts after which the pair is taken as it is; the bracket tells.
const RESTARTS: usize = 20;
/// How much of the fixed random vector is mixed into a start: the last answer may be an exact singular vector of the
/// new φ, but no longer the leading one, and the iteration would never leave it.
const MIX: f64 = 0.01;

pub(super) struct Lanczos<S> {
    shape: Shape,
    tolerance: f64,
    random: Vec<f64>,
    /// What the last call started from, and what the next one will.
    start: Vec<S>,
    next: Vec<S>,
    /// Row i is vᵢ.
    v: Vec<f64>,
    kept: Vec<f64>,
    w: Vec<f64>,
    long: Vec<f64>,
    /// VᵀAV, with row length `BASIS`; its leading part; that part's eigenvalues (ascending) and eigenvectors (rows).
    t: Vec<f64>,
    part: Vec<f64>,
    values: Vec<f64>,
    vectors: Vec<f64>,
    work: Vec<f64>,
}

impl<S: Real> Lanczos<S> {
    pub fn new(shape: Shape, tolerance: f64) -> Self {
        let n = shape.short();
        let random: Vec<f64> = Seeded::new(n as u64).normals(n);
        let length = norm2(&random);
        let random: Vec<f64> = random.iter().map(|v| v / length).collect();
        let start: Vec<S> = random.iter().map(|&v| S::of(v)).collect();
        Self {
            shape,
            tolerance,
            next: start.clone(),
            start,
            random,
            v: vec![0.0; (BASIS + 1) * n],
            kept: vec![0.0; KEPT * n],
            w: vec![0.0; n],
            long: vec![0.0; shape.long()],
            t: vec![0.0; BASIS * BASIS],
            part: vec![0.0; BASIS * BASIS],
            values: vec![0.0; BASIS],
            vectors: vec![0.0; BASIS * BASIS],
            work: vec![0.0; (1..=BASIS).map(f64::eigen_work_len).max().unwrap_or(0)],
        }
    }

    /// What the last call started from.
    pub fn start(&self) -> &[S] {
        &self.start
    }

    /// What the next call will start from; nothing: what the first call ever started from.
    pub fn remember(&mut self, vector: &[S]) {
        if vector.is_empty() {
            self.next.iter_mut().zip(&self.random).for_each(|(next, &v)| *next = S::of(v));
        } else if vector.len() == self.next.len() {
            self.next.copy_from_slice(vector);
        }
    }

    /// q ← the leading singular vector of the short side; an upper bound of σ₁ is returned.
    pub fn leading(&mut self, q: &mut [f64], x: &[S]) -> f64 {
        let n = self.shape.short();
        let trace = norm2_squared(x);
        self.begin();
        let (mut size, mut restarts) = (0, 0);
        loop {
            let beta = self.step(size, x);
            size += 1;
            let full = size == BASIS.min(n);
            if full || size % LOOK == 0 || beta <= f64::EPSILON * trace {
                self.project(size);
                let theta = self.values[size - 1];
                let settled = beta * self.vectors[size * size - 1].abs() <= self.tolerance * theta;
                if settled || beta <= f64::EPSILON * trace || (full && restarts == RESTARTS) {
                    f64::gemm(q, Into::Replace, 1.0, self.ritz_weights(size, 1), Mat::new(&self.v, size, n));
                    return self.bound(size, beta, trace);
                }
                if full {
                    self.restart(size);
                    size = KEPT;
                    restarts += 1;
                }
            }
            scale_into(&mut self.v[size * n..(size + 1) * n], 1.0 / beta, &self.w);
        }
    }

    /// v₀ ← the remembered vector with a little of the random one.
    fn begin(&mut self) {
        let n = self.shape.short();
        std::mem::swap(&mut self.start, &mut self.next);
        self.next.copy_from_slice(&self.start);
        let length = norm2(&self.start);
        let first = &mut self.v[..n];
        first.copy_from_slice(&self.random);
        if length > 0.0 && length.is_finite() {
            for (v, start) in first.iter_mut().zip(&self.start) {
                *v = MIX * *v + start.f64() / length;
            }
        }
        let length = norm2(first);
        first.iter_mut().for_each(|v| *v /= length);
    }

    /// w ← A·v_k made orthogonal to v₀…v_k, with the coefficients in T; ‖w‖ is returned.
    fn step(&mut self, k: usize, x: &[S]) -> f64 {
        let n = self.shape.short();
        let Self { v, w, t, .. } = self;
        product::normal(w, &mut self.long, self.shape, x, &v[k * n..(k + 1) * n]);
        t[k * BASIS..k * BASIS + k + 1].fill(0.0);
        // Twice is enough (Kahan, Parlett).
        for _ in 0..2 {
            for (i, v) in v.chunks_exact(n).take(k + 1).enumerate() {
                let overlap = dot(v, w);
                axpy(w, -overlap, v);
                t[k * BASIS + i] += overlap;
            }
        }
        norm2(w)
    }

    /// The eigenpairs of the leading part of T.
    fn project(&mut self, size: usize) {
        let Self { t, part, values, vectors, work, .. } = self;
        for i in 0..size {
            for j in 0..=i {
                part[i * size + j] = t[i * BASIS + j];
                part[j * size + i] = t[i * BASIS + j];
            }
        }
        // T is finite and small: the decomposition does not fail; if it did, the old values would only cost steps.
        f64::eigen(values, vectors, part, size, work);
    }

    /// The coefficients of the last `count` Ritz vectors, those of the largest values.
    fn ritz_weights(&self, size: usize, count: usize) -> Mat<'_, f64> {
        Mat::new(&self.vectors[(size - count) * size..], count, size)
    }

    /// The basis becomes the `KEPT` best Ritz vectors, T their values.
    fn restart(&mut self, size: usize) {
        let n = self.shape.short();
        let weights = Mat::new(&self.vectors[(size - KEPT) * size..], KEPT, size);
        f64::gemm(&mut self.kept, Into::Replace, 1.0, weights, Mat::new(&self.v, size, n));
        self.v[..KEPT * n].copy_from_slice(&self.kept);
        for i in 0..KEPT {
            self.t[i * BASIS..(i + 1) * BASIS].fill(0.0);
            self.t[i * BASIS + i] = self.values[size - KEPT + i];
        }
    }

    /// An upper bound of σ₁ from the Ritz values, their residuals and the trace.
    fn bound(&self, size: usize, beta: f64, trace: f64) -> f64 {
        let rounding = f64::EPSILON * (16.0 + (self.shape.long() as f64).sqrt()) * trace;
        let largest = self.values[size - 1];
        let (mut rest, mut coupling, mut least) = (trace, 0.0, trace);
        for i in (0..size).rev() {
            rest -= self.values[i];
            coupling += (beta * self.vectors[i * size + size - 1]).powi(2);
            let b = rest.max(0.0) + rounding;
            let bound = 0.5 * (largest + b) + (0.25 * (largest - b).powi(2) + coupling).sqrt();
            least = bound.min(least);
        }
        (least + rounding).sqrt()
    }
}
