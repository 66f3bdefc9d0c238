use crate::block::Layout;
use crate::error::Error;
use crate::penalty::coordinates::polar_of_units;
use crate::penalty::entrywise::{check_weights, least_weight, weight_constants};
use crate::penalty::partition::Partition;
use crate::penalty::reply::{Replies, Reply, TILE};
use crate::penalty::tile::pair_norms;
use crate::penalty::{Columns, Coordinates, Envelope, Form, Pixels, Prox, Separable, Streamed};
use crate::real::Real;
use crate::vector::simd;

/// g(u) = Σ_g w_g·ψ(‖u_g‖₂): an even penalty on the norms of disjoint groups of entries.
///
/// ρ = ρ_ψ·max w_g, L = slope·‖w‖₂ over the groups (√(number of groups) without weights); the prox keeps the direction of
/// each group, prox_ψ(‖u_g‖)·u_g/‖u_g‖. Yuan and Lin, "Model selection and estimation in regression with grouped
/// variables" (2006); on the two difference components of each pixel it is isotropic total variation.
#[derive(Clone, Debug)]
pub struct Group<P, S> {
    pub(super) psi: P,
    size: usize,
    pub(super) groups: Partition,
    pub(super) weights: Option<Vec<S>>,
    /// Group i is entry i of each of so many blocks; 0 where it is not.
    pixels: usize,
    /// Group j is column j of the one block.
    columns: bool,
    /// The entries in no group.
    pub(super) free: Vec<usize>,
}

impl<S: Real, P: Separable<S>> Group<P, S> {
    /// A group is a row of a block.
    pub fn rows(psi: P, layout: &Layout) -> Result<Self, Error> {
        Self::new(psi, layout.size(), Partition::rows(layout))
    }

    /// A group is a column of a block.
    pub fn columns(psi: P, layout: &Layout) -> Result<Self, Error> {
        let columns = layout.blocks().len() == 1;
        Ok(Self { columns, ..Self::new(psi, layout.size(), Partition::columns(layout))? })
    }

    /// A group is the same entry of every block; all blocks have one shape.
    pub fn pixels(psi: P, layout: &Layout) -> Result<Self, Error> {
        let pixels = layout.blocks().len();
        Ok(Self { pixels, ..Self::new(psi, layout.size(), Partition::pixels(layout)?)? })
    }

    /// Groups are lists of entries of a buffer of `size`; an entry in no group is not penalised.
    pub fn given(psi: P, groups: Vec<Vec<usize>>, size: usize) -> Result<Self, Error> {
        let partition = Partition::given(&groups, size)?;
        let mut taken = vec![false; size];
        groups.iter().flatten().for_each(|&i| taken[i] = true);
        let free = (0..size).filter(|&i| !taken[i]).collect();
        Ok(Self { free, ..Self::new(psi, size, partition)? })
    }

    fn new(psi: P, size: usize, groups: Partition) -> Result<Self, Error> {
        if !psi.is_even() {
            let message = "a penalty of the norm of a group must be even, ψ(−x) = ψ(x): this one is not";
            return Err(Error::Unsupported(message.into()));
        }
        Ok(Self { psi, size, groups, weights: None, pixels: 0, columns: false, free: Vec::new() })
    }

    /// Multiplies the penalty of group g by w_g ≥ 0. Groups are counted block by block; rows, columns and pixels in order.
    pub fn weighted(mut self, weights: Vec<S>) -> Result<Self, Error> {
        Error::expect_len("weights of the groups", self.groups.len(), weights.len())?;
        check_weights(&weights)?;
        self.weights = Some(weights);
        Ok(self)
    }

    fn weights_at(&self, first: usize, len: usize) -> Option<&[S]> {
        self.weights.as_ref().map(|w| &w[first..first + len])
    }
}

impl<S: Real, P: Separable<S>> Prox<S> for Group<P, S> {
    fn size(&self) -> usize {
        self.size
    }

    fn weak_convexity(&self) -> f64 {
        self.psi.rho() * weight_constants(self.weights.as_deref(), self.groups.len()).0
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(self.psi.slope()? * weight_constants(self.weights.as_deref(), self.groups.len()).1)
    }

    fn strong_convexity(&self) -> f64 {
        if self.free.is_empty() { self.psi.strong_convexity() * least_weight(self.weights.as_deref()) } else { 0.0 }
    }

