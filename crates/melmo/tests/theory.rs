//! What `docs/theory.md` proves, measured; and what `guarantee` says of it.

use std::ops::ControlFlow;

use melmo::block::Layout;
use melmo::catalogue::{Arguments, Start, find, guarantee, methods};
use melmo::drive::{Epsilon, Options, Status, Stop, run};
use melmo::geometry::{Geometry, Norm, Oracle, for_layout, product_dual, product_primal};
use melmo::guarantee::{Guarantee, Verdict};
use melmo::operator::{Dense, Difference2d, Identity, Select};
use melmo::penalty::{Entrywise, L1, Mcp, Nonnegative};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo::smooth::{Factorization, LeastSquares, MaskedLeastSquares, Smooth};
use melmo::solver::{HANDOVER, Info, Solver};

const MU: f64 = 2.0;

fn denoising(rows: usize, cols: usize) -> (Problem<f64>, Vec<f64>) {
    let y: Vec<f64> = Seeded::new(7).normals(rows * cols);
    let f = MaskedLeastSquares::new(Layout::matrix(rows, cols).unwrap(), y.clone(), None).unwrap();
    let g = Entrywise::new(Mcp::new(0.3, MU).unwrap(), 2 * rows * cols);
    (Problem::new(f, g, Difference2d::new(rows, cols).unwrap()).unwrap(), y)
}

fn lasso(rows: usize, cols: usize) -> Problem<f64> {
    let mut seeded = Seeded::new(3);
    let a = Dense::new(seeded.normals(rows * cols), rows, cols).unwrap();
    let f = LeastSquares::new(Box::new(a), seeded.normals(rows)).unwrap();
    let g = Entrywise::new(L1::new(0.5).unwrap(), cols);
    Problem::new(f, g, Identity::new(Layout::vector(cols).unwrap())).unwrap()
}

fn geometry(norm: Norm, problem: &Problem<f64>) -> Box<dyn Geometry<f64>> {
    for_layout(norm, problem.layout(), Oracle::Auto).unwrap()
}

fn explained(method: &str, norm: Norm, problem: &Problem<f64>, x0: &[f64]) -> Guarantee {
    let table = methods::<f64>();
    let row = find("method", &table, method).unwrap();
    let mut geometry = geometry(norm, problem);
    let arguments = Arguments::defaults(&row.entry).unwrap();
    let start = Start { x0, objective: problem.objective(x0), radius: None };
    guarantee(method, &arguments, problem, &mut *geometry, start).unwrap()
}

/// Every point that a method shows, with F_β there.
fn points(method: &str, norm: Norm, problem: &Problem<f64>, x0: &[f64], steps: u64) -> Vec<(Info, f64)> {
    let table = methods::<f64>();
    let row = find("method", &table, method).unwrap();
    let arguments = Arguments::defaults(&row.entry).unwrap();
    let mut solver = (row.build)(&arguments, problem, geometry(norm, problem), x0).unwrap();
    (0..steps).map_while(|_| Some((solver.next()?, solver.smoothed()))).collect()
}

/// Theorem 3: from check to check V = F_β − p falls by the mean of p, and rises only where β shrinks, by what that can hide.
#[test]
fn momentum_pays() {
    let (problem, x0) = denoising(16, 12);
    let lipschitz_g = problem.g().lipschitz().unwrap();
    let points = points("scaled", Norm::L2, &problem, &x0, 401);
    let promised = |info: &Info| 0.5 * info.dual_norm.upper.powi(2) / (1.0 + 8.0 / info.beta);
    let (mut shrunk, mut whole) = (0, 0);
    for block in points.windows(5).step_by(4) {
        let [v, after] = [&block[0], &block[4]].map(|(info, smoothed)| smoothed - promised(info));
        let mean = block[1..].iter().map(|(info, _)| promised(info)).sum::<f64>() / 4.0;
        let (first, last) = (block[0].0.beta, block[4].0.beta);
        if first == last {
            assert!(after <= v - mean + 1e-12 * v.abs(), "V rose from {v} to {after} at k = {}", block[0].0.k);
            whole += 1;
        } else {
            assert!(after <= v + first * lipschitz_g.powi(2), "V rose from {v} to {after} at k = {}", block[0].0.k);
            shrunk += 1;
        }
    }
    assert!(shrunk > 0 && whole > 50, "{shrunk} {whole}");
}

