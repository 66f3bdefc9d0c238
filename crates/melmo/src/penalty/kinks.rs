//! Sums of bent lines: which penalties are some, asked of their prox.

use crate::penalty::Prox;
use crate::real::Real;
use crate::seeded::Seeded;

/// g(u) = Σ max{highᵢ(uᵢ − atᵢ), lowᵢ(uᵢ − atᵢ)} and a constant, lowᵢ < 0 < highᵢ: sizes, residuals without squares, those of a quantile.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kinks {
    pub at: Vec<f64>,
    pub low: Vec<f64>,
    pub high: Vec<f64>,
}

/// Powers of ten that a probe is tried at.
const TRIALS: i32 = 12;
/// Points at which what was found is compared with the prox.
const CHECKS: u64 = 3;

impl Kinks {
    /// Those of g, which is known by its prox alone; `None` where it is made of anything else. Tells by a few dozen proxes: the answer is
    /// exact for what they see, and random points compare it.
    pub fn of<S: Real>(g: &dyn Prox<S>) -> Option<Self> {
        if g.weak_convexity() > 0.0 || g.size() == 0 {
            return None;
        }
        let mut probe = Probe { g, work: vec![S::ZERO; g.work_len()] };
        let at = probe.places()?;
        let high = probe.slopes(&at, 1.0)?;
        let low = probe.slopes(&at, -1.0)?;
        let found = Self { at, low, high };
        found.agrees(&mut probe).then_some(found)
    }

    /// prox_{βg}(u) of one entry.
    fn prox(&self, i: usize, u: f64, beta: f64) -> f64 {
        let Self { at, low, high } = self;
        match u - at[i] {
            t if t > beta * high[i] => u - beta * high[i],
            t if t < beta * low[i] => u - beta * low[i],
            _ => at[i],
        }
    }

    fn agrees<S: Real>(&self, probe: &mut Probe<'_, S>) -> bool {
        let Self { at, low, high } = self;
        (0..CHECKS).all(|seed| {
            let beta = 10f64.powi(seed as i32 - 1);
            let spread = |i: usize| beta * (high[i] - low[i]);
            let moves: Vec<f64> = Seeded::new(seed).normals(at.len());
            let u: Vec<f64> = moves.iter().enumerate().map(|(i, v)| S::of(at[i] + v * spread(i)).f64()).collect();
            let z = probe.prox(&u, beta);
            let near = |i: usize| 64.0 * S::EPSILON * (u[i].abs() + at[i].abs() + spread(i));
            (0..u.len()).all(|i| (z[i] - self.prox(i, u[i], beta)).abs() <= near(i))
        })
    }
}

/// Asks a prox.
struct Probe<'g, S: Real> {
    g: &'g dyn Prox<S>,
    work: Vec<S>,
}

