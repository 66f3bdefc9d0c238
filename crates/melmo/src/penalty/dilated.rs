//! t²g(u/t) and s·g(u/s): the same penalty seen from closer, and bent less. Paths from an easy problem to the one that is asked for.

use crate::penalty::{Coordinates, Prox};
use crate::real::Real;

/// What t falls by at most in the search for the first one.
const COARSE: f64 = std::f64::consts::SQRT_2;
/// No path begins farther away: a penalty that never keeps 0 has none.
const FARTHEST: f64 = 1e6;

/// g_t(u) = t²g(u/t), t ≥ 1.
///
/// It has the ρ of g, and its prox is g's: prox_{βg_t}(u) = t·prox_{βg}(u/t). MCP(λ, μ) becomes MCP(tλ, μ), SCAD(λ, a) SCAD(tλ, a),
/// a norm t times itself, a cone's constraint stays. Where g has a kink at 0 and t is large, 0 is stationary; as t falls to 1, entries
/// come in one after another, the largest first. So a path of solutions passes by the local minima that a start at 0 ends in: what
/// regression does with λ, for any f and any penalty that has a prox.
pub(crate) struct Dilated<'a, S> {
    pub g: &'a dyn Coordinates<S>,
    pub t: f64,
}

/// s·g(u/s), s ≥ 1: the kinks of g, and its ρ divided by s.
///
/// MCP(λ, μ) becomes MCP(λ, sμ), a norm stays as it is. Its prox is g's: s·prox_{(β/s)g}(u/s). Where s is large it is nearly a sum of
/// kinks, which has few local minima; as s falls to 1 its solutions become those of g. Mazumder, Friedman and Hastie, "SparseNet"
/// (2011), go that way.
pub(crate) struct Stretched<'a, S> {
    pub g: &'a dyn Coordinates<S>,
    pub s: f64,
}

/// z ← prox_{βg_t}(u); `scaled` is scratch as long as u.
pub(crate) fn dilated_prox<S: Real>(
    g: &dyn Prox<S>,
    t: f64,
    [z, scaled]: [&mut [S]; 2],
    u: &[S],
    beta: f64,
    work: &mut [S],
) {
    let (shrink, grow) = (S::of(1.0 / t), S::of(t));
    scaled.iter_mut().zip(u).for_each(|(scaled, &u)| *scaled = u * shrink);
    g.prox(z, scaled, beta, work);
    z.iter_mut().for_each(|z| *z *= grow);
}

/// The first t at which prox_{βg_t}(u) = 0, to within a factor of √2; `None` where g is convex (its minima are all the same), or 0
/// is nothing that g keeps.
pub(crate) fn first_dilation<S: Real>(
    g: &dyn Prox<S>,
    [z, scaled]: [&mut [S]; 2],
    u: &[S],
    beta: f64,
    work: &mut [S],
) -> Option<f64> {
    if g.weak_convexity() == 0.0 {
        return None;
    }
    let ts = std::iter::successors(Some(1.0), |t| Some(t * COARSE)).take_while(|&t| t < FARTHEST);
    ts.into_iter().find(|&t| {
        dilated_prox(g, t, [&mut *z, &mut *scaled], u, beta, work);
        z.iter().all(|&z| z == S::ZERO)
    })
}

impl<S: Real> Coordinates<S> for Stretched<'_, S> {
    fn units(&self) -> usize {
        self.g.units()
    }

    fn members(&self, c: usize, entries: &mut Vec<usize>) {
        self.g.members(c, entries);
    }

    fn rho_of(&self, c: usize) -> f64 {
        self.g.rho_of(c) / self.s
    }

    fn threshold_of(&self, c: usize) -> f64 {
        self.g.threshold_of(c)
    }

    fn value_of(&self, c: usize, u: &mut [S]) -> f64 {
        let shrink = S::of(1.0 / self.s);
        u.iter_mut().for_each(|u| *u *= shrink);
        self.s * self.g.value_of(c, u)
    }

    fn prox_of(&self, c: usize, u: &mut [S], beta: f64) {
        let (shrink, grow) = (S::of(1.0 / self.s), S::of(self.s));
        u.iter_mut().for_each(|u| *u *= shrink);
        self.g.prox_of(c, u, beta / self.s);
        u.iter_mut().for_each(|u| *u *= grow);
    }

    /// Only the penalty that is asked for is bounded.
    fn least_of(&self, _: usize, _: &[S], _: f64) -> Option<f64> {
        None
    }
}

