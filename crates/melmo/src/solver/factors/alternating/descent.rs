//! The second of the two: sweeps on F itself, W entry by entry.

use crate::certificate::Shown;
use crate::error::Error;
use crate::penalty::Coordinates;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::Info;
use crate::solver::factors::alternating::{Place, Sweeps};
use crate::solver::pair::Pair;

/// Sweeps of coordinate descent over W for one H.
const SWEEPS: usize = 2;

/// W by coordinate descent on f(·, H) + g, then its H.
pub(super) struct Descent<'p, S> {
    g: &'p dyn Coordinates<S>,
    pair: Pair<S>,
    /// Sweeps so far.
    pub taken: u64,
}

impl<'p, S: Real> Descent<'p, S> {
    /// `None` where g is no sum over the entries of W.
    pub(super) fn new(problem: &'p Problem<S>, on_w: usize) -> Result<Option<Self>, Error> {
        let by_entries = problem.g().coordinates().filter(|g| g.units() == on_w);
        by_entries.map(|g| Ok(Self { g, pair: Pair::new(problem)?, taken: 0 })).transpose()
    }
}

impl<'p, S: Real> Sweeps<'p, S> for Descent<'p, S> {
    fn sweep(&mut self, at: &mut Place<'p, S>) {
        self.taken += 1;
        let Place { host, factors, x, previous, .. } = at;
        previous.copy_from_slice(x);
        let (w, h) = x.split_at_mut(factors.split());
        factors.descend_w(self.g, host.problem().g().weak_convexity(), w, SWEEPS);
        factors.look_at_w(w);
        factors.ridge_h(h);
    }

    fn evaluate(&mut self, at: &mut Place<'p, S>, k: u64) -> Info {
        let between = at.host.between();
        at.gradient();
        self.pair.look(at.host.problem(), &at.x, &at.phi, at.factors.lipschitz_w());
        Info::unsmoothed(k, 1.0, between, [self.pair.residual; 2], self.pair.gap)
    }

    fn smoothed(&mut self, at: &mut Place<'p, S>) -> f64 {
        at.objective()
    }

    fn exact_dual_norm(&mut self, at: &mut Place<'p, S>) -> f64 {
        self.pair.gradient(at.host.problem(), &mut at.sum, &at.phi);
        at.host.dual_norm_of(&at.sum)
    }

    fn show(&mut self, at: &mut Place<'p, S>) -> Shown {
        self.pair.show(&mut at.host)
    }
}
