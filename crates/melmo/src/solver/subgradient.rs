//! The subgradient method: the baseline without smoothing.

use serde::{Deserialize, Serialize};

use crate::certificate::Shown;
use crate::error::Error;
use crate::geometry::{Between, Geometry};
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::state::{self, fits};
use crate::solver::{Info, Measured, Method, Run, Standing};
use crate::space::{self, Host, Space};

/// x_{k+1} = x_k − s(∇f(x_k) + T*v_k), v_k ∈ ∂g(Tx_k), with a fixed step s.
///
/// Its infos have β = 0 and proximal gap 0 (z = Tx, w = v), F for F_β, and the norm of the subgradient.
pub struct Subgradient<X: Space> {
    space: X,
    step: f64,
    x: X::Point,
    previous: X::Point,
    direction: X::Point,
    tx: X::Image,
    v: X::Image,
    objective: f64,
    between: Between,
    begun: bool,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    pub(super) x: Vec<S>,
}

impl<'p, S: Real> Subgradient<Host<'p, S>> {
    /// Starts at x₀, which is copied, with a fixed step s > 0; measured in ℓ2.
    pub fn new(problem: &'p Problem<S>, step: f64, x0: &[S]) -> Result<Run<Self>, Error> {
        Self::on(Host::euclidean(problem)?, step, x0)
    }
}

impl<X: Space> Subgradient<X> {
    /// The same wherever x lives, measured in the norm of the space.
    pub fn on(mut space: X, step: f64, x0: &[X::Real]) -> Result<Run<Self>, Error> {
        let x = space::start(&mut space, x0)?;
        let [mut previous, direction] = [(); 2].map(|()| space.point());
        space.copy(&mut previous, &x);
        let [tx, v] = [(); 2].map(|()| space.image());
        let step = Error::expect_positive("step", step)?;
        let (objective, between) = (f64::NAN, Between::new(&space.norms()));
        Ok(Run::new(Self { space, step, x, previous, direction, tx, v, objective, between, begun: false }))
    }

    fn evaluate(&mut self) -> f64 {
        let Self { space, x, direction, tx, v, .. } = self;
        self.objective = space.subgradient(direction, x, tx, v); // ∇f(x) + T*v
        self.begun = true;
        space.norm(direction)
    }
}

impl<X: Space> Method for Subgradient<X> {
    type Space = X;

    fn step(&mut self, k: u64) -> Option<Info> {
        if k > 0 {
            let Self { space, step, x, previous, direction, .. } = self;
            space.add_scaled(previous, x, -*step, direction);
            std::mem::swap(x, previous);
        }
        let norm = self.evaluate();
        let info = Info::unsmoothed(k + 1, self.step, self.between, [norm; 2], 0.0);
        let finite = self.objective.is_finite() && norm.is_finite();
        Some(Info { objective: Some(self.objective), finite, ..info })
    }

    fn retreat(&mut self) {
        std::mem::swap(&mut self.x, &mut self.previous);
        self.evaluate();
    }

    fn standing(&mut self, _: u64) -> impl Standing<X> {
        self
    }

    fn save(&mut self, _: u64) -> state::Memo<X::Real> {
        let mut x = vec![X::Real::ZERO; self.space.size()];
        self.space.read(&self.x, 0, &mut x);
        state::Memo::Subgradient(Memo { x })
    }

    fn restore(&mut self, k: u64, memo: &state::Memo<X::Real>) -> Result<(), Error> {
        let state::Memo::Subgradient(Memo { x }) = memo else { return memo.is_none_of("subgradient") };
        fits(x, self.space.size())?;
        self.space.write(&mut self.x, 0, x);
        self.space.write(&mut self.previous, 0, x);
        self.begun = false;
        if k > 0 {
            self.evaluate();
        }
        Ok(())
    }
}

impl<X: Space> Standing<X> for Subgradient<X> {
    fn place(&mut self) -> (&mut X, &X::Point) {
        (&mut self.space, &self.x)
    }

    fn objective(&mut self) -> f64 {
        self.objective
    }

    fn exact_dual_norm(&mut self) -> f64 {
        self.space.dual_norm(&self.direction)
    }

    fn show(&mut self) -> Shown {
        if !self.begun {
            return Shown::smoothed(self.space.facts().default_beta());
        }
        self.space.show(&self.tx, &self.v, 1.0)
    }
}

impl<S: Real> Measured for Subgradient<Host<'_, S>> {
    fn measure_in(&mut self, geometry: Box<dyn Geometry<S>>) -> Result<(), Error> {
        self.space.measure_in(geometry)?;
        self.between = Between::new(&self.space.norms());
        Ok(())
    }
}
