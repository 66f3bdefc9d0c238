//! What certificates ask, of a point on ranks: every number is that of the whole.

use melmo::certificate::{Allowance, At, Seen, Shown, Stationarity, Witness, can_bound, lower_bound, separable};
use melmo::error::Error;
use melmo::geometry::{BlockNorm, Bracket};
use melmo::guarantee::Facts;
use melmo::operator::Form;
use melmo::real::Real;
use melmo::smooth::{self, Rounding};
use melmo::vector;
use std::ops::Range;

use crate::distributed::{Distributed, square_of};
use crate::gauge::norm_of;

/// Room for looks: v = ∇f(x) + T*w, T*w, Tx, z, w and u, of what is held here.
pub(crate) struct Looked<S> {
    v: Vec<S>,
    pulled: Vec<S>,
    tx: Vec<S>,
    z: Vec<S>,
    w: Vec<S>,
    u: Vec<S>,
}

/// Σ over some ranges of a product of differences.
fn overlap<S: Real>(w: &[S], tx: &[S], z: &[S], ranges: &[Range<usize>]) -> [f64; 2] {
    let (mut overlap, mut squared) = (0.0, 0.0);
    for at in ranges.iter().flat_map(Clone::clone) {
        let apart = tx[at].f64() - z[at].f64();
        overlap += w[at].f64() * apart;
        squared += apart * apart;
    }
    [overlap, squared]
}

