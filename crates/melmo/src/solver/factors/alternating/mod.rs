//! Factorisation by two methods, one after the other: past the paper, with a proof of its own (`docs/theory.md`).

mod descent;
mod gain;
mod place;
mod smoothed;

use serde::{Deserialize, Serialize};

use crate::certificate::Shown;
use crate::error::Error;
use crate::geometry::Geometry;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::factors::rescale::Rescale;
use crate::solver::smoothing::{Shrunk, Smoothing};
use crate::solver::state::{self, count, finite, fits};
use crate::solver::{Info, Measured, Method, Run, Standing};
use crate::space::Host;
use descent::Descent;
use place::Place;
use smoothed::Smoothed;

/// β hands over to coordinate descent when it has fallen to this part of its first value.
pub const HANDOVER: f64 = 1024.0;

/// W ← V − ∇_WF_β(V, H)·M_W⁻¹ with M_W = 2cHHᵀ + I/β, then H ← argmin f(W, ·), V = W + θ(W − W_before) by Nesterov, β by the
/// κ-rule ([`Smoothing`]).
///
/// In the metric M_W the step has length 1, and it is a ridge regression: W minimises c‖M⊙(Y − WH)‖² + ‖W − z‖²/(2β),
/// z = prox_{βg}(V); with a mask, row by row with a metric of its own. W moves first: H fitted to a random W would keep W's
/// size, which the penalty has to pay for. θ goes back to 0 where the step climbs, ⟨∇_WF_β(V, H), W − W_before⟩ > 0, and where
/// β shrinks. A sweep from V ≠ W is kept only if it lowers F_β by a part of what one from W would; otherwise it is taken
/// again from W itself.
///
/// Once β has fallen to a thousandth of its first value the smoothing has chosen a basin, and steps as short as β are all that
/// it leaves. From there on W moves by coordinate descent on f(·, H) + g itself, entry by entry, if g is a sum over entries;
/// its certificates are then made of one proximal gradient step from x.
pub struct Alternating<'p, S> {
    at: Place<'p, S>,
    smoothed: Smoothed<S>,
    /// Takes over where g is a sum over entries.
    descent: Option<Descent<'p, S>>,
    /// At this β.
    handover: f64,
    rescale: Option<Rescale<S>>,
    /// β of the evaluation before the step.
    before: f64,
}

