//! Competitors: what others would use, run as well as we can, so that a user can see which method wins on their problem.

use crate::catalogue::beyond::{BETA, FLOOR, KAPPA, smoothing};
use crate::catalogue::methods::MethodRow;
use crate::catalogue::{Arguments, Entry, Parameter};
use crate::error::Error;
use crate::problem::Problem;
use crate::real::Real;
use crate::smooth;
use crate::solver::{Admm, Dca, Interior, Lbfgs, Path, PrimalDual, ProximalGradient, Reweighted, Smoothing};
use crate::start;

/// Steps on the convex relative before weights change: enough for it to be seen which entries of Tx are large.
const CONVEX_STEPS: u64 = 300;

const RELAXATION: Parameter = Parameter::new("relaxation", 1.6, "α in (0, 2)");

/// β of ADMM inside another method: 1/(6ρ), or the data's scale for convex g.
pub(super) fn inner_beta<S: Real>(a: &Arguments, problem: &Problem<S>, x0: &[S]) -> f64 {
    let rho = problem.g().weak_convexity();
    let unit = if rho > 0.0 { 1.0 / (6.0 * rho) } else { Smoothing::start(problem, x0) };
    a.given("penalty").map_or(unit, f64::recip)
}

/// The first β of primal–dual steps.
pub(super) fn primal_dual_beta<S: Real>(a: &Arguments, problem: &Problem<S>, x0: &[S]) -> f64 {
    let unit = 0.98 * Path::unit(problem, x0);
    a.given("penalty").map_or(unit.min(PrimalDual::largest_beta(problem)), f64::recip)
}

/// ADMM's penalties as paths of β, which is one over them.
pub(super) fn path<S: Real>(a: &Arguments, problem: &Problem<S>, x0: &[S], growth: f64) -> Result<Path, Error> {
    problem.check_start(x0)?;
    let unit = Path::unit(problem, x0);
    let beta = a.given("penalty").map_or(if growth == 1.0 { 0.25 * unit } else { 0.98 * unit }, f64::recip);
    Ok(Path { beta, ratio: 1.0 / growth, end: (0.01 * unit).min(beta), relaxation: a.number("relaxation") })
}