impl<S: Real> Distributed<'_, S> {
    pub(crate) fn make_room(&mut self) {
        if self.looked.is_none() {
            let (n, m) = (self.problem.layout().size(), self.problem.t().range().size());
            let zeros = |len: usize| vec![S::ZERO; len];
            let [tx, z, w, u] = [zeros(m), zeros(m), zeros(m), zeros(m)];
            self.looked = Some(Looked { v: zeros(n), pulled: zeros(n), tx, z, w, u });
        }
    }

    /// u ← z + βw for w = scaled/step, with one β for all.
    pub(crate) fn show_pair(&mut self, z: &[S], scaled: &[S], step: f64) -> Shown {
        self.with_room(|space, looked| space.restate(&mut looked.u, z, scaled, step))
    }

    /// Takes up the u that a certificate stores, of what is held here.
    pub(crate) fn take_up(&mut self, u: &[S]) {
        self.with_room(|_, looked| looked.u.copy_from_slice(u));
    }

    /// ‖∇f(0)‖₂: how large the data are.
    pub(crate) fn size_of_data(&mut self) -> f64 {
        let n = self.problem.layout().size();
        let (zeros, mut grad) = (vec![S::ZERO; n], vec![S::ZERO; n]);
        self.loss(&mut grad, &zeros, false);
        let own = norm_of(&grad, &self.plan.counted);
        self.talk.hypot(own)
    }

    fn restate(&mut self, u: &mut [S], z: &[S], scaled: &[S], step: f64) -> Shown {
        let largest = |image: &[S], ranges: &[Range<usize>]| {
            ranges.iter().map(|range| vector::norm_inf(&image[range.clone()])).fold(0.0, f64::max)
        };
        let counted = &self.plan.image_counted;
        let own = [largest(z, counted), largest(scaled, counted) / step];
        let largest = own.map(|own| self.talk.largest(own));
        let rho = self.facts.rho;
        let shown = Shown::of_pair(largest, if rho > 0.0 { 0.5 / rho } else { f64::INFINITY });
        let factor = shown.beta / step;
        let pairs = u.iter_mut().zip(z).zip(scaled);
        pairs.for_each(|((u, z), scaled)| *u = S::of(z.f64() + factor * scaled.f64()));
        shown
    }

    /// The parts of an image that are held for good.
    fn own_image(&self, image: &[S], to: &mut Vec<S>) {
        to.clear();
        self.plan.image_own.iter().for_each(|range| to.extend_from_slice(&image[range.clone()]));
    }

    fn look_at(&mut self, x: &[S], shown: Shown, looked: &mut Looked<S>) -> Seen {
        let (g, t, beta) = (self.problem.g(), self.problem.t(), shown.beta);
        let Looked { v, pulled, tx, z, w, u } = looked;
        t.apply(tx, x, self.work());
        let u: &[S] = if shown.stored { u } else { tx };
        g.prox(z, u, beta, self.work());
        for ((w, u), z) in w.iter_mut().zip(u).zip(&*z) {
            *w = S::of((u.f64() - z.f64()) / beta);
        }
        let (at_z, at_tx) = (self.counted_penalty(z, None), self.counted_penalty(tx, None));
        pulled.fill(S::ZERO);
        t.adjoint_add(pulled, w, self.work());
        let (f, rounding) = self.loss(v, x, true);
        let (counted, images) = (&self.plan.counted, &self.plan.image_counted);
        let of_f = square_of(v, counted);
        vector::axpy(v, 1.0, pulled);
        let [overlap, gap] = overlap(w, tx, z, images);
        let points = [of_f, square_of(pulled, counted), square_of(v, counted), square_of(x, counted)];
        let image = [square_of(tx, images), square_of(u, images), square_of(w, images)];
        let [f, at_z, at_tx, overlap, value, grad] =
            self.talk.sums([f, at_z, at_tx, overlap, rounding.value, rounding.grad]);
        let [of_f, of_g, of_sum, x_norm] = self.talk.sums(points).map(f64::sqrt);
        let [tx_norm, u_norm, w_norm] = self.talk.sums(image).map(f64::sqrt);
        let prox_gap = self.talk.sum(gap).sqrt();
        // Sums over ranks round as well: of values, and of gradients of what every rank has.
        let of_ranks = self.talk.size() as f64 * S::EPSILON;
        let rounding = Rounding { value: value + of_ranks * f.abs(), grad: grad + of_ranks * of_f };
        let stored = shown.stored;
        Seen {
            beta,
            stored,
            f,
            at_z,
            at_tx,
            overlap,
            of_f,
            of_g,
            of_sum,
            prox_gap,
            x_norm,
            tx_norm,
            u_norm,
            w_norm,
            rounding,
        }
    }

    /// x̃ has z in the entries that T picks.
    fn near_of(&mut self, x: &[S], looked: &mut Looked<S>) -> Option<Stationarity<S>> {
        let mut point = x.to_vec();
        match self.problem.t().form() {
            Form::Identity => point.copy_from_slice(&looked.z),
            Form::Select(t) => t.pairs().for_each(|(in_x, in_z)| point[in_x].copy_from_slice(&looked.z[in_z])),
            _ => return None,
        }
        let apart: Vec<S> = point.iter().zip(x).map(|(a, b)| *a - *b).collect();
        let own = norm_of(&apart, &self.plan.counted);
        let distance = self.talk.hypot(own);
        self.loss(&mut looked.v, &point, false);
        vector::axpy(&mut looked.v, 1.0, &looked.pulled);
        let own = norm_of(&looked.v, &self.plan.counted);
        let bound = self.talk.hypot(own);
        let mut mine = Vec::new();
        self.plan.own.iter().for_each(|range| mine.extend_from_slice(&point[range.clone()]));
        let numbers = !distance.is_nan() && !bound.is_nan();
        numbers.then_some(Stationarity { point: mine, distance, bound, residual: Some(0.0) })
    }

    /// Does something with the room, which is made where there is none yet.
    fn with_room<R>(&mut self, act: impl FnOnce(&mut Self, &mut Looked<S>) -> R) -> R {
        self.make_room();
        let mut looked = self.looked.take().expect("it was made");
        let found = act(self, &mut looked);
        self.looked = Some(looked);
        found
    }
}

