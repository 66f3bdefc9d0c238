//! Difference of convex functions: g = (g + ρ/2‖·‖²) − ρ/2‖·‖², the concave part replaced by its tangent, again and again.

use crate::certificate::Evidence;
use crate::error::Error;
use crate::geometry::{BlockNorm, Geometry};
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::convexified::Convexified;
use crate::solver::measure::Measure;
use crate::solver::unsmoothed::{Known, Unsmoothed, forward_to_unsmoothed};
use crate::solver::{Info, Solver, State};

/// x_{k+1} = argmin f(x) + g(Tx) + ρ/2‖Tx − Tx_k‖², solved to a stated accuracy before the tangent moves. A step
/// of the sequence is one step of the inner solver. For convex g there is one such problem, and this is ADMM.
pub struct Dca<'p, S> {
    inner: Convexified<'p, S>,
    common: Unsmoothed<'p, S>,
    k: u64,
    ended: bool,
}

impl<'p, S: Real> Dca<'p, S> {
    /// Starts at x₀, which is copied, with ADMM's penalty 1/β. An inner problem is solved when ‖Tx − z‖ and ADMM's slope are
    /// `accuracy` times ‖Tx‖ and ‖T‖‖w‖.
    pub fn new(problem: &'p Problem<S>, beta: f64, accuracy: f64, x0: &[S]) -> Result<Self, Error> {
        let inner = Convexified::new(problem, beta, accuracy, x0)?;
        Ok(Self { inner, common: Unsmoothed::new(problem, x0), k: 0, ended: false })
    }

    /// Measured in a norm.
    pub fn in_norm(mut self, geometry: Box<dyn Geometry<S>>) -> Result<Self, Error> {
        self.common.measure = Measure::in_norm(self.common.problem, geometry)?;
        Ok(self)
    }

    fn step(&mut self) -> Info {
        let Self { inner, common, .. } = self;
        let beta = inner.splitting.beta;
        if self.k == 0 {
            self.k = 1;
            return common.begin(beta);
        }
        let residuals = inner.step();
        let slope = residuals.slope + inner.pull();
        let info = common.info(self.k + 1, beta, [0.0, slope], residuals.gap);
        self.ended = !info.finite;
        if info.finite {
            self.k += 1;
            common.x.copy_from_slice(&inner.splitting.x);
            if inner.solved(&residuals) {
                inner.recenter();
            }
        }
        info
    }
}

impl<S: Real> Iterator for Dca<'_, S> {
    type Item = Info;

    fn next(&mut self) -> Option<Info> {
        if self.ended { None } else { Some(self.step()) }
    }
}

impl<S: Real> Solver<S> for Dca<'_, S> {
    forward_to_unsmoothed!();

    fn exact_dual_norm(&mut self) -> f64 {
        self.common.exact_dual_norm((self.k > 1).then(|| Known {
            z: &self.inner.splitting.z,
            scaled: &self.inner.w,
            step: 1.0,
        }))
    }

    fn evidence<'u>(&self, u: &'u mut [S]) -> Evidence<'u, S> {
        self.common
            .evidence(u, (self.k > 1).then(|| Known { z: &self.inner.splitting.z, scaled: &self.inner.w, step: 1.0 }))
    }

    fn save(&self) -> State<S> {
        let Self { inner, common, .. } = self;
        let [dual_norm, prox_gap] = common.measure.start.unwrap_or_default();
        State {
            solver: "dca".into(),
            k: self.k,
            numbers: vec![dual_norm, prox_gap],
            vectors: [&common.x, &inner.splitting.z, &inner.splitting.u, &inner.center].map(Vec::clone).into(),
            warm_start: vec![],
        }
    }

    fn restore(&mut self, state: &State<S>) -> Result<(), Error> {
        let (n, m) = (self.common.x.len(), self.inner.center.len());
        let start = state.check_each::<2>("dca", &[n, m, m, m])?;
        let [x, z, u, center] = &state.vectors[..] else { unreachable!("counted above") };
        self.inner.resume([x, z, u, center]);
        self.common.x.copy_from_slice(x);
        (self.k, self.ended) = (state.k, false);
        self.common.measure.start = (self.k > 0).then_some(start);
        Ok(())
    }
}