/// Theorem 2: until there is an ε-certificate β stays above its bound, gains add up to no more than Δ, and steps to N(ε).
#[test]
fn the_kappa_rule_keeps_its_word() {
    let problem = lasso(30, 12);
    let x0 = vec![1.0; 12];
    let facts = problem.facts();
    let (lipschitz_g, lipschitz_f) = (facts.lipschitz_g.unwrap(), facts.lipschitz_f.unwrap());
    for (method, norm) in [("scaled", Norm::L2), ("metric", Norm::L2), ("scaled", Norm::Linf)] {
        let promise = explained(method, norm, &problem, &x0);
        assert_eq!(promise.verdict(), Verdict::Proven, "{promise}");
        let points = points(method, norm, &problem, &x0, 3000);
        let first = points[0].0.beta;
        for epsilon in [1.0, 0.1, 0.01] {
            let done = |info: &Info| info.dual_norm.upper <= epsilon && info.prox_gap <= epsilon;
            let steps = points.iter().position(|(info, _)| done(info)).unwrap_or_else(|| panic!("{method}: {epsilon}"));
            assert!((steps as f64) < promise.steps(epsilon).unwrap(), "{method}: {steps} steps to {epsilon}");
            if norm == Norm::L2 {
                let lambda = first * lipschitz_f + 1.0;
                let shrinks_above = (first / lambda.sqrt()).min(1.0) * epsilon / lipschitz_g;
                let least = points[..=steps].iter().map(|(info, _)| info.beta).fold(f64::INFINITY, f64::min);
                assert!(least >= first.min(shrinks_above / 32.0), "{method}: β = {least:e} at {epsilon}");
            }
        }
        let order = (promise.steps(1e-4).unwrap() / promise.steps(1e-3).unwrap()).log10();
        assert!((order - 3.0).abs() < 0.05, "{method}: ε^−{order}");
    }
}

/// F_β falls from sweep to sweep, and certificates come within the bound.
#[test]
fn alternating_steps_keep_their_word() {
    let f = Factorization::new(Seeded::new(1).normals(20 * 15), 20, 15, 3).unwrap().ridge(0.5).unwrap();
    let t = Select::new(f.layout(), &["W"]).unwrap();
    let problem = Problem::new(f, Entrywise::new(Mcp::new(0.5, 3.0).unwrap(), 60), t).unwrap();
    let x0: Vec<f64> = Seeded::new(2).normals(problem.layout().size());
    let promise = explained("alternating", Norm::L2, &problem, &x0);
    assert_eq!(promise.verdict(), Verdict::Proven, "{promise}");
    let table = methods::<f64>();
    let row = find("method", &table, "alternating").unwrap();
    let arguments = Arguments::defaults(&row.entry).unwrap();
    let mut solver = (row.build)(&arguments, &problem, geometry(Norm::L2, &problem), &x0).unwrap();
    let first = solver.next().unwrap();
    let (mut last, mut beta, mut falls) = (solver.smoothed(), first.beta, 0);
    for _ in 0..200 {
        let info = solver.next().unwrap();
        let value = solver.smoothed();
        if info.beta == beta && beta > first.beta / HANDOVER {
            assert!(value <= last * (1.0 + 1e-12), "F_β rose from {last} to {value} at k = {}", info.k);
            falls += 1;
        }
        (last, beta) = (value, info.beta);
    }
    assert!(falls > 5, "{falls}");
    let bound = promise.steps(0.01).unwrap();
    let mut solver = (row.build)(&arguments, &problem, geometry(Norm::L2, &problem), &x0).unwrap();
    let stop = Stop::after(5000).at_epsilon(Epsilon::Absolute(0.01));
    let report = run(&mut *solver, &Options::new(stop), &mut []);
    assert_eq!(report.status, Status::Certified, "{:?}", report.info);
    assert!((report.info.k as f64) < bound);
}

/// ½‖x − 1‖² with a gradient of the wrong sign, and nothing said about constants.
struct Wrong(Layout);

impl Smooth<f64> for Wrong {
    fn layout(&self) -> &Layout {
        &self.0
    }

    fn value_grad(&self, grad: &mut [f64], x: &[f64], _: &mut [f64]) -> f64 {
        grad.iter_mut().zip(x).for_each(|(g, x)| *g = 1.0 - x);
        0.5 * x.iter().map(|x| (x - 1.0).powi(2)).sum::<f64>()
    }
}

