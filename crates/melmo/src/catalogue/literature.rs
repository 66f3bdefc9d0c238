//! What others have proven about the methods that are not ours, with its hypotheses checked on a problem.

use crate::catalogue::methods::given;
use crate::catalogue::{Arguments, find, tables};
use crate::error::Error;
use crate::guarantee::{Condition, Facts, Guarantee, Rate};
use crate::metric;
use crate::operator;
use crate::problem::Problem;
use crate::real::Real;
use crate::smooth;

/// What is known of a method that no theorem of `docs/theory.md` is about.
pub(super) fn guarantee<S: Real>(
    method: &str,
    a: &Arguments,
    problem: &Problem<S>,
    facts: &Facts,
) -> Result<Guarantee, Error> {
    let convex = facts.rho == 0.0;
    Ok(match method {
        "fista" if convex => fista(problem, facts),
        "admm" if convex && given(a, "penalty").is_some() => admm(problem, facts),
        "admm" if convex => admm(problem, facts).up_to(
            "the penalty, which is balanced as it goes: the rate counts from its last change (a given one stays)",
        ),
        "admm-graduated" if convex => {
            admm(problem, facts).up_to("the first steps: it counts from where the penalty has stopped growing")
        }
        "dca" if convex => admm(problem, facts),
        "dca" => dca(problem, facts),
        "primal-dual" if convex => primal_dual(problem, facts),
        "palm" => palm(problem, facts),
        _ => {
            find("method", &tables::methods::<f64>(), method)?; // one that is not in the table is an error
            Guarantee::none(why_not(method), facts)
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
        "primal-dual" => {
            "Condat's and Vũ's theorems ask for convex f and g; for weakly convex g the method is a heuristic"
        }
        "reweighted" => "the inner problems are not solved to a stated accuracy",
        "ipalm" => "Pock & Sabach (2016) ask for shorter steps than are taken with this much inertia",
        "lbfgs" => {
            "Liu & Nocedal (1989) ask for a twice differentiable, uniformly convex function, which F_β is not; elsewhere nothing \
             bounds the angle between a step and the gradient"
        }
        "coordinate-descent" | "polished" => "working sets and extrapolation; F falls, no rate is proven",
        _ => "nothing is proven about it",
    }
}

fn is_convex<S: Real>(problem: &Problem<S>) -> Condition {
    Condition::new("f is convex", problem.f().is_convex())
}

fn known_curvature(facts: &Facts) -> Condition {
    Condition::new("∇f is Lipschitz (a global L_f is known)", facts.lipschitz_f.is_some())
}

/// F(x_k) − F* ≤ 2L_f‖x₁ − x*‖²/(k + 1)², as long as the momentum is not restarted.
fn fista<S: Real>(problem: &Problem<S>, facts: &Facts) -> Guarantee {
    let picks = matches!(problem.t().form(), operator::Form::Identity | operator::Form::Select(_));
    let conditions =
        vec![Condition::new("T is the identity or a selection", picks), is_convex(problem), known_curvature(facts)];
    let rate = Rate::Objective { exponent: -2.0 };
    Guarantee::unsmoothed("FISTA (Beck & Teboulle 2009, Theorem 4.4)", [rate, Rate::Unknown], conditions, facts)
        .up_to("restarts of the momentum: the bound counts from the last one (O'Donoghue & Candès 2015)")
}

/// Relaxed Douglas–Rachford splitting of the dual: the residuals of a step are those of a fixed-point iteration.
fn admm<S: Real>(problem: &Problem<S>, facts: &Facts) -> Guarantee {
    let exact = matches!(
        (metric::for_problem(problem), problem.f().form()),
        (Ok(("diagonal", _)), _) | (Ok(("cosine", _)), smooth::Form::Proximity { mask: None, .. })
    );
    let conditions = vec![
        is_convex(problem),
        Condition::new("x-steps are exact (f = ½‖M⊙(x − y)‖² and T = I, or f = ½‖x − y‖² and T differences)", exact),
    ];
    let regime = "ADMM on convex f and g (Eckstein & Bertsekas 1992; rate: Davis & Yin 2016)";
    Guarantee::unsmoothed(regime, [Rate::Residuals { exponent: -0.5 }, Rate::Unknown], conditions, facts)
}

/// A preconditioned forward–backward iteration, in a metric that changes by a summable amount while β is moved.
fn primal_dual<S: Real>(problem: &Problem<S>, facts: &Facts) -> Guarantee {
    let conditions = vec![is_convex(problem), known_curvature(facts)];
    let regime = "primal–dual steps on convex f and g (Condat 2013, Vũ 2013; while β moves, Combettes & Vũ 2014)";
    Guarantee::unsmoothed(regime, [Rate::Converges, Rate::Unknown], conditions, facts)
}

/// F falls by ρ/2‖T(x_{k+1} − x_k)‖², and ‖∇f + T*w‖ ≤ ρ‖T‖‖T(x_{k+1} − x_k)‖ after a convex problem that is solved exactly.
fn dca<S: Real>(problem: &Problem<S>, facts: &Facts) -> Guarantee {
    let regime = "difference of convex functions (Pham Dinh & Le Thi 1997; section 4 of docs/theory.md)";
    let rates = [Rate::Certificate { exponent: -2.0 }; 2];
    Guarantee::unsmoothed(regime, rates, vec![is_convex(problem)], facts).up_to(
        "what is counted: convex problems solved exactly; here they are solved to an accuracy, by several steps each",
    )
}

/// F falls by a part of ‖x_{k+1} − x_k‖², and the subgradient is at most a multiple of ‖x_{k+1} − x_k‖, while both factors are bounded.
fn palm<S: Real>(problem: &Problem<S>, facts: &Facts) -> Guarantee {
    let smooth::Form::Factors(f) = problem.f().form() else {
        return Guarantee::none("it needs two factors with a penalty on W", facts);
    };
    let ridge = Condition::new("ν > 0, so that H is bounded", f.weights().1 > 0.0);
    let rates = [Rate::Certificate { exponent: -2.0 }; 2];
    Guarantee::unsmoothed("PALM (Bolte, Sabach & Teboulle 2014)", rates, vec![ridge], facts)
        .up_to("the size of W, which they assume to be bounded: the constants grow with it")
}
