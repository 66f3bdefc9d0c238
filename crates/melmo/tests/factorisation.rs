//! Alternating ridge regressions, PALM and iPALM: known optima with budgets of sweeps, masks, certificates.

use melmo::catalogue::{Arguments, find, methods};
use melmo::certificate::Certificate;
use melmo::drive::{Best, Epsilon, Options, Status, Stop, run};
use melmo::error::Error;
use melmo::geometry::{Norm, Oracle, for_layout};
use melmo::linalg::{Dense as _, Into, Mat};
use melmo::operator::{Identity, Select};
use melmo::penalty::{Entrywise, Group, L1, Mcp, Prox};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::report::Report;
use melmo::seeded::Seeded;
use melmo::smooth::{Factorization, Smooth};
use melmo::solver::{Alternating, Smoothing, Solver};

fn problem<S: Real>(f: Factorization<S>, g: impl Prox<S> + 'static) -> Problem<S> {
    let t = Select::new(f.layout(), &["W"]).unwrap();
    Problem::new(f, g, t).unwrap()
}

/// The end, and the least F on the way.
fn solve<S: Real>(name: &str, given: &[(&str, f64)], problem: &Problem<S>, x0: &[S], steps: u64) -> (Report<S>, f64) {
    let rows = methods::<S>();
    let row = find("method", &rows, name).unwrap();
    let geometry = for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap();
    let mut solver = (row.build)(&Arguments::new(&row.entry, given).unwrap(), problem, geometry, x0).unwrap();
    let mut best = Best::new(&mut *solver);
    let report = run(&mut *solver, &Options::new(Stop::after(steps)), &mut [&mut best]);
    (report, best.objective)
}

/// The least of (y − wh)² + ν/2·h² + λ|w| over a fine grid of w, h at its best.
fn smallest(y: f64, nu: f64, lambda: f64) -> f64 {
    let at = |w: f64| {
        let h = 2.0 * w * y / (2.0 * w * w + nu);
        (y - w * h).powi(2) + 0.5 * nu * h * h + lambda * w.abs()
    };
    (0..400_000).map(|i| at(1e-5 * f64::from(i))).fold(f64::INFINITY, f64::min)
}

#[test]
fn one_by_one_reaches_the_optimum() {
    let (y, nu, lambda) = (2.0, 0.3, 0.5);
    let least = smallest(y, nu, lambda);
    let f = Factorization::new(vec![y], 1, 1, 1).unwrap().ridge(nu).unwrap();
    let problem = problem(f, Entrywise::new(L1::new(lambda).unwrap(), 1));
    for (name, steps) in [("alternating", 400), ("palm", 2000), ("ipalm", 2000)] {
        let (_, best) = solve(name, &[], &problem, &[1.0, 1.0], steps);
        assert!((best - least).abs() < 1e-6, "{name}: {best} instead of {least}");
    }
}

fn noise<S: Real>(rows: usize, cols: usize) -> Vec<S> {
    Seeded::new(8).normals(rows * cols)
}

#[test]
fn a_penalty_that_is_nearly_nothing_leaves_the_best_fit() {
    let (rows, cols, rank) = (20, 15, 3);
    let y: Vec<f64> = noise(rows, cols);
    let (mut sigma, mut work) = (vec![0.0; 15], vec![0.0; f64::singular_values_work_len(rows, cols)]);
    assert!(f64::singular_values(&mut sigma, Mat::new(&y, rows, cols), &mut work));
    let infimum: f64 = sigma[rank..].iter().map(|s| s * s).sum();
    let f = Factorization::new(y, rows, cols, rank).unwrap();
    let x0: Vec<f64> = Seeded::new(1).normals(f.layout().size());
    let problem = problem(f, Entrywise::new(Mcp::new(1e-6, 3.0).unwrap(), rows * rank));
    for name in ["alternating", "palm", "ipalm"] {
        let reached = solve(name, &[], &problem, &x0, 3000).0.objective;
        assert!(reached >= infimum - 1e-9 && reached < infimum * (1.0 + 1e-5), "{name}: {reached} {infimum}");
    }
}

#[test]
fn rescaling_drives_the_degenerate_objective_to_its_infimum() {
    let (rows, cols, rank) = (20, 15, 3);
    let f = Factorization::new(noise::<f64>(rows, cols), rows, cols, rank).unwrap();
    let best_fit = f.svd_start().unwrap();
    let infimum = f.value_grad(&mut vec![0.0; best_fit.len()], &best_fit, &mut vec![0.0; f.work_len()]);
    let x0: Vec<f64> = Seeded::new(1).normals(best_fit.len());
    let problem = problem(f, Entrywise::new(Mcp::new(1.0, 3.0).unwrap(), rows * rank));
    let (_, plain) = solve("alternating", &[], &problem, &x0, 500);
    let (_, rescaled) = solve("alternating", &[("rescale", 10.0)], &problem, &x0, 500);
    assert!(rescaled < infimum * 1.001 && rescaled >= infimum - 1e-9, "{rescaled} {infimum}");
    assert!(plain > rescaled);
}