/// Where no step lowers F_β the run ends and says so; β is where it was.
#[test]
fn a_search_without_descent_ends() {
    let layout = Layout::vector(4).unwrap();
    let g = Entrywise::new(L1::new(1e-3).unwrap(), 4);
    let problem = Problem::new(Wrong(layout.clone()), g, Identity::new(layout)).unwrap();
    let table = methods::<f64>();
    let row = find("method", &table, "scaled").unwrap();
    let arguments = Arguments::new(&row.entry, &[("beta", 1.0)]).unwrap();
    let x0 = vec![3.0; 4];
    let mut solver = (row.build)(&arguments, &problem, geometry(Norm::L2, &problem), &x0).unwrap();
    let mut seen = 0;
    let mut count = |_: &Info, _: &mut dyn Solver<f64>| {
        seen += 1;
        ControlFlow::Continue(())
    };
    let report = run(&mut *solver, &Options::new(Stop::after(1000)), &mut [&mut count]);
    assert_eq!((report.status, report.x), (Status::Stalled, x0));
    assert_eq!((seen, report.info.beta), (1, 1.0));
}

#[test]
fn every_method_is_judged() {
    let (problem, x0) = denoising(12, 9);
    for row in methods::<f64>() {
        let told = explained(row.entry.name, Norm::L2, &problem, &x0);
        let text = told.to_string();
        assert!(["proven", "no proof"].iter().any(|word| text.contains(word)), "{}: {text}", row.entry.name);
    }
    for method in ["melmo", "melmo-horizon", "epoch-power", "epoch-constant", "variable-smoothing", "scaled", "metric"]
    {
        let told = explained(method, Norm::L2, &problem, &x0);
        assert_eq!(told.verdict(), Verdict::Proven, "{method}: {told}");
        assert!(told.steps(0.1).is_some_and(|steps| steps > 100.0), "{method}: {told}");
    }
    assert!(matches!(explained("tilted", Norm::L2, &problem, &x0).verdict(), Verdict::UpTo(_)));
    assert!(matches!(explained("fista", Norm::L2, &problem, &x0).verdict(), Verdict::NoProof(_)));
}

/// ½‖x − y‖² with the ℓ1 norm of differences: all that convex theory asks for.
fn total_variation(rows: usize, cols: usize) -> (Problem<f64>, Vec<f64>) {
    let y: Vec<f64> = Seeded::new(7).normals(rows * cols);
    let f = MaskedLeastSquares::new(Layout::matrix(rows, cols).unwrap(), y.clone(), None).unwrap();
    let g = Entrywise::new(L1::new(0.3).unwrap(), 2 * rows * cols);
    (Problem::new(f, g, Difference2d::new(rows, cols).unwrap()).unwrap(), y)
}

fn factors() -> (Problem<f64>, Vec<f64>) {
    let f = Factorization::new(Seeded::new(1).normals(20 * 15), 20, 15, 3).unwrap().ridge(0.5).unwrap();
    let t = Select::new(f.layout(), &["W"]).unwrap();
    let problem = Problem::new(f, Entrywise::new(Mcp::new(0.5, 3.0).unwrap(), 60), t).unwrap();
    let x0 = Seeded::new(2).normals(problem.layout().size());
    (problem, x0)
}

/// On every problem, every method: a verdict that follows from the hypotheses, and a count of steps only where they hold.
#[test]
fn verdicts_follow_from_hypotheses() {
    let problems = [denoising(12, 9), total_variation(12, 9), (lasso(30, 12), vec![1.0; 12]), factors()];
    for (problem, x0) in &problems {
        for row in methods::<f64>() {
            let told = explained(row.entry.name, Norm::L2, problem, x0);
            let (text, name) = (told.to_string(), row.entry.name);
            let all_hold = told.conditions.iter().all(|condition| condition.holds);
            match told.verdict() {
                Verdict::Proven => assert!(all_hold && told.applies() && told.open.is_empty(), "{name}: {text}"),
                Verdict::UpTo(left) => {
                    assert_eq!(left.len(), told.open.len() + told.conditions.iter().filter(|c| !c.holds).count());
                    assert!(!left.is_empty() && text.contains("proven up to: "), "{name}: {text}");
                }
                Verdict::NoProof(reason) => {
                    assert!(!told.applies() && text.contains(&format!("no proof: {reason}")), "{name}: {text}");
                }
            }
            assert!(told.steps(0.1).is_none() || all_hold, "{name}: {text}");
        }
    }
}

