//! Alternating ridge regressions, PALM, iPALM and HALS: known optima with budgets of sweeps, masks, certificates.

use melmo::catalogue::{Arguments, find, methods};
use melmo::certificate::Certificate;
use melmo::drive::{Best, Epsilon, Options, Status, Stop, run};
use melmo::error::Error;
use melmo::geometry::{Norm, Oracle, for_layout};
use melmo::linalg::{Dense as _, Into, Mat};
use melmo::operator::{Identity, Select};
use melmo::penalty::{Blocks, Entrywise, Group, L1, Mcp, Nonnegative, Positive, Prox};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::report::Report;
use melmo::seeded::Seeded;
use melmo::smooth::{EntryFactors, EntryLoss, Factorization, Smooth};
use melmo::solver::{Alternating, Hals, Majorised, Smoothing, Solver};
use melmo::sparse::{Csr, Misfit};

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

/// About a third of the entries of a product of non-negative factors.
fn counts<S: Real>(rows: usize, cols: usize, rank: usize) -> (Vec<S>, Csr<S>) {
    let mut seeded = Seeded::new(9);
    let mut draw = |n: usize| -> Vec<f64> { (0..n).map(|_| seeded.uniform()).collect() };
    let (w, h, seen) = (draw(rows * rank), draw(rank * cols), draw(rows * cols));
    let mut y = vec![S::ZERO; rows * cols];
    for at in (0..rows * cols).filter(|&at| seen[at] < 0.3) {
        let (i, j) = (at / cols, at % cols);
        y[at] = S::of((0..rank).map(|k| 3.0 * w[i * rank + k] * h[k * cols + j]).sum());
    }
    let entries = y.iter().enumerate().filter(|(_, v)| **v != S::ZERO);
    let entries = entries.map(|(at, &v)| ((at / cols) as u32, (at % cols) as u32, v));
    let sparse = Csr::from_entries(rows, cols, entries, |_, _, _| Err(Misfit("twice".into()))).unwrap();
    (y, sparse)
}

/// F with W, H ≥ 0 and λ on W.
fn signed<S: Real>(f: Factorization<S>) -> Problem<S> {
    let layout = f.layout().clone();
    let [w, h] = ["W", "H"].map(|name| layout.require(name).unwrap().size());
    let on_w: Box<dyn Prox<S>> = Box::new(Entrywise::new(Positive::new::<S>(L1::new(0.1).unwrap()).unwrap(), w));
    let on_h: Box<dyn Prox<S>> = Box::new(Entrywise::new(Nonnegative, h));
    let g = Blocks::new(&layout, vec![("W", 1.0, on_w), ("H", 1.0, on_h)]).unwrap();
    Problem::new(f, g, Identity::new(layout)).unwrap()
}

fn entries_by_turns<S: Real>(small: f64) {
    let (rows, cols, rank) = (70, 81, 4);
    let (y, sparse) = counts::<S>(rows, cols, rank);
    let dense = signed(Factorization::new(y, rows, cols, rank).unwrap().ridge(0.1).unwrap());
    let sparse = signed(Factorization::sparse(sparse, rank).unwrap().ridge(0.1).unwrap());
    let x0: Vec<S> = Seeded::new(2).normals::<S>(dense.layout().size()).iter().map(|v| v.abs()).collect();
    assert_eq!(melmo::catalogue::choose(&sparse).method, "hals");
    let [of_dense, of_sparse] = [&dense, &sparse].map(|problem| {
        let (report, _) = solve("hals", &[], problem, &x0, 400);
        let certificate = report.certificate.as_ref().unwrap();
        let checked = certificate.verify(problem, &report.x, Certificate::<S>::default_tolerance()).unwrap();
        assert!(checked.passed(), "{checked:?}");
        assert!(report.x.iter().all(|v| *v >= S::ZERO));
        report
    });
    assert!((of_dense.objective - of_sparse.objective).abs() <= small * of_dense.objective);
    let slow = solve("proximal-gradient", &[], &dense, &x0, 400).0.objective;
    assert!(of_sparse.objective < slow, "{} {slow}", of_sparse.objective);
    let bound = of_sparse.certificate.unwrap().stationarity.unwrap().bound;
    assert!(bound < small, "{bound}");
}

#[test]
fn factors_with_signs_go_entry_by_entry_dense_or_sparse() {
    entries_by_turns::<f64>(1e-4);
    entries_by_turns::<f32>(0.05);
}

