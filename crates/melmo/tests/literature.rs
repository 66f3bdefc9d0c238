//! What section 6 of `docs/theory.md` proves of other people's methods, measured on small problems.

use melmo::block::Layout;
use melmo::catalogue::{Arguments, Start, find, guarantee, methods};
use melmo::drive::{Gap, Options, Stop, run};
use melmo::geometry::{Norm, Oracle, for_layout};
use melmo::guarantee::{Guarantee, Solutions, Verdict};
use melmo::operator::{Dense, Difference2d, Identity, Select};
use melmo::penalty::{Entrywise, L1, Mcp, Spectral};
use melmo::problem::Problem;
use melmo::seeded::Seeded;
use melmo::smooth::{Factorization, LeastSquares, MaskedLeastSquares, Smooth};
use melmo::solver::Info;

type Case = (Problem<f64>, Vec<f64>);
type Given<'a> = &'a [(&'a str, f64)];

fn lasso() -> Case {
    let (rows, cols, mut seeded) = (30, 12, Seeded::new(3));
    let a = Dense::new(seeded.normals(rows * cols), rows, cols).unwrap();
    let f = LeastSquares::new(Box::new(a), seeded.normals(rows)).unwrap();
    let g = Entrywise::new(L1::new(0.5).unwrap(), cols);
    (Problem::new(f, g, Identity::new(Layout::vector(cols).unwrap())).unwrap(), vec![1.0; cols])
}

/// ½‖x − y‖² with the ℓ1 norm of differences.
fn total_variation() -> Case {
    let y: Vec<f64> = Seeded::new(7).normals(12 * 9);
    let f = MaskedLeastSquares::new(Layout::matrix(12, 9).unwrap(), y.clone(), None).unwrap();
    let g = Entrywise::new(L1::new(0.3).unwrap(), 2 * 12 * 9);
    (Problem::new(f, g, Difference2d::new(12, 9).unwrap()).unwrap(), y)
}

/// Two factors with an ℓ1 penalty on W, which bounds it.
fn factors() -> Case {
    let f = Factorization::new(Seeded::new(1).normals(20 * 15), 20, 15, 3).unwrap().ridge(0.5).unwrap();
    let t = Select::new(f.layout(), &["W"]).unwrap();
    let problem = Problem::new(f, Entrywise::new(L1::new(0.5).unwrap(), 60), t).unwrap();
    let x0 = Seeded::new(2).normals(problem.layout().size());
    (problem, x0)
}

fn explained(method: &str, given: Given<'_>, norm: Norm, (problem, x0): &Case, radius: Option<f64>) -> Guarantee {
    let table = methods::<f64>();
    let arguments = Arguments::new(&find("method", &table, method).unwrap().entry, given).unwrap();
    let mut geometry = for_layout(norm, problem.layout(), Oracle::Auto).unwrap();
    let start = Start { x0, objective: problem.objective(x0), radius };
    guarantee(method, &arguments, problem, &mut *geometry, start).unwrap()
}

/// Every point that a method shows: its numbers, x and F(x).
fn points(method: &str, given: Given<'_>, (problem, x0): &Case, steps: u64) -> Vec<(Info, Vec<f64>, f64)> {
    let table = methods::<f64>();
    let row = find("method", &table, method).unwrap();
    let geometry = for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap();
    let arguments = Arguments::new(&row.entry, given).unwrap();
    let mut solver = (row.build)(&arguments, problem, geometry, x0).unwrap();
    (0..steps).map_while(|_| Some((solver.next()?, solver.x().to_vec(), solver.objective()))).collect()
}

/// (x*, F*) to rounding.
fn optimum((problem, x0): &Case, method: &str) -> (Vec<f64>, f64) {
    let table = methods::<f64>();
    let row = find("method", &table, method).unwrap();
    let geometry = for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap();
    let mut solver = (row.build)(&Arguments::defaults(&row.entry).unwrap(), problem, geometry, x0).unwrap();
    let stop = Stop::after(20_000).at_gap(Gap::Relative(1e-13));
    let report = run(&mut *solver, &Options::new(stop), &mut []);
    (report.x, report.objective)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// A point with numbers above ε comes before N(ε), for every ε: for a method that promises it of its last point, that point's
/// numbers; otherwise the best so far.
#[test]
fn no_point_is_later_than_promised() {
    let convex: [(&str, Given<'_>, Case); 6] = [
        ("fista", &[], lasso()),
        ("admm", &[("penalty", 2.0)], total_variation()),
        ("admm", &[("penalty", 0.5), ("relaxation", 1.0)], total_variation()),
        ("admm-graduated", &[], total_variation()),
        ("dca", &[], total_variation()),
        ("primal-dual", &[], total_variation()),
    ];
    let best: [(&str, Given<'_>, Case); 2] = [("proximal-gradient", &[], lasso()), ("palm", &[], factors())];
    let all = convex.into_iter().map(|c| (c, false)).chain(best.into_iter().map(|c| (c, true)));
    for ((method, given, case), keeps_best) in all {
        let promise = explained(method, given, Norm::L2, &case, None);
        let (mut least, mut shown) = (f64::INFINITY, 0);
        for (info, ..) in points(method, given, &case, 600).iter().skip(1) {
            let reached = info.dual_norm.upper.max(info.prox_gap);
            least = if keeps_best { least.min(reached) } else { reached };
            let within = promise.steps(least * (1.0 - 1e-9)).unwrap_or_else(|| panic!("{method}: {promise}"));
            if least > 1e-10 {
                assert!(info.k as f64 <= within, "{method}: {least:e} at {} of {within}: {promise}", info.k);
                shown += 1;
            }
        }
        assert!(shown > 10, "{method}: {shown}");
    }
}

/// Proposition 6 with the true distance: F − F* ≤ L·P/(2t²), where P is ‖x₁ − x*‖² and, from a restart at x on,
/// 2(F(x) − F*)/L + ‖x − x*‖²; and the slope is at most 4L√P/t.
#[test]
fn fista_is_as_fast_as_its_potential_says() {
    let case = lasso();
    let (problem, x0) = &case;
    let ((best, least), lipschitz) = (optimum(&case, "coordinate-descent"), problem.facts().lipschitz_f.unwrap());
    let shown = points("fista", &[], &case, 120);
    let (mut potential, mut t, mut restarts) = (distance(x0, &best).powi(2), 1.0f64, 0);
    let (mut before, mut y) = (x0.clone(), x0.clone());
    for (info, x, objective) in shown[1..].iter().take_while(|(.., objective)| objective - least > 1e-9 * least) {
        assert!(objective - least <= 0.5 * lipschitz * potential / (t * t), "F at k = {}", info.k);
        let slope = 4.0 * lipschitz * potential.sqrt() / t;
        assert!(info.dual_norm.upper <= slope, "k = {}: {} {slope}", info.k, info.dual_norm.upper);
        let climbs: f64 = y.iter().zip(x).zip(&before).map(|((y, x), b)| (y - x) * (x - b)).sum();
        if climbs > 0.0 {
            (t, restarts) = (1.0, restarts + 1);
            let larger = potential;
            potential = 2.0 * (objective - least).max(0.0) / lipschitz + distance(x, &best).powi(2);
            assert!(potential <= 2.0 * larger);
        }
        let after = 0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt());
        y = x.iter().zip(&before).map(|(x, b)| x + (t - 1.0) / after * (x - b)).collect();
        (before, t) = (x.clone(), after);
    }
    assert!(restarts > 0);
}

/// Proposition 5: the squared slopes add up to no more than 2(1 + √2)²L(F₁ − F*).
#[test]
fn slopes_of_proximal_gradient_have_a_finite_sum() {
    let case = lasso();
    let lipschitz = case.0.facts().lipschitz_f.unwrap();
    let ((_, least), first) = (optimum(&case, "coordinate-descent"), case.0.objective(&case.1));
    let shown = points("proximal-gradient", &[], &case, 400);
    // The slope itself: what infos show is a bound for steps of known length.
    let mut total = 0.0;
    for pair in shown.windows(2) {
        let ((_, x, before), (_, after, objective)) = (&pair[0], &pair[1]);
        assert!(objective <= &(before + 1e-12 * before.abs()));
        let mut grads = [vec![0.0; x.len()], vec![0.0; x.len()]];
        let mut work = vec![0.0; case.0.work_len()];
        case.0.f().value_grad(&mut grads[0], x, &mut work);
        case.0.f().value_grad(&mut grads[1], after, &mut work);
        let step = pair[1].0.gamma;
        let slope = |i: usize| grads[1][i] - grads[0][i] + (x[i] - after[i]) / step;
        total += (0..x.len()).map(|i| slope(i).powi(2)).sum::<f64>();
    }
    let most = 2.0 * (1.0 + 2f64.sqrt()).powi(2) * lipschitz * (first - least);
    assert!(total > 0.0 && total <= most, "{total} {most}");
}

/// Bounds on minimisers hold, whatever they come from; where there is none the formula names what is missing, and a radius helps.
#[test]
fn minimisers_are_where_they_are_said_to_be() {
    for (case, method) in [(lasso(), "coordinate-descent"), (total_variation(), "admm")] {
        let (problem, x0) = &case;
        let (best, _) = optimum(&case, method);
        let found = Solutions::of(problem, x0, problem.objective(x0), None);
        let (size, away) = (distance(&best, &vec![0.0; best.len()]), distance(x0, &best));
        assert!(size <= found.norm.unwrap() && away <= found.distance.unwrap(), "{size} {away} {found:?}");
        assert!(found.distance.unwrap() < 100.0 * away, "{away} {found:?}");
    }
    // An entry that is not observed is flat in f, and differences leave the mean free.
    let layout = Layout::matrix(6, 5).unwrap();
    let mut mask = vec![1.0; 30];
    mask[3] = 0.0;
    let f = MaskedLeastSquares::new(layout.clone(), Seeded::new(1).normals(30), Some(mask.clone())).unwrap();
    let g = Entrywise::new(L1::new(0.3).unwrap(), 60);
    let flat = (Problem::new(f, g, Difference2d::new(6, 5).unwrap()).unwrap(), vec![0.0; 30]);
    let told = explained("primal-dual", &[], Norm::L2, &flat, None);
    assert_eq!(told.steps(0.1), None);
    assert!(told.to_string().contains("E ≥ ‖x₁ − x*‖₂/√τ + 2√β·L_g: not known"), "{told}");
    assert!(explained("primal-dual", &[], Norm::L2, &flat, Some(10.0)).steps(0.1).is_some());
    // The same loss under a nuclear norm: no curvature, but a norm below the penalty.
    let f = MaskedLeastSquares::new(layout.clone(), Seeded::new(1).normals(30), Some(mask)).unwrap();
    let g = Spectral::new(L1::new(0.3).unwrap(), &layout).unwrap();
    let low = (Problem::new(f, g, Identity::new(layout)).unwrap(), vec![0.0; 30]);
    let (best, _) = optimum(&low, "fista");
    let found = Solutions::of(&low.0, &low.1, low.0.objective(&low.1), None);
    assert!(distance(&best, &low.1) <= found.distance.unwrap(), "{found:?}");
    assert!(explained("fista", &[], Norm::L2, &low, None).steps(0.1).is_some());
}

/// Constants grow with the norm of the certificate, and the verdicts say what is left.
#[test]
fn verdicts_and_counts_belong_together() {
    let (smooth, tv) = (lasso(), total_variation());
    let left =
        |method: &str, given: Given<'_>, case: &Case| match explained(method, given, Norm::L2, case, None).verdict() {
            Verdict::UpTo(left) => left.join("; "),
            other => format!("{other:?}"),
        };
    assert_eq!(left("proximal-gradient", &[], &smooth), "Proven");
    assert_eq!(left("admm", &[("penalty", 2.0)], &tv), "Proven");
    assert_eq!(left("admm-graduated", &[], &tv), "Proven");
    assert_eq!(left("dca", &[], &tv), "Proven");
    assert_eq!(left("palm", &[], &factors()), "Proven");
    assert!(left("admm", &[], &tv).starts_with("the penalty, which is balanced"));
    assert!(left("fista", &[], &smooth).starts_with("restarts of the momentum"));
    assert!(left("primal-dual", &[], &tv).starts_with("moves of β"));
    let steps = |method: &str, norm, case: &Case| explained(method, &[], norm, case, None).steps(0.01).unwrap();
    let ratio = steps("fista", Norm::Linf, &smooth) / steps("fista", Norm::L2, &smooth);
    assert!((ratio - 12f64.sqrt()).abs() < 1e-3, "‖φ‖₁ ≤ √12‖φ‖₂: {ratio}");
    // MCP bounds no W: the formula says so.
    let x0 = factors().1;
    let f = Factorization::new(Seeded::new(1).normals(20 * 15), 20, 15, 3).unwrap().ridge(0.5).unwrap();
    let t = Select::new(f.layout(), &["W"]).unwrap();
    let mcp = Problem::new(f, Entrywise::new(Mcp::new(0.5, 3.0).unwrap(), 60), t).unwrap();
    let told = explained("palm", &[], Norm::L2, &(mcp, x0), None);
    assert!(told.steps(0.1).is_none() && told.to_string().contains("W̄ ≥ ‖W‖_F: not known"), "{told}");
}
