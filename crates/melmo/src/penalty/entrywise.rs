use crate::error::Error;
use crate::penalty::coordinates::polar_of_units;
use crate::penalty::kernel::{
    add_slope_kernel, envelope_kernel, map_kernel, slope_between_kernel, slope_kernel, sum_kernel,
};
use crate::penalty::{Coordinates, Entries, Envelope, Form, Prox, Separable, Streamed};
use crate::real::Real;
use crate::threads;
use crate::vector::{norm_inf, norm2, sum_pairs};

/// g(u) = Σᵢ wᵢψ(uᵢ): a penalty on every entry, weighted or not.
///
/// ρ = ρ_ψ·max wᵢ, L = slope·‖w‖₂ (√N without weights); prox_{βg} is prox_{βwᵢψ} on each entry.
#[derive(Clone, Debug)]
pub struct Entrywise<P, S> {
    pub(super) psi: P,
    pub(super) size: usize,
    pub(super) weights: Option<Vec<S>>,
}

impl<S: Real, P: Separable<S>> Entrywise<P, S> {
    /// ψ on each of `size` entries.
    pub fn new(psi: P, size: usize) -> Self {
        Self { psi, size, weights: None }
    }

    /// wᵢψ on entry i; every weight is a finite number ≥ 0.
    pub fn weighted(psi: P, weights: Vec<S>) -> Result<Self, Error> {
        check_weights(&weights)?;
        Ok(Self { psi, size: weights.len(), weights: Some(weights) })
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
        Some(w) => (norm_inf(w), norm2(w)),
    }
}

/// The least weight; 1 where there are none.
pub(super) fn least_weight<S: Real>(weights: Option<&[S]>) -> f64 {
    weights.map_or(1.0, |w| w.iter().fold(f64::INFINITY, |least, w| least.min(w.f64())))
}

/// A kernel over entries and their weights. Without weights each is 1, which the compiler sees through: the kernel gets some slice that
/// it does not look at.
macro_rules! weighed {
    ($weights:expr, $any:expr, |$w:ident, $weight:ident| $kernel:expr) => {
        match $weights {
            None => {
                let ($w, $weight) = ($any, |_: S| S::ONE);
                $kernel
            }
            Some($w) => {
                let $weight = |w: S| w;
                $kernel
            }
        }
    };
}

/// The envelope (value, slope) of wψ at x: (wψ)_β = w·ψ_{wβ}, and 0 for w = 0.
#[inline(always)]
fn envelope<S: Real>(psi: &impl Separable<S>, x: S, w: S, beta: S) -> (S, S) {
    let (value, slope) = psi.envelope(x, beta * w);
    if w > S::ZERO { (w * value, w * slope) } else { (S::ZERO, S::ZERO) }
}

/// The slope alone.
#[inline(always)]
fn slope<S: Real>(psi: &impl Separable<S>, x: S, w: S, beta: S) -> S {
    let slope = psi.envelope_slope(x, beta * w);
    if w > S::ZERO { w * slope } else { S::ZERO }
}

impl<S: Real, P: Separable<S>> Entries<S> for Entrywise<P, S> {
    fn value_between(&self, from: &[S], to: &[S], first: usize) -> f64 {
        let psi = self.psi.clone();
        weighed!(self.weights_at(first, from.len()), from, |w, weight| sum_kernel(
            from,
            to,
            w,
            #[inline(always)]
            move |x, w| {
                let (value, w) = (psi.psi(x), weight(w));
                if w > S::ZERO { w * value } else { S::ZERO }
            },
        ))
    }

    fn rests_at_zero(&self, beta: f64) -> bool {
        self.psi.psi(S::ZERO) == S::ZERO && self.psi.envelope(S::ZERO, S::of(beta)).1 == S::ZERO
    }

    fn envelope_between(&self, from: &[S], to: &[S], first: usize, beta: f64) -> f64 {
        let (psi, beta) = (self.psi.clone(), S::of(beta));
        weighed!(self.weights_at(first, from.len()), from, |w, weight| sum_kernel(
            from,
            to,
            w,
            #[inline(always)]
            move |x, w| envelope(&psi, x, weight(w), beta).0,
        ))
    }

