//! What is proven of ADMM and of primal–dual steps where f and g are convex: fixed-point iterations, with their constants.

use crate::catalogue::competitors::{inner_beta, path, primal_dual_beta};
use crate::catalogue::literature::Case;
use crate::error::Error;
use crate::guarantee::{Condition, Count, Guarantee, Rate};
use crate::metric;
use crate::real::Real;
use crate::smooth;
use crate::solver::{INSIDE, Path, RELAXATION};

const RATES: [Rate; 2] = [Rate::Residuals { exponent: -0.5 }, Rate::Unknown];

/// Proposition 7: relaxed Douglas–Rachford splitting of f̃ and g in s = z + βw, from s = 0.
pub(super) fn admm<S: Real>(method: &str, case: &Case<'_, S>) -> Result<Guarantee, Error> {
    let (problem, facts) = (case.problem, &case.facts);
    let exact = matches!(
        (metric::for_problem(problem), problem.f().form()),
        (Ok(("diagonal", _)), _) | (Ok(("cosine", _)), smooth::Form::Proximity { mask: None, .. })
    );
    let (g, zeros) = (problem.g(), vec![S::ZERO; problem.g().size()]);
    let least_at_zero = g.value(&zeros, &mut vec![S::ZERO; g.work_len()]) == 0.0;
    let conditions = vec![
        case.is_convex(),
        Condition::new("x-steps are exact (f = ½‖M⊙(x − y)‖² and T = I, or f = ½‖x − y‖² and T differences)", exact),
        Condition::new("g(0) = 0 (g is least at 0, where z starts)", least_at_zero),
    ];
    let path = match method {
        "dca" => Path { beta: inner_beta(case.a, problem, case.x0), ratio: 1.0, end: 1.0, relaxation: RELAXATION },
        "admm" => path(case.a, problem, case.x0, 1.0)?,
        _ => path(case.a, problem, case.x0, case.a.number("growth"))?,
    };
    let regime = "ADMM on convex f and g (Eckstein & Bertsekas 1992, He & Yuan 2015; Proposition 7 of docs/theory.md)";
    let guarantee = Guarantee::unsmoothed(regime, RATES, conditions, facts);
    let guarantee = counted(guarantee, case, path);
    Ok(match method {
        "admm" if case.a.given("penalty").is_none() => guarantee.up_to(
            "the penalty, which is balanced as it goes, and trials between its changes: the count is for the first penalty, without trials (a given one stays, and has none)",
        ),
        _ => guarantee,
    })
}

/// N(ε): the steps in which β falls, and then those of the last β.
fn counted<S: Real>(guarantee: Guarantee, case: &Case<'_, S>, path: Path) -> Guarantee {
    let Path { beta, ratio, end, relaxation } = path;
    let (last, norm) = (if ratio < 1.0 { end.min(beta) } else { beta }, case.facts.operator_squared.sqrt());
    let falling = if ratio < 1.0 { ((last / beta).ln() / ratio.ln()).ceil() } else { 0.0 };
    let known = case.solutions.norm.zip(case.facts.lipschitz_g);
    let distance = known.map(|(size, lipschitz_g)| norm * size + beta * lipschitz_g);
    let scale = (case.squared.sqrt() * norm / last).max(1.0);
    let residual = relaxation / (2.0 - relaxation) * (1.0 + 1.0 / relaxation).powi(2) * scale * scale;
    let constants = vec![
        ("α", Some(relaxation)),
        ("first β", Some(beta)),
        ("last β", Some(last)),
        ("steps in which it falls", Some(falling)),
        ("c²", Some(case.squared)),
        ("D ≥ ‖Tx*‖₂ + βL_g, first β", distance),
    ];
    let formula = "α(1 + 1/α)²·max{1, c‖T‖/β}²·D²/((2 − α)ε²), last β, and those in which β falls";
    guarantee.counted(Count::steps(formula, constants), distance.map(|d| residual * d * d), 2, 1.0 + falling)
}

/// Proposition 8: a forward–backward iteration in the metric of its steps, for β as it is at the start.
pub(super) fn primal_dual<S: Real>(case: &Case<'_, S>) -> Guarantee {
    let facts = &case.facts;
    let beta = primal_dual_beta(case.a, case.problem, case.x0);
    let numbers = facts.lipschitz_f.map(|lipschitz| {
        let coupling = facts.operator_squared / beta;
        let inverse = (0.5 * lipschitz + coupling) / INSIDE; // 1/τ
        let left = inverse - coupling;
        let cocoercive = left / lipschitz.max(f64::MIN_POSITIVE);
        let summed = 2.0 * cocoercive / (2.0 * cocoercive - 1.0);
        let slope = case.squared.sqrt() * (inverse.sqrt() + lipschitz / left.sqrt());
        (inverse, if cocoercive.is_finite() { summed } else { 1.0 }, slope.max(beta.sqrt()))
    });
    let known = case.solutions.distance.zip(facts.lipschitz_g).zip(numbers);
    let energy = known.map(|((distance, l_g), (inverse, ..))| distance * inverse.sqrt() + 2.0 * beta.sqrt() * l_g);
    let constant = energy.zip(numbers).map(|(energy, (_, summed, scale))| summed * (scale * energy).powi(2));
    let constants = vec![
        ("β", Some(beta)),
        ("1/τ", numbers.map(|(inverse, ..)| inverse)),
        ("A", numbers.map(|(_, summed, _)| summed)),
        ("C", numbers.map(|(.., scale)| scale)),
        ("E ≥ ‖x₁ − x*‖₂/√τ + 2√β·L_g", energy),
    ];
    let regime = "primal–dual steps on convex f and g (Condat 2013, Vũ 2013; Proposition 8 of docs/theory.md)";
    Guarantee::unsmoothed(regime, RATES, vec![case.is_convex(), case.known_curvature()], facts)
        .counted(Count::steps("A·C²·E²/ε²", constants), constant, 2, 1.0)
        .up_to(
            "moves of β: the count is for the first, and starts at the last move; they shrink by 5 % each, so that both \
             numbers tend to 0 all the same (Combettes & Vũ 2014)",
        )
}