/// What convex theory says of other people's methods, and where it says nothing.
#[test]
fn the_literature_is_quoted_where_it_applies() {
    let verdict =
        |method: &str, (problem, x0): &(Problem<f64>, Vec<f64>)| explained(method, Norm::L2, problem, x0).verdict();
    let (convex, weakly, lasso) = (total_variation(12, 9), denoising(12, 9), (lasso(30, 12), vec![1.0; 12]));
    let left = |method: &str, of: &(Problem<f64>, Vec<f64>)| match verdict(method, of) {
        Verdict::UpTo(left) => left.join("; "),
        other => format!("{other:?}"),
    };
    assert_eq!(verdict("dca", &convex), Verdict::Proven);
    assert!(left("admm", &convex).starts_with("the penalty, which is balanced"), "{}", left("admm", &convex));
    let table = methods::<f64>();
    let fixed = Arguments::new(&find("method", &table, "admm").unwrap().entry, &[("penalty", 2.0)]).unwrap();
    let (problem, x0) = &convex;
    let mut euclidean = geometry(Norm::L2, problem);
    let start = Start { x0, objective: problem.objective(x0), radius: None };
    let told = guarantee("admm", &fixed, problem, &mut *euclidean, start).unwrap();
    assert_eq!(told.verdict(), Verdict::Proven, "{told}");
    assert!(left("primal-dual", &lasso).starts_with("moves of β"), "{}", left("primal-dual", &lasso));
    assert!(left("admm", &lasso).contains("exact"), "conjugate gradients: {}", left("admm", &lasso));
    assert!(left("fista", &lasso).starts_with("restarts"), "{}", left("fista", &lasso));
    assert!(left("fista", &convex).contains("T is the identity"));
    assert!(left("dca", &weakly).contains("accuracy"));
    assert!(left("palm", &factors()).contains("size of W"));
    for method in ["fista", "admm", "admm-graduated", "primal-dual", "palm", "ipalm", "lbfgs", "reweighted"] {
        assert!(matches!(verdict(method, &weakly), Verdict::NoProof(_)), "{method}");
    }
    let told = explained("admm", Norm::L2, &convex.0, &convex.1).to_string();
    assert!(told.contains("O(k^(-1/2))") && told.contains("Eckstein & Bertsekas 1992"), "{told}");
}

/// A summable square: k·‖residual‖² of ADMM on a convex problem stays bounded, as O(k^{−1/2}) has it; primal–dual residuals vanish.
#[test]
fn residuals_of_splittings_shrink_as_stated() {
    let (problem, x0) = total_variation(12, 9);
    for (method, given) in [("admm", &[("penalty", 2.0)][..]), ("primal-dual", &[])] {
        let table = methods::<f64>();
        let row = find("method", &table, method).unwrap();
        let arguments = Arguments::new(&row.entry, given).unwrap();
        let mut solver = (row.build)(&arguments, &problem, geometry(Norm::L2, &problem), &x0).unwrap();
        let points: Vec<Info> = (0..2000).map_while(|_| solver.next()).collect();
        let weighted = |k: usize| (k as f64).sqrt() * (points[k].dual_norm.upper + points[k].prox_gap);
        let early = (10..100).map(weighted).fold(0.0, f64::max);
        assert!((100..2000).all(|k| weighted(k) <= early), "{method}");
        assert!(weighted(1999) <= 1e-3 * early, "{method}: {} {early}", weighted(1999));
    }
}

#[test]
fn hypotheses_are_checked() {
    let failing =
        |method: &str, norm: Norm, problem: &Problem<f64>, x0: &[f64]| match explained(method, norm, problem, x0)
            .verdict()
        {
            Verdict::UpTo(left) => left.join("; "),
            other => format!("{other:?}"),
        };
    // L_g.
    let layout = Layout::matrix(6, 5).unwrap();
    let f = MaskedLeastSquares::new(layout.clone(), Seeded::new(1).normals(30), None).unwrap();
    let boxed = Problem::new(f, Entrywise::new(Nonnegative, 30), Identity::new(layout)).unwrap();
    for method in ["melmo", "scaled", "metric"] {
        assert!(failing(method, Norm::L2, &boxed, &[0.5; 30]).contains("L_g"), "{method}");
    }
    // inf F and L_f.
    let layout = Layout::vector(4).unwrap();
    let own =
        Problem::new(Wrong(layout.clone()), Entrywise::new(L1::new(1.0).unwrap(), 4), Identity::new(layout)).unwrap();
    let told = failing("scaled", Norm::L1, &own, &[3.0; 4]);
    assert!(told.contains("inf F") && told.contains("L_f"), "{told}");
    // L_f and ‖T‖² in the norm of the steps; the oracle on a shape that is too large for it.
    let (problem, x0) = denoising(12, 9);
    let facts = explained("melmo", Norm::Spectral, &problem, &x0).facts;
    assert!((facts.lipschitz_f.unwrap() - 9.0).abs() < 1e-12 && (facts.operator_squared - 72.0).abs() < 1e-9);
    let facts = explained("melmo", Norm::Linf, &problem, &x0).facts;
    assert!((facts.lipschitz_f.unwrap() - 108.0).abs() < 1e-9);
    let layout = Layout::matrix(600, 600).unwrap();
    let coarse = for_layout::<f64>(Norm::Spectral, &layout, Oracle::NewtonSchulz(6)).unwrap();
    let fine = for_layout::<f64>(Norm::Spectral, &Layout::matrix(60, 50).unwrap(), Oracle::NewtonSchulz(6)).unwrap();
    let [coarse, fine] = [coarse, fine].map(|geometry| geometry.inexactness().unwrap());
    assert!(fine.eta < 0.15 && coarse.eta > 3.0 * fine.eta, "{coarse:?} {fine:?}");
}

