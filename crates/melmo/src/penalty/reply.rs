//! What a penalty answers to the norms of groups: its prox, its envelope or its subgradient, as a factor of the group.

use crate::penalty::{Envelope, Separable};
use crate::real::Real;
use crate::vector::{norm2_squared, sum};

/// Groups that are answered for at a time.
pub(super) const TILE: usize = 128;

/// The answer for a group of norm ‖u_g‖₂ and weight w_g.
pub(super) struct Reply<S> {
    /// What the entries of the group are multiplied by.
    pub factor: S,
    /// The group's penalty, or its envelope.
    pub value: S,
    /// The slope of the envelope, where that is asked for.
    pub slope: S,
}

impl<S: Real> Reply<S> {
    /// The prox and the penalty there; weight 0 leaves the group where it is.
    #[inline(always)]
    pub fn prox(psi: &impl Separable<S>, beta: S, norm: S, w: S) -> Self {
        let shrunk = psi.prox_psi(norm, beta * w);
        let shrunk = if w > S::ZERO { shrunk } else { norm };
        Self { factor: over(shrunk, norm), value: weighted(w, psi.psi(shrunk)), slope: S::ZERO }
    }

    /// The gradient of the envelope and the envelope; (wψ)_β = w·ψ_{wβ}.
    #[inline(always)]
    pub fn envelope(psi: &impl Separable<S>, beta: S, norm: S, w: S) -> Self {
        let (value, slope) = psi.envelope(norm, beta * w);
        let (value, slope) = (weighted(w, value), weighted(w, slope));
        Self { factor: over(slope, norm), value, slope }
    }

    /// The gradient of the envelope and no value.
    #[inline(always)]
    pub fn slope(psi: &impl Separable<S>, beta: S, norm: S, w: S) -> Self {
        let slope = weighted(w, psi.envelope_slope(norm, beta * w));
        Self { factor: over(slope, norm), value: S::ZERO, slope }
    }

    /// A subgradient and the penalty.
    #[inline(always)]
    pub fn subgradient(psi: &impl Separable<S>, norm: S, w: S) -> Self {
        Self { factor: over(w * psi.derivative(norm), norm), value: weighted(w, psi.psi(norm)), slope: S::ZERO }
    }
}

/// w·a, and 0 for w = 0 even where a is infinite.
#[inline(always)]
fn weighted<S: Real>(w: S, a: S) -> S {
    let product = w * a;
    if w > S::ZERO { product } else { S::ZERO }
}

/// a/norm, and 0 where the norm is 0: such a group has no direction.
#[inline(always)]
fn over<S: Real>(a: S, norm: S) -> S {
    let quotient = a / norm;
    if norm == S::ZERO { S::ZERO } else { quotient }
}

/// The answers to group after group, given ‖u_g‖₂ and the group's weight (1 without weights), and their sums.
pub(super) struct Replies<'a, S, F> {
    weights: Option<&'a [S]>,
    reply: F,
    answered: usize,
    total: Envelope,
    values: [S; TILE],
    slopes: [S; TILE],
    ones: [S; TILE],
}

impl<'a, S: Real, F: Fn(S, S) -> Reply<S>> Replies<'a, S, F> {
    /// `reply` owns its penalty, so that what follows from its parameters is computed once and not for each group.
    #[inline(always)]
    pub fn new(weights: Option<&'a [S]>, reply: F) -> Self {
        let (values, slopes, ones) = ([S::ZERO; TILE], [S::ZERO; TILE], [S::ONE; TILE]);
        Self { weights, reply, answered: 0, total: Envelope::default(), values, slopes, ones }
    }

    /// Replaces the norms of the next groups by the factors of their entries.
    #[inline(always)]
    pub fn answer(&mut self, norms: &mut [S]) {
        let Self { values, slopes, .. } = self;
        let n = norms.len();
        let weights = self.weights.map_or(&self.ones[..n], |w| &w[self.answered..self.answered + n]);
        for (((norm, &weight), value), slope) in norms.iter_mut().zip(weights).zip(&mut *values).zip(&mut *slopes) {
            let reply = (self.reply)(*norm, weight);
            (*norm, *value, *slope) = (reply.factor, reply.value, reply.slope);
        }
        self.answered += n;
        self.total += Envelope { value: sum(&values[..n], S::f64), slope_squared: norm2_squared(&slopes[..n]) };
    }

    /// The sums of all answers.
    #[inline(always)]
    pub fn total(&self) -> Envelope {
        self.total
    }
}
