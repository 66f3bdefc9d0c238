//! Methods that need to know what a problem is made of: a linear model, two factors.

use crate::catalogue::{Arguments, Entry, MethodRow, Parameter};
use crate::error::Error;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::{Als, Alternating, CoordinateDescent, Explored, Hals, Majorised, Palm, Polished, Smoothing, Turns};

const BETA: Parameter =
    Parameter::unset("beta", "first β ≤ 1/(2ρ); 1/(2ρ), or the data's scale for convex g, unless given");
const KAPPA: Parameter =
    Parameter::new("kappa", 1e-4, "κ > 0: β shrinks when a step promises less than κ of what it hides");
const FLOOR: Parameter = Parameter::unset("floor", "least β; where rounding begins to show, unless given");
const RESCALE: Parameter =
    Parameter::whole("rescale", 0, 0, "rescale the columns of W against H every so many sweeps; 0: never");
const EXPLORE: Parameter =
    Parameter::word("explore", &["no", "yes"], "once settled, look for a better basin: hundreds of steps a look");

pub(super) fn smoothing<S: Real>(a: &Arguments, problem: &Problem<S>, x0: &[S]) -> Result<Smoothing, Error> {
    problem.check_start(x0)?;
    let beta = a.given("beta");
    Smoothing::new::<S>(beta.unwrap_or_else(|| Smoothing::start(problem, x0)))
        .steady()
        .with(a.given("kappa"), a.given("floor"))
}

/// The methods for regression and factorisation. On other problems they are refused, with the reason.
pub(super) fn structured<S: Real>() -> Vec<MethodRow<S>> {
    vec![
        MethodRow {
            entry: Entry {
                name: "alternating",
                formula: "W ← argmin c‖Y − WH‖² + ‖W − prox_{βg}(V)‖²/(2β), H ← argmin f(W, ·), V extrapolated, β by the κ-rule",
                about: "factorisation with a penalty on W, by two ridge regressions a sweep; certificates in O(ε⁻²) sweeps if ν > 0",
                parameters: const { &[BETA, KAPPA, FLOOR, RESCALE, EXPLORE] },
            },
            build: |a, problem, geometry, x0| {
                let every = a.whole("rescale");
                let smoothing = smoothing(a, problem, x0)?;
                if a.word("explore") == "yes" {
                    let explored = Explored::new(problem, smoothing, x0, |solver| solver.rescaling(every))?;
                    return Ok(Box::new(explored.in_norm(geometry)?));
                }
                Ok(Box::new(Alternating::new(problem, smoothing, x0)?.rescaling(every)?.in_norm(geometry)?))
            },
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "palm",
                formula: "W ← prox_{sg}(W − s∇_Wf), H ← H − ∇_Hf/L_H",
                about: "Bolte, Sabach & Teboulle 2014: factorisation with a penalty on W",
                parameters: const { &[RESCALE] },
            },
            build: |a, problem, geometry, x0| {
                let palm = Palm::new(problem, false, x0)?.rescaling(a.whole("rescale"))?;
                Ok(Box::new(palm.in_norm(geometry)?))
            },
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "ipalm",
                formula: "the steps of `palm` from points extrapolated by (k − 1)/(k + 2)",
                about: "Pock & Sabach 2016: factorisation with a penalty on W",
                parameters: const { &[RESCALE] },
            },
            build: |a, problem, geometry, x0| {
                let palm = Palm::new(problem, true, x0)?.rescaling(a.whole("rescale"))?;
                Ok(Box::new(palm.in_norm(geometry)?))
            },
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "als",
                formula: "W ← argmin f(·, H) + g, H ← argmin f(W, ·), exactly",
                about: "Koren, Bell & Volinsky 2009: two factors against known entries, g a ridge on W",
                parameters: &[],
            },
            build: |_, problem, geometry, x0| Ok(Box::new(Als::new(problem, x0)?.in_norm(geometry)?)),
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "hals",
                formula: "W_·k ← prox_{g/m}(W_·k − ∇f/m), m = 2c(HHᵀ)_kk, k = 1, …, r; H_k· likewise; from points ahead while F falls",
                about: "Cichocki & Phan 2009, Ang & Gillis 2019: factorisation with penalties, or signs, of the entries of W and H",
                parameters: &[],
            },
            build: |_, problem, geometry, x0| Ok(Box::new(Hals::new(problem, x0)?.in_norm(geometry)?)),
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "majorised",
                formula: "x_c ← prox_{g_c/m}(x_c − ∂_cf/m) for every entry of W, then of H; m the curvature of a parabola above f",
                about: "after Hsieh & Dhillon 2011: factors of counts (W, H ≥ 0), or of yes and no",
                parameters: &[],
            },
            build: |_, problem, geometry, x0| Ok(Box::new(Majorised::new(problem, x0)?.in_norm(geometry)?)),
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "coordinate-descent",
                formula: "x_c ← prox_{g_c/L_c}(x_c − ∇_cf(x)/L_c), c in a working set",
                about: "regression with a penalty of entries or groups: f(x) = h(Ax), T = I",
                parameters: &[],
            },
            build: |_, problem, geometry, x0| Ok(Box::new(CoordinateDescent::new(problem, x0)?.in_norm(geometry)?)),
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "coordinate-graduated",
                formula: "`coordinate-descent` on g_t(u) = t²g(u/t), t ← fall·t after every round, from where 0 is the answer down to 1",
                about: "regression: a path, as of λ, that passes by poor local minima of MCP and SCAD, from 0",
                parameters: const { &[Parameter::new("fall", 0.85, "in (0, 1): what t is multiplied by in a round")] },
            },
            build: |a, problem, geometry, x0| {
                let solver = CoordinateDescent::new(problem, x0)?.graduated(a.number("fall"))?;
                Ok(Box::new(solver.in_norm(geometry)?))
            },
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "turns",
                formula: "L ← prox_{g_L}(Y − S), S ← prox_{g_S}(Y − L)",
                about: "low rank plus sparse, ½‖M⊙(Y − L − S)‖² + g_L(L) + g_S(S): F falls with every half of a step; the least memory",
                parameters: &[],
            },
            build: |_, problem, geometry, x0| Ok(Box::new(Turns::new(problem, x0)?.in_norm(geometry)?)),
            uses_geometry: false,
        },
        MethodRow {
            entry: Entry {
                name: "polished",
                formula: "`coordinate-descent`; then `scaled` from there until β is small, `coordinate-descent` again; the lower end",
                about: "regression: smoothing leaves basins that coordinate descent is caught in",
                parameters: const {
                    &[
                        BETA,
                        Parameter::new(
                            "kappa",
                            1e-2,
                            "κ > 0: β shrinks when a step promises less than κ of what it hides",
                        ),
                    ]
                },
            },
            build: |a, problem, geometry, x0| {
                problem.check_start(x0)?;
                let beta = a.given("beta");
                let smoothing = Smoothing::new::<S>(beta.unwrap_or_else(|| Smoothing::start(problem, x0)));
                let smoothing = smoothing.with(a.given("kappa"), None)?;
                Ok(Box::new(Polished::new(problem, smoothing, x0)?.in_norm(geometry)?))
            },
            uses_geometry: false,
        },
    ]
}
