//! Difference of convex functions: g = (g + ρ/2‖·‖²) − ρ/2‖·‖², the concave part replaced by its tangent, again and again.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::geometry::Geometry;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::convexified::Convexified;
use crate::solver::state;
use crate::solver::unsmoothed::Unsmoothed;
use crate::solver::{Info, Measured, Method, Run, Standing};
use crate::space::Host;

/// x_{k+1} = argmin f(x) + g(Tx) + ρ/2‖Tx − Tx_k‖², solved to a stated accuracy before the tangent moves. A step
/// of the sequence is one step of the inner solver. For convex g there is one such problem, and this is ADMM.
pub struct Dca<'p, S> {
    host: Host<'p, S>,
    inner: Convexified<'p, S>,
    common: Unsmoothed<S>,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    x: Vec<S>,
    z: Vec<S>,
    u: Vec<S>,
    center: Vec<S>,
}

impl<'p, S: Real> Dca<'p, S> {
    /// Starts at x₀, which is copied, with ADMM's penalty 1/β. An inner problem is solved when ‖Tx − z‖ and ADMM's slope are
    /// `accuracy` times ‖Tx‖ and ‖T‖‖w‖.
    pub fn new(problem: &'p Problem<S>, beta: f64, accuracy: f64, x0: &[S]) -> Result<Run<Self>, Error> {
        let inner = Convexified::new(problem, beta, accuracy, x0)?;
        let (host, common) = (Host::euclidean(problem)?, Unsmoothed::new(problem, x0));
        Ok(Run::new(Self { host, inner, common }))
    }
}

impl<'p, S: Real> Method for Dca<'p, S> {
    type Space = Host<'p, S>;

    fn step(&mut self, k: u64) -> Option<Info> {
        let Self { host, inner, common } = self;
        let beta = inner.splitting.beta;
        if k == 0 {
            return Some(common.begin(host, beta));
        }
        let residuals = inner.step();
        let slope = residuals.slope + inner.pull();
        let info = Info::unsmoothed(k + 1, beta, host.between(), [0.0, slope], residuals.gap);
        if info.finite {
            common.x.copy_from_slice(&inner.splitting.x);
            if inner.solved(&residuals) {
                inner.recenter();
            }
        }
        Some(info)
    }

    fn standing(&mut self, k: u64) -> impl Standing<Host<'p, S>> {
        self.common.standing(&mut self.host, (k > 1).then(|| self.inner.known()))
    }

    fn save(&mut self, _: u64) -> state::Memo<S> {
        let Self { inner, common, .. } = self;
        let [x, z, u, center] = [&common.x, &inner.splitting.z, &inner.splitting.u, &inner.center].map(Vec::clone);
        state::Memo::Dca(Memo { x, z, u, center })
    }

    fn restore(&mut self, _: u64, memo: &state::Memo<S>) -> Result<(), Error> {
        let state::Memo::Dca(Memo { x, z, u, center }) = memo else { return memo.is_none_of("dca") };
        self.inner.restore([x, z, u, center])?;
        self.common.x.copy_from_slice(x);
        Ok(())
    }
}

impl<S: Real> Measured for Dca<'_, S> {
    fn measure_in(&mut self, geometry: Box<dyn Geometry<S>>) -> Result<(), Error> {
        self.host.measure_in(geometry)
    }
}
