//! Methods past the paper and their competitors, on problems whose answer is known, each with a budget of steps.

use crate::support::lasso_by_coordinates;
use melmo::block::Layout;
use melmo::catalogue::{Arguments, find, methods};
use melmo::certificate::Certificate;
use melmo::drive::{Epsilon, Options, Status, Stop, run};
use melmo::error::Error;
use melmo::geometry::{Norm, Oracle, for_layout};
use melmo::operator::{Convolution, Dense, Difference2d, Difference3d, Identity, LinOp, Select};
use melmo::penalty::{Entrywise, Group, L1, LogSum, Mcp, Nonnegative, Prox, Scad};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::report::Report;
use melmo::seeded::Seeded;
use melmo::smooth::{Factorization, LeastSquares, Logistic, MaskedLeastSquares, Smooth};

const NEW: [&str; 12] = [
    "scaled",
    "metric",
    "tilted",
    "proximal-gradient",
    "fista",
    "fista-graduated",
    "admm",
    "admm-graduated",
    "reweighted",
    "primal-dual",
    "lbfgs",
    "dca",
];

/// A run by name in ℓ2; nothing when the method refuses such problems.
fn solve<S: Real>(problem: &Problem<S>, method: &str, x0: &[S], stop: Stop) -> Option<Report<S>> {
    solve_in(problem, method, Norm::L2, x0, stop)
}

fn solve_in<S: Real>(problem: &Problem<S>, method: &str, norm: Norm, x0: &[S], stop: Stop) -> Option<Report<S>> {
    let rows = methods::<S>();
    let row = find("method", &rows, method).unwrap();
    let geometry = for_layout(norm, problem.layout(), Oracle::Auto).unwrap();
    let kept = x0.to_vec();
    let mut solver = match (row.build)(&Arguments::defaults(&row.entry).unwrap(), problem, geometry, x0) {
        Err(Error::Unsupported(_)) => return None,
        built => built.unwrap(),
    };
    let report = run(&mut *solver, &Options::new(stop), &mut []);
    assert_eq!(x0, kept, "{method}: the start was modified");
    Some(report)
}

fn verifies<S: Real>(name: &str, problem: &Problem<S>, report: &Report<S>) {
    let certificate = report.certificate.as_ref().unwrap_or_else(|| panic!("{name}: no certificate"));
    let verification = certificate.verify(problem, &report.x, Certificate::<S>::default_tolerance()).unwrap();
    assert!(verification.passed(), "{name} ({}): {verification:?}", S::NAME);
}

/// The least of ½(x − y)² + MCP(x): one of 0, the firm threshold, y.
fn masked_optimum(y: f64, lambda: f64, mu: f64) -> f64 {
    let mcp = |x: f64| {
        if x.abs() <= mu * lambda { lambda * x.abs() - x * x / (2.0 * mu) } else { mu * lambda * lambda / 2.0 }
    };
    let firm = y.signum() * (y.abs() - lambda).max(0.0) / (1.0 - 1.0 / mu);
    [0.0, firm, y].into_iter().map(|x| 0.5 * (x - y).powi(2) + mcp(x)).fold(f64::INFINITY, f64::min)
}

/// Recovery of masked data, its least F, and M⊙Y.
fn recovery(binary: bool) -> (Problem<f64>, f64, Vec<f64>) {
    let (n, lambda, mu) = (40, 0.05, 3.0);
    let mut seeded = Seeded::new(4);
    let y: Vec<f64> =
        if binary { seeded.mask(n * n, 0.1) } else { seeded.normals::<f64>(n * n).iter().map(|v| 0.2 * v).collect() };
    let mask: Vec<f64> = seeded.mask(n * n, 0.5);
    let seen = y.iter().zip(&mask).map(|(y, m)| y * m).collect();
    let least = y.iter().zip(&mask).filter(|(_, m)| **m == 1.0).map(|(y, _)| masked_optimum(*y, lambda, mu)).sum();
    let layout = Layout::matrix(n, n).unwrap();
    let f = MaskedLeastSquares::new(layout.clone(), y, Some(mask)).unwrap();
    let g = Entrywise::new(Mcp::new(lambda, mu).unwrap(), n * n);
    (Problem::new(f, g, Identity::new(layout)).unwrap(), least, seen)
}

