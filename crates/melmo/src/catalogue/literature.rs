//! What others have proven about the methods that are not ours, with its hypotheses checked on a problem.

use crate::catalogue::{Arguments, find, splittings, tables};
use crate::error::Error;
use crate::guarantee::{Condition, Count, Facts, Guarantee, Rate, Solutions, above_a_norm};
use crate::operator;
use crate::problem::Problem;
use crate::real::Real;
use crate::smooth;
use crate::start;

/// A method with its arguments, on a problem from a start: what the constants are made of.
pub(super) struct Case<'a, S> {
    pub a: &'a Arguments,
    pub problem: &'a Problem<S>,
    pub x0: &'a [S],
    /// In ‖·‖₂.
    pub facts: Facts,
    /// c² with ‖φ‖_* ≤ c‖φ‖₂ in the norm of the certificate.
    pub squared: f64,
    pub solutions: Solutions,
}

impl<S: Real> Case<'_, S> {
    pub fn is_convex(&self) -> Condition {
        Condition::new("f is convex", self.problem.f().is_convex())
    }

    pub fn known_curvature(&self) -> Condition {
        Condition::new("∇f is Lipschitz (a global L_f is known)", self.facts.lipschitz_f.is_some())
    }

    fn picks(&self) -> Condition {
        let picks = matches!(self.problem.t().form(), operator::Form::Identity | operator::Form::Select(_));
        Condition::new("T is the identity or a selection", picks)
    }

    /// F(x₁) − inf F.
    fn fall(&self) -> Option<f64> {
        Some(self.facts.start? - self.facts.infimum?)
    }
}

/// What is known of a method that is not ours. The proofs, with these constants, are section 6 of `docs/theory.md`.
pub(super) fn guarantee<S: Real>(method: &str, case: &Case<'_, S>) -> Result<Guarantee, Error> {
    let convex = case.facts.rho == 0.0;
    Ok(match method {
        "proximal-gradient" => proximal_gradient(case),
        "fista" | "fista-graduated" if convex => fista(case),
        "admm" | "admm-graduated" if convex => splittings::admm(method, case)?,
        "dca" if convex => splittings::admm(method, case)?,
        "dca" => dca(case),
        "primal-dual" if convex => splittings::primal_dual(case),
        "palm" => palm(case),
        _ => {
            find("method", &tables::methods::<f64>(), method)?; // one that is not in the table is an error
            Guarantee::none(why_not(method), &case.facts)
        }
    })
}

/// Why there is no theorem for a method, on a problem that none covers.
fn why_not(method: &str) -> &'static str {
    match method {
        "subgradient" => "a fixed step stops at a distance from stationary points that depends on it",
        "fista" => "for weakly convex g the extrapolation would have to be checked against F, and it is only restarted",
        "admm" | "admm-graduated" => {
            "for weakly convex g known results (Li & Pong 2015) ask for a surjective T and a penalty that is large next to L_f, \
             which is not checked"
        }
        "interior-point" => {
            "theorems on interior point methods ask for short steps in the middle; Mehrotra's, which are taken, are longer, and their \
             proofs end where rounding begins"
        }
        "primal-dual" => {
            "Condat's and Vũ's theorems ask for convex f and g; for weakly convex g the method is a heuristic"
        }
        "stochastic" => {
            "its bounds are on expectations, and need the variance of a batch's gradient, which is not known (docs/theory.md, section 7)"
        }
        "reweighted" => "the inner problems are not solved to a stated accuracy",
        "als" => "F falls with every half of a sweep; no rate is proven",
        "turns" => "F falls with every half of a step; no rate is proven",
        "ipalm" => "Pock & Sabach (2016) ask for shorter steps than are taken with this much inertia",
        "hals" => {
            "F falls with every sweep; its limit points are stationary (Gillis & Glineur 2012), no rate is proven"
        }
        "majorised" => "F falls with every entry; no rate is proven",
        "lbfgs" => {
            "Liu & Nocedal (1989) ask for a twice differentiable, uniformly convex function, which F_β is not; elsewhere nothing \
             bounds the angle between a step and the gradient"
        }
        "fista-graduated" => {
            "on its path it minimises other penalties; from its end on it is `fista`, which is only restarted"
        }
        "coordinate-descent" | "coordinate-graduated" | "polished" => {
            "working sets and extrapolation; F falls, no rate is proven"
        }
        _ => "nothing is proven about it",
    }
}

/// Proposition 5: O(ε⁻²) steps without smoothing.
fn proximal_gradient<S: Real>(case: &Case<'_, S>) -> Guarantee {
    let (facts, convex) = (&case.facts, case.problem.f().is_convex());
    let regime = "proximal gradient (Proposition 5 of docs/theory.md)";
    let conditions = vec![case.picks(), case.known_curvature()];
    let guarantee = Guarantee::unsmoothed(regime, [Rate::Certificate { exponent: -2.0 }; 2], conditions, facts);
    let constants = vec![("c²", Some(case.squared)), ("F₁ − inf F", case.fall())];
    let known = facts.lipschitz_f.zip(case.fall());
    if facts.rho == 0.0 && convex {
        let count = Count::steps("2(1 + √2)²c²L_f(F₁ − inf F)/ε²", constants);
        let factor = 2.0 * (1.0 + 2f64.sqrt()).powi(2) * case.squared;
        return guarantee.counted(count, known.map(|(lipschitz, fall)| factor * lipschitz * fall), 2, 1.0);
    }
    if facts.rho == 0.0 {
        return guarantee.up_to("the longest step that is accepted: nothing limits it where ρ = 0 and f is not convex");
    }
    // 1/s lies between ρ/0.99 and what trials accept.
    let constant = known.map(|(lipschitz, fall)| {
        let cost = |inverse: f64| 2.0 * case.squared * (lipschitz + inverse).powi(2) / (inverse - facts.rho);
        let (least, most) = (facts.rho / 0.99, (2.0 * lipschitz).max(facts.rho / 0.99));
        cost(least).max(cost(most)) * fall
    });
    let count = Count::steps("2c²(L_f + 1/s)²(F₁ − inf F)/((1/s − ρ)ε²) at the worst s", constants);
    guarantee.counted(count, constant, 2, 1.0)
}