/// η and ξ of every answer are at most the uniform ones, also for gradients of low rank, in both precisions.
fn no_oracle_does_worse_than_it_says<S: Real>() {
    let mut seeded = Seeded::new(5);
    let oracles = [Oracle::NewtonSchulz(6), Oracle::NewtonSchulz(2), Oracle::Minimax { steps: 6 }, Oracle::Auto];
    let spectral = oracles.into_iter().chain([Oracle::Gram, Oracle::Svd]).map(|oracle| (Norm::Spectral, oracle));
    let others = Norm::ALL.into_iter().map(|norm| (norm, Oracle::Auto));
    for (norm, oracle) in spectral.chain(others) {
        for (rows, cols) in [(30, 30), (80, 20), (40, 33)] {
            let mut geometry = for_layout::<S>(norm, &Layout::matrix(rows, cols).unwrap(), oracle).unwrap();
            let (worst, norms) = (geometry.inexactness().unwrap(), geometry.norms());
            for tail in [1.0, 1e-2, 1e-4, 1e-6] {
                let (u, v): (Vec<f64>, Vec<f64>) = (seeded.normals(rows), seeded.normals(cols));
                let noise: Vec<f64> = seeded.normals(rows * cols);
                let phi: Vec<S> =
                    (0..rows * cols).map(|i| S::of(u[i / cols] * v[i % cols] + tail * noise[i])).collect();
                let mut d = vec![S::ZERO; phi.len()];
                geometry.lmo(&mut d, &phi);
                let overlap: f64 = -phi.iter().zip(&d).map(|(a, b)| a.f64() * b.f64()).sum::<f64>();
                let least = (1.0 - worst.eta) * product_dual(&norms, &phi).unwrap().lower;
                let context = format!("{norm} {oracle} {} {rows}×{cols} {tail}: {worst:?}", S::NAME);
                assert!(overlap >= least * (1.0 - 1e-12), "{context}: ⟨φ, −d⟩ = {overlap}, at least {least}");
                let length = product_primal(&norms, &d).unwrap().lower;
                assert!(length <= 1.0 + worst.excess, "{context}: ‖d‖ = {length}");
            }
        }
    }
}

#[test]
fn no_oracle_does_worse_than_it_says_f64() {
    no_oracle_does_worse_than_it_says::<f64>();
}

#[test]
fn no_oracle_does_worse_than_it_says_f32() {
    no_oracle_does_worse_than_it_says::<f32>();
}

/// Rounding is proven where a bound is small, and said not to be where it is not; then a theorem is proven up to that.
#[test]
fn rounding_of_the_oracle_is_a_hypothesis() {
    let is_proven = |oracle, rows, cols| {
        let layout = Layout::matrix(rows, cols).unwrap();
        let double = for_layout::<f64>(Norm::Spectral, &layout, oracle).unwrap().inexactness().unwrap();
        let single = for_layout::<f32>(Norm::Spectral, &layout, oracle).unwrap().inexactness().unwrap();
        (double.proven, single.proven)
    };
    assert_eq!(is_proven(Oracle::NewtonSchulz(6), 60, 60), (true, false));
    assert_eq!(is_proven(Oracle::Minimax { steps: 8 }, 60, 60), (true, false));
    assert_eq!(is_proven(Oracle::Auto, 60, 60), (false, false));
    assert_eq!(is_proven(Oracle::Gram, 60, 60), (false, false));
    let layout = Layout::matrix(60, 60).unwrap();
    assert!(for_layout::<f32>(Norm::L2, &layout, Oracle::Auto).unwrap().inexactness().unwrap().proven);
    let (problem, x0) = denoising(12, 12);
    let Verdict::UpTo(left) = explained("melmo", Norm::Spectral, &problem, &x0).verdict() else { panic!("proven") };
    assert!(left.len() == 1 && left[0].contains("rounding in the oracle"), "{left:?}");
    assert!(explained("melmo", Norm::Spectral, &problem, &x0).steps(0.1).is_some());
    assert_eq!(explained("melmo", Norm::L2, &problem, &x0).verdict(), Verdict::Proven);
}
