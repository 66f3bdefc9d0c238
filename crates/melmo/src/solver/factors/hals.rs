//! Both factors entry by entry, by turns: for penalties, or signs, on W and on H.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::geometry::Geometry;
use crate::operator;
use crate::penalty::Coordinates;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::factors::Factors;
use crate::solver::pair::Pair;
use crate::solver::state::{self, finite, fits};
use crate::solver::unsmoothed::Unsmoothed;
use crate::solver::{Info, Measured, Method, Run, Standing};
use crate::space::Host;
use crate::vector;

/// θ at first, and what it is multiplied and divided by after a sweep that lowered F and after one that did not.
const FIRST: f64 = 0.5;
const LONGER: f64 = 1.05;
const SHORTER: f64 = 1.5;
/// The limit of θ grows more slowly.
const HIGHER: f64 = 1.01;
/// Sweeps over a factor for one product with Y, at most.
const MOST: usize = 8;
/// So many steps a row of H whose column of W is 0 waits for it; ν would end both for good.
const GRACE: u64 = 20;

/// W_·k ← prox_{g/m}(W_·k − ∇_{W_·k}f/m), m = 2c(HHᵀ)_kk, for k = 1, …, r, some times over; then H likewise; from points ahead,
/// x + θ(x − x_before).
///
/// HALS (Cichocki and Phan 2009), with any penalty of entries, with as many sweeps for one product with Y as cost half of it (Gillis
/// and Glineur 2012), and extrapolated (Ang and Gillis 2019): a sweep from a point ahead that does not lower F is taken again from x
/// itself, so that F falls with every step. YHᵀ at the point ahead is a combination of those at x and before it: a step costs two
/// products with Y. No smoothing: its certificates are made of one proximal gradient step from x.
pub struct Hals<'p, S> {
    host: Host<'p, S>,
    g: &'p dyn Coordinates<S>,
    factors: Factors<'p, S>,
    pair: Pair<S>,
    common: Unsmoothed<S>,
    previous: Vec<S>,
    /// Where a sweep begins, and then where it ended.
    next: Vec<S>,
    /// YHᵀ at x and at the point before it.
    right: [Vec<S>; 2],
    grad: Vec<S>,
    /// F(x), by products at hand.
    value: f64,
    sweeps: [usize; 2],
    theta: f64,
    limit: f64,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    x: Vec<S>,
    previous: Vec<S>,
    theta: f64,
    limit: f64,
}

impl<'p, S: Real> Hals<'p, S> {
    /// Starts at x₀ = (W, H), which is copied. Refuses what is no factorisation of a whole matrix, and a g that is no sum over
    /// entries of W and H.
    pub fn new(problem: &'p Problem<S>, x0: &[S]) -> Result<Run<Self>, Error> {
        problem.check_start(x0)?;
        let factors = Factors::of(problem)?;
        let by_entries = problem.g().coordinates().filter(|g| one_by_one(*g, x0.len()));
        let identity = matches!(problem.t().form(), operator::Form::Identity);
        let Some(g) = by_entries.filter(|_| identity && !factors.has_mask()) else {
            let message = "this method needs a penalty of the entries of W and H, T = I, and no mask";
            return Err(Error::Unsupported(message.into()));
        };
        let (zeros, split) = (|n: usize| vec![S::ZERO; n], factors.split());
        Ok(Run::new(Self {
            host: Host::euclidean(problem)?,
            g,
            sweeps: factors.sweeps(MOST),
            factors,
            pair: Pair::new(problem)?,
            common: Unsmoothed::new(problem, x0),
            previous: x0.to_vec(),
            next: zeros(x0.len()),
            right: [zeros(split), zeros(split)],
            grad: zeros(x0.len()),
            value: f64::INFINITY,
            theta: FIRST,
            limit: 1.0,
        }))
    }

    /// `next` ← where a sweep from x + θ(x − previous) ends; returns F there.
    fn sweep(&mut self, theta: f64, k: u64) -> f64 {
        let Self { host, g, factors, common, previous, next, right, sweeps, .. } = self;
        let rho = host.problem().g().weak_convexity();
        vector::extrapolate(next, &common.x, previous, theta);
        let (w, h) = next.split_at_mut(factors.split());
        factors.hold_h(h, &right[0], &right[1], theta);
        factors.lines_of_w(*g, rho, w, sweeps[0]);
        factors.look_at_w(w);
        factors.lines_of_h(*g, rho, h, sweeps[1], k < GRACE);
        let (problem, work) = host.parts();
        factors.value_at(h) + problem.g().value(next, work)
    }