/// Entries 0 and 1 lie outside what MCP shrinks, and plain metric steps are fast there; real ones need the tilt.
#[test]
fn masked_data_are_recovered_to_nine_digits_in_fifty_steps() {
    for (method, binary) in [("metric", true), ("tilted", true), ("tilted", false)] {
        let (problem, least, seen) = recovery(binary);
        for x0 in [vec![0.0; seen.len()], seen] {
            let stop = Stop { target: Some(least + 1e-9), ..Stop::after(49) };
            let report = solve(&problem, method, &x0, stop).unwrap();
            assert_eq!(report.status, Status::Target, "{method}: {:e} above", report.objective - least);
            assert!(report.objective >= least - 1e-9, "{method}: below the optimum");
            verifies(method, &problem, &report);
        }
    }
}

#[test]
fn every_new_method_recovers_masked_data() {
    let (problem, least, seen) = recovery(false);
    for method in NEW {
        for x0 in [&vec![0.0; seen.len()], &seen] {
            let report = solve(&problem, method, x0, Stop::after(400)).unwrap();
            let reached = problem.objective(&report.z);
            assert!(reached >= least - 1e-9, "{method}: below the optimum");
            assert!(reached - least <= 1e-6, "{method}: {:e} above {least}", reached - least);
        }
    }
}

#[test]
fn every_new_method_solves_a_lasso() {
    let (rows, cols, lambda) = (60, 20, 4.0);
    let mut seeded = Seeded::new(1);
    let a: Vec<f64> = seeded.normals(rows * cols);
    let b: Vec<f64> = a.chunks(cols).map(|row| 2.0 * row[0] - row[3] + 0.1 * seeded.normal()).collect();
    let answer = lasso_by_coordinates(&a, &b, cols, lambda);
    let f = LeastSquares::new(Box::new(Dense::new(a, rows, cols).unwrap()), b).unwrap();
    let g = Entrywise::new(L1::new(lambda).unwrap(), cols);
    let problem = Problem::new(f, g, Identity::new(Layout::vector(cols).unwrap())).unwrap();
    let least = problem.objective(&answer);
    for method in NEW {
        let report = solve(&problem, method, &vec![0.0; cols], Stop::after(1000)).unwrap();
        let reached = problem.objective(&report.z);
        assert!(reached >= least - 1e-9, "{method}: below the optimum");
        assert!(reached - least <= 1e-6 * least, "{method}: {reached} instead of {least}");
        verifies(method, &problem, &report);
    }
    for norm in Norm::ALL {
        let report = solve_in(&problem, "scaled", norm, &vec![0.0; cols], Stop::after(20_000)).unwrap();
        let reached = problem.objective(&report.z);
        assert!(reached - least <= 1e-4 * least, "scaled {norm}: {reached} instead of {least}");
        verifies("scaled", &problem, &report);
    }
}

