use crate::error::Error;
use crate::penalty::Prox;
use crate::real::Real;
use crate::vector;

/// g(u) = g₁(u) + … + g_k(u) + ν/2·‖u‖², where one prox after another is the prox of the sum.
///
/// ```text
/// prox_{βg}(u) = (prox_{sβg_k} ∘ … ∘ prox_{sβg₁})(su),   s = 1/(1 + βν)
/// ```
///
/// That holds for a ridge with any g, and without one where the slopes that g_i has at its prox are slopes at every later point too:
/// (u − z₁)/β ∈ ∂g₁(z₁) ⊆ ∂g₁(z₂), so that the two quotients add up to a slope of g₁ + g₂ at z₂; the sum has one such point,
/// as β < 1/ρ. λ|x| and a sign before any even ψ of entries or of norms of groups are such (each only moves its point towards 0,
/// along the ray it is on), and so is λ‖·‖ of groups before another ψ of the same groups; on the line a box may come last. Yu, "On decomposing the
/// proximal map" (2013). [`catalogue::sum`](crate::catalogue::sum) knows which penalties are; one's own are taken at their word.
///
/// ρ = max(0, Σρᵢ − ν), which a box can make larger than needed; L = ΣLᵢ where ν = 0.
pub struct Sum<S> {
    parts: Vec<Box<dyn Prox<S>>>,
    nu: f64,
}

impl<S: Real> Sum<S> {
    /// The parts in the order of their proxes, all of one size and nowhere negative, and ν ≥ 0.
    pub fn new(parts: Vec<Box<dyn Prox<S>>>, nu: f64) -> Result<Self, Error> {
        let Some(first) = parts.first() else {
            return Err(Error::Unsupported("a sum of 0 penalties: it needs at least 1".into()));
        };
        for part in &parts {
            Error::expect_len("a penalty of a sum", first.size(), part.size())?;
        }
        Error::expect_parameter("nu", nu, nu >= 0.0 && nu.is_finite(), "a finite number, at least 0")?;
        Ok(Self { parts, nu })
    }

    fn rhos(&self) -> f64 {
        self.parts.iter().map(|part| part.weak_convexity()).sum()
    }

    fn ridge(&self, u: &[S]) -> f64 {
        if self.nu > 0.0 { 0.5 * self.nu * vector::norm2_squared(u) } else { 0.0 }
    }
}

impl<S: Real> Prox<S> for Sum<S> {
    fn size(&self) -> usize {
        self.parts[0].size()
    }

    fn weak_convexity(&self) -> f64 {
        (self.rhos() - self.nu).max(0.0)
    }

    fn lipschitz(&self) -> Option<f64> {
        let slopes = self.parts.iter().map(|part| part.lipschitz());
        slopes.sum::<Option<f64>>().filter(|_| self.nu == 0.0)
    }

    fn strong_convexity(&self) -> f64 {
        let parts: f64 = self.parts.iter().map(|part| part.strong_convexity()).sum();
        (parts + self.nu - self.rhos()).max(0.0)
    }

    /// No part is negative: g lies above whatever one of them lies above.
    fn polar(&self, v: &[S], work: &mut [S]) -> Option<f64> {
        let work = &mut work[self.size()..];
        let norms = self.parts.iter().filter_map(|part| part.polar(v, work));
        norms.reduce(f64::min).filter(|_| self.rhos() == 0.0)
    }

    fn reach(&self) -> Option<f64> {
        self.parts.iter().filter_map(|part| part.reach()).reduce(f64::min)
    }

    /// What one prox is off by, the next ones do not enlarge beyond 1/(1 − βρ).
    fn rounding(&self) -> f64 {
        4.0 * S::EPSILON + self.parts.iter().map(|part| part.rounding()).sum::<f64>()
    }

    /// A point between two proxes, then what a part needs.
    fn work_len(&self) -> usize {
        self.size() + self.parts.iter().map(|part| part.work_len()).max().unwrap_or(0)
    }

    fn value(&self, u: &[S], work: &mut [S]) -> f64 {
        let work = &mut work[self.size()..];
        self.parts.iter().map(|part| part.value(u, work)).sum::<f64>() + self.ridge(u)
    }

