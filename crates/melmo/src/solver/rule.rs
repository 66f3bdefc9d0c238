//! How long a step is: known constants, a metric, or trial.

use crate::geometry::{Answer, BlockNorm, Norm};
use crate::metric::Metric;
use crate::problem::Problem;
use crate::real::Real;
use crate::vector;

/// What a step from y along the gradient φ is.
pub(super) enum Rule<'p, S> {
    /// y + (‖φ‖_*/L)·lmo(φ) with L = L_f + ‖T‖²/β, in ℓ2.
    Known {
        /// L_f.
        lipschitz: f64,
        /// ‖T‖².
        operator_squared: f64,
    },
    /// The same in any norm, with an L found by trial: the step has to decrease F_β by ½‖φ‖_*²/L.
    Trial(Trial<S>),
    /// y − M⁻¹φ.
    Metric {
        /// M.
        metric: Box<dyn Metric<S> + 'p>,
        /// M⁻¹φ.
        direction: Vec<S>,
    },
}

/// The state of a search for L.
pub(super) struct Trial<S> {
    /// The L that the next step tries first; 0 before the first.
    pub lipschitz: f64,
    /// F_β at the current point.
    pub value: f64,
    /// What the last step was accepted for: ½‖φ‖_*²/L with the L that was accepted.
    pub gain: f64,
    /// ‖Tx − z‖₂ where it began.
    pub gap: f64,
    pub spare: Vec<S>,
}

impl<S: Real> Trial<S> {
    fn new(n: usize) -> Self {
        Self { lipschitz: 0.0, value: f64::INFINITY, gain: f64::MAX, gap: 0.0, spare: vec![S::ZERO; n] }
    }

    /// Starts at F_β(x) and ‖φ‖_*: with the step that would close the gap to a value of 0, if F were linear. Any scale will do,
    /// trials correct it.
    pub fn begin(&mut self, value: f64, decrease: f64) {
        let lipschitz = decrease * decrease / value.abs();
        (self.value, self.gain, self.gap) = (value, f64::MAX, 0.0);
        self.lipschitz = if lipschitz > 0.0 && lipschitz.is_finite() { lipschitz } else { decrease.max(1.0) };
    }

    /// What a saved state needs.
    pub fn numbers(&self) -> [f64; 4] {
        [self.lipschitz, self.value, self.gain, self.gap]
    }

    /// Takes up saved numbers.
    pub fn restore(&mut self, [lipschitz, value, gain, gap]: [f64; 4]) {
        (self.lipschitz, self.value, self.gain, self.gap) = (lipschitz, value, gain, gap);
    }
}

impl<'p, S: Real> Rule<'p, S> {
    /// L_f + ‖T‖²/β where it is a constant of the norm, trial everywhere else.
    pub fn scaled(problem: &Problem<S>, norms: &[BlockNorm]) -> Self {
        let euclidean = matches!(norms, [BlockNorm { norm: Norm::L2, radius, .. }] if *radius == 1.0);
        match problem.f().lipschitz().filter(|_| euclidean) {
            Some(lipschitz) => Self::Known { lipschitz, operator_squared: problem.t().norm_bound().powi(2) },
            None => Self::Trial(Trial::new(problem.layout().size())),
        }
    }

    pub fn metric(metric: Box<dyn Metric<S> + 'p>, n: usize) -> Self {
        Self::Metric { metric, direction: vec![S::ZERO; n] }
    }

    /// L at β, as far as it is known.
    fn lipschitz(&self, beta: f64) -> f64 {
        match self {
            Self::Known { lipschitz, operator_squared } => lipschitz + operator_squared / beta,
            Self::Trial(trial) => trial.lipschitz,
            Self::Metric { .. } => 1.0,
        }
    }

    /// Makes ready to step from x with gradient φ; returns the length of the step and the decrease it promises.
    pub fn look(&mut self, x: &[S], phi: &[S], answer: &Answer, beta: f64) -> (f64, f64) {
        if let Self::Metric { metric, direction } = self {
            metric.prepare(x, beta);
            direction.copy_from_slice(phi);
            metric.solve(direction);
            let squared = vector::dot(phi, direction).max(0.0); // ‖φ‖² in the dual of ‖·‖_M
            return (squared.sqrt(), 0.5 * squared);
        }
        let size = 1.0 + answer.excess;
        let gamma = answer.decrease / (self.lipschitz(beta) * size * size);
        (gamma, 0.5 * gamma * answer.decrease)
    }
}
