use crate::block::{Block, Layout};
use crate::error::Error;
use crate::penalty::{Columns, Coordinates, Envelope, Form, Prox, form};
use crate::real::Real;
use crate::vector;

/// g(u) = Σ_b w_b·g_b(u_b): a penalty of its own on each block; a block without one is free.
///
/// ρ = max w_bρ_b, L = √(Σ (w_bL_b)²). The weight belongs inside: prox_{βwg}, and (wg)_β = w·g_{wβ}.
pub struct Blocks<S> {
    size: usize,
    pub(super) parts: Vec<Part<S>>,
    pub(super) free: Vec<Block>,
}

pub(super) struct Part<S> {
    pub block: Block,
    pub weight: f64,
    pub g: Box<dyn Prox<S>>,
}

impl<S: Real> Blocks<S> {
    /// Penalties `(block, weight, g)`: weights are finite numbers ≥ 0, and no block is named twice.
    pub fn new<N: AsRef<str>>(layout: &Layout, parts: Vec<(N, f64, Box<dyn Prox<S>>)>) -> Result<Self, Error> {
        let mut all: Vec<Part<S>> = Vec::new();
        for (name, weight, g) in parts {
            let block = layout.require(name.as_ref())?.clone();
            if all.iter().any(|part| part.block == block) {
                return Err(Error::RepeatedBlock { name: block.name });
            }
            Error::expect_len("penalty of a block", block.size(), g.size())?;
            let holds = weight >= 0.0 && weight.is_finite();
            Error::expect_parameter("weight", weight, holds, "a finite number, at least 0")?;
            all.push(Part { block, weight, g });
        }
        all.retain(|part| part.weight > 0.0); // 0·g is no penalty, also where g is infinite
        let free = layout.blocks().iter().filter(|b| all.iter().all(|part| part.block != **b)).cloned().collect();
        Ok(Self { size: layout.size(), parts: all, free })
    }
}

impl<S: Real> Prox<S> for Blocks<S> {
    fn size(&self) -> usize {
        self.size
    }

    fn weak_convexity(&self) -> f64 {
        self.parts.iter().map(|part| part.weight * part.g.weak_convexity()).fold(0.0, f64::max)
    }

    fn lipschitz(&self) -> Option<f64> {
        let squares = self.parts.iter().map(|part| Some((part.weight * part.g.lipschitz()?).powi(2)));
        Some(squares.sum::<Option<f64>>()?.sqrt())
    }

    fn strong_convexity(&self) -> f64 {
        let parts = self.parts.iter().map(|part| part.weight * part.g.strong_convexity());
        if self.free.is_empty() { parts.fold(f64::INFINITY, f64::min) } else { 0.0 }
    }

    fn polar(&self, v: &[S], work: &mut [S]) -> Option<f64> {
        let free = self.free.iter().any(|block| vector::norm_inf(&v[block.range()]) > 0.0);
        let start = if free { f64::INFINITY } else { 0.0 };
        self.parts.iter().try_fold(start, |most: f64, Part { block, weight, g }| {
            Some(most.max(g.polar(&v[block.range()], work)? / weight))
        })
    }

    fn reach(&self) -> Option<f64> {
        let parts = self.parts.iter().map(|part| part.g.reach());
        let reach = parts.sum::<Option<f64>>();
        reach.filter(|_| self.free.is_empty())
    }

    fn rounding(&self) -> f64 {
        self.parts.iter().map(|part| part.g.rounding()).fold(8.0 * S::EPSILON, f64::max)
    }

    fn work_len(&self) -> usize {
        self.parts.iter().map(|part| part.g.work_len()).max().unwrap_or(0)
    }

    fn value(&self, u: &[S], work: &mut [S]) -> f64 {
        self.parts.iter().map(|Part { block, weight, g }| weight * g.value(&u[block.range()], work)).sum()
    }

    fn prox(&self, z: &mut [S], u: &[S], beta: f64, work: &mut [S]) -> f64 {
        for block in &self.free {
            z[block.range()].copy_from_slice(&u[block.range()]);
        }
        let mut value = 0.0;
        for Part { block, weight, g } in &self.parts {
            value += weight * g.prox(&mut z[block.range()], &u[block.range()], beta * weight, work);
        }
        value
    }