    fn prox(&self, z: &mut [S], u: &[S], beta: f64, work: &mut [S]) -> f64 {
        let shrink = 1.0 / (1.0 + beta * self.nu);
        let (between, rest) = work.split_at_mut(u.len());
        vector::scale_into(between, shrink, u);
        for (i, part) in self.parts.iter().enumerate() {
            if i > 0 {
                between.copy_from_slice(z);
            }
            part.prox(z, between, shrink * beta, rest);
        }
        self.value(z, work)
    }

    fn subgradient(&self, v: &mut [S], u: &[S], work: &mut [S]) -> f64 {
        vector::scale_into(v, self.nu, u);
        let (slopes, work) = work.split_at_mut(u.len());
        let mut value = self.ridge(u);
        for part in &self.parts {
            value += part.subgradient(slopes, u, work);
            vector::axpy(v, 1.0, slopes);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Layout;
    use crate::penalty::{ElasticNet, Entrywise, Group, Interval, L1, Mcp, Nonnegative, Ridge, laws};

    fn l1() -> Box<dyn Prox<f64>> {
        Box::new(Entrywise::new(L1::new(0.4).unwrap(), 12))
    }

    fn mcp() -> Box<dyn Prox<f64>> {
        Box::new(Entrywise::new(Mcp::new(0.6, 1.5).unwrap(), 12))
    }

    #[test]
    fn obeys_the_laws() {
        let layout = Layout::matrix(4, 3).unwrap();
        let rows = || Box::new(Group::rows(Mcp::new(0.7, 1.2).unwrap(), &layout).unwrap());
        let weights: Vec<f64> = (0..12).map(|i| f64::from(i % 4) / 2.0).collect();
        let weighted = Box::new(Entrywise::weighted(L1::new(0.5).unwrap(), weights).unwrap());
        let sign = || Box::new(Entrywise::new(Nonnegative, 12));
        let between = Box::new(Entrywise::new(Interval::new(-0.5, 2.0).unwrap(), 12));
        laws::whole(&Sum::new(vec![l1(), mcp()], 0.0).unwrap());
        laws::whole(&Sum::new(vec![l1(), mcp()], 0.3).unwrap());
        laws::whole(&Sum::new(vec![l1(), rows()], 0.0).unwrap());
        laws::whole(&Sum::new(vec![weighted, sign(), rows()], 1.0).unwrap());
        laws::whole(&Sum::new(vec![l1(), mcp(), between], 0.1).unwrap());
    }

    #[test]
    fn a_ridge_makes_an_elastic_net() {
        let sum = Sum::new(vec![l1()], 0.7).unwrap();
        let net = Entrywise::new(ElasticNet::new(0.4, 0.7).unwrap(), 12);
        let by_parts = Sum::new(vec![l1(), Box::new(Entrywise::new(Ridge::new(0.7).unwrap(), 12))], 0.0).unwrap();
        let (u, mut work) = (laws::noise(12, 3), vec![0.0; 12]);
        let [mut a, mut b, mut c] = [[0.0; 12]; 3];
        sum.prox(&mut a, &u, 0.9, &mut work);
        net.prox(&mut b, &u, 0.9, &mut []);
        by_parts.prox(&mut c, &u, 0.9, &mut work);
        assert!(a.iter().zip(b).zip(c).all(|((a, b), c)| (a - b).abs() < 1e-15 && (a - c).abs() < 1e-15));
        assert_eq!(sum.strong_convexity(), 0.7);
        assert!(sum.lipschitz().is_none() && Prox::<f64>::weak_convexity(&sum) == 0.0);
        assert_eq!(sum.polar(&u, &mut work), l1().polar(&u, &mut []));
    }

    #[test]
    fn what_is_no_sum_is_refused() {
        let other: Box<dyn Prox<f64>> = Box::new(Entrywise::new(Nonnegative, 3));
        assert!(matches!(Sum::new(vec![l1(), other], 0.0), Err(Error::Shape { expected: 12, got: 3, .. })));
        assert!(matches!(Sum::<f64>::new(vec![], 0.0), Err(Error::Unsupported(_))));
        laws::refuses("nu", Sum::new(vec![l1()], -1.0));
    }
}