/// One of the two methods: what it does, and what it knows of where that leads.
trait Sweeps<'p, S: Real> {
    /// The next W, which is held then, and its H.
    fn sweep(&mut self, at: &mut Place<'p, S>);
    /// The info of x_k; W is held, H looked at.
    fn evaluate(&mut self, at: &mut Place<'p, S>, k: u64) -> Info;
    /// What sweeps lower.
    fn smoothed(&mut self, at: &mut Place<'p, S>) -> f64;
    /// As [`Standing::exact_dual_norm`].
    fn exact_dual_norm(&mut self, at: &mut Place<'p, S>) -> f64;
    /// As [`Standing::show`], after an evaluation.
    fn show(&mut self, at: &mut Place<'p, S>) -> Shown;
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    x: Vec<S>,
    previous: Vec<S>,
    t: f64,
    beta: f64,
    smoothing: Shrunk,
    polished: u64,
}

impl<'p, S: Real> Alternating<'p, S> {
    /// Starts at x₀ = (W, H), which is copied.
    pub fn new(problem: &'p Problem<S>, smoothing: Smoothing, x0: &[S]) -> Result<Run<Self>, Error> {
        problem.check_start(x0)?;
        problem.check_beta(smoothing.beta())?;
        let at = Place::new(problem, x0)?;
        let on_w = at.factors.split();
        Ok(Run::new(Self {
            at,
            smoothed: Smoothed::new(smoothing, on_w),
            descent: Descent::new(problem, on_w)?,
            handover: smoothing.beta() / HANDOVER,
            rescale: None,
            before: 0.0,
        }))
    }

    /// Coordinate descent has taken over.
    fn descends(&self) -> bool {
        self.descent.is_some() && self.smoothed.smoothing.beta() <= self.handover
    }

    /// The method whose turn it is.
    fn turn(&mut self) -> (&mut dyn Sweeps<'p, S>, &mut Place<'p, S>) {
        let descends = self.descends();
        match &mut self.descent {
            Some(descent) if descends => (descent, &mut self.at),
            _ => (&mut self.smoothed, &mut self.at),
        }
    }

    /// The info of x_k, where W is held.
    fn evaluate(&mut self, k: u64, beta: f64) -> Info {
        self.at.beta = beta;
        let (method, at) = self.turn();
        method.evaluate(at, k)
    }

    /// The option that is off by default; after a sweep on F_β, or on F without a β.
    fn rescale_columns(&mut self, k: u64, beta: Option<f64>) {
        if let Some(rescale) = self.rescale.as_mut().filter(|rescale| k.is_multiple_of(rescale.every)) {
            let Place { host, factors, x, previous, .. } = &mut self.at;
            rescale.apply(host.problem(), [&mut x[..], &mut previous[..]], factors.rank, factors.ridge, beta);
            self.at.hold_w();
        }
    }
}

/// A solver that explores is made of these.
impl<'p, S: Real> Run<Alternating<'p, S>> {
    /// Also rescales (W_j, H_j) to (tW_j, H_j/t), column by column, every so many sweeps. ‖Y − WH‖ does not change by it, only
    /// what penalty and ridge cost: with ν > 0 it spares sweeps where W and H would trade their sizes slowly. With ν = 0
    /// that drives W to 0 and F to its infimum, the Eckart–Young tail: off by default.
    pub fn rescaling(mut self, every: u64) -> Result<Self, Error> {
        let problem = self.method.at.host.problem();
        self.method.rescale = (every > 0).then(|| Rescale::new(problem, every)).transpose()?;
        Ok(self)
    }

    /// Sweeps of coordinate descent so far.
    pub(super) fn polished(&self) -> u64 {
        self.method.descent.as_ref().map_or(0, |descent| descent.taken)
    }

    /// x.
    pub(super) fn point(&self) -> &[S] {
        &self.method.at.x
    }

    /// Starts again from x, with another smoothing of the same first β.
    pub(super) fn begin_at(&mut self, x: &[S], smoothing: Smoothing) {
        let Alternating { at, smoothed, descent, .. } = &mut self.method;
        at.put(x);
        (smoothed.smoothing, smoothed.t, at.beta) = (smoothing, 1.0, 0.0);
        if let Some(descent) = descent {
            descent.taken = 0;
        }
        self.begin();
    }

    /// Stands at x without smoothing.
    pub(super) fn settle_at(&mut self, x: &[S]) -> Info {
        self.method.at.put(x);
        self.method.at.hold_w();
        self.method.evaluate(self.k, self.method.smoothed.smoothing.beta())
    }

    /// The info of the point it stands at, evaluated again; `None` before the first.
    pub(super) fn info(&mut self) -> Option<Info> {
        (self.k > 0).then(|| self.method.evaluate(self.k, self.method.smoothed.smoothing.beta()))
    }
}

impl<'p, S: Real> Method for Alternating<'p, S> {
    type Space = Host<'p, S>;

    fn step(&mut self, k: u64) -> Option<Info> {
        self.before = self.at.beta;
        if k == 0 {
            self.at.hold_w();
        } else {
            let beta = (!self.descends()).then_some(self.at.beta);
            let (method, at) = self.turn();
            method.sweep(at);
            self.rescale_columns(k, beta);
        }
        Some(self.evaluate(k + 1, self.smoothed.smoothing.beta()))
    }

    fn retreat(&mut self) {
        std::mem::swap(&mut self.at.x, &mut self.at.previous);
        self.at.hold_w();
        self.evaluate(0, self.before);
    }

    fn standing(&mut self, _: u64) -> impl Standing<Host<'p, S>> {
        self
    }

    fn save(&mut self, _: u64) -> state::Memo<S> {
        let Self { at, smoothed, descent, .. } = self;
        state::Memo::Alternating(Memo {
            x: at.x.clone(),
            previous: at.previous.clone(),
            t: smoothed.t,
            beta: at.beta,
            smoothing: smoothed.smoothing.save(),
            polished: descent.as_ref().map_or(0, |descent| descent.taken),
        })
    }

    fn restore(&mut self, k: u64, memo: &state::Memo<S>) -> Result<(), Error> {
        let state::Memo::Alternating(memo) = memo else { return memo.is_none_of("alternating") };
        finite([memo.t, memo.beta])?;
        fits(&memo.x, self.at.x.len())?;
        fits(&memo.previous, self.at.x.len())?;
        let polished = count(memo.polished)?;
        self.smoothed.smoothing.restore(&memo.smoothing)?;
        if let Some(descent) = &mut self.descent {
            descent.taken = polished;
        }
        self.at.x.copy_from_slice(&memo.x);
        self.at.previous.copy_from_slice(&memo.previous);
        (self.smoothed.t, self.at.beta) = (memo.t, 0.0);
        if k > 0 {
            self.at.host.problem().check_beta(memo.beta)?;
            self.at.hold_w();
            self.evaluate(k, memo.beta);
        }
        Ok(())
    }
}

impl<'p, S: Real> Standing<Host<'p, S>> for Alternating<'p, S> {
    fn place(&mut self) -> (&mut Host<'p, S>, &Vec<S>) {
        (&mut self.at.host, &self.at.x)
    }

    fn objective(&mut self) -> f64 {
        self.at.objective()
    }

    fn smoothed(&mut self) -> f64 {
        let (method, at) = self.turn();
        method.smoothed(at)
    }

    fn exact_dual_norm(&mut self) -> f64 {
        let (method, at) = self.turn();
        method.exact_dual_norm(at)
    }

    fn show(&mut self) -> Shown {
        if self.at.beta == 0.0 {
            return Shown::smoothed(self.smoothed.smoothing.beta());
        }
        let (method, at) = self.turn();
        method.show(at)
    }
}

impl<S: Real> Measured for Alternating<'_, S> {
    fn measure_in(&mut self, geometry: Box<dyn Geometry<S>>) -> Result<(), Error> {
        self.at.host.measure_in(geometry)
    }
}