#[test]
fn palm_never_climbs() {
    let (rows, cols, rank) = (18, 21, 4);
    let f = Factorization::new(noise::<f64>(rows, cols), rows, cols, rank).unwrap().ridge(0.1).unwrap();
    let x0: Vec<f64> = Seeded::new(2).normals(f.layout().size());
    let problem = problem(f, Entrywise::new(Mcp::new(0.4, 3.0).unwrap(), rows * rank));
    let mut solver = melmo::solver::Palm::new(&problem, false, &x0).unwrap();
    let mut last = f64::INFINITY;
    let mut watch = |_: &melmo::solver::Info, solver: &mut dyn Solver<f64>| {
        let objective = problem.objective(&solver.x());
        assert!(objective <= last * (1.0 + 1e-12), "{last} to {objective}");
        last = objective;
        std::ops::ControlFlow::Continue(())
    };
    run(&mut solver, &Options::new(Stop::after(300)), &mut [&mut watch]);
}

fn certified<S: Real>(small: f64) {
    let (rows, cols, rank) = (18, 21, 4);
    for masked in [false, true] {
        let y: Vec<S> = noise(rows, cols);
        let f = match masked {
            false => Factorization::new(y, rows, cols, rank).unwrap(),
            true => Factorization::masked(y, Seeded::new(4).mask(rows * cols, 0.7), rows, cols, rank).unwrap(),
        };
        let f = f.ridge(0.1).unwrap().coefficient(0.5).unwrap();
        let x0: Vec<S> = Seeded::new(2).normals(f.layout().size());
        let problem = problem(f, Entrywise::new(Mcp::new(0.4, 3.0).unwrap(), rows * rank));
        for name in ["alternating", "palm", "ipalm"] {
            let (report, _) = solve(name, &[], &problem, &x0, 3000);
            assert_eq!(report.status, Status::Iterations);
            assert!((report.objective - problem.objective(&report.x)).abs() <= small * report.objective, "{name}");
            let certificate = report.certificate.unwrap();
            let checked = certificate.verify(&problem, &report.x, Certificate::<S>::default_tolerance()).unwrap();
            assert!(checked.passed(), "{name} {masked}: {checked:?}");
            let bound = certificate.stationarity.unwrap().bound;
            let small = if name == "alternating" { small } else { 100.0 * small }; // gradient steps are slow
            assert!(bound < small, "{name} {masked}: {bound}");
        }
    }
}

#[test]
fn certificates_verify_and_are_small_f64() {
    certified::<f64>(1e-3);
}

#[test]
fn certificates_verify_and_are_small_f32() {
    certified::<f32>(0.1);
}

#[test]
fn an_epsilon_ends_alternating_with_a_claim() {
    let (rows, cols, rank) = (18, 21, 4);
    let f = Factorization::new(noise::<f64>(rows, cols), rows, cols, rank).unwrap().ridge(0.1).unwrap();
    let x0: Vec<f64> = Seeded::new(2).normals(f.layout().size());
    let problem = problem(f, Entrywise::new(Mcp::new(0.4, 3.0).unwrap(), rows * rank));
    let smoothing = Smoothing::new::<f64>(Smoothing::start(&problem, &x0)).steady();
    let mut solver = Alternating::new(&problem, smoothing, &x0).unwrap();
    let stop = Stop::after(5000).at_epsilon(Epsilon::Absolute(1e-2));
    let report = run(&mut solver, &Options::new(stop), &mut []);
    assert_eq!(report.status, Status::Certified);
    assert!(report.certificate.unwrap().verify(&problem, &report.x, 1e-9).unwrap().passed());
}