    fn polar(&self, v: &[S], _: &mut [S]) -> Option<f64> {
        self.psi.growth()?;
        Some(polar_of_units(self, v))
    }

    fn reach(&self) -> Option<f64> {
        let bounded = self.free.is_empty() && least_weight(self.weights.as_deref()) > 0.0;
        let reach = self.psi.reach().filter(|_| bounded)?;
        Some(reach * (self.groups.len() as f64).sqrt() * (1.0 + f64::EPSILON))
    }

    /// The norm of a group is a sum over its members, all entries at the most.
    fn rounding(&self) -> f64 {
        (16.0 + self.size as f64 / self.groups.len().max(1) as f64) * S::EPSILON
    }

    fn value(&self, u: &[S], _: &mut [S]) -> f64 {
        let psi = self.psi.clone();
        let total = self.groups.walk(
            None,
            u,
            self.weights.as_deref(),
            #[inline(always)]
            move |norm, w| Reply::subgradient(&psi, norm, w),
        );
        total.value
    }

    fn prox(&self, z: &mut [S], u: &[S], beta: f64, _: &mut [S]) -> f64 {
        if !self.free.is_empty() {
            z.copy_from_slice(u);
        }
        let (psi, beta) = (self.psi.clone(), S::of(beta));
        let total = self.groups.walk(
            Some(z),
            u,
            self.weights.as_deref(),
            #[inline(always)]
            move |norm, w| Reply::prox(&psi, beta, norm, w),
        );
        total.value
    }

    fn moreau(&self, grad: &mut [S], u: &[S], beta: f64, _: &mut [S]) -> Envelope {
        if !self.free.is_empty() {
            grad.fill(S::ZERO);
        }
        let (psi, beta) = (self.psi.clone(), S::of(beta));
        self.groups.walk(
            Some(grad),
            u,
            self.weights.as_deref(),
            #[inline(always)]
            move |norm, w| Reply::envelope(&psi, beta, norm, w),
        )
    }

    fn subgradient(&self, v: &mut [S], u: &[S], _: &mut [S]) -> f64 {
        if !self.free.is_empty() {
            v.fill(S::ZERO);
        }
        let psi = self.psi.clone();
        let total = self.groups.walk(
            Some(v),
            u,
            self.weights.as_deref(),
            #[inline(always)]
            move |norm, w| Reply::subgradient(&psi, norm, w),
        );
        total.value
    }

    fn coordinates(&self) -> Option<&dyn Coordinates<S>> {
        Some(self)
    }

    fn form(&self) -> Form<'_, S> {
        let weights = self.weights.as_deref();
        match self.psi.form() {
            Some(psi) if self.pixels > 0 => Form::Pixels { psi, weights, blocks: self.pixels },
            Some(psi) => Form::Groups { psi, weights, groups: self.groups.grouping() },
            None => Form::General,
        }
    }

    fn streamed(&self) -> Option<Streamed<'_, S>> {
        (self.pixels == 2).then_some(Streamed::Pixels(self))
    }

    fn columns(&self, start: usize) -> Option<&dyn Columns<S>> {
        (self.columns && start == 0).then_some(self)
    }
}

impl<S: Real, P: Separable<S>> Columns<S> for Group<P, S> {
    fn value_of(&self, norms: &[S], first: usize, beta: Option<f64>) -> f64 {
        let psi = self.psi.clone();
        let weights = self.weights_at(first, norms.len());
        match beta.map(S::of) {
            None => total_of(
                norms,
                weights,
                #[inline(always)]
                move |norm, w| Reply::subgradient(&psi, norm, w),
            ),
            Some(beta) => total_of(
                norms,
                weights,
                #[inline(always)]
                move |norm, w| Reply::envelope(&psi, beta, norm, w),
            ),
        }
    }

    fn factors(&self, norms: &mut [S], first: usize, beta: f64) -> f64 {
        let (psi, beta) = (self.psi.clone(), S::of(beta));
        simd(
            #[inline(always)]
            move || {
                let mut replies = Replies::new(
                    self.weights_at(first, norms.len()),
                    #[inline(always)]
                    move |norm, w| Reply::slope(&psi, beta, norm, w),
                );
                norms.chunks_mut(TILE).for_each(|norms| replies.answer(norms));
                replies.total().slope_squared
            },
        )
    }
}

