//! Penalties that are sums over disjoint sets of entries, one set at a time: what coordinate descent asks for.

use crate::penalty::blocks::Part;
use crate::penalty::reply::Reply;
use crate::penalty::{Blocks, Entrywise, Group, Separable};
use crate::real::Real;
use crate::vector::{norm2, simd};

/// g(u) = Σ_c g_c(u_c) over disjoint units c (an entry, a group) that cover all entries; an unpenalised entry is a unit with
/// g_c = 0.
pub trait Coordinates<S: Real>: Send + Sync {
    /// Number of units.
    fn units(&self) -> usize;

    /// Appends the entries of unit c, in the order in which the methods below take them.
    fn members(&self, c: usize, entries: &mut Vec<usize>);

    /// ρ of g_c.
    fn rho_of(&self, c: usize) -> f64;

    /// The largest t for which the ball of radius t lies in ∂g_c(0): λ for a kink λ|u|, 0 for a unit that is smooth or free.
    fn threshold_of(&self, c: usize) -> f64;

    /// g_c(u); u may be overwritten.
    fn value_of(&self, c: usize, u: &mut [S]) -> f64;

    /// u ← prox_{βg_c}(u), for βρ < 1.
    fn prox_of(&self, c: usize, u: &mut [S], beta: f64);

    /// u_k ← prox_{βg_c}(u_k) for the units c = first, first + every, …, of one entry each.
    fn prox_every(&self, first: usize, every: usize, u: &mut [S], beta: f64) {
        let units = u.iter_mut().enumerate();
        units.for_each(|(k, u)| self.prox_of(first + k * every, std::slice::from_mut(u), beta));
    }

    /// min over u of a/2·‖u − y‖² + g_c(u), for any a ≥ 0; `None` where it is not known.
    fn least_of(&self, c: usize, y: &[S], a: f64) -> Option<f64>;
}

/// max_c ‖v_c‖/t_c over units whose penalties are at least t_c‖u_c‖: the polar of that norm. ∞ where v sees a free unit.
pub(super) fn polar_of_units<S: Real>(g: &dyn Coordinates<S>, v: &[S]) -> f64 {
    let (mut most, mut entries, mut unit) = (0.0f64, Vec::new(), Vec::new());
    for c in 0..g.units() {
        entries.clear();
        unit.clear();
        g.members(c, &mut entries);
        unit.extend(entries.iter().map(|&i| v[i]));
        let size = norm2(&unit) * (1.0 + (unit.len() + 2) as f64 * f64::EPSILON);
        if size > 0.0 {
            most = most.max(size / g.threshold_of(c));
        }
    }
    most
}

/// min over x of a/2·(x − y)² + wψ(x).
fn weighted_least<S: Real>(psi: &impl Separable<S>, y: f64, w: f64, a: f64) -> Option<f64> {
    if w > 0.0 { Some(w * psi.least(y, a / w)?) } else { Some(0.0) }
}

/// ψ′(0+), or −ψ′(0−) where that is less; 0 where ψ is smooth, and its slope shrinks with x.
fn kink<S: Real>(psi: &impl Separable<S>) -> f64 {
    let slope = |x: f64| psi.derivative(S::of(x)).f64().min(-psi.derivative(S::of(-x)).f64()).max(0.0);
    let (near, nearer) = (slope(1e-30), slope(1e-33));
    if nearer > 0.5 * near { near } else { 0.0 }
}

/// The weight of unit c.
fn weight<S: Real>(weights: &Option<Vec<S>>, c: usize) -> S {
    weights.as_ref().map_or(S::ONE, |w| w[c])
}

impl<S: Real, P: Separable<S>> Coordinates<S> for Entrywise<P, S> {
    fn units(&self) -> usize {
        self.size
    }

    fn members(&self, c: usize, entries: &mut Vec<usize>) {
        entries.push(c);
    }

    fn rho_of(&self, c: usize) -> f64 {
        self.psi.rho() * weight(&self.weights, c).f64()
    }

    fn threshold_of(&self, c: usize) -> f64 {
        kink(&self.psi) * weight(&self.weights, c).f64()
    }

    fn value_of(&self, c: usize, u: &mut [S]) -> f64 {
        let w = weight(&self.weights, c);
        if w > S::ZERO { w.f64() * self.psi.psi(u[0]).f64() } else { 0.0 }
    }

    fn prox_of(&self, c: usize, u: &mut [S], beta: f64) {
        let w = weight(&self.weights, c);
        if w > S::ZERO {
            u[0] = self.psi.prox_psi(u[0], S::of(beta) * w) + S::ZERO; // a zero is 0, never −0
        }
    }