/// Images, volumes, kernels, regressions, factors: what runs ends with a certificate that is accepted.
fn zoo<S: Real>() -> Vec<(&'static str, Problem<S>)> {
    let mut seeded = Seeded::new(11);
    let (rows, cols) = (14, 11);
    let n = rows * cols;
    let layout = Layout::matrix(rows, cols).unwrap();
    let y: Vec<S> = seeded.normals(n);
    let mask: Vec<S> = seeded.mask(n, 0.7);
    let proximity = |mask: Option<Vec<S>>| Box::new(MaskedLeastSquares::new(layout.clone(), y.clone(), mask).unwrap());
    let difference = || Difference2d::new(rows, cols).unwrap();
    let mcp = Mcp::new(0.2, 2.0).unwrap();
    let boxed =
        |f: Box<dyn Smooth<S>>, g: Box<dyn Prox<S>>, t: Box<dyn LinOp<S>>| Problem::from_boxes(f, g, t).unwrap();
    let pixels = Group::pixels(mcp, LinOp::<S>::range(&difference())).unwrap();
    let kernel: Vec<S> = [1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0].map(|v| S::of(v / 16.0)).to_vec();
    let blur = Convolution::new((rows, cols), &kernel, (3, 3), melmo::operator::Boundary::Periodic).unwrap();
    let blurred = LeastSquares::new(Box::new(blur), y.clone()).unwrap();
    let volume = MaskedLeastSquares::new(Layout::matrix(14, 11).unwrap(), y.clone(), None).unwrap();
    let design = || Dense::new(Seeded::new(3).normals::<S>(30 * 12), 30, 12).unwrap();
    let labels: Vec<S> = seeded.normals::<S>(30).iter().map(|v| v.sign()).collect();
    let logistic = Logistic::new(Box::new(design()), labels).unwrap();
    let squares = LeastSquares::new(Box::new(design()), seeded.normals(30)).unwrap();
    let factors = Factorization::new(y.clone(), rows, cols, 3).unwrap();
    let select = Select::new(factors.layout(), &["W"]).unwrap();
    let vector = || Identity::new(Layout::vector(12).unwrap());
    vec![
        ("TV-MCP", boxed(proximity(None), Box::new(Entrywise::new(mcp, 2 * n)), Box::new(difference()))),
        ("masked TV", boxed(proximity(Some(mask)), Box::new(Entrywise::new(mcp, 2 * n)), Box::new(difference()))),
        (
            "convex TV",
            boxed(proximity(None), Box::new(Entrywise::new(L1::new(0.2).unwrap(), 2 * n)), Box::new(difference())),
        ),
        ("isotropic TV", boxed(proximity(None), Box::new(pixels), Box::new(difference()))),
        ("deblurring", boxed(Box::new(blurred), Box::new(Entrywise::new(mcp, 2 * n)), Box::new(difference()))),
        (
            "a volume",
            boxed(
                Box::new(volume),
                Box::new(Entrywise::new(mcp, 3 * n)),
                Box::new(Difference3d::new(2, 7, 11).unwrap()),
            ),
        ),
        (
            "nonnegative",
            boxed(proximity(None), Box::new(Entrywise::new(Nonnegative, n)), Box::new(Identity::new(layout.clone()))),
        ),
        (
            "logistic",
            boxed(Box::new(logistic), Box::new(Entrywise::new(LogSum::new(0.2, 0.5).unwrap(), 12)), Box::new(vector())),
        ),
        (
            "SCAD regression",
            boxed(Box::new(squares), Box::new(Entrywise::new(Scad::new(0.5, 3.7).unwrap(), 12)), Box::new(vector())),
        ),
        (
            "factors",
            boxed(Box::new(factors), Box::new(Entrywise::new(Mcp::new(0.5, 3.0).unwrap(), 42)), Box::new(select)),
        ),
    ]
}

fn every_certificate_is_accepted<S: Real>() {
    for (name, problem) in zoo::<S>() {
        let x0: Vec<S> = Seeded::new(5).normals(problem.layout().size());
        let mut ran = 0;
        for row in methods::<S>() {
            if ["variable-smoothing", "subgradient"].contains(&row.entry.name) {
                continue;
            }
            let Some(report) = solve(&problem, row.entry.name, &x0, Stop::after(60)) else { continue };
            assert_eq!(report.status, Status::Iterations, "{name}, {}", row.entry.name);
            verifies(&format!("{name}, {}", row.entry.name), &problem, &report);
            ran += 1;
        }
        assert!(ran >= 6, "{name}: only {ran} methods");
    }
}

