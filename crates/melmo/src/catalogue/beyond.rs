//! Methods past the paper: faster on most problems; what is proven of them is in `docs/theory.md`.

use crate::catalogue::choose::choose;
use crate::catalogue::methods::{MethodRow, beta, on_host};
use crate::catalogue::tables::methods;
use crate::catalogue::{Arguments, Entry, Parameter, find};
use crate::error::Error;
use crate::problem::Problem;
use crate::real::Real;
use crate::schedule::{Averaging, Power};
use crate::solver::{Adaptive, Momentum, Path, Rule, Smoothing, Stochastic, Tilted};

pub(super) const BETA: Parameter =
    Parameter::unset("beta", "first β ≤ 1/(2ρ); 1/(2ρ), or the data's scale for convex g, unless given");
pub(super) const KAPPA: Parameter =
    Parameter::new("kappa", 1e-3, "κ > 0: β shrinks when a step promises less than κ of what it hides");
pub(super) const FLOOR: Parameter = Parameter::unset("floor", "least β; where rounding begins to show, unless given");

pub(super) fn smoothing<S: Real>(a: &Arguments, problem: &Problem<S>, x0: &[S]) -> Result<Smoothing, Error> {
    problem.check_start(x0)?;
    let beta = a.given("beta").unwrap_or_else(|| Smoothing::start(problem, x0));
    Smoothing::new::<S>(beta).with(a.given("kappa"), a.given("floor"))
}

fn path<S: Real>(a: &Arguments, problem: &Problem<S>, x0: &[S]) -> Result<Path, Error> {
    problem.check_start(x0)?;
    let path = Path::new(problem, x0);
    let beta = a.given("beta").unwrap_or(path.beta);
    let end = a.given("end").unwrap_or(path.end.min(beta));
    Ok(Path { beta, end, ratio: a.number("ratio"), relaxation: a.number("relaxation") })
}

/// The rule of stochastic steps: exponents are the best ones for the momentum unless given.
pub(super) fn rule<S: Real>(a: &Arguments, problem: &Problem<S>) -> Rule {
    let momentum = if a.word("momentum") == "storm" { Momentum::Storm } else { Momentum::HeavyBall };
    let [p, q, decay] = match momentum {
        Momentum::HeavyBall => [3.0 / 4.0, 1.0 / 4.0, 1.0 / 2.0],
        Momentum::Storm => [2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0],
    };
    let or = |name: &str, best: f64| a.given(name).unwrap_or(best);
    let power = Power { beta: beta(a, problem), gamma: a.number("gamma"), p: or("p", p), q: or("q", q) };
    let horizon = Some(a.whole("steps")).filter(|&steps| steps > 0);
    let schedule = Averaging { power, alpha: a.number("alpha"), a: or("a", decay), horizon };
    let samples = problem.f().sampled().map_or(0, |f| f.samples());
    let batch = (a.whole("batch") as usize).min(samples);
    Rule { schedule, momentum, batch, seed: a.whole("seed"), ball: a.given("ball") }
}

/// The methods of this file.
pub(super) fn beyond<S: Real>() -> Vec<MethodRow<S>> {
    vec![
        MethodRow {
            entry: Entry {
                name: "scaled",
                formula: "x ← y + (‖φ‖_*/L)·lmo(φ), φ = ∇F_β(y), y extrapolated, β by the κ-rule",
                about: "steps as long as the gradient says, in any geometry: certificates in O(ε⁻³) steps (docs/theory.md)",
                parameters: const { &[BETA, KAPPA, FLOOR] },
            },
            build: |a, problem, geometry, x0| on_host("scaled", a, problem, geometry, x0),
            uses_geometry: true,
        },
        MethodRow {
            entry: Entry {
                name: "metric",
                formula: "x ← y − M⁻¹∇F_β(y), M ⪰ ∇²f + T*T/β, y extrapolated, β by the κ-rule",
                about: "steps in a metric made of the problem: cosines, a diagonal, conjugate gradients; certificates in O(ε⁻³) steps",
                parameters: const { &[BETA, KAPPA, FLOOR] },
            },
            build: |a, problem, geometry, x0| {
                Ok(Box::new(Adaptive::metric(problem, smoothing(a, problem, x0)?, x0)?.in_norm(geometry)?))
            },
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "tilted",
                formula: "x ← x − M⁻¹∇F_{β,w}(x), w ← ∇g_β(Tx + βw), β ← rβ from near 1/ρ; then `metric`",
                about: "passes by poor local minima of weakly convex penalties; proven from where the tilt ends",
                parameters: const {
                    &[
                        Parameter::unset("beta", "first β < 1/ρ; 0.98/ρ unless given"),
                        Parameter::new(
                            "ratio",
                            0.981,
                            "r in (0, 1): how fast β falls; 0.8 or less below a twentieth of the first",
                        ),
                        Parameter::unset(
                            "end",
                            "β at which the tilt is dropped, so small that plain smoothing undoes nothing; 0.00012/ρ unless given",
                        ),
                        Parameter::new("relaxation", 1.5, "α in (0, 2)"),
                    ]
                },
            },
            build: |a, problem, geometry, x0| {
                Ok(Box::new(Tilted::new(problem, path(a, problem, x0)?, x0)?.in_norm(geometry)?))
            },
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "stochastic",
                formula: "m ← (1−α_k)m + α_k∇f_B(x), x ← x + γ_k·lmo(m + T*∇g_{β_k}(Tx)), γ_k = γk^{−p}, β_k = βk^{−q}, α_k = max(αk^{−a}, 1/k)",
                about: "minibatches of rows or entries: a step costs no pass over the data; rates in expectation (docs/theory.md)",
                parameters: const {
                    &[
                        Parameter::new("gamma", 1.0, "step length γ > 0"),
                        Parameter::unset("beta", "smoothing β ≤ 1/(2ρ); min(1, 1/(2ρ)) unless given"),
                        Parameter::unset("p", "exponent of the step; 3/4, or 2/3 with storm, unless given"),
                        Parameter::unset("q", "exponent of the smoothing; 1/4, or 1/3 with storm, unless given"),
                        Parameter::new("alpha", 1.0, "α in (0, 1]"),
                        Parameter::unset("a", "exponent of the average; 1/2, or 2/3 with storm, unless given"),
                        Parameter::whole("batch", 32, 1, "rows or entries in a batch; all where there are fewer"),
                        Parameter::whole("seed", 1, 0, "what batches follow from, with k"),
                        Parameter::word("momentum", &["heavy-ball", "storm"], "how the average follows the gradients"),
                        Parameter::whole("steps", 0, 0, "K: constants for so many steps; 0: schedules in k"),
                        Parameter::unset("ball", "r: x ← (1−γ/r)x + γ·lmo, in the ball ‖x‖ ≤ r; none unless given"),
                    ]
                },
            },
            build: |a, problem, geometry, x0| Ok(Box::new(Stochastic::new(problem, geometry, rule(a, problem), x0)?)),
            uses_geometry: true,
        },
        MethodRow {
            entry: Entry {
                name: "auto",
                formula: "the method that suits the structure of f and T",
                about: "what won our comparisons on such problems; `choose` says which and why, `melmo explain` what is proven",
                parameters: &[],
            },
            build: |_, problem, geometry, x0| {
                let rows = methods();
                let row = find("method", &rows, choose(problem).method)?;
                (row.build)(&Arguments::defaults(&row.entry)?, problem, geometry, x0)
            },
            uses_geometry: true,
        },
    ]
}