    fn prox_every(&self, first: usize, every: usize, u: &mut [S], beta: f64) {
        let beta = S::of(beta);
        match &self.weights {
            None => simd(
                #[inline(always)]
                || u.iter_mut().for_each(|u| *u = self.psi.prox_psi(*u, beta) + S::ZERO),
            ),
            Some(weights) => {
                for (u, &w) in u.iter_mut().zip(weights[first..].iter().step_by(every)).filter(|(_, w)| **w > S::ZERO) {
                    *u = self.psi.prox_psi(*u, beta * w) + S::ZERO;
                }
            }
        }
    }

    fn least_of(&self, c: usize, y: &[S], a: f64) -> Option<f64> {
        weighted_least(&self.psi, y[0].f64(), weight(&self.weights, c).f64(), a)
    }
}

impl<S: Real, P: Separable<S>> Coordinates<S> for Group<P, S> {
    fn units(&self) -> usize {
        self.groups.len() + self.free.len()
    }

    fn members(&self, c: usize, entries: &mut Vec<usize>) {
        match c.checked_sub(self.groups.len()) {
            Some(free) => entries.push(self.free[free]),
            None => self.groups.members(c, entries),
        }
    }

    fn rho_of(&self, c: usize) -> f64 {
        if c < self.groups.len() { self.psi.rho() * weight(&self.weights, c).f64() } else { 0.0 }
    }

    fn threshold_of(&self, c: usize) -> f64 {
        if c < self.groups.len() { kink(&self.psi) * weight(&self.weights, c).f64() } else { 0.0 }
    }

    fn value_of(&self, c: usize, u: &mut [S]) -> f64 {
        if c >= self.groups.len() {
            return 0.0;
        }
        Reply::subgradient(&self.psi, S::of(norm2(u)), weight(&self.weights, c)).value.f64()
    }

    fn prox_of(&self, c: usize, u: &mut [S], beta: f64) {
        if c >= self.groups.len() {
            return;
        }
        let reply = Reply::prox(&self.psi, S::of(beta), S::of(norm2(u)), weight(&self.weights, c));
        u.iter_mut().for_each(|u| *u = reply.factor * *u + S::ZERO);
    }

    /// ψ is even: the least lies on the ray through y.
    fn least_of(&self, c: usize, y: &[S], a: f64) -> Option<f64> {
        let w = if c < self.groups.len() { weight(&self.weights, c).f64() } else { 0.0 };
        weighted_least(&self.psi, norm2(y), w, a)
    }
}

/// Whose unit c is.
enum Owner<'b, S> {
    /// The unit of that number of a part.
    Part(&'b Part<S>, &'b dyn Coordinates<S>, usize),
    /// A free entry.
    Free(usize),
}

impl<S: Real> Blocks<S> {
    /// Parts in order, then the entries of the free blocks.
    fn owner(&self, mut c: usize) -> Owner<'_, S> {
        for part in &self.parts {
            let Some(g) = part.g.coordinates() else { continue };
            match c.checked_sub(g.units()) {
                None => return Owner::Part(part, g, c),
                Some(rest) => c = rest,
            }
        }
        for block in &self.free {
            match c.checked_sub(block.size()) {
                None => return Owner::Free(block.start + c),
                Some(rest) => c = rest,
            }
        }
        unreachable!("a unit beyond the last")
    }
}

impl<S: Real> Coordinates<S> for Blocks<S> {
    fn units(&self) -> usize {
        let parts = self.parts.iter().filter_map(|part| part.g.coordinates());
        parts.map(|g| g.units()).sum::<usize>() + self.free.iter().map(|block| block.size()).sum::<usize>()
    }

    fn members(&self, c: usize, entries: &mut Vec<usize>) {
        let first = entries.len();
        match self.owner(c) {
            Owner::Part(part, g, c) => {
                g.members(c, entries);
                entries[first..].iter_mut().for_each(|i| *i += part.block.start);
            }
            Owner::Free(entry) => entries.push(entry),
        }
    }

    fn rho_of(&self, c: usize) -> f64 {
        match self.owner(c) {
            Owner::Part(part, g, c) => part.weight * g.rho_of(c),
            Owner::Free(_) => 0.0,
        }
    }

    fn threshold_of(&self, c: usize) -> f64 {
        match self.owner(c) {
            Owner::Part(part, g, c) => part.weight * g.threshold_of(c),
            Owner::Free(_) => 0.0,
        }
    }

