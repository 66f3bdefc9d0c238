//! The largest eigenpair (θ, q) of A = XᵀX by thick-restart Lanczos, and a proof that no eigenvalue is much larger.
//!
//! The same Krylov spaces as Golub–Kahan bidiagonalisation of X, with one basis instead of two and one pass over X a
//! step; squaring costs the leading value no digits. The basis is kept orthogonal to rounding. T = VᵀAV is tridiagonal
//! before the first restart, so that a look at its leading pair costs next to nothing ([`tridiagonal`]).
//!
//! The upper end follows from the Ritz values, their residuals and the trace (docs/brackets.md).

use super::single::Single;
use super::{LOOSE, Shape, product, tridiagonal};
use crate::linalg::{Dense, Into, Mat};
use crate::real::Real;
use crate::seeded::Seeded;
use crate::vector::{norm2, scale_into};

/// Vectors in the basis: no more than the short side of a block that is not small.
const BASIS: usize = 64;
/// Ritz vectors that survive a restart.
const KEPT: usize = 16;
/// Steps between two looks at the residual: before the first restart, and after it, where a look costs an
/// eigendecomposition of T.
const LOOK: usize = 2;
const RARE_LOOK: usize = 12;
/// Steps after which a spectrum that has not shown a fifth of its trace for the leading value is taken to be flat.
const FLAT: usize = 4;
/// Looks that a settled pair waits for its bound to become tight, when that is near: cheaper than a proof.
const PATIENCE: usize = 4;
/// Restarts after which the pair is taken as it is; the bracket tells.
const RESTARTS: usize = 12;
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
    overlaps: Vec<f64>,
    /// VᵀAV, with row length `BASIS`; its diagonal, and the entries beside it; before the first restart that is all.
    t: Vec<f64>,
    diagonal: Vec<f64>,
    beside: Vec<f64>,
    /// The coefficients of the leading Ritz vector.
    leading: Vec<f64>,
    /// The leading part of T, with its eigenvalues (ascending) and eigenvectors (rows).
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
            overlaps: vec![0.0; BASIS],
            t: vec![0.0; BASIS * BASIS],
            diagonal: vec![0.0; BASIS],
            beside: vec![0.0; BASIS],
            leading: vec![0.0; BASIS],
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

    /// q ← the leading singular vector of the short side of X with tr A = `trace`; an upper bound of σ₁ is returned.
    ///
    /// Where the spectrum turns out to be flat, so that the bound will be of no use, the products are taken from then
    /// on with the Gram matrix that the proof will need.
    pub fn leading(&mut self, q: &mut [f64], x: &[S], trace: f64, mut single: Option<&mut Single>) -> f64 {
        let n = self.shape.short();
        let tiny = f64::EPSILON * trace;
        self.begin();
        let (mut size, mut restarts, mut theta, mut patience) = (0, 0, 0.0, PATIENCE);
        loop {
            let beta = self.step(size, x, single.as_deref());
            size += 1;
            let full = size == BASIS;
            let look = if restarts == 0 { LOOK } else { RARE_LOOK };
            if full || size % look == 0 || beta <= tiny {
                theta = self.ritz(size, restarts == 0, theta);
                let settled = beta * self.leading[size - 1].abs() <= self.tolerance * theta;
                if settled || beta <= tiny || (full && restarts == RESTARTS) {
                    let formed = single.as_ref().is_some_and(|single| single.is_formed());
                    let bound = if formed { trace.sqrt() } else { self.bound(size, theta, beta, trace) };
                    let tight = bound <= theta.sqrt() * (1.0 + 0.9 * LOOSE);
                    let near = !formed && self.rest(size, trace) <= 2.0 * theta;
                    if tight || !near || full || beta <= tiny || patience == 0 {
                        let weights = Mat::new(&self.leading, 1, size);
                        f64::gemm(q, Into::Replace, 1.0, weights, Mat::new(&self.v, size, n));
                        return bound;
                    }
                    patience -= 1;
                }
                if let Some(single) = single.as_deref_mut()
                    && size >= FLAT
                    && self.rest(size, trace) > 4.0 * theta
                    && single.serves(theta.sqrt(), trace.sqrt())
                {
                    single.form(x);
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
    fn step(&mut self, k: usize, x: &[S], single: Option<&Single>) -> f64 {
        let n = self.shape.short();
        let Self { v, w, t, overlaps, .. } = self;
        let last = &v[k * n..(k + 1) * n];
        match single {
            Some(single) if single.is_formed() => single.product(w, last),
            _ => product::normal(w, &mut self.long, self.shape, x, last),
        }
        let row = &mut t[k * BASIS..=k * BASIS + k];
        row.fill(0.0);
        // In exact arithmetic w is orthogonal to all but the last two (and, right after a restart, to none); the second
        // round is for rounding. It is repeated where it took much away (Daniel, Gragg, Kaufman, Stewart).
        let mut from = if k == KEPT { 0 } else { k.saturating_sub(1) };
        let mut before;
        let mut length = norm2(w);
        for round in 0..4 {
            let overlaps = &mut overlaps[from..=k];
            product::remove(w, overlaps, &v[from * n..(k + 1) * n]);
            row[from..].iter_mut().zip(&*overlaps).for_each(|(t, c)| *t += c);
            (before, length, from) = (length, norm2(w), 0);
            if round > 0 && length > 0.5 * before {
                break;
            }
        }
        self.diagonal[k] = row[k];
        self.beside[k] = length;
        length
    }

    /// The largest Ritz value, with the coefficients of its vector.
    fn ritz(&mut self, size: usize, is_tridiagonal: bool, near: f64) -> f64 {
        let Self { diagonal, beside, leading, .. } = self;
        if is_tridiagonal
            && let Some(theta) =
                tridiagonal::leading(&mut leading[..size], &diagonal[..size], &beside[..size - 1], near)
        {
            return theta;
        }
        self.project(size);
        self.leading[..size].copy_from_slice(&self.vectors[(size - 1) * size..size * size]);
        self.values[size - 1]
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

    /// tr A − tr T: what all other eigenvalues sum to.
    fn rest(&self, size: usize, trace: f64) -> f64 {
        trace - self.diagonal[..size].iter().sum::<f64>()
    }

    /// The basis becomes the `KEPT` best Ritz vectors, T their values.
    fn restart(&mut self, size: usize) {
        let n = self.shape.short();
        self.project(size);
        let weights = Mat::new(&self.vectors[(size - KEPT) * size..], KEPT, size);
        f64::gemm(&mut self.kept, Into::Replace, 1.0, weights, Mat::new(&self.v, size, n));
        self.v[..KEPT * n].copy_from_slice(&self.kept);
        for i in 0..KEPT {
            self.t[i * BASIS..(i + 1) * BASIS].fill(0.0);
            self.diagonal[i] = self.values[size - KEPT + i];
            self.t[i * BASIS + i] = self.diagonal[i];
        }
    }

    /// An upper bound of σ₁ from the Ritz values, their residuals and the trace.
    fn bound(&mut self, size: usize, theta: f64, beta: f64, trace: f64) -> f64 {
        // No bound is below the rest: a loose one is not worth the eigenvalues of T.
        if self.rest(size, trace) > theta * (1.0 + 2.0 * LOOSE) {
            return trace.sqrt();
        }
        self.project(size);
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