/// The methods of this file.
pub(super) fn competitors<S: Real>() -> Vec<MethodRow<S>> {
    vec![
        MethodRow {
            entry: Entry {
                name: "proximal-gradient",
                formula: "x ← prox_{s·g∘T}(x − s∇f(x)), s by trial",
                about: "for T = I or a selection of blocks",
                parameters: &[],
            },
            build: |_, problem, geometry, x0| {
                Ok(Box::new(ProximalGradient::new(problem, false, x0)?.in_norm(geometry)?))
            },
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "fista",
                formula: "x ← prox_{s·g∘T}(y − s∇f(y)), y extrapolated, restarted by the gradient",
                about: "accelerated proximal gradient, for T = I or a selection of blocks",
                parameters: &[],
            },
            build: |_, problem, geometry, x0| {
                Ok(Box::new(ProximalGradient::new(problem, true, x0)?.in_norm(geometry)?))
            },
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "fista-graduated",
                formula: "`fista` on g_t(u) = t²g(u/t), t ← fall·t after every step, from where 0 is the answer down to 1",
                about: "a path that passes by poor local minima of weakly convex penalties, from 0; the rest is `fista`",
                parameters: const { &[Parameter::new("fall", 0.95, "in (0, 1): what t is multiplied by in a step")] },
            },
            build: |a, problem, geometry, x0| {
                let solver = ProximalGradient::new(problem, true, x0)?.graduated(a.number("fall"))?;
                Ok(Box::new(solver.in_norm(geometry)?))
            },
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "admm",
                formula: "x ← argmin f(x) + ‖Tx − z + u‖²/(2β), z ← prox_{βg}(Tx + u), u ← u + Tx − z",
                about: "splitting with a penalty 1/β > ρ",
                parameters: const {
                    &[
                        Parameter::unset(
                            "penalty",
                            "1/β > ρ; 4ρ unless given, or for convex g from the data's scale, balanced and extrapolated as it goes",
                        ),
                        RELAXATION,
                    ]
                },
            },
            build: |a, problem, geometry, x0| {
                let solver = Admm::new(problem, path(a, problem, x0, 1.0)?, x0)?.in_norm(geometry)?;
                Ok(Box::new(if a.given("penalty").is_none() { solver.balanced() } else { solver }))
            },
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "admm-graduated",
                formula: "ADMM with β ← β/growth after every step, 1/β from just above ρ to 100ρ",
                about: "splitting that passes by poor local minima of weakly convex penalties",
                parameters: const {
                    &[
                        Parameter::unset("penalty", "first 1/β > ρ; 1.02ρ unless given"),
                        Parameter::new("growth", 1.025, "growth > 1 of the penalty in a step"),
                        Parameter::new("relaxation", 1.5, "α in (0, 2)"),
                    ]
                },
            },
            build: |a, problem, geometry, x0| {
                let growth = a.number("growth");
                Error::expect_parameter("growth", growth, growth > 1.0 && growth.is_finite(), "above 1")?;
                Ok(Box::new(Admm::new(problem, path(a, problem, x0, growth)?, x0)?.in_norm(geometry)?))
            },
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "reweighted",
                formula: "x ← argmin f(x) + Σwᵢ|(Tx)ᵢ| (ADMM), wᵢ ← ψ′(|(Tx)ᵢ|)",
                about: "convex–concave procedure for MCP, SCAD, log-sum on entries",
                parameters: const {
                    &[
                        Parameter::unset(
                            "penalty",
                            "1/β of the inner ADMM; 6ρ, or the data's scale for convex g, unless given",
                        ),
                        Parameter::whole("inner", 10, 1, "inner steps before the weights change"),
                        Parameter::word(
                            "start",
                            &["fitting", "smooth", "convex", "given"],
                            "weights from a smoothed start, those of the convex relative, or from the start given; \
                             `fitting`: the convex relative for linear models, else a smoothed start",
                        ),
                    ]
                },
            },
            build: |a, problem, geometry, x0| {
                problem.check_start(x0)?;
                let (rho, beta) = (problem.g().weak_convexity(), inner_beta(a, problem, x0));
                let linear = matches!(problem.f().form(), smooth::Form::Linear { .. });
                let (word, inner) = (a.word("start"), a.whole("inner"));
                let convex = word == "convex" || (word == "fitting" && linear);
                let smooth = (!convex && word != "given" && rho > 0.0).then(|| start::tikhonov(problem, 3.0 / rho));
                let smooth = smooth.transpose()?;
                let solver = Reweighted::new(problem, beta, inner, smooth.as_deref().unwrap_or(x0))?;
                let solver = if convex { solver.from_convex(CONVEX_STEPS) } else { solver };
                Ok(Box::new(solver.in_norm(geometry)?))
            },
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "lbfgs",
                formula: "x ← x − tH∇F_β(x), H from the last few moves, t by a Wolfe search, β by the κ-rule",
                about: "a quasi-Newton method on the smoothed objective; a fixed β where the floor is the first β",
                parameters: const {
                    &[BETA, KAPPA, FLOOR, Parameter::whole("memory", 10, 1, "moves that H is made of, at least 1")]
                },
            },
            build: |a, problem, geometry, x0| {
                let memory = a.whole("memory");
                Error::expect_parameter("memory", memory as f64, memory <= 1000, "a whole number from 1 to 1000")?;
                Ok(Box::new(Lbfgs::new(problem, geometry, smoothing(a, problem, x0)?, memory as usize, x0)?))
            },
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "primal-dual",
                formula: "x⁺ = x − τ(∇f(x) + T*w), u ← βw + T(2x⁺ − x), w ← (u − prox_{βg}(u))/β",
                about: "Condat & Vũ 2013: no linear system; for weakly convex g a heuristic with 1/β > ρ that grows",
                parameters: const {
                    &[
                        Parameter::unset(
                            "penalty",
                            "first 1/β > ρ; 1.02ρ, or the data's scale for convex g, unless given",
                        ),
                        Parameter::new("growth", 1.005, "growth ≥ 1 of 1/β in a step, where g is not convex"),
                    ]
                },
            },
            build: |a, problem, geometry, x0| {
                problem.check_start(x0)?;
                let (unit, growth) = (Path::unit(problem, x0), a.number("growth"));
                Error::expect_parameter("growth", growth, growth >= 1.0 && growth.is_finite(), "at least 1")?;
                let beta = primal_dual_beta(a, problem, x0);
                let solver = PrimalDual::new(problem, beta, 1.0 / growth, (0.01 * unit).min(beta), x0)?;
                Ok(Box::new(solver.in_norm(geometry)?))
            },
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "interior-point",
                formula: "(∇²f + T*ΘT)dx = …, Θ and w of above·(high − w) = below·(w − low) = μ, μ → 0",
                about: "for quadratic f and sums of bent lines (l1, residuals without squares): a few dozen steps, each with a system",
                parameters: &[],
            },
            build: |_, problem, geometry, x0| Ok(Box::new(Interior::new(problem, x0)?.in_norm(geometry)?)),
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "dca",
                formula: "x ← argmin f(x) + g(Tx) + ρ/2‖Tx − Tx_k‖² (ADMM, to the accuracy), then x_k ← x",
                about: "difference of convex functions, each convex problem solved before the next; a step is one of ADMM's",
                parameters: const {
                    &[
                        Parameter::unset(
                            "penalty",
                            "1/β of the inner ADMM; 6ρ, or the data's scale for convex g, unless given",
                        ),
                        Parameter::new(
                            "accuracy",
                            1e-3,
                            "residuals of an inner solution next to what they are made of, in (0, 1)",
                        ),
                        Parameter::word(
                            "start",
                            &["smooth", "given"],
                            "from a smoothed start, or from the start given",
                        ),
                    ]
                },
            },
            build: |a, problem, geometry, x0| {
                problem.check_start(x0)?;
                let (rho, beta) = (problem.g().weak_convexity(), inner_beta(a, problem, x0));
                let smooth = a.word("start") == "smooth" && rho > 0.0;
                let smooth = smooth.then(|| start::tikhonov(problem, 3.0 / rho)).transpose()?;
                let x0 = smooth.as_deref().unwrap_or(x0);
                Ok(Box::new(Dca::new(problem, beta, a.number("accuracy"), x0)?.in_norm(geometry)?))
            },
            uses_geometry: false,
        },
    ]
}
