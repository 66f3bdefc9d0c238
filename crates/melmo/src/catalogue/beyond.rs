//! Methods past the paper: faster on most problems; what is proven of them is in `docs/theory.md`.

use crate::catalogue::choose::choose;
use crate::catalogue::methods::{MethodRow, given};
use crate::catalogue::tables::methods;
use crate::catalogue::{Arguments, Entry, Parameter, find};
use crate::error::Error;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::{Adaptive, Path, Smoothing, Tilted};

pub(super) const BETA: Parameter =
    Parameter::new("beta", f64::NAN, "first β ≤ 1/(2ρ); 1/(2ρ), or the data's scale for convex g, unless given");
pub(super) const KAPPA: Parameter =
    Parameter::new("kappa", 1e-3, "κ > 0: β shrinks when a step promises less than κ of what it hides");
pub(super) const FLOOR: Parameter =
    Parameter::new("floor", f64::NAN, "least β; where rounding begins to show, unless given");

pub(super) fn smoothing<S: Real>(a: &Arguments, problem: &Problem<S>, x0: &[S]) -> Result<Smoothing, Error> {
    problem.check_start(x0)?;
    let beta = given(a, "beta").unwrap_or_else(|| Smoothing::start(problem, x0));
    Smoothing::new::<S>(beta).with(a.get("kappa"), a.get("floor"))
}

fn path<S: Real>(a: &Arguments, problem: &Problem<S>, x0: &[S]) -> Result<Path, Error> {
    problem.check_start(x0)?;
    let path = Path::new(problem, x0);
    let beta = given(a, "beta").unwrap_or(path.beta);
    let end = given(a, "end").unwrap_or(path.end.min(beta));
    Ok(Path { beta, end, ratio: a.get("ratio"), relaxation: a.get("relaxation") })
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
            build: |a, problem, geometry, x0| {
                Ok(Box::new(Adaptive::scaled(problem, geometry, smoothing(a, problem, x0)?, x0)?))
            },
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
                        Parameter::new("beta", f64::NAN, "first β < 1/ρ; 0.98/ρ unless given"),
                        Parameter::new(
                            "ratio",
                            0.981,
                            "r in (0, 1): how fast β falls; 0.8 or less below a twentieth of the first",
                        ),
                        Parameter::new(
                            "end",
                            f64::NAN,
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