    fn moreau(&self, grad: &mut [S], u: &[S], beta: f64, work: &mut [S]) -> Envelope {
        for block in &self.free {
            grad[block.range()].fill(S::ZERO);
        }
        let mut total = Envelope::default();
        for Part { block, weight, g } in &self.parts {
            let grad = &mut grad[block.range()];
            let Envelope { value, slope_squared } = g.moreau(grad, &u[block.range()], beta * weight, work);
            scale(grad, *weight);
            total += Envelope { value: weight * value, slope_squared: weight * weight * slope_squared };
        }
        total
    }

    fn subgradient(&self, v: &mut [S], u: &[S], work: &mut [S]) -> f64 {
        for block in &self.free {
            v[block.range()].fill(S::ZERO);
        }
        let mut value = 0.0;
        for Part { block, weight, g } in &self.parts {
            let v = &mut v[block.range()];
            value += weight * g.subgradient(v, &u[block.range()], work);
            scale(v, *weight);
        }
        value
    }

    fn coordinates(&self) -> Option<&dyn Coordinates<S>> {
        self.parts.iter().all(|part| part.g.coordinates().is_some()).then_some(self)
    }

    fn form(&self) -> Form<'_, S> {
        let parts = self.parts.iter();
        let part = parts.map(|part| form::Part { range: part.block.range(), weight: part.weight, g: &*part.g });
        Form::Blocks(part.collect())
    }

    fn columns(&self, start: usize) -> Option<&dyn Columns<S>> {
        let part = self.parts.iter().find(|part| part.block.start == start && part.weight == 1.0)?;
        part.g.columns(0)
    }
}

/// x ← a·x.
fn scale<S: Real>(x: &mut [S], a: f64) {
    if a == 1.0 {
        return;
    }
    let a = S::of(a);
    vector::simd(
        #[inline(always)]
        || x.iter_mut().for_each(|x| *x *= a),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::{Entrywise, L1, Mcp, Nonnegative, Spectral, laws};

    fn layout() -> Layout {
        Layout::new([("W", 3, 2), ("H", 2, 4), ("b", 5, 1)]).unwrap()
    }

    fn l1(size: usize) -> Box<dyn Prox<f64>> {
        Box::new(Entrywise::new(L1::new(0.5).unwrap(), size))
    }

    #[test]
    fn obeys_the_laws() {
        let nuclear = Spectral::new(L1::new(0.4).unwrap(), &Layout::matrix(3, 2).unwrap()).unwrap();
        let mcp = Entrywise::new(Mcp::new(0.6, 1.5).unwrap(), 5);
        let g = Blocks::new(
            &layout(),
            vec![("b", 0.5, Box::new(mcp) as Box<dyn Prox<f64>>), ("W", 2.0, Box::new(nuclear))],
        );
        let g = g.unwrap();
        laws::whole(&g);
        assert!((g.weak_convexity() - 0.5 / 1.5).abs() < 1e-15);
        assert!((g.lipschitz().unwrap().powi(2) - (0.3f64.powi(2) * 5.0 + 0.8f64.powi(2) * 2.0)).abs() < 1e-14);
    }

    #[test]
    fn one_part_without_a_bound_leaves_none() {
        let wall = Box::new(Entrywise::new(Nonnegative, 8));
        let g = Blocks::new(&layout(), vec![("W", 1.0, l1(6)), ("H", 1.0, wall)]).unwrap();
        assert_eq!(g.lipschitz(), None);
    }

    #[test]
    fn free_blocks_stay_where_they_are() {
        let g = Blocks::new(&layout(), vec![("W", 0.0, l1(6)), ("H", 1.0, l1(8))]).unwrap();
        let (u, mut z) = (vec![0.25; 19], vec![9.0; 19]);
        assert_eq!(g.prox(&mut z, &u, 1.0, &mut []), 0.0);
        assert_eq!(z, [vec![0.25; 6], vec![0.0; 8], vec![0.25; 5]].concat());
    }

    #[test]
    fn bad_parts_are_refused() {
        assert!(matches!(Blocks::new(&layout(), vec![("V", 1.0, l1(6))]), Err(Error::UnknownName { .. })));
        let twice = Blocks::new(&layout(), vec![("W", 1.0, l1(6)), ("W", 1.0, l1(6))]);
        assert!(matches!(twice, Err(Error::RepeatedBlock { .. })));
        assert!(matches!(Blocks::new(&layout(), vec![("W", 1.0, l1(8))]), Err(Error::Shape { .. })));
        laws::refuses("weight", Blocks::new(&layout(), vec![("W", -1.0, l1(6))]));
        laws::refuses("weight", Blocks::new(&layout(), vec![("W", f64::NAN, l1(6))]));
    }
}
