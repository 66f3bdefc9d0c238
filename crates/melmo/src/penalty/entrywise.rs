use crate::error::Error;
use crate::penalty::{Entries, Envelope, Prox, Separable, Streamed};
use crate::real::Real;
use crate::vector::simd;

/// g(u) = Σᵢ wᵢφ(uᵢ): a penalty on every entry, weighted or not.
///
/// ρ = ρ_φ·max wᵢ, L = slope·‖w‖₂ (√N without weights); prox_{βg} is prox_{βwᵢφ} on each entry.
#[derive(Clone, Debug)]
pub struct Entrywise<P, S> {
    phi: P,
    size: usize,
    weights: Option<Vec<S>>,
}

impl<S: Real, P: Separable<S>> Entrywise<P, S> {
    /// φ on each of `size` entries.
    pub fn new(phi: P, size: usize) -> Self {
        Self { phi, size, weights: None }
    }

    /// wᵢφ on entry i; every weight is a finite number ≥ 0.
    pub fn weighted(phi: P, weights: Vec<S>) -> Result<Self, Error> {
        check_weights(&weights)?;
        Ok(Self { phi, size: weights.len(), weights: Some(weights) })
    }

    fn weights_at(&self, first: usize, len: usize) -> Option<&[S]> {
        self.weights.as_ref().map(|w| &w[first..first + len])
    }
}

/// Refuses weights that are negative or not finite.
pub(super) fn check_weights<S: Real>(weights: &[S]) -> Result<(), Error> {
    Error::expect_finite("weights", weights)?;
    for w in weights {
        Error::expect_parameter("weight", w.f64(), w.f64() >= 0.0, "at least 0")?;
    }
    Ok(())
}

/// (max wᵢ, ‖w‖₂) over n weights, all 1 when there are none: what ρ and L_g are multiplied by.
pub(super) fn weight_constants<S: Real>(weights: Option<&[S]>, n: usize) -> (f64, f64) {
    match weights {
        None => (1.0, (n as f64).sqrt()),
        Some(w) => (crate::vector::norm_inf(w), crate::vector::norm2(w)),
    }
}

impl<S: Real, P: Separable<S>> Entries<S> for Entrywise<P, S> {
    fn value_at(&self, u: &[S], first: usize) -> f64 {
        let phi = &self.phi;
        match self.weights_at(first, u.len()) {
            None => crate::vector::sum(
                u,
                #[inline(always)]
                |v| phi.phi(v).f64(),
            ),
            Some(w) => u.iter().zip(w).filter(|(_, w)| **w > S::ZERO).map(|(&v, &w)| (w * phi.phi(v)).f64()).sum(),
        }
    }

    fn moreau_at(&self, grad: &mut [S], u: &[S], first: usize, beta: f64) -> Envelope {
        let (phi, beta) = (&self.phi, S::of(beta));
        match self.weights_at(first, u.len()) {
            None => envelope_kernel(
                grad,
                u,
                #[inline(always)]
                |x| phi.envelope(x, beta),
            ),
            Some(w) => {
                let mut envelope = Envelope::default();
                for ((grad, &x), &w) in grad.iter_mut().zip(u).zip(w) {
                    *grad = S::ZERO;
                    if w > S::ZERO {
                        let (value, slope) = phi.envelope(x, beta * w); // (wφ)_β = w·φ_{wβ}
                        *grad = w * slope;
                        envelope += Envelope { value: (w * value).f64(), slope_squared: (*grad * *grad).f64() };
                    }
                }
                envelope
            }
        }
    }
}

/// grad ← slopes, and the sums of values and squared slopes, in one vectorised pass.
#[inline(always)]
fn envelope_kernel<S: Real>(grad: &mut [S], u: &[S], envelope: impl Fn(S) -> (S, S)) -> Envelope {
    const LANES: usize = 8;
    simd(
        #[inline(always)]
        || {
            let (mut values, mut squares) = ([0.0; LANES], [0.0; LANES]);
            let (chunks, rest) = u.as_chunks::<LANES>();
            let (grads, grad_rest) = grad.as_chunks_mut::<LANES>();
            for (grad, u) in grads.iter_mut().zip(chunks) {
                for l in 0..LANES {
                    let (value, slope) = envelope(u[l]);
                    grad[l] = slope;
                    values[l] += value.f64();
                    squares[l] += slope.f64() * slope.f64();
                }
            }
            for (l, (grad, &u)) in grad_rest.iter_mut().zip(rest).enumerate() {
                let (value, slope) = envelope(u);
                *grad = slope;
                values[l] += value.f64();
                squares[l] += slope.f64() * slope.f64();
            }
            Envelope { value: values.iter().sum(), slope_squared: squares.iter().sum() }
        },
    )
}

impl<S: Real, P: Separable<S>> Prox<S> for Entrywise<P, S> {
    fn size(&self) -> usize {
        self.size
    }

    fn weak_convexity(&self) -> f64 {
        self.phi.rho() * weight_constants(self.weights.as_deref(), self.size).0
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(self.phi.slope()? * weight_constants(self.weights.as_deref(), self.size).1)
    }

    fn value(&self, u: &[S], _: &mut [S]) -> f64 {
        self.value_at(u, 0)
    }

    fn prox(&self, z: &mut [S], u: &[S], beta: f64, _: &mut [S]) -> f64 {
        let (phi, beta) = (&self.phi, S::of(beta));
        match &self.weights {
            None => simd(
                #[inline(always)]
                || {
                    for (z, &u) in z.iter_mut().zip(u) {
                        *z = phi.prox_phi(u, beta);
                    }
                },
            ),
            Some(w) => {
                for ((z, &u), &w) in z.iter_mut().zip(u).zip(w) {
                    *z = if w > S::ZERO { phi.prox_phi(u, beta * w) } else { u };
                }
            }
        }
        self.value_at(z, 0)
    }

    fn moreau(&self, grad: &mut [S], u: &[S], beta: f64, _: &mut [S]) -> Envelope {
        self.moreau_at(grad, u, 0, beta)
    }

    fn subgradient(&self, v: &mut [S], u: &[S], _: &mut [S]) -> f64 {
        for (i, (v, &u)) in v.iter_mut().zip(u).enumerate() {
            let weight = self.weights.as_ref().map_or(S::ONE, |w| w[i]);
            *v = weight * self.phi.derivative(u);
        }
        self.value_at(u, 0)
    }

    fn streamed(&self) -> Option<Streamed<'_, S>> {
        Some(Streamed::Entries(self))
    }
}
