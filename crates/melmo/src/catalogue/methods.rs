//! Methods: the solvers by the names users type, with the paper's defaults.

use crate::catalogue::beyond::beyond;
use crate::catalogue::competitors::competitors;
use crate::catalogue::place::method_on;
use crate::catalogue::structured::structured;
use crate::catalogue::{Arguments, Entry, Parameter};
use crate::error::Error;
use crate::geometry::{BlockNorm, Geometry, Norm};
use crate::problem::Problem;
use crate::real::Real;
use crate::schedule::{Power, Restart};
use crate::solver::{Solver, Subgradient, VariableSmoothing};
use crate::space::Host;

/// Builds a solver at a start.
pub type BuildMethod<S> =
    for<'p> fn(&Arguments, &'p Problem<S>, Box<dyn Geometry<S>>, &[S]) -> Result<Box<dyn Solver<S> + 'p>, Error>;

/// One method.
pub struct MethodRow<S> {
    /// Its text.
    pub entry: Entry,
    /// Builds it on a problem, in a geometry, at a start.
    pub build: BuildMethod<S>,
    /// It moves in the geometry it is given; otherwise its certificates speak of that norm, and its steps are its own.
    pub uses_geometry: bool,
}

impl<S> AsRef<Entry> for MethodRow<S> {
    fn as_ref(&self) -> &Entry {
        &self.entry
    }
}

const GAMMA: Parameter = Parameter::new("gamma", 1.0, "step length γ > 0");
const BETA: Parameter = Parameter::unset("beta", "smoothing β ≤ 1/(2ρ); min(1, 1/(2ρ)) unless given");
const RESTART: Parameter = Parameter::word(
    "restart",
    &["best", "start", "none"],
    "an epoch starts from the best point, the start, or goes on",
);

pub(super) fn beta<S: Real>(a: &Arguments, problem: &Problem<S>) -> f64 {
    a.given("beta").unwrap_or_else(|| problem.default_beta())
}

pub(super) fn power(a: &Arguments, beta: f64) -> Power {
    Power { beta, gamma: a.number("gamma"), p: a.number("p"), q: a.number("q") }
}

/// What an epoch starts from.
pub(super) fn restart(a: &Arguments) -> Result<Restart, Error> {
    a.word("restart").parse()
}

/// Variable smoothing; refuses other norms than ℓ2.
pub(super) fn smoothed(a: &Arguments, beta: f64, norms: &[BlockNorm]) -> Result<VariableSmoothing, Error> {
    if !norms.iter().all(|b| b.norm == Norm::L2 && b.radius == 1.0) {
        let message = "variable smoothing steps and measures in ℓ2: leave the geometry out, or take `melmo`";
        return Err(Error::Unsupported(message.into()));
    }
    let (lipschitz, normalized) = (a.given("lipschitz"), a.word("normalized") == "yes");
    Ok(VariableSmoothing { beta, lipschitz, normalized })
}

/// A method that runs anywhere, on this machine's vectors.
pub(super) fn on_host<'p, S: Real>(
    name: &str,
    a: &Arguments,
    problem: &'p Problem<S>,
    geometry: Box<dyn Geometry<S>>,
    x0: &[S],
) -> Result<Box<dyn Solver<S> + 'p>, Error> {
    method_on(name, a, problem, Host::new(problem, geometry)?, x0)
}

/// Every method: the paper's and its baselines, what goes past it, and the competitors.
pub(super) fn rows<S: Real>() -> Vec<MethodRow<S>> {
    [paper(), beyond(), structured(), competitors()].into_iter().flatten().collect()
}

/// The paper's methods and its baselines.
fn paper<S: Real>() -> Vec<MethodRow<S>> {
    vec![
        MethodRow {
            entry: Entry {
                name: "melmo",
                formula: "x ← x + γ_k·lmo(∇F_{β_k}(x)), β_k = βk^{−q}, γ_k = γk^{−p}",
                about: "the paper's Algorithm 1 with power schedules",
                parameters: const {
                    &[
                        GAMMA,
                        BETA,
                        Parameter::new("p", 7.0 / 12.0, "exponent of the step, in (0, 1)"),
                        Parameter::new("q", 1.0 / 3.0, "exponent of the smoothing, in [0, 1)"),
                    ]
                },
            },
            build: |a, problem, geometry, x0| on_host("melmo", a, problem, geometry, x0),
            uses_geometry: true,
        },
        MethodRow {
            entry: Entry {
                name: "melmo-horizon",
                formula: "β_k = βK^{−1/3}, γ_k = γK^{−2/3}",
                about: "Algorithm 1 for a number of steps known in advance",
                parameters: const { &[GAMMA, BETA, Parameter::whole("steps", 1000, 1, "K ≥ 1, the number of steps")] },
            },
            build: |a, problem, geometry, x0| on_host("melmo-horizon", a, problem, geometry, x0),
            uses_geometry: true,
        },
        MethodRow {
            entry: Entry {
                name: "epoch-power",
                formula: "epochs of 2^l steps, β_k = βk^{−q}, γ_k = γk^{−p}",
                about: "Algorithm 2 with the power schedule: certificates in O(ε⁻⁴) steps",
                parameters: const {
                    &[
                        GAMMA,
                        BETA,
                        Parameter::new("p", 2.0 / 3.0, "exponent of the step, in (0, 1)"),
                        Parameter::new("q", 1.0 / 4.0, "exponent of the smoothing, in [0, 1)"),
                    ]
                },
            },
            build: |a, problem, geometry, x0| on_host("epoch-power", a, problem, geometry, x0),
            uses_geometry: true,
        },
        MethodRow {
            entry: Entry {
                name: "epoch-constant",
                formula: "epochs of 2^l steps, β_(l) = β2^{−(l+1)/3}, γ_(l) = γ2^{−2(l+1)/3}",
                about: "Algorithm 2, constant within epochs: certificates in O(ε⁻³) steps",
                parameters: &[GAMMA, BETA, RESTART],
            },
            build: |a, problem, geometry, x0| on_host("epoch-constant", a, problem, geometry, x0),
            uses_geometry: true,
        },
        MethodRow {
            entry: Entry {
                name: "variable-smoothing",
                formula: "x ← x − γ_kφ_k, γ_k = 1/(L_f + ‖T‖²/β_k), β_k = βk^{−1/3}",
                about: "Böhm & Wright 2021, plain or with normalised blocks",
                parameters: const {
                    &[
                        BETA,
                        Parameter::unset("lipschitz", "L_f; the loss's own unless given"),
                        Parameter::word("normalized", &["no", "yes"], "step along −φ_b/‖φ_b‖₂ in every block"),
                    ]
                },
            },
            build: |a, problem, geometry, x0| {
                Ok(Box::new(smoothed(a, beta(a, problem), &geometry.norms())?.start(problem, x0)?))
            },
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "subgradient",
                formula: "x ← x − s(∇f(x) + T*v), v ∈ ∂g(Tx)",
                about: "the baseline without smoothing",
                parameters: const { &[Parameter::new("step", 5e-4, "s > 0")] },
            },
            build: |a, problem, geometry, x0| {
                Ok(Box::new(Subgradient::new(problem, a.number("step"), x0)?.in_norm(geometry)?))
            },
            uses_geometry: false,
        },
    ]
}