impl<S: Real> Probe<'_, S> {
    fn prox(&mut self, u: &[f64], beta: f64) -> Vec<f64> {
        let u: Vec<S> = u.iter().map(|&u| S::of(u)).collect();
        let mut z = vec![S::ZERO; u.len()];
        self.g.prox(&mut z, &u, beta, &mut self.work);
        z.iter().map(|z| z.f64()).collect()
    }

    /// Where each entry is least: what a long step leads to, and one twice as long.
    fn places(&mut self) -> Option<Vec<f64>> {
        let zeros = vec![0.0; self.g.size()];
        (0..TRIALS).step_by(3).find_map(|power| {
            let beta = 10f64.powi(power);
            let at = self.prox(&zeros, beta);
            (at.iter().all(|v| v.is_finite()) && at == self.prox(&zeros, 2.0 * beta)).then_some(at)
        })
    }

    /// The slopes on one side, by a step that is short next to the distance from the kinks.
    fn slopes(&mut self, at: &[f64], side: f64) -> Option<Vec<f64>> {
        let far = 1.0 + at.iter().fold(0.0, |most: f64, at| most.max(at.abs()));
        let u: Vec<f64> = at.iter().map(|at| S::of(at + side * far).f64()).collect();
        (0..TRIALS).find_map(|power| {
            let beta = far * 0.1f64.powi(power);
            let z = self.prox(&u, beta);
            let slopes: Vec<f64> = u.iter().zip(&z).map(|(u, z)| (u - z) / beta).collect();
            let short = z.iter().zip(at).all(|(z, at)| side * (z - at) > 0.5 * far);
            (short && slopes.iter().all(|slope| side * slope > 0.0)).then_some(slopes)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Layout;
    use crate::penalty::{ElasticNet, Entrywise, Group, Huber, L1, Mcp, Nonnegative};

    /// Residuals of a quantile τ.
    struct Pinball(Vec<f64>, f64);

    impl Prox<f64> for Pinball {
        fn size(&self) -> usize {
            self.0.len()
        }

        fn weak_convexity(&self) -> f64 {
            0.0
        }

        fn lipschitz(&self) -> Option<f64> {
            None
        }

        fn value(&self, u: &[f64], _: &mut [f64]) -> f64 {
            u.iter().zip(&self.0).map(|(u, b)| (self.1 * (u - b)).max((self.1 - 1.0) * (u - b))).sum()
        }

        fn prox(&self, z: &mut [f64], u: &[f64], beta: f64, work: &mut [f64]) -> f64 {
            for ((z, &u), &b) in z.iter_mut().zip(u).zip(&self.0) {
                *z = if u > b + beta * self.1 {
                    u - beta * self.1
                } else if u < b - beta * (1.0 - self.1) {
                    u + beta * (1.0 - self.1)
                } else {
                    b
                };
            }
            self.value(z, work)
        }

        fn subgradient(&self, v: &mut [f64], u: &[f64], work: &mut [f64]) -> f64 {
            for ((v, u), b) in v.iter_mut().zip(u).zip(&self.0) {
                *v = if u > b { self.1 } else { self.1 - 1.0 };
            }
            self.value(u, work)
        }
    }

    #[test]
    fn kinks_and_slopes_are_found_by_the_prox_alone() {
        let b: Vec<f64> = Seeded::new(3).normals(40);
        let found = Kinks::of(&Pinball(b.clone(), 0.8)).unwrap();
        assert_eq!(found.at, b);
        assert!(found.high.iter().all(|h| (h - 0.8).abs() < 1e-12), "{:?}", found.high);
        assert!(found.low.iter().all(|l| (l + 0.2).abs() < 1e-12), "{:?}", found.low);
        let weights: Vec<f64> = (1..=5).map(|i| 10f64.powi(i - 3)).collect();
        let found = Kinks::of(&Entrywise::weighted(L1::new(2.0).unwrap(), weights.clone()).unwrap()).unwrap();
        assert!(found.at.iter().all(|&at| at == 0.0));
        assert!(found.high.iter().zip(&weights).all(|(h, w)| (h / w - 2.0).abs() < 1e-9), "{:?}", found.high);
        let small = Kinks::of::<f32>(&Entrywise::new(L1::new(0.3).unwrap(), 7)).unwrap();
        assert!(small.low.iter().all(|l| (l + 0.3).abs() < 1e-5));
    }

    #[test]
    fn whatever_bends_otherwise_is_none() {
        let none: [Box<dyn Prox<f64>>; 6] = [
            Box::new(Entrywise::new(Huber::new(1.0, 0.1).unwrap(), 9)),
            Box::new(Entrywise::new(ElasticNet::new(0.5, 0.5).unwrap(), 9)),
            Box::new(Entrywise::new(Nonnegative, 9)),
            Box::new(Entrywise::new(Mcp::new(0.1, 2.0).unwrap(), 9)),
            Box::new(Entrywise::weighted(L1::new(1.0).unwrap(), vec![1.0, 0.0, 1.0]).unwrap()),
            Box::new(Group::rows(L1::new(1.0).unwrap(), &Layout::matrix(3, 3).unwrap()).unwrap()),
        ];
        for (i, g) in none.iter().enumerate() {
            assert_eq!(Kinks::of(&**g), None, "{i}");
        }
    }
}