#[test]
fn exploring_never_shows_anything_worse_and_resumes() {
    let (rows, cols, rank) = (18, 21, 4);
    let f = Factorization::new(noise::<f64>(rows, cols), rows, cols, rank).unwrap().ridge(0.1).unwrap();
    let x0: Vec<f64> = Seeded::new(2).normals(f.layout().size());
    let problem = problem(f, Entrywise::new(Mcp::new(0.4, 3.0).unwrap(), rows * rank));
    let start = || {
        let smoothing = Smoothing::new::<f64>(Smoothing::start(&problem, &x0)).steady();
        melmo::solver::Explored::new(&problem, smoothing, &x0, |solver| solver.rescaling(10)).unwrap()
    };
    let mut solver = start();
    let (mut settled, mut last, mut still) = (false, f64::INFINITY, 0);
    for _ in 0..4000 {
        let info = solver.next().unwrap();
        let objective = solver.objective();
        still = if objective == last { still + 1 } else { 0 };
        settled |= still > 50;
        assert!(!settled || objective <= last * (1.0 + 1e-12), "{last} to {objective}");
        assert!((problem.objective(&solver.x()) - objective).abs() < 1e-9 * objective);
        assert!(info.finite);
        last = objective;
    }
    assert!(settled, "the scout was never sent");
    let plain = solve("alternating", &[("rescale", 10.0)], &problem, &x0, 4000).0.objective;
    assert!(last <= plain * (1.0 + 1e-9), "{last} {plain}");
    for cut in [1, 100, 700, 1500] {
        let (mut first, mut second) = (start(), start());
        assert_eq!(first.by_ref().take(cut).count(), cut);
        second.restore(&first.save()).unwrap();
        for _ in 0..400 {
            let (a, b) = (first.next().unwrap(), second.next().unwrap());
            assert_eq!((a, first.x()), (b, second.x()), "cut after {cut}");
        }
    }
}

#[test]
fn a_mask_of_ones_changes_nothing_but_rounding() {
    let (rows, cols, rank) = (12, 9, 3);
    let y: Vec<f64> = noise(rows, cols);
    let plain = Factorization::new(y.clone(), rows, cols, rank).unwrap().ridge(0.1).unwrap();
    let masked = Factorization::masked(y, vec![1.0; rows * cols], rows, cols, rank).unwrap().ridge(0.1).unwrap();
    let x0: Vec<f64> = Seeded::new(3).normals(plain.layout().size());
    let [plain, masked] = [plain, masked].map(|f| problem(f, Entrywise::new(Mcp::new(0.3, 3.0).unwrap(), rows * rank)));
    for name in ["alternating", "palm", "ipalm"] {
        let [a, b] = [&plain, &masked].map(|problem| solve(name, &[], problem, &x0, 20).0);
        assert!(a.x.iter().zip(&b.x).all(|(a, b)| (a - b).abs() < 1e-8), "{name}");
    }
}

#[test]
fn missing_entries_of_a_low_rank_matrix_come_back() {
    let (rows, cols, rank) = (60, 50, 3);
    let mut seeded = Seeded::new(5);
    let (w, h): (Vec<f64>, Vec<f64>) = (seeded.normals(rows * rank), seeded.normals(rank * cols));
    let mut y = vec![0.0; rows * cols];
    f64::gemm(&mut y, Into::Replace, 1.0, Mat::new(&w, rows, rank), Mat::new(&h, rank, cols));
    let mask: Vec<f64> = seeded.mask(rows * cols, 0.5);
    let f = Factorization::masked(y.clone(), mask.clone(), rows, cols, rank).unwrap().ridge(0.01).unwrap();
    let x0: Vec<f64> = seeded.normals(f.layout().size());
    let problem = problem(f, Entrywise::new(L1::new(0.01).unwrap(), rows * rank));
    let (report, _) = solve("alternating", &[], &problem, &x0, 1000);
    let (w, h) = report.x.split_at(rows * rank);
    let mut fit = vec![0.0; rows * cols];
    f64::gemm(&mut fit, Into::Replace, 1.0, Mat::new(w, rows, rank), Mat::new(h, rank, cols));
    let missing =
        |v: &dyn Fn(usize) -> f64| (0..y.len()).filter(|&i| mask[i] == 0.0).map(|i| v(i).powi(2)).sum::<f64>();
    let error = (missing(&|i| fit[i] - y[i]) / missing(&|i| y[i])).sqrt();
    assert!(error < 1e-2, "{error}");
}

#[test]
fn other_problems_are_refused() {
    let f = || Factorization::new(noise::<f64>(4, 5), 4, 5, 2).unwrap();
    let both =
        Problem::new(f(), Entrywise::new(L1::new(1.0).unwrap(), 18), Identity::new(f().layout().clone())).unwrap();
    let on_h = Select::new(f().layout(), &["H"]).unwrap();
    let on_h = Problem::new(f(), Entrywise::new(L1::new(1.0).unwrap(), 10), on_h).unwrap();
    for refused in [both, on_h] {
        let smoothing = Smoothing::new::<f64>(1.0);
        assert!(matches!(Alternating::new(&refused, smoothing, &[0.0; 18]), Err(Error::Unsupported(_))));
        assert!(matches!(melmo::solver::Palm::new(&refused, true, &[0.0; 18]), Err(Error::Unsupported(_))));
    }
    let columns = Group::columns(L1::new(1.0).unwrap(), &melmo::block::Layout::matrix(4, 2).unwrap()).unwrap();
    let grouped = problem(f(), columns);
    let solver = Alternating::new(&grouped, Smoothing::new::<f64>(1.0), &[0.5; 18]).unwrap();
    assert!(matches!(solver.rescaling(5), Err(Error::Unsupported(_))));
}