/// Proposition 6: F(x_k) − F* ≤ 2L_fD²/(k + 1)² and ‖∇f(x_k) + T*w‖₂ ≤ 8L_fD/(k + 1), as long as the momentum is not restarted.
fn fista<S: Real>(case: &Case<'_, S>) -> Guarantee {
    let distance = case.solutions.distance;
    let conditions = vec![case.picks(), case.is_convex(), case.known_curvature()];
    let regime = "FISTA (Beck & Teboulle 2009, Theorem 4.4; Proposition 6 of docs/theory.md)";
    let constants = vec![("c²", Some(case.squared)), ("D ≥ ‖x₁ − x*‖₂", distance)];
    let count = Count::steps("8cL_fD/ε, and F − F* ≤ ε after √(2L_f/ε)·D", constants);
    let known = case.facts.lipschitz_f.zip(distance);
    let constant = known.map(|(lipschitz, distance)| 8.0 * case.squared.sqrt() * lipschitz * distance);
    Guarantee::unsmoothed(regime, [Rate::Residuals { exponent: -1.0 }, Rate::Unknown], conditions, &case.facts)
        .counted(count, constant, 1, 1.0)
        .up_to(
            "restarts of the momentum: the bound counts from the last one, with D² larger by 1 + 1/t² for each \
             (O'Donoghue & Candès 2015 have no bound on how many there are)",
        )
}

/// F falls by ρ/2‖T(x_{k+1} − x_k)‖², and ‖∇f + T*w‖ ≤ ρ‖T‖‖T(x_{k+1} − x_k)‖ after a convex problem that is solved exactly.
fn dca<S: Real>(case: &Case<'_, S>) -> Guarantee {
    let (facts, problem) = (&case.facts, case.problem);
    let regime = "difference of convex functions (Pham Dinh & Le Thi 1997; section 4 of docs/theory.md)";
    // Its own start, where that is a smooth one.
    let smooth = (case.a.word("start") == "smooth").then(|| start::tikhonov(problem, 3.0 / facts.rho).ok()).flatten();
    let first = smooth.map(|x| problem.objective(&x)).or(facts.start);
    let fall = first.zip(facts.infimum).map(|(first, infimum)| first - infimum);
    let factor = 2.0 * case.squared * facts.rho * facts.operator_squared;
    let constants = vec![("c²", Some(case.squared)), ("F₁ − inf F where it starts", fall)];
    let formula = "2c²ρ‖T‖²(F₁ − inf F)/ε²";
    let count = Count { of: "convex problems, each of several steps", ..Count::steps(formula, constants) };
    Guarantee::unsmoothed(regime, [Rate::Certificate { exponent: -2.0 }; 2], vec![case.is_convex()], facts)
        .counted(count, fall.map(|fall| factor * fall), 2, 1.0)
        .up_to(
            "what is counted: convex problems solved exactly; here they are solved to an accuracy, by several steps each",
        )
}

/// Proposition 9: F falls by a part of the squared moves, and the slope is at most a multiple of them, while both factors are bounded.
fn palm<S: Real>(case: &Case<'_, S>) -> Guarantee {
    let (facts, problem) = (&case.facts, case.problem);
    let smooth::Form::Factors(f) = problem.f().form() else {
        return Guarantee::none("it needs two factors with a penalty on W", facts);
    };
    let ((c, nu), first) = (f.weights(), facts.start.unwrap_or(f64::NAN));
    let ridge = Condition::new("ν > 0, so that H is bounded", nu > 0.0);
    let size = above_a_norm(problem.g()).map(|q| q * first).filter(|size| size.is_finite());
    let constants = vec![("c²", Some(case.squared)), ("W̄ ≥ ‖W‖_F", size), ("F₁ − inf F", case.fall())];
    let count = Count::steps("c²C²(F₁ − inf F)/ε², C of Proposition 9", constants);
    let constant = size.zip(case.fall()).filter(|_| nu > 0.0).map(|(size, fall)| {
        let by_h = c * first / nu;
        let of_w = 2.0 * (4.0 * by_h).max(2.0 * facts.rho).sqrt() + 4.0 * (2.0 * by_h).sqrt();
        let of_h = (2.0 * (2.0 * c * size * size + nu)).sqrt();
        case.squared * (2.0 * of_w + of_h).max(2.0 / nu * of_w).powi(2) * fall
    });
    let rates = [Rate::Certificate { exponent: -2.0 }; 2];
    let regime = "PALM (Bolte, Sabach & Teboulle 2014; Proposition 9 of docs/theory.md)";
    let guarantee = Guarantee::unsmoothed(regime, rates, vec![ridge], facts).counted(count, constant, 2, 2.0);
    match size {
        Some(_) => guarantee,
        None => guarantee.up_to("the size of W, which they assume to be bounded: the constants grow with it"),
    }
}
