use crate::error::Error;
use crate::penalty::{Psi, Separable};
use crate::real::Real;

/// ψ(x) for x ≥ 0, else ∞: a penalty that also asks for a sign.
///
/// For an even ψ with its least value at 0 the prox is that of ψ at max(x, 0): ψ grows away from 0, so nothing below 0 comes to
/// lie above it. ρ is that of ψ; no bound on the slope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Positive<P>(P);

impl<P> Positive<P> {
    /// Refuses a ψ that is not even.
    pub fn new<S: Real>(psi: P) -> Result<Self, Error>
    where
        P: Separable<S>,
    {
        match psi.is_even() {
            true => Ok(Self(psi)),
            false => Err(Error::Unsupported("a sign can only be asked for on top of an even penalty".into())),
        }
    }
}

impl<S: Real, P: Separable<S>> Separable<S> for Positive<P> {
    /// Outside, |x| > 0 times ∞, so that NaN stays NaN.
    #[inline(always)]
    fn psi(&self, x: S) -> S {
        if x >= S::ZERO { self.0.psi(x) } else { x.abs() * S::of(f64::INFINITY) }
    }

    #[inline(always)]
    fn prox_psi(&self, x: S, beta: S) -> S {
        self.0.prox_psi(S::ZERO.larger(x), beta)
    }

    /// Below 0 the one that makes the kink at 0 that of ψ.
    #[inline(always)]
    fn derivative(&self, x: S) -> S {
        self.0.derivative(x)
    }

    fn rho(&self) -> f64 {
        self.0.rho()
    }

    fn form(&self) -> Option<Psi> {
        Some(Psi { nonnegative: true, ..self.0.form()? })
    }

    fn slope(&self) -> Option<f64> {
        None
    }

    fn strong_convexity(&self) -> f64 {
        self.0.strong_convexity()
    }

    fn growth(&self) -> Option<f64> {
        self.0.growth()
    }

    fn reach(&self) -> Option<f64> {
        self.0.reach()
    }

    /// For y < 0 both terms grow with x ≥ 0.
    fn least(&self, y: f64, a: f64) -> Option<f64> {
        if y >= 0.0 { self.0.least(y, a) } else { Some(0.5 * a * y * y) }
    }

    fn is_even(&self) -> bool {
        false
    }

    /// The envelope of ψ at max(x, 0) and of the indicator at min(x, 0): one of them is 0.
    #[inline(always)]
    fn envelope(&self, x: S, beta: S) -> (S, S) {
        let below = S::ZERO.smaller(x);
        let (value, slope) = self.0.envelope(S::ZERO.larger(x), beta);
        let outside = below / beta;
        (value + S::of(0.5) * below * outside, slope + outside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::{ElasticNet, L1, Mcp, Nonnegative, Scad, laws};

    #[test]
    fn obeys_the_laws() {
        laws::scalar(&Positive::new::<f64>(L1::new(0.7).unwrap()).unwrap());
        laws::scalar(&Positive::new::<f64>(Mcp::new(0.6, 1.5).unwrap()).unwrap());
        laws::scalar(&Positive::new::<f64>(Scad::new(0.6, 3.7).unwrap()).unwrap());
        laws::scalar(&Positive::new::<f64>(ElasticNet::new(0.6, 0.2).unwrap()).unwrap());
    }

    #[test]
    fn known_values() {
        let psi = Positive::new::<f64>(L1::new(2.0).unwrap()).unwrap();
        assert_eq!(psi.psi(3.0), 6.0);
        assert_eq!(psi.psi(-1e-300), f64::INFINITY);
        assert_eq!(psi.prox_psi(-5.0, 0.5), 0.0);
        assert_eq!(psi.prox_psi(5.0, 0.5), 4.0);
        assert_eq!(psi.envelope(-3.0, 0.5), (9.0, -6.0));
    }

    #[test]
    fn what_is_not_even_is_refused() {
        assert!(Positive::new::<f64>(Nonnegative).is_err());
    }
}
