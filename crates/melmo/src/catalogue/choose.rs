//! Which method for which problem: by what the terms are made of.

use crate::metric;
use crate::operator::Form as Operator;
use crate::penalty::Streamed;
use crate::problem::Problem;
use crate::real::Real;
use crate::smooth::Form as Loss;
use crate::solver::{Als, Interior};

/// A method for a problem, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The name of its row.
    pub method: &'static str,
    /// For people: what it was about the problem.
    pub reason: String,
}

impl Choice {
    fn new(method: &'static str, reason: impl Into<String>) -> Self {
        Self { method, reason: reason.into() }
    }
}

/// The method that `auto` runs: what won our comparisons (`docs/competition.md`) on problems of this structure.
pub fn choose<S: Real>(problem: &Problem<S>) -> Choice {
    let (f, t) = (problem.f(), problem.t());
    match (f.form(), t.form()) {
        (Loss::Factors(_), Operator::Select(_)) => Choice::new(
            "alternating",
            "two factors with a penalty on W: each is a ridge regression while the other rests",
        ),
        (Loss::Known(_), _) if Als::fits(problem) => Choice::new(
            "als",
            "two factors against known entries, a ridge on both: each is a least squares problem while the other rests",
        ),
        (Loss::Factors(f), Operator::Identity) if f.mask().is_none() && problem.g().coordinates().is_some() => {
            Choice::new("hals", "two factors with penalties of their entries: each entry exactly while the others rest")
        }
        (Loss::Entries(_), Operator::Identity) if problem.g().coordinates().is_some() => Choice::new(
            "majorised",
            "factors of counts, or of yes and no: each entry by a parabola above the loss while the others rest",
        ),
        (Loss::Factors(_) | Loss::Known(_) | Loss::Entries(_), _) => Choice::new(
            "scaled",
            "two factors, no global L_f: steps whose length is found by trial, in the norm chosen",
        ),
        (Loss::Linear { operator, .. } | Loss::Coupled { operator, .. }, Operator::Identity)
            if matches!(operator.form(), Operator::Dense(_) | Operator::Sparse(_))
                && problem.g().coordinates().is_some() =>
        {
            let why = "a linear model with a penalty of entries or groups: one unit after another";
            on_a_path(problem, ["coordinate-descent", "coordinate-graduated"], why)
        }
        (Loss::Linear { .. }, Operator::Identity) => {
            let why = "a linear model with T = I: the prox of g itself is at hand, no smoothing is needed";
            on_a_path(problem, ["fista", "fista-graduated"], why)
        }
        (_, Operator::Identity | Operator::Select(_)) if f.lipschitz().is_some() => {
            let why = "T is the identity or selects blocks: the prox of g∘T is at hand, no smoothing is needed";
            on_a_path(problem, ["fista", "fista-graduated"], why)
        }
        (Loss::General, Operator::Identity | Operator::Select(_)) => {
            let why = "the prox of g∘T is at hand, no smoothing is needed; L_f is found by trial";
            on_a_path(problem, ["fista", "fista-graduated"], why)
        }
        (Loss::Linear { .. }, _) | (Loss::Proximity { mask: Some(_), .. }, _)
            if !is_convex(problem) && f.lipschitz().is_some() =>
        {
            one_convex_after_another(problem)
        }
        (Loss::General, _) if !is_convex(problem) && f.lipschitz().is_some() => Choice::new(
            "dca",
            "a loss of your own behind an operator, g not convex: its convex relative first, one convex problem after another",
        ),
        (_, Operator::Difference2d(_) | Operator::Difference3d(_)) if f.lipschitz().is_some() => differences(problem),
        (
            _,
            Operator::Dense(_) | Operator::Sparse(_) | Operator::Mask(_) | Operator::Convolution(_) | Operator::General,
        ) if f.lipschitz().is_some() => general(problem),
        (Loss::General, _) if f.lipschitz().is_none() => Choice::new(
            "primal-dual",
            "a loss of which no L_f is known: it is found by trial, and every step costs T and T* once",
        ),
        _ => by_metric(problem),
    }
}