    /// The info of x: ∇f(x), and the pair of one proximal gradient step; W is held, H is looked at.
    fn evaluate(&mut self, k: u64) -> Info {
        let Self { host, factors, common, right, grad, pair, .. } = self;
        let (w, h) = common.x.split_at(factors.split());
        let (grad_w, grad_h) = grad.split_at_mut(factors.split());
        factors.look_at_h(h);
        right[0].copy_from_slice(factors.right());
        factors.gradient_w(grad_w, w, false);
        factors.gradient_h(grad_h, h);
        let lipschitz = factors.lipschitz_w().max(factors.lipschitz_h());
        pair.look(host.problem(), &common.x, grad, lipschitz);
        Info::unsmoothed(k, 1.0, host.between(), [pair.residual; 2], pair.gap)
    }

    /// One step: from ahead, or from x where that does not lower F.
    fn advance(&mut self, k: u64) {
        let mut value = self.sweep(self.theta, k);
        // Written so that a NaN is not kept.
        if self.theta > 0.0 && !matches!(value.partial_cmp(&self.value), Some(order) if order.is_le()) {
            self.limit = self.theta;
            self.theta /= SHORTER;
            value = self.sweep(0.0, k);
        } else {
            self.theta = (self.theta * LONGER).min(self.limit);
            self.limit = (self.limit * HIGHER).min(1.0);
        }
        self.value = value;
        std::mem::swap(&mut self.previous, &mut self.next);
        std::mem::swap(&mut self.previous, &mut self.common.x);
        self.right.swap(0, 1);
    }

    /// Stands at x and knows the point before it: two products with Y more than a step.
    fn stand(&mut self, k: u64) -> Info {
        let split = self.factors.split();
        self.factors.look_at_h(&self.previous[split..]);
        self.right[1].copy_from_slice(self.factors.right());
        self.factors.look_at_w(&self.common.x[..split]);
        let (problem, work) = self.host.parts();
        self.value = self.factors.value_at(&self.common.x[split..]) + problem.g().value(&self.common.x, work);
        self.evaluate(k)
    }
}

/// Unit c is entry c, for all of them.
pub(super) fn one_by_one<S: Real>(g: &dyn Coordinates<S>, n: usize) -> bool {
    let mut entries = Vec::new();
    g.units() == n
        && (0..n).all(|c| {
            entries.clear();
            g.members(c, &mut entries);
            entries == [c]
        })
}

impl<'p, S: Real> Method for Hals<'p, S> {
    type Space = Host<'p, S>;

    fn step(&mut self, k: u64) -> Option<Info> {
        if k == 0 {
            return Some(self.stand(1));
        }
        self.advance(k);
        Some(self.evaluate(k + 1))
    }

    fn retreat(&mut self) {
        std::mem::swap(&mut self.common.x, &mut self.previous);
        self.previous.copy_from_slice(&self.common.x);
        self.stand(0);
    }

    fn standing(&mut self, k: u64) -> impl Standing<Host<'p, S>> {
        self.common.standing(&mut self.host, (k > 0).then_some(self.pair.known()))
    }

    fn save(&mut self, _: u64) -> state::Memo<S> {
        let (x, previous) = (self.common.x.clone(), self.previous.clone());
        state::Memo::Hals(Memo { x, previous, theta: self.theta, limit: self.limit })
    }

    fn restore(&mut self, k: u64, memo: &state::Memo<S>) -> Result<(), Error> {
        let state::Memo::Hals(memo) = memo else { return memo.is_none_of("hals") };
        finite([memo.theta, memo.limit])?;
        fits(&memo.x, self.previous.len())?;
        fits(&memo.previous, self.previous.len())?;
        self.common.x.copy_from_slice(&memo.x);
        self.previous.copy_from_slice(&memo.previous);
        (self.theta, self.limit) = (memo.theta, memo.limit);
        if k > 0 {
            self.stand(k);
        }
        Ok(())
    }
}

impl<S: Real> Measured for Hals<'_, S> {
    fn measure_in(&mut self, geometry: Box<dyn Geometry<S>>) -> Result<(), Error> {
        self.host.measure_in(geometry)
    }
}