#[test]
fn every_certificate_is_accepted_f64() {
    every_certificate_is_accepted::<f64>();
}

#[test]
fn every_certificate_is_accepted_f32() {
    every_certificate_is_accepted::<f32>();
}

#[test]
fn smoothing_methods_reach_a_certificate_on_differences() {
    let (_, problem) = zoo::<f64>().remove(0);
    let x0 = vec![0.0; problem.layout().size()];
    for method in ["scaled", "metric", "tilted", "lbfgs"] {
        let stop = Stop::after(8000).at_epsilon(Epsilon::Absolute(3e-3));
        let report = solve(&problem, method, &x0, stop).unwrap();
        assert_eq!(report.status, Status::Certified, "{method}: {:?}", report.info);
        verifies(method, &problem, &report);
    }
}

/// For T = I the competitors show a point whose certificate says that they are done.
#[test]
fn proximal_methods_show_a_point_that_is_certified() {
    let (problem, _, seen) = recovery(false);
    for method in ["proximal-gradient", "fista", "fista-graduated", "admm", "admm-graduated"] {
        let report = solve(&problem, method, &seen, Stop::after(400)).unwrap();
        let certificate = report.certificate.as_ref().unwrap();
        assert!(certificate.dual_norm.upper < 1e-5 && certificate.prox_gap < 1e-5, "{method}: {certificate:?}");
    }
}

/// Σ (x − log x) for x > 0: a millionth of a step fits where it starts, a whole one where it ends, and nobody says so.
struct Barrier(Layout);

impl Smooth<f64> for Barrier {
    fn layout(&self) -> &Layout {
        &self.0
    }

    fn value_grad(&self, grad: &mut [f64], x: &[f64], _: &mut [f64]) -> f64 {
        grad.iter_mut().zip(x).for_each(|(grad, x)| *grad = 1.0 - 1.0 / x);
        if x.iter().all(|&x| x > 0.0) { x.iter().map(|x| x - x.ln()).sum() } else { f64::INFINITY }
    }
}

/// A step that had to be short may grow again: without that it takes tens of thousands.
#[test]
fn a_step_by_trial_grows_where_f_is_flatter() {
    let f = Barrier(Layout::vector(4).unwrap());
    let g = Entrywise::new(L1::new(0.25).unwrap(), 4);
    let problem = Problem::new(f, g, Identity::new(Layout::vector(4).unwrap())).unwrap();
    for method in ["fista", "proximal-gradient"] {
        let report = solve(&problem, method, &[1e-3; 4], Stop::after(1000)).unwrap();
        assert!(report.x.iter().all(|x| (x - 0.8).abs() < 1e-6), "{method}: {:?}", report.x);
    }
}

/// ½‖x − y‖² + λ·TV(x) along a line, where the answer is known: two steps shrink towards one another.
#[test]
fn a_step_is_denoised_to_its_closed_form() {
    let (n, lambda) = (20, 0.3);
    let y: Vec<f64> = (0..n).map(|i| if i < n / 2 { 0.0 } else { 1.0 }).collect();
    let f = MaskedLeastSquares::new(Layout::matrix(1, n).unwrap(), y.clone(), None).unwrap();
    let g = Entrywise::new(L1::new(lambda).unwrap(), 2 * n);
    let problem = Problem::new(f, g, Difference2d::new(1, n).unwrap()).unwrap();
    let shift = lambda / (n / 2) as f64;
    let answer: Vec<f64> = y.iter().map(|v| v + shift - 2.0 * shift * v).collect();
    for method in ["metric", "tilted", "admm", "admm-graduated", "reweighted", "primal-dual", "dca", "interior-point"] {
        let report = solve(&problem, method, &y, Stop::after(1500)).unwrap();
        let apart = report.x.iter().zip(&answer).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-4, "{method}: {apart:e}");
    }
}