impl<S: Real> Coordinates<S> for Dilated<'_, S> {
    fn units(&self) -> usize {
        self.g.units()
    }

    fn members(&self, c: usize, entries: &mut Vec<usize>) {
        self.g.members(c, entries);
    }

    fn rho_of(&self, c: usize) -> f64 {
        self.g.rho_of(c)
    }

    fn threshold_of(&self, c: usize) -> f64 {
        self.t * self.g.threshold_of(c)
    }

    fn value_of(&self, c: usize, u: &mut [S]) -> f64 {
        let shrink = S::of(1.0 / self.t);
        u.iter_mut().for_each(|u| *u *= shrink);
        self.t * self.t * self.g.value_of(c, u)
    }

    fn prox_of(&self, c: usize, u: &mut [S], beta: f64) {
        let (shrink, grow) = (S::of(1.0 / self.t), S::of(self.t));
        u.iter_mut().for_each(|u| *u *= shrink);
        self.g.prox_of(c, u, beta);
        u.iter_mut().for_each(|u| *u *= grow);
    }

    /// Only the penalty that is asked for is bounded.
    fn least_of(&self, _: usize, _: &[S], _: f64) -> Option<f64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::{Entrywise, Group, L1, Mcp, Scad};

    type Pair = (Box<dyn Prox<f64>>, Box<dyn Prox<f64>>);

    #[test]
    fn families_become_members_of_themselves() {
        let (t, beta, u) = (3.0, 0.7, [-4.0, -0.3, 0.0, 0.9, 2.0, 11.0]);
        let pairs: [Pair; 3] = [
            (
                Box::new(Entrywise::new(Mcp::new(0.5, 2.0).unwrap(), 6)),
                Box::new(Entrywise::new(Mcp::new(1.5, 2.0).unwrap(), 6)),
            ),
            (
                Box::new(Entrywise::new(Scad::new(0.5, 3.7).unwrap(), 6)),
                Box::new(Entrywise::new(Scad::new(1.5, 3.7).unwrap(), 6)),
            ),
            (
                Box::new(Group::given(L1::new(0.5).unwrap(), vec![vec![0, 1, 2], vec![3, 4, 5]], 6).unwrap()),
                Box::new(Group::given(L1::new(1.5).unwrap(), vec![vec![0, 1, 2], vec![3, 4, 5]], 6).unwrap()),
            ),
        ];
        for (g, wanted) in &pairs {
            let [mut z, mut scaled, mut exact] = [[0.0; 6]; 3];
            let mut work = vec![0.0; g.work_len()];
            dilated_prox(&**g, t, [&mut z, &mut scaled], &u, beta, &mut work);
            wanted.prox(&mut exact, &u, beta, &mut work);
            assert!(z.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-14), "{z:?} {exact:?}");
            let (by_units, wanted) = (Dilated { g: g.coordinates().unwrap(), t }, wanted.coordinates().unwrap());
            for c in 0..by_units.units() {
                let mut entries = Vec::new();
                by_units.members(c, &mut entries);
                let mut unit: Vec<f64> = entries.iter().map(|&i| u[i]).collect();
                let values = [by_units.value_of(c, &mut unit.clone()), wanted.value_of(c, &mut unit.clone())];
                assert!((values[0] - values[1]).abs() < 1e-13, "{values:?}");
                assert_eq!(by_units.threshold_of(c), wanted.threshold_of(c));
                by_units.prox_of(c, &mut unit, beta);
                assert!(entries.iter().zip(&unit).all(|(&i, z)| (z - exact[i]).abs() < 1e-14));
            }
        }
    }

    #[test]
    fn what_is_stretched_is_bent_less() {
        let (g, wanted) =
            (Entrywise::new(Mcp::new(0.5, 2.0).unwrap(), 1), Entrywise::new(Mcp::new(0.5, 6.0).unwrap(), 1));
        let (stretched, wanted) = (Stretched { g: g.coordinates().unwrap(), s: 3.0 }, wanted.coordinates().unwrap());
        assert_eq!(stretched.threshold_of(0), wanted.threshold_of(0));
        assert!((stretched.rho_of(0) - wanted.rho_of(0)).abs() < 1e-15);
        for u in [-4.0, -0.3, 0.0, 0.9, 2.0, 11.0] {
            assert!((stretched.value_of(0, &mut [u]) - wanted.value_of(0, &mut [u])).abs() < 1e-14);
            let [mut here, mut there] = [[u]; 2];
            stretched.prox_of(0, &mut here, 1.7);
            wanted.prox_of(0, &mut there, 1.7);
            assert!((here[0] - there[0]).abs() < 1e-14, "{u}: {here:?} {there:?}");
        }
    }

    #[test]
    fn a_path_begins_where_zero_is_the_answer() {
        let first =
            |g: &dyn Prox<f64>, u: [f64; 2]| first_dilation(g, [&mut [0.0; 2], &mut [0.0; 2]], &u, 0.5, &mut []);
        let mcp = Entrywise::new(Mcp::new(0.5, 2.0).unwrap(), 2);
        let t = first(&mcp, [5.0, 0.1]).unwrap(); // 5 ≤ βtλ
        assert!((20.0..20.0 * COARSE).contains(&t), "{t}");
        assert_eq!(first(&mcp, [0.1, 0.1]), Some(1.0));
        assert_eq!(first(&Entrywise::new(L1::new(0.5).unwrap(), 2), [5.0, 0.1]), None);
    }
}