/// The values of the answers to these norms, summed.
#[inline(always)]
fn total_of<S: Real>(norms: &[S], weights: Option<&[S]>, reply: impl Fn(S, S) -> Reply<S>) -> f64 {
    simd(
        #[inline(always)]
        move || {
            let (mut tile, mut replies) = ([S::ZERO; TILE], Replies::new(weights, reply));
            for norms in norms.chunks(TILE) {
                let tile = &mut tile[..norms.len()];
                tile.copy_from_slice(norms);
                replies.answer(tile);
            }
            replies.total().value
        },
    )
}

impl<S: Real, P: Separable<S>> Pixels<S> for Group<P, S> {
    fn value_at(&self, u: &[S], v: &[S], first: usize) -> f64 {
        let psi = self.psi.clone();
        simd(
            #[inline(always)]
            move || {
                let mut norms = [S::ZERO; TILE];
                let mut replies = Replies::new(
                    self.weights_at(first, u.len()),
                    #[inline(always)]
                    move |norm, w| Reply::subgradient(&psi, norm, w),
                );
                for (u, v) in u.chunks(TILE).zip(v.chunks(TILE)) {
                    let norms = &mut norms[..u.len()];
                    pair_norms(norms, u, v);
                    replies.answer(norms);
                }
                replies.total().value
            },
        )
    }

