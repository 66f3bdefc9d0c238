//! How long a step is: known constants, a metric, or trial.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::geometry::{BlockNorm, Norm};
use crate::solver::iterate::Iterate;
use crate::solver::state::finite;
use crate::space::Space;

/// What a step from y along the gradient φ is.
pub(super) enum Rule<X: Space> {
    /// y + (‖φ‖_*/L)·lmo(φ) with L = L_f + ‖T‖²/β, in ℓ2.
    Known {
        /// L_f.
        lipschitz: f64,
        /// ‖T‖².
        operator_squared: f64,
    },
    /// The same in any norm, with an L found by trial: the step has to decrease F_β by ½‖φ‖_*²/L.
    Trial(Trial<X>),
    /// y − M⁻¹φ.
    Metric {
        /// M.
        metric: X::Metric,
        /// M⁻¹φ.
        direction: X::Point,
    },
}

/// The state of a search for L.
pub(super) struct Trial<X: Space> {
    /// The L that the next step tries first; 0 before the first.
    pub lipschitz: f64,
    /// F_β at the current point.
    pub value: f64,
    /// What the last step was accepted for: ½‖φ‖_*²/L with the L that was accepted.
    pub gain: f64,
    /// ‖Tx − z‖₂ where it began.
    pub gap: f64,
    pub spare: X::Point,
}

impl<X: Space> Trial<X> {
    fn new(space: &mut X) -> Self {
        Self { lipschitz: 0.0, value: f64::INFINITY, gain: f64::MAX, gap: 0.0, spare: space.point() }
    }

    /// Starts at F_β(x) and ‖φ‖_*: with the step that would close the gap to a value of 0, if F were linear. Any scale will do,
    /// trials correct it.
    pub fn begin(&mut self, value: f64, decrease: f64) {
        let lipschitz = decrease * decrease / value.abs();
        (self.value, self.gain, self.gap) = (value, f64::MAX, 0.0);
        self.lipschitz = if lipschitz > 0.0 && lipschitz.is_finite() { lipschitz } else { decrease.max(1.0) };
    }

    /// What a saved state needs.
    pub fn save(&self) -> Tried {
        Tried { lipschitz: self.lipschitz, value: self.value, gain: self.gain, gap: self.gap }
    }

    /// Takes it up.
    pub fn restore(&mut self, tried: &Tried) -> Result<(), Error> {
        let Tried { lipschitz, value, gain, gap } = *tried;
        finite([lipschitz, value, gain, gap])?;
        (self.lipschitz, self.value, self.gain, self.gap) = (lipschitz, value, gain, gap);
        Ok(())
    }
}

/// Where a search for L stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Tried {
    lipschitz: f64,
    value: f64,
    gain: f64,
    gap: f64,
}

impl<X: Space> Rule<X> {
    /// L_f + ‖T‖²/β where it is a constant of the norm, trial everywhere else.
    pub fn scaled(space: &mut X) -> Self {
        let (facts, norms) = (space.facts(), space.norms());
        let euclidean = matches!(&norms[..], [BlockNorm { norm: Norm::L2, radius, .. }] if *radius == 1.0);
        match facts.lipschitz_f.filter(|_| euclidean) {
            Some(lipschitz) => Self::Known { lipschitz, operator_squared: facts.operator_squared },
            None => Self::Trial(Trial::new(space)),
        }
    }

    pub fn metric(space: &mut X, metric: X::Metric) -> Self {
        Self::Metric { metric, direction: space.point() }
    }

    /// L at β, as far as it is known.
    fn lipschitz(&self, beta: f64) -> f64 {
        match self {
            Self::Known { lipschitz, operator_squared } => lipschitz + operator_squared / beta,
            Self::Trial(trial) => trial.lipschitz,
            Self::Metric { .. } => 1.0,
        }
    }

    /// Makes ready to step from where the iterate stands; returns the length of the step and the decrease it promises.
    pub fn look(&mut self, iterate: &mut Iterate<X>) -> (f64, f64) {
        let Iterate { space, x, phi, answer, beta, .. } = iterate;
        if let Self::Metric { metric, direction } = self {
            space.copy(direction, phi);
            space.solve(metric, direction, x, *beta);
            let squared = space.dot(phi, direction).max(0.0); // ‖φ‖² in the dual of ‖·‖_M
            return (squared.sqrt(), 0.5 * squared);
        }
        let size = 1.0 + answer.excess;
        let gamma = answer.decrease / (self.lipschitz(*beta) * size * size);
        (gamma, 0.5 * gamma * answer.decrease)
    }
}