    fn value_of(&self, c: usize, u: &mut [S]) -> f64 {
        match self.owner(c) {
            Owner::Part(part, g, c) => part.weight * g.value_of(c, u),
            Owner::Free(_) => 0.0,
        }
    }

    fn prox_of(&self, c: usize, u: &mut [S], beta: f64) {
        if let Owner::Part(part, g, c) = self.owner(c) {
            g.prox_of(c, u, part.weight * beta);
        }
    }

    /// Whose the first unit is, all are, unless they reach beyond its part.
    fn prox_every(&self, first: usize, every: usize, u: &mut [S], beta: f64) {
        match self.owner(first) {
            Owner::Part(part, g, c) if c + u.len().saturating_sub(1) * every < g.units() => {
                g.prox_every(c, every, u, part.weight * beta);
            }
            _ => {
                let units = u.iter_mut().enumerate();
                units.for_each(|(k, u)| self.prox_of(first + k * every, std::slice::from_mut(u), beta));
            }
        }
    }

    fn least_of(&self, c: usize, y: &[S], a: f64) -> Option<f64> {
        match self.owner(c) {
            Owner::Part(part, g, c) => Some(part.weight * g.least_of(c, y, a / part.weight)?),
            Owner::Free(_) => Some(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Layout;
    use crate::penalty::{L1, Mcp, Prox, laws};

    /// The units cover every entry once, and unit by unit the penalty and its prox are the whole's.
    fn agrees(g: &dyn Prox<f64>) {
        let (by_units, n) = (g.coordinates().unwrap(), g.size());
        let (u, mut work) = (laws::noise(n, 3), vec![0.0; g.work_len()]);
        let (mut whole, mut parts, mut value, mut seen) = (vec![0.0; n], vec![f64::NAN; n], 0.0, vec![0; n]);
        g.prox(&mut whole, &u, 0.4, &mut work);
        for c in 0..by_units.units() {
            let mut entries = Vec::new();
            by_units.members(c, &mut entries);
            let mut unit: Vec<f64> = entries.iter().map(|&i| u[i]).collect();
            value += by_units.value_of(c, &mut unit.clone());
            by_units.prox_of(c, &mut unit, 0.4);
            for (&i, v) in entries.iter().zip(unit) {
                (parts[i], seen[i]) = (v, seen[i] + 1);
            }
        }
        assert!(seen.iter().all(|&times| times == 1));
        assert!((value - g.value(&u, &mut work)).abs() < 1e-13);
        assert!(whole.iter().zip(&parts).all(|(a, b)| (a - b).abs() < 1e-14), "{whole:?} {parts:?}");
    }

    #[test]
    fn units_add_up_to_the_whole() {
        let mcp = Mcp::new(0.6, 1.5).unwrap();
        agrees(&Entrywise::new(mcp, 7));
        agrees(&Entrywise::weighted(mcp, vec![0.0, 0.5, 1.0]).unwrap());
        let layout = Layout::new([("a", 3, 4), ("b", 2, 5)]).unwrap();
        agrees(&Group::rows(mcp, &layout).unwrap());
        agrees(&Group::columns(mcp, &layout).unwrap());
        agrees(&Group::given(mcp, vec![vec![4, 1], vec![3]], 6).unwrap().weighted(vec![0.5, 2.0]).unwrap());
        let parts: Vec<(&str, f64, Box<dyn Prox<f64>>)> =
            vec![("b", 0.5, Box::new(Group::rows(mcp, &Layout::matrix(2, 5).unwrap()).unwrap()))];
        agrees(&Blocks::new(&layout, parts).unwrap());
    }

    #[test]
    fn thresholds_are_kinks() {
        let l1 = Entrywise::<_, f64>::weighted(L1::new(0.5).unwrap(), vec![1.0, 4.0, 0.0]).unwrap();
        assert_eq!([0, 1, 2].map(|c| l1.threshold_of(c)), [0.5, 2.0, 0.0]);
        let smooth = Entrywise::<_, f64>::new(crate::penalty::Huber::new(1.0, 0.1).unwrap(), 1);
        assert_eq!(smooth.threshold_of(0), 0.0);
        assert_eq!(Entrywise::<_, f32>::new(crate::penalty::Ridge::new(3.0).unwrap(), 1).threshold_of(0), 0.0);
        assert!(Entrywise::<_, f64>::new(crate::penalty::Nonnegative, 1).threshold_of(0) == 0.0);
    }
}
