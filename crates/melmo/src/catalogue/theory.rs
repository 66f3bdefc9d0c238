//! What is proven for each method: the theorems of `docs/theory.md`, with the constants of a problem.

use crate::catalogue::choose::choose;
use crate::catalogue::literature::Case;
use crate::catalogue::methods::{beta, power, restart};
use crate::catalogue::{Arguments, beyond, find, literature, structured, tables};
use crate::error::Error;
use crate::geometry::{BlockNorm, Geometry, Norm, product_dual_growth};
use crate::guarantee::{Bound, Condition, Facts, Guarantee, Rate, Solutions};
use crate::metric;
use crate::problem::Problem;
use crate::real::Real;
use crate::schedule::{EpochConstant, EpochPower, Horizon, Schedule, Smoothness};
use crate::smooth;
use crate::solver::{CHECKED_EVERY, HANDOVER, Smoothing};

/// Certificates in O(ε⁻³) steps, and what T surjective adds.
const CUBED: [Rate; 2] = [Rate::Certificate { exponent: -3.0 }; 2];
const SQUARED: [Rate; 2] = [Rate::Certificate { exponent: -2.0 }; 2];

/// Where a run starts, and what its user knows.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a, S> {
    /// x₁.
    pub x0: &'a [S],
    /// F(x₁).
    pub objective: f64,
    /// r with ‖x*‖₂ ≤ r for every minimiser, where one is known.
    pub radius: Option<f64>,
}

/// What is proven for a method of the catalogue, with these arguments, on a problem, from a start. Allocates.
pub fn guarantee<S: Real>(
    method: &str,
    a: &Arguments,
    problem: &Problem<S>,
    geometry: &mut dyn Geometry<S>,
    from: Start<'_, S>,
) -> Result<Guarantee, Error> {
    let Start { x0, objective, radius } = from;
    problem.check_start(x0)?;
    radius.map(|radius| Error::expect_positive("radius", radius)).transpose()?;
    let start = Some(objective);
    let own = Facts { start, ..problem.facts() };
    let facts = Facts { start, ..problem.facts_in(geometry) };
    // Steps of its own, measured in the norm: no oracle is asked, and c² counts all the same.
    let stepped = Facts { oracle: own.oracle, ..facts };
    let squared = product_dual_growth(&geometry.norms()).map_or(f64::INFINITY, |c| (c * c).max(1.0));
    let scheduled = |schedule: &dyn Schedule, facts: &Facts| -> Result<Guarantee, Error> {
        schedule.check()?;
        Ok(schedule.guarantee(facts))
    };
    let gamma = a.number("gamma");
    match method {
        "melmo" => scheduled(&power(a, beta(a, problem)), &facts),
        "melmo-horizon" => scheduled(&Horizon { beta: beta(a, problem), gamma, steps: a.whole("steps") }, &facts),
        "epoch-power" => scheduled(&EpochPower { power: power(a, beta(a, problem)) }, &facts),
        "epoch-constant" => scheduled(&EpochConstant { beta: beta(a, problem), gamma, restart: restart(a)? }, &facts),
        "variable-smoothing" => {
            let lipschitz = a.given("lipschitz").or(own.lipschitz_f).unwrap_or(0.0);
            let normalized = a.word("normalized") == "yes";
            let operator_squared = own.operator_squared;
            scheduled(&Smoothness { beta: beta(a, problem), lipschitz, operator_squared, normalized }, &own)
        }
        "scaled" => scaled(a, problem, geometry, x0, &facts),
        "metric" => in_metric(beyond::smoothing(a, problem, x0)?, problem, &stepped),
        "tilted" => {
            let open = "F where the tilted steps end, about which nothing is proven";
            let smoothing = Smoothing::new::<S>(Smoothing::start(problem, x0));
            Ok(Guarantee { bound: None, ..in_metric(smoothing, problem, &stepped)?.up_to(open) })
        }
        "alternating" => alternating(a, problem, x0, &own, squared),
        "auto" => {
            let rows = tables::methods::<S>();
            let row = find("method", &rows, choose(problem).method)?;
            guarantee(row.entry.name, &Arguments::defaults(&row.entry)?, problem, geometry, from)
        }
        _ => {
            let solutions = Solutions::of(problem, x0, objective, radius);
            literature::guarantee(method, &Case { a, problem, x0, facts: own, squared, solutions })
        }
    }
}