impl<S: Real> Distributed<'_, S> {
    /// Refuses, on every rank, what has no lower bound on F* on one of them: before a gap is asked for.
    pub fn expect_bound(&mut self, radius: Option<f64>) -> Result<(), Error> {
        let own = if self.plan.idle { Ok(()) } else { self.can_bound(radius) };
        let refused = self.talk.sum(f64::from(u8::from(own.is_err())));
        let no_bound = |why: String| Err(Error::Unsupported(format!("F − F* has no bound here: {why}")));
        match own {
            Err(why) => no_bound(why),
            Ok(()) if refused > 0.0 => no_bound("another rank has none, and says why".into()),
            Ok(()) => Ok(()),
        }
    }

    fn can_bound(&self, radius: Option<f64>) -> Result<(), String> {
        match self.bounded() {
            Bounded::Entries => separable(self.problem).map(drop).ok_or_else(|| NO_PENALTY.into()),
            Bounded::Not => Err(NO_PROBLEM.into()),
            Bounded::Together => can_bound(self.problem, radius),
        }
    }

    /// What a lower bound is made of.
    fn bounded(&self) -> Bounded {
        let identity = matches!(self.problem.t().form(), Form::Identity);
        let (alone, shared) = (self.plan.everywhere.is_empty(), self.plan.everywhere.len() == self.plan.blocks.len());
        match identity {
            true if alone && matches!(self.problem.f().form(), smooth::Form::Proximity { .. }) => Bounded::Entries,
            true if !shared => Bounded::Not,
            _ => Bounded::Together,
        }
    }
}

enum Bounded {
    /// Of a sum over entries the sum of what is least.
    Entries,
    /// What holds of all numbers together, where x and v are not asked for or every rank has them.
    Together,
    Not,
}

const NO_PENALTY: &str = "no bound on ranks for this penalty";
const NO_PROBLEM: &str = "no bound on ranks for this problem";

impl<S: Real> Witness for Distributed<'_, S> {
    type Real = S;
    type Point = Vec<S>;

    fn facts(&self) -> Facts {
        self.facts
    }

    fn look(&mut self, x: &Vec<S>, shown: Shown) -> Seen {
        self.with_room(|space, looked| space.look_at(x, shown, looked))
    }

    fn strengthen(&mut self) -> Shown {
        self.with_room(|space, Looked { u, z, w, .. }| space.restate(u, z, w, 1.0))
    }

    fn residual(&mut self, norms: &[BlockNorm]) -> Option<Bracket> {
        self.with_room(|space, looked| space.gauge.proven(&looked.v, norms, &mut space.talk))
    }

    fn lower_bound(
        &mut self,
        x: &Vec<S>,
        seen: &Seen,
        allowance: &Allowance,
        radius: Option<f64>,
    ) -> Result<f64, String> {
        match self.bounded() {
            Bounded::Entries => {
                let own = if self.plan.idle { Some(0.0) } else { separable(self.problem) };
                let total = self.talk.sum(own.unwrap_or(f64::NAN));
                return if total.is_nan() { Err(NO_PENALTY.into()) } else { Ok(total) };
            }
            Bounded::Not => return Err(NO_PROBLEM.into()),
            Bounded::Together => (),
        }
        let found = self.with_room(|space, looked| {
            lower_bound(&At { problem: space.problem, x, v: &looked.v, seen, allowance }, radius)
        });
        // Everybody's bound holds, who has rows: the others' losses are convex, and at least 0. The first one's is taken, which knows of the
        // first rows, as one machine does.
        let own = found.as_ref().ok().filter(|_| !self.plan.idle || self.plan.everywhere.is_empty());
        let first =
            self.talk.each([own.copied().unwrap_or(f64::NAN)]).map(|[bound]| bound).find(|bound| !bound.is_nan());
        first.ok_or_else(|| found.err().unwrap_or_else(|| "another rank has no bound".into()))
    }

    fn near(&mut self, x: &Vec<S>) -> Option<Stationarity<S>> {
        self.with_room(|space, looked| space.near_of(x, looked))
    }

    fn image(&mut self, x: &Vec<S>, to: &mut Vec<S>) {
        let image = self.problem.image(x);
        self.own_image(&image, to);
    }

    fn u(&mut self, to: &mut Vec<S>) {
        self.with_room(|space, looked| space.own_image(&looked.u, to));
    }

    fn z(&mut self, to: &mut Vec<S>) {
        self.with_room(|space, looked| space.own_image(&looked.z, to));
    }
}