    fn moreau_at(&self, u: &mut [S], v: &mut [S], first: usize, beta: f64) -> Envelope {
        let (psi, beta) = (self.psi.clone(), S::of(beta));
        simd(
            #[inline(always)]
            move || {
                let mut norms = [S::ZERO; TILE];
                let mut replies = Replies::new(
                    self.weights_at(first, u.len()),
                    #[inline(always)]
                    move |norm, w| Reply::envelope(&psi, beta, norm, w),
                );
                for (u, v) in u.chunks_mut(TILE).zip(v.chunks_mut(TILE)) {
                    let norms = &mut norms[..u.len()];
                    pair_norms(norms, u, v);
                    replies.answer(norms);
                    for ((u, v), &factor) in u.iter_mut().zip(v).zip(norms.iter()) {
                        (*u, *v) = (factor * *u, factor * *v);
                    }
                }
                replies.total()
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::{Entrywise, Interval, L1, Mcp, Nonnegative, Scad, laws};

    fn two_blocks() -> Layout {
        Layout::new([("a", 3, 4), ("b", 2, 5)]).unwrap()
    }

    #[test]
    fn rows_and_columns_obey_the_laws() {
        let psi = Mcp::new(0.6, 1.5).unwrap();
        laws::whole(&Group::<_, f64>::rows(psi, &two_blocks()).unwrap());
        laws::whole(&Group::<_, f64>::columns(psi, &two_blocks()).unwrap());
        let weights: Vec<f64> = (0..9).map(|i| f64::from(i % 3)).collect();
        laws::whole(&Group::columns(psi, &two_blocks()).unwrap().weighted(weights).unwrap());
        for layout in [Layout::matrix(7, 1).unwrap(), Layout::matrix(1, 7).unwrap()] {
            laws::whole(&Group::<_, f64>::rows(psi, &layout).unwrap());
            laws::whole(&Group::<_, f64>::columns(psi, &layout).unwrap());
        }
    }

    #[test]
    fn pixels_obey_the_laws_also_in_stretches() {
        let psi = Scad::new(0.4, 2.5).unwrap();
        let pair = Layout::new([("dx", 3, 5), ("dy", 3, 5)]).unwrap();
        laws::whole(&Group::<_, f64>::pixels(psi, &pair).unwrap());
        let weights: Vec<f64> = (0..15).map(|i| f64::from(i % 3) / 2.0).collect();
        let weighted = Group::pixels(psi, &pair).unwrap().weighted(weights).unwrap();
        assert!(matches!(weighted.streamed(), Some(Streamed::Pixels(_))));
        laws::whole(&weighted);
        let triple = Layout::new([("dx", 2, 3), ("dy", 2, 3), ("dz", 2, 3)]).unwrap();
        let triple = Group::<_, f64>::pixels(psi, &triple).unwrap();
        assert!(triple.streamed().is_none());
        laws::whole(&triple);
    }

    #[test]
    fn given_groups_obey_the_laws_and_free_the_rest() {
        let g = Group::<_, f64>::given(L1::new(1.0).unwrap(), vec![vec![0, 3], vec![5, 1, 2]], 7).unwrap();
        laws::whole(&g);
        let (u, mut z) = ([3.0, 0.0, 0.0, -4.0, 9.0, 0.0, -9.0], [0.0; 7]);
        assert_eq!(g.prox(&mut z, &u, 2.5, &mut []), 2.5);
        assert_eq!(z, [1.5, 0.0, 0.0, -2.0, 9.0, 0.0, -9.0]);
        assert_eq!(g.lipschitz(), Some(2f64.sqrt()));
    }

    #[test]
    fn tiles_and_their_ends_are_all_visited() {
        for (rows, cols) in [(300, 2), (2, 300), (5, 9001), (131, 129)] {
            let layout = Layout::matrix(rows, cols).unwrap();
            let u = laws::noise(rows * cols, 7);
            for by_rows in [true, false] {
                let psi = Mcp::new(0.3, 4.0).unwrap();
                let group = if by_rows { Group::rows(psi, &layout) } else { Group::columns(psi, &layout) }.unwrap();
                let lists = match by_rows {
                    true => (0..rows).map(|i| (0..cols).map(|j| i * cols + j).collect()).collect(),
                    false => (0..cols).map(|j| (0..rows).map(|i| i * cols + j).collect()).collect(),
                };
                let given = Group::given(psi, lists, rows * cols).unwrap();
                let (mut a, mut b) = (vec![0.0; u.len()], vec![0.0; u.len()]);
                let (ea, eb) = (group.moreau(&mut a, &u, 0.5, &mut []), given.moreau(&mut b, &u, 0.5, &mut []));
                assert!((ea.value - eb.value).abs() <= 1e-12 * eb.value);
                assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-14));
            }
        }
    }

    #[test]
    fn groups_of_one_entry_are_entries() {
        const N: usize = 300;
        let (psi, layout) = (Mcp::new(0.3, 2.0).unwrap(), Layout::new([("a", N / 2, 1), ("b", N / 2, 1)]).unwrap());
        let u: Vec<f32> = laws::noise(N, 3).iter().map(|&v| v as f32).collect();
        let weights: Vec<f32> = (0..N).map(|i| (i % 7) as f32 / 6.0).collect();
        let group = Group::rows(psi, &layout).unwrap().weighted(weights.clone()).unwrap();
        let plain = Entrywise::weighted(psi, weights).unwrap();
        let (mut a, mut b) = (vec![0.0; N], vec![0.0; N]);
        assert!((group.prox(&mut a, &u, 0.5, &mut []) - plain.prox(&mut b, &u, 0.5, &mut [])).abs() < 1e-4);
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-6));
        assert_eq!((group.weak_convexity(), group.lipschitz()), (plain.weak_convexity(), plain.lipschitz()));
    }

    #[test]
    fn nan_is_not_hidden() {
        let g = Group::columns(L1::new(1.0).unwrap(), &Layout::matrix(2, 2).unwrap()).unwrap();
        let mut z = [0.0; 4];
        assert!(g.prox(&mut z, &[1.0, f64::NAN, 1.0, 1.0], 0.1, &mut []).is_nan());
        assert!(z[1].is_nan() && z[3].is_nan() && z[0].is_finite());
    }

    #[test]
    fn bad_groups_are_refused() {
        let (l1, layout) = (L1::new(1.0).unwrap(), two_blocks());
        assert!(matches!(Group::<_, f64>::rows(Nonnegative, &layout), Err(Error::Unsupported(_))));
        assert!(matches!(Group::<_, f64>::pixels(l1, &layout), Err(Error::Unsupported(_))));
        assert!(matches!(Group::<_, f64>::given(l1, vec![vec![0], vec![7]], 7), Err(Error::Unsupported(_))));
        assert!(matches!(Group::<_, f64>::given(l1, vec![vec![0, 1], vec![1]], 7), Err(Error::Unsupported(_))));
        let rows = Group::rows(l1, &layout).unwrap();
        assert!(matches!(rows.clone().weighted(vec![1.0; 4]), Err(Error::Shape { expected: 5, got: 4, .. })));
        laws::refuses("weight", rows.weighted(vec![1.0, 1.0, -1.0, 1.0, 1.0]));
        assert!(Group::<_, f64>::rows(Interval::new(-1.0, 1.0).unwrap(), &layout).is_ok());
    }
}