/// Theorem 3 where L_f is a constant of the norm, Theorem 2 for steps by trial.
fn scaled<S: Real>(
    a: &Arguments,
    problem: &Problem<S>,
    geometry: &mut dyn Geometry<S>,
    x0: &[S],
    facts: &Facts,
) -> Result<Guarantee, Error> {
    let smoothing = beyond::smoothing(a, problem, x0)?;
    let euclidean = matches!(&geometry.norms()[..], [BlockNorm { norm: Norm::L2, radius, .. }] if *radius == 1.0);
    if euclidean && facts.lipschitz_f.is_some() {
        return Ok(ruled("κ-rule, steps of known length with momentum (Theorem 3)", smoothing, None, vec![], facts));
    }
    let (mut phi, mut work) = (vec![S::ZERO; x0.len()], vec![S::ZERO; problem.work_len()]);
    let found = problem.smoothed_gradient(&mut phi, x0, smoothing.beta(), &mut work);
    let value = found.f + problem.envelope(x0, smoothing.beta(), &mut work);
    let first = geometry.oracle(&phi).decrease.powi(2) / value.abs();
    Ok(ruled("κ-rule, steps by trial (Theorem 2)", smoothing, Some(first), vec![], facts))
}

/// Theorem 3 in a metric.
fn in_metric<S: Real>(smoothing: Smoothing, problem: &Problem<S>, facts: &Facts) -> Result<Guarantee, Error> {
    let known = Condition::new("a metric is known that majorises ∇²f + T*T/β", metric::for_problem(problem).is_ok());
    Ok(ruled("κ-rule, metric steps with momentum (Theorem 3)", smoothing, None, vec![known], facts))
}

fn ruled(
    regime: &'static str,
    smoothing: Smoothing,
    trial: Option<f64>,
    conditions: Vec<Condition>,
    facts: &Facts,
) -> Guarantee {
    let every = if trial.is_some() { 1.0 } else { CHECKED_EVERY as f64 };
    let Smoothing { kappa, floor, .. } = smoothing;
    let bound = Bound::Rule { kappa, beta: smoothing.beta(), floor, trial, every };
    Guarantee::new(regime, CUBED, smoothing.beta(), conditions, facts).within(bound)
}

/// Two stages of O(ε⁻²) sweeps, counted in a norm with ‖φ‖_*² ≤ `squared`·‖φ‖₂².
fn alternating<S: Real>(
    a: &Arguments,
    problem: &Problem<S>,
    x0: &[S],
    facts: &Facts,
    squared: f64,
) -> Result<Guarantee, Error> {
    let smooth::Form::Factors(f) = problem.f().form() else {
        return Ok(Guarantee::none("it needs two factors with a penalty on W", facts));
    };
    let ((c, nu), rank, smoothing) = (f.weights(), f.shape().2 as f64, structured::smoothing(a, problem, x0)?);
    let (kappa, beta) = (smoothing.kappa, smoothing.beta());
    let highest = facts.start.unwrap_or(f64::NAN) + 0.5 * beta * facts.lipschitz_g.unwrap_or(f64::NAN).powi(2);
    // 2c‖H‖² at most.
    let curvature = (nu > 0.0 && highest.is_finite()).then(|| 4.0 * c * highest / nu);
    let ridge = Condition::new("ν > 0, so that H is bounded", nu > 0.0);
    let facts = Facts { lipschitz_f: curvature, ..*facts };
    let by_entries = problem.g().coordinates().is_some_and(|g| g.units() == problem.g().size());
    let entries = Condition::new("g is a sum over the entries of W", by_entries);
    let regime = "alternating steps, then coordinate descent (Theorem 2, Proposition 4)";
    let guarantee = Guarantee::new(regime, SQUARED, beta, vec![ridge, entries], &facts);
    let guarantee = match curvature {
        None => guarantee,
        Some(curvature) => {
            let budget = highest - facts.infimum.unwrap_or(f64::NAN);
            let gain = 0.25 * (1.0 / (curvature + HANDOVER / beta)).min(kappa * (1.0 - beta * facts.rho) / beta);
            let slope = 2.0 * (rank * (curvature + 2.0 * rank * facts.rho)).sqrt() + 4.0 * (0.5 * curvature).sqrt();
            let constant = squared * (2.0 * budget / gain + slope * slope * highest);
            guarantee.within(Bound::Closed { constant, order: 2, more: 12.0 })
        }
    };
    Ok(match a.word("explore") {
        "no" => guarantee,
        _ => guarantee.up_to("the first pass: scouts that look for better basins stop it"),
    })
}