/// The second method, which starts with a path, where g is not convex; the first where it is, and where every entry is a problem of
/// its own: nothing is decided there by what the others do.
fn on_a_path<S: Real>(problem: &Problem<S>, [plain, graduated]: [&'static str; 2], why: &str) -> Choice {
    let apart = matches!(problem.f().form(), Loss::Proximity { .. }) && problem.g().coordinates().is_some();
    match is_convex(problem) || apart {
        true => Choice::new(plain, why),
        false => Choice::new(graduated, format!("{why}; ρ > 0: from 0, down a path that passes by poor local minima")),
    }
}

/// T = differences on a grid, L_f known.
fn differences<S: Real>(problem: &Problem<S>) -> Choice {
    let grid = "differences on a grid";
    match problem.f().form() {
        Loss::Linear { operator, .. }
            if is_convex(problem) && matches!(operator.form(), Operator::Dense(_) | Operator::Sparse(_)) =>
        {
            let why = "and a matrix in f, which may be ill-conditioned: quasi-Newton steps learn its curvature";
            Choice::new("lbfgs", format!("{grid} {why}"))
        }
        _ if is_convex(problem) => Choice::new(
            "primal-dual",
            format!("{grid}, g convex: every step costs T and T* once, and its own dual certifies it"),
        ),
        _ => Choice::new(
            "tilted",
            format!(
                "{grid}: metric steps cost two cosine transforms; ρ > 0: β starts near 1/ρ to pass by poor local minima"
            ),
        ),
    }
}

/// g is not convex, and f alone does not say where x is: entries are missing, or rows see many of them at once. What is decided early
/// is then often wrong, and a convex problem decides first.
fn one_convex_after_another<S: Real>(problem: &Problem<S>) -> Choice {
    let missing = matches!(problem.f().form(), Loss::Proximity { .. });
    let first = match missing {
        true => "entries are missing, g not convex: from a smooth point, which fills them in",
        false => "a linear model behind an operator, g not convex: its convex relative first",
    };
    match problem.g().streamed() {
        Some(Streamed::Entries(_)) => Choice::new("reweighted", format!("{first}, weights change as x does")),
        _ => Choice::new("dca", format!("{first}, one convex problem after another")),
    }
}

/// T = any matrix or operator, L_f known.
fn general<S: Real>(problem: &Problem<S>) -> Choice {
    if Interior::fits(problem) {
        let why = "a quadratic loss and a sum of bent lines, small or narrow: a program that a few steps with a system each solve";
        return Choice::new("interior-point", why);
    }
    if metric::is_direct(problem) {
        let why = "a general operator that is sparse or on few entries: x-steps are exact, by one factor, and constraints are \
                   kept by z";
        return Choice::new("admm", why);
    }
    let why = "a general operator: every step costs T and T* once, no system is solved";
    match is_convex(problem) {
        true => Choice::new("primal-dual", why),
        false => Choice::new("primal-dual", format!("{why}; ρ > 0: β starts near 1/ρ to pass by poor local minima")),
    }
}

/// Whatever metric there is.
fn by_metric<S: Real>(problem: &Problem<S>) -> Choice {
    match metric::for_problem(problem) {
        Ok((name, _)) => {
            Choice::new("metric", format!("a general operator, and L_f is known: steps in the metric `{name}`"))
        }
        Err(_) => Choice::new("scaled", "no structure that a method knows of: steps whose length is found by trial"),
    }
}

fn is_convex<S: Real>(problem: &Problem<S>) -> bool {
    problem.g().weak_convexity() == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Layout;
    use crate::operator::{Dense, Difference2d, Identity, LinOp, Mask, Select};
    use crate::penalty::{Entrywise, Group, L1, Mcp, Prox, Spectral};
    use crate::smooth::{Factorization, LeastSquares, MaskedLeastSquares, Smooth};

    /// A loss of which nothing is known but perhaps L_f, as a user's own may be.
    struct Own(Layout, Option<f64>);

    impl Smooth<f64> for Own {
        fn layout(&self) -> &Layout {
            &self.0
        }

        fn value_grad(&self, grad: &mut [f64], _: &[f64], _: &mut [f64]) -> f64 {
            grad.fill(0.0);
            0.0
        }

        fn lipschitz(&self) -> Option<f64> {
            self.1
        }
    }

    #[test]
    fn structure_decides() {
        let layout = Layout::matrix(4, 3).unwrap();
        let f = || MaskedLeastSquares::new(layout.clone(), vec![1.0; 12], None).unwrap();
        let l1 = |n| Entrywise::new(L1::new(0.1).unwrap(), n);
        let tv = Problem::new(f(), Entrywise::new(Mcp::new(0.1, 2.0).unwrap(), 24), Difference2d::new(4, 3).unwrap());
        let choice = choose(&tv.unwrap());
        assert_eq!(choice.method, "tilted");
        assert!(choice.reason.contains("cosine") && choice.reason.contains("1/ρ"), "{}", choice.reason);
        let identity = Problem::new(f(), l1(12), Identity::new(layout.clone())).unwrap();
        assert_eq!(choose(&identity).method, "fista");
        let mcp = Mcp::new(0.1, 2.0).unwrap();
        let apart = Problem::new(f(), Entrywise::new(mcp, 12), Identity::new(layout.clone())).unwrap();
        assert_eq!(choose(&apart).method, "fista");
        let spectral = Problem::new(f(), Spectral::new(mcp, &layout).unwrap(), Identity::new(layout.clone())).unwrap();
        assert_eq!(choose(&spectral).method, "fista-graduated");
        let factors = Factorization::new(vec![1.0; 12], 4, 3, 2).unwrap();
        let w = Select::new(factors.layout(), &["W"]).unwrap();
        assert_eq!(choose(&Problem::new(factors, l1(8), w).unwrap()).method, "alternating");
        let own = Problem::new(Own(layout.clone(), None), l1(12), Identity::new(layout.clone())).unwrap();
        assert_eq!(choose(&own).method, "fista");
        let design = Dense::new(vec![1.0; 6], 2, 3).unwrap();
        let model = LeastSquares::new(Box::new(design), vec![1.0; 2]).unwrap();
        let identity = Identity::new(model.layout().clone());
        assert_eq!(choose(&Problem::new(model, l1(3), identity).unwrap()).method, "coordinate-descent");
    }

    #[test]
    fn operators_without_structure_go_by_size_and_convexity() {
        let chosen = |n: usize, convex: bool| {
            let layout = Layout::vector(n).unwrap();
            let f = MaskedLeastSquares::new(layout.clone(), vec![1.0; n], None).unwrap();
            let g: Box<dyn Prox<f64>> = if convex {
                Box::new(Entrywise::new(L1::new(0.1).unwrap(), n))
            } else {
                Box::new(Entrywise::new(Mcp::new(0.1, 2.0).unwrap(), n))
            };
            let t: Box<dyn LinOp<f64>> = Box::new(Mask::new(layout, vec![1.0; n]).unwrap());
            choose(&Problem::from_boxes(Box::new(f), g, t).unwrap())
        };
        assert_eq!([chosen(12, true).method, chosen(12, false).method], ["interior-point", "admm"]);
        assert_eq!([chosen(1000, true).method, chosen(1000, false).method], ["primal-dual"; 2]);
        assert!(chosen(1000, false).reason.contains("1/ρ"));
    }

    #[test]
    fn differences_go_by_convexity_and_by_what_is_missing() {
        let layout = Layout::matrix(4, 3).unwrap();
        let seen = |mask: Option<Vec<f64>>| MaskedLeastSquares::new(layout.clone(), vec![1.0; 12], mask).unwrap();
        let t = || Difference2d::new(4, 3).unwrap();
        let l1 = || Entrywise::new(L1::new(0.1).unwrap(), 24);
        let mcp = || Entrywise::new(Mcp::new(0.1, 2.0).unwrap(), 24);
        let holes = || Some((0..12).map(|i| f64::from(i % 2)).collect());
        assert_eq!(choose(&Problem::new(seen(None), l1(), t()).unwrap()).method, "primal-dual");
        assert_eq!(choose(&Problem::new(seen(holes()), mcp(), t()).unwrap()).method, "reweighted");
        let range = LinOp::<f64>::range(&t()).clone();
        let pixels = Group::pixels(Mcp::new(0.1, 2.0).unwrap(), &range).unwrap();
        assert_eq!(choose(&Problem::new(seen(holes()), pixels, t()).unwrap()).method, "dca");
        let design = Dense::new(vec![1.0; 24], 2, 12).unwrap();
        let model = LeastSquares::new(Box::new(design), vec![1.0; 2]).unwrap();
        assert_eq!(choose(&Problem::new(model, l1(), t()).unwrap()).method, "lbfgs");
        let own = |known| choose(&Problem::new(Own(layout.clone(), known), mcp(), t()).unwrap()).method;
        assert_eq!([own(Some(1.0)), own(None)], ["dca", "primal-dual"]);
    }
}