    fn moreau_of(&self, grad: &mut [S], u: &[S], first: usize, beta: f64) -> Envelope {
        let (psi, beta) = (self.psi.clone(), S::of(beta));
        weighed!(self.weights_at(first, u.len()), u, |w, weight| envelope_kernel(
            grad,
            u,
            w,
            #[inline(always)]
            move |x, w| envelope(&psi, x, weight(w), beta),
        ))
    }

    fn slopes_of(&self, grad: &mut [S], u: &[S], first: usize, beta: f64) -> f64 {
        let (psi, beta) = (self.psi.clone(), S::of(beta));
        weighed!(self.weights_at(first, u.len()), u, |w, weight| slope_kernel(
            grad,
            u,
            w,
            #[inline(always)]
            move |x, w| slope(&psi, x, weight(w), beta),
        ))
    }

    fn add_slopes_of(&self, grad: &mut [S], u: &[S], first: usize, beta: f64) -> f64 {
        let (psi, beta) = (self.psi.clone(), S::of(beta));
        weighed!(self.weights_at(first, u.len()), u, |w, weight| add_slope_kernel(
            grad,
            u,
            w,
            #[inline(always)]
            move |x, w| slope(&psi, x, weight(w), beta),
        ))
    }

    fn slopes_between(&self, slopes: &mut [S], from: &[S], to: &[S], first: usize, beta: f64) -> f64 {
        let (psi, beta) = (self.psi.clone(), S::of(beta));
        weighed!(self.weights_at(first, from.len()), from, |w, weight| slope_between_kernel(
            slopes,
            from,
            to,
            w,
            #[inline(always)]
            move |x, w| slope(&psi, x, weight(w), beta),
        ))
    }
}

/// Entries of the parts that threads share.
fn block(n: usize) -> usize {
    threads::block(n, 512, 1 << 15)
}

impl<S: Real, P: Separable<S>> Prox<S> for Entrywise<P, S> {
    fn size(&self) -> usize {
        self.size
    }

    fn weak_convexity(&self) -> f64 {
        self.psi.rho() * weight_constants(self.weights.as_deref(), self.size).0
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(self.psi.slope()? * weight_constants(self.weights.as_deref(), self.size).1)
    }

    fn strong_convexity(&self) -> f64 {
        self.psi.strong_convexity() * least_weight(self.weights.as_deref())
    }

    fn polar(&self, v: &[S], _: &mut [S]) -> Option<f64> {
        self.psi.growth()?;
        Some(polar_of_units(self, v))
    }

    fn reach(&self) -> Option<f64> {
        let reach = self.psi.reach().filter(|_| least_weight(self.weights.as_deref()) > 0.0)?;
        Some(reach * (self.size as f64).sqrt() * (1.0 + f64::EPSILON))
    }

    fn value(&self, u: &[S], _: &mut [S]) -> f64 {
        let psi = self.psi.clone();
        weighed!(self.weights.as_deref(), u, |w, weight| sum_pairs(
            u,
            w,
            #[inline(always)]
            |x, w| {
                let (value, w) = (psi.psi(x).f64(), weight(w));
                if w > S::ZERO { w.f64() * value } else { 0.0 }
            },
        ))
    }

    fn prox(&self, z: &mut [S], u: &[S], beta: f64, work: &mut [S]) -> f64 {
        let (psi, beta) = (self.psi.clone(), S::of(beta));
        weighed!(self.weights.as_deref(), u, |w, weight| map_kernel(
            z,
            u,
            w,
            #[inline(always)]
            move |x, w| {
                let w = weight(w);
                let shrunk = psi.prox_psi(x, beta * w) + S::ZERO; // a zero is 0, never −0
                if w > S::ZERO { shrunk } else { x }
            },
        ));
        self.value(z, work)
    }