#[test]
fn entry_by_entry_f_falls_with_every_sweep_and_a_state_resumes() {
    let (_, sparse) = counts::<f64>(50, 40, 3);
    let problem = signed(Factorization::sparse(sparse, 3).unwrap());
    let x0: Vec<f64> = Seeded::new(2).normals::<f64>(270).iter().map(|v| v.abs()).collect();
    let mut solver = Hals::new(&problem, &x0).unwrap();
    let (mut last, mut saved) = (f64::INFINITY, None);
    for k in 0..60 {
        solver.next();
        let objective = solver.objective();
        assert!(objective <= last * (1.0 + 1e-12), "{k}: {objective} after {last}");
        last = objective;
        if k == 30 {
            saved = Some(solver.save());
        }
    }
    let mut again = Hals::new(&problem, &x0).unwrap();
    again.restore(&saved.unwrap()).unwrap();
    assert_eq!(again.by_ref().take(29).count(), 29);
    assert_eq!(again.x(), solver.x());
}

#[test]
fn alternating_on_sparse_data_is_alternating_on_all_its_entries() {
    let (rows, cols, rank) = (40, 30, 3);
    let (y, sparse) = counts::<f64>(rows, cols, rank);
    let mcp = || Entrywise::new(Mcp::new(0.4, 3.0).unwrap(), rows * rank);
    let dense = problem(Factorization::new(y, rows, cols, rank).unwrap().ridge(0.1).unwrap(), mcp());
    let sparse = problem(Factorization::sparse(sparse, rank).unwrap().ridge(0.1).unwrap(), mcp());
    let x0: Vec<f64> = Seeded::new(2).normals(dense.layout().size());
    for (name, steps) in [("alternating", 60), ("palm", 100), ("scaled", 50)] {
        let [a, b] = [&dense, &sparse].map(|problem| solve(name, &[], problem, &x0, steps).0.objective);
        assert!((a - b).abs() <= 1e-8 * a, "{name}: {a} {b}");
    }
}

/// F with both factors at least 0, or without signs and a penalty.
fn entries<S: Real>(loss: EntryLoss, signs: bool) -> Problem<S> {
    let (_, sparse) = counts::<S>(60, 50, 3);
    let f = EntryFactors::new(sparse, loss, 3).unwrap().ridge(0.1).unwrap();
    let layout = f.layout().clone();
    let g: Box<dyn Prox<S>> = match signs {
        true => Box::new(Entrywise::new(Nonnegative, layout.size())),
        false => Box::new(Entrywise::new(L1::new(0.05).unwrap(), layout.size())),
    };
    Problem::from_boxes(Box::new(f), g, Box::new(Identity::new(layout))).unwrap()
}

fn parabolas_lower_f<S: Real>(small: f64) {
    let counts = entries::<S>(EntryLoss::Poisson { floor: 1e-10 }, true);
    let chances = entries::<S>(EntryLoss::Logistic, false);
    for problem in [&counts, &chances] {
        assert_eq!(melmo::catalogue::choose(problem).method, "majorised");
        let x0: Vec<S> = Seeded::new(2).normals::<S>(330).iter().map(|v| v.abs()).collect();
        let mut solver = Majorised::new(problem, &x0).unwrap();
        let mut last = f64::INFINITY;
        for k in 0..100 {
            solver.next();
            let objective = solver.objective();
            assert!(objective <= last * (1.0 + 100.0 * S::EPSILON), "{k}: {objective} after {last}");
            last = objective;
        }
        let (report, _) = solve("majorised", &[], problem, &x0, 2000);
        let certificate = report.certificate.as_ref().unwrap();
        let checked = certificate.verify(problem, &report.x, Certificate::<S>::default_tolerance()).unwrap();
        assert!(checked.passed(), "{checked:?}");
        let bound = certificate.dual_norm.upper;
        assert!(bound < small || std::ptr::eq(problem, &counts), "{bound}"); // counts that shrink towards 0 take their time
    }
}

#[test]
fn counts_and_chances_go_entry_by_entry_and_f_falls() {
    parabolas_lower_f::<f64>(1e-2);
    parabolas_lower_f::<f32>(5.0);
}

#[test]
fn counts_need_signs() {
    let problem = entries::<f64>(EntryLoss::Poisson { floor: 1e-10 }, false);
    assert!(matches!(Majorised::new(&problem, &[0.5; 330]), Err(Error::Unsupported(_))));
}