    fn moreau(&self, grad: &mut [S], u: &[S], beta: f64, _: &mut [S]) -> Envelope {
        let size = block(u.len());
        let parts = grad.chunks_mut(size).zip(u.chunks(size)).enumerate();
        let [value, slope_squared] = threads::sums(u.len(), parts, |(i, (grad, u))| {
            let Envelope { value, slope_squared } = self.moreau_of(grad, u, i * size, beta);
            [value, slope_squared]
        });
        Envelope { value, slope_squared }
    }

    fn slopes(&self, grad: &mut [S], u: &[S], beta: f64, _: &mut [S]) -> f64 {
        let size = block(u.len());
        let parts = grad.chunks_mut(size).zip(u.chunks(size)).enumerate();
        let [squared] = threads::sums(u.len(), parts, |(i, (grad, u))| [self.slopes_of(grad, u, i * size, beta)]);
        squared
    }

    fn subgradient(&self, v: &mut [S], u: &[S], work: &mut [S]) -> f64 {
        let psi = self.psi.clone();
        weighed!(self.weights.as_deref(), u, |w, weight| map_kernel(
            v,
            u,
            w,
            #[inline(always)]
            move |x, w| weight(w) * psi.derivative(x),
        ));
        self.value(u, work)
    }

    fn coordinates(&self) -> Option<&dyn Coordinates<S>> {
        Some(self)
    }

    fn form(&self) -> Form<'_, S> {
        self.psi.form().map_or(Form::General, |psi| Form::Entries { psi, weights: self.weights.as_deref() })
    }

    fn streamed(&self) -> Option<Streamed<'_, S>> {
        Some(Streamed::Entries(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::{L1, Mcp, Nonnegative, laws};

    #[test]
    fn obeys_the_laws() {
        laws::whole(&Entrywise::new(Mcp::new(0.6, 1.5).unwrap(), 21));
        let weights: Vec<f64> = (0..21).map(|i| f64::from(i % 4) / 2.0).collect();
        laws::whole(&Entrywise::weighted(Mcp::new(0.6, 1.5).unwrap(), weights.clone()).unwrap());
        laws::whole(&Entrywise::weighted(L1::new(0.6).unwrap(), weights).unwrap());
    }

    #[test]
    fn a_weight_belongs_inside_the_penalty() {
        // w·MCP_{μ,λ} = MCP_{μ/w, wλ}.
        let (w, u) = (0.5, laws::noise(19, 5));
        let weighted = Entrywise::weighted(Mcp::new(0.6, 1.5).unwrap(), vec![w; 19]).unwrap();
        let inside = Entrywise::new(Mcp::new(w * 0.6, 1.5 / w).unwrap(), 19);
        let (mut a, mut b) = (vec![0.0; 19], vec![0.0; 19]);
        let (ea, eb) = (weighted.moreau(&mut a, &u, 0.7, &mut []), inside.moreau(&mut b, &u, 0.7, &mut []));
        assert!((ea.value - eb.value).abs() < 1e-14 && a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-14));
        assert_eq!(weighted.weak_convexity(), Prox::<f64>::weak_convexity(&inside));
        assert!((weighted.lipschitz().unwrap() - Prox::<f64>::lipschitz(&inside).unwrap()).abs() < 1e-14);
    }

    #[test]
    fn weight_zero_frees_an_entry() {
        let g = Entrywise::weighted(Nonnegative, vec![0.0, 1.0]).unwrap();
        let (mut z, mut grad) = ([0.0; 2], [0.0; 2]);
        assert_eq!(g.prox(&mut z, &[-3.0, -3.0], 0.5, &mut []), 0.0);
        assert_eq!(z, [-3.0, 0.0]);
        assert_eq!(g.moreau(&mut grad, &[-3.0, -3.0], 0.5, &mut []).value, 9.0);
        assert_eq!(grad, [0.0, -6.0]);
        assert_eq!(g.value(&[-3.0, 0.0], &mut []), 0.0);
    }

    #[test]
    fn bad_weights_are_refused() {
        laws::refuses("weight", Entrywise::weighted(Nonnegative, vec![1.0, -1.0]));
        let built = Entrywise::weighted(Nonnegative, vec![f32::NAN]);
        assert!(matches!(built, Err(Error::NotFinite { index: 0, .. })));
    }
}
