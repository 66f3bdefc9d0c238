//! Problems whose answer is known, each with a budget of steps and a tolerance that the method can reach.

use crate::support::lasso_by_coordinates;
use melmo::block::Layout;
use melmo::drive::{Best, Epsilon, Options, Status, Stop, run};
use melmo::geometry::{Norm, Oracle, for_layout};
use melmo::linalg::{Dense as _, Mat};
use melmo::operator::{Dense, Difference2d, Identity, LinOp, Select};
use melmo::penalty::{Entrywise, L1, Mcp, Nonnegative};
use melmo::problem::Problem;
use melmo::schedule::{EpochConstant, EpochPower, Power};
use melmo::seeded::Seeded;
use melmo::smooth::{Factorization, LeastSquares, MaskedLeastSquares, Smooth};
use melmo::solver::{Epoch, Melmo, Solver, VariableSmoothing};
use melmo::trace::Record;

fn melmo(problem: &Problem<f64>, norm: Norm, schedule: Power, x0: &[f64], steps: u64) -> melmo::report::Report<f64> {
    let geometry = for_layout(norm, problem.layout(), Oracle::Auto).unwrap();
    let kept = x0.to_vec();
    let mut solver = Melmo::new(problem, geometry, schedule, x0).unwrap();
    let report = run(&mut solver, &Options::new(Stop::after(steps)), &mut []);
    assert_eq!(x0, kept, "the start was modified");
    report
}

#[test]
fn small_lasso() {
    let (rows, cols, lambda) = (30, 8, 4.0);
    let mut seeded = Seeded::new(1);
    let a: Vec<f64> = seeded.normals(rows * cols);
    let b: Vec<f64> = a.chunks(cols).map(|row| 2.0 * row[0] - row[3] + 0.1 * seeded.normal()).collect();
    let answer = lasso_by_coordinates(&a, &b, cols, lambda);
    let layout = Layout::vector(cols).unwrap();
    let f = LeastSquares::new(Box::new(Dense::new(a, rows, cols).unwrap()), b).unwrap();
    let g = Entrywise::new(L1::new(lambda).unwrap(), cols);
    let problem = Problem::new(f, g, Identity::new(layout)).unwrap();
    let least = problem.objective(&answer);
    let report = melmo(&problem, Norm::L2, Power::balanced(0.1), &vec![0.0; cols], 20_000);
    // The end point still pays for entries inside the smoothing; z = prox(x) has them at zero.
    let reached = problem.objective(&report.z);
    assert!(reached >= least - 1e-9, "below the optimum: {reached} < {least}");
    assert!(reached - least <= 1e-3 * least, "{reached} instead of {least}");
    let support: Vec<bool> = report.z.iter().map(|v| *v != 0.0).collect();
    let wanted: Vec<bool> = answer.iter().map(|v| v.abs() > 0.0).collect();
    assert_eq!(support, wanted, "z = prox(Tx) carries the zeros");
    // Gradient steps instead of normalised ones converge faster on a problem this tame.
    let method = VariableSmoothing { beta: 0.1, lipschitz: None, normalized: false };
    let mut solver = method.start(&problem, &vec![0.0; cols]).unwrap();
    let report = run(&mut solver, &Options::new(Stop::after(20_000)), &mut []);
    let reached = problem.objective(&report.z);
    assert!(reached - least <= 1e-3 * least, "{reached} instead of {least}");
    let wide = report.info.beta * lambda; // x − z = βλ where x is not zero
    assert!(report.z.iter().zip(&answer).all(|(z, a)| (z - a).abs() <= 1.5 * wide), "{:?} {answer:?}", report.z);
}

/// The least of ½(x − y)² + MCP(x): one of 0, the firm threshold, y.
fn masked_optimum(y: f64, lambda: f64, mu: f64) -> f64 {
    let mcp = |x: f64| {
        if x.abs() <= mu * lambda { lambda * x.abs() - x * x / (2.0 * mu) } else { mu * lambda * lambda / 2.0 }
    };
    let firm = y.signum() * (y.abs() - lambda).max(0.0) / (1.0 - 1.0 / mu);
    [0.0, firm, y].into_iter().map(|x| 0.5 * (x - y).powi(2) + mcp(x)).fold(f64::INFINITY, f64::min)
}

#[test]
fn masked_recovery_reaches_its_closed_form_optimum_from_zero() {
    let (n, lambda, mu) = (40, 0.05, 3.0);
    let mut seeded = Seeded::new(4);
    let y: Vec<f64> = seeded.mask(n * n, 0.1);
    let mask: Vec<f64> = seeded.mask(n * n, 0.5);
    let least: f64 = y.iter().zip(&mask).filter(|(_, m)| **m == 1.0).map(|(y, _)| masked_optimum(*y, lambda, mu)).sum();
    let layout = Layout::matrix(n, n).unwrap();
    let f = MaskedLeastSquares::new(layout.clone(), y, Some(mask)).unwrap();
    let g = Entrywise::new(Mcp::new(lambda, mu).unwrap(), n * n);
    let problem = Problem::new(f, g, Identity::new(layout)).unwrap();
    let geometry = for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap();
    let mut solver = Melmo::new(&problem, geometry, Power::balanced(1.0), &vec![0.0; n * n]).unwrap();
    let mut best = Best::new(&mut solver);
    run(&mut solver, &Options::new(Stop::after(10_000)), &mut [&mut best]);
    let best = best.objective;
    assert!(best >= least - 1e-9 && best - least <= 1e-4 * least, "{best} instead of {least}");
}

#[test]
fn factorisation_never_falls_below_eckart_young() {
    let (rows, cols, rank) = (20, 15, 3);
    let mut seeded = Seeded::new(8);
    let y: Vec<f64> = seeded.normals(rows * cols);
    let (mut sigma, mut work) = (vec![0.0; 15], vec![0.0; f64::singular_values_work_len(rows, cols)]);
    assert!(f64::singular_values(&mut sigma, Mat::new(&y, rows, cols), &mut work));
    let infimum: f64 = sigma[rank..].iter().map(|s| s * s).sum();
    let f = Factorization::new(y, rows, cols, rank).unwrap();
    let t = Select::new(f.layout(), &["W"]).unwrap();
    let g = Entrywise::new(Mcp::new(1.0, 3.0).unwrap(), rows * rank);
    let x0: Vec<f64> = seeded.normals(f.layout().size());
    let problem = Problem::new(f, g, t).unwrap();
    let geometry = for_layout(Norm::Spectral, problem.layout(), Oracle::Auto).unwrap();
    let mut solver = Melmo::new(&problem, geometry, Power::balanced(1.0), &x0).unwrap();
    let options = Options { record: Some(Record::every(1, 4000)), ..Options::new(Stop::after(4000)) };
    let report = run(&mut solver, &options, &mut []);
    assert!(report.trace.iter().all(|row| row.objective >= infimum));
    assert!(report.objective < 1.35 * infimum, "F {} is far above the infimum {infimum}", report.objective);
}

/// ½‖x − y‖² + Σ huber(differences), by Nesterov's method on a dense difference matrix.
fn smoothed_tv(y: &[f64], n: usize, lambda: f64, beta: f64) -> f64 {
    let t = Difference2d::new(n, n).unwrap();
    let slope = |d: f64| (d / beta).clamp(-lambda, lambda);
    let value = |d: f64| slope(d) * (d - 0.5 * beta * slope(d));
    let gradient = |x: &[f64]| {
        let mut d = vec![0.0; 2 * n * n];
        t.apply(&mut d, x, &mut []);
        let total: f64 =
            x.iter().zip(y).map(|(x, y)| 0.5 * (x - y).powi(2)).sum::<f64>() + d.iter().map(|&d| value(d)).sum::<f64>();
        let u: Vec<f64> = d.iter().map(|&d| slope(d)).collect();
        let mut g: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
        t.adjoint_add(&mut g, &u, &mut []);
        (total, g)
    };
    let lipschitz = 1.0 + 8.0 / beta;
    let momentum = (lipschitz.sqrt() - 1.0) / (lipschitz.sqrt() + 1.0);
    let (mut x, mut before) = (y.to_vec(), y.to_vec());
    for _ in 0..3000 {
        let ahead: Vec<f64> = x.iter().zip(&before).map(|(x, b)| x + momentum * (x - b)).collect();
        let g = gradient(&ahead).1;
        before = x;
        x = ahead.iter().zip(&g).map(|(a, g)| a - g / lipschitz).collect();
    }
    let (total, g) = gradient(&x);
    assert!(g.iter().all(|v| v.abs() < 1e-9), "the reference did not converge");
    total
}

#[test]
fn fixed_smoothing_solves_the_smoothed_tv_problem() {
    let (n, lambda, beta) = (16, 0.2, 0.5);
    let y: Vec<f64> = Seeded::new(12).normals(n * n);
    let least = smoothed_tv(&y, n, lambda, beta);
    let f = MaskedLeastSquares::new(Layout::matrix(n, n).unwrap(), y.clone(), None).unwrap();
    let g = Entrywise::new(L1::new(lambda).unwrap(), 2 * n * n);
    let problem = Problem::new(f, g, Difference2d::new(n, n).unwrap()).unwrap();
    let schedule = Power { q: 0.0, p: 0.75, ..Power::balanced(beta) };
    let report = melmo(&problem, Norm::L2, schedule, &y, 10_000);
    let (x, beta) = (&report.x, report.info.beta);
    let loss: f64 = x.iter().zip(&y).map(|(x, y)| 0.5 * (x - y).powi(2)).sum();
    let reached = loss + problem.envelope(x, beta, &mut vec![0.0; problem.work_len()]);
    assert!(reached >= least - 1e-10, "below the optimum");
    assert!(reached - least <= 1e-5 * least, "{reached} instead of {least}");
}

#[test]
fn a_certificate_is_reached_and_verified_and_tampering_is_seen() {
    let n = 12;
    let mut seeded = Seeded::new(2);
    let y: Vec<f64> = seeded.normals(n * n);
    let layout = Layout::matrix(n, n).unwrap();
    let f = MaskedLeastSquares::new(layout.clone(), y, None).unwrap();
    let g = Entrywise::new(Mcp::new(0.1, 2.0).unwrap(), n * n);
    let problem = Problem::new(f, g, Identity::new(layout)).unwrap();
    for (norm, epsilon) in [(Norm::L2, 0.2), (Norm::Spectral, 0.5), (Norm::Nuclear, 0.1)] {
        let geometry = for_layout(norm, problem.layout(), Oracle::Auto).unwrap();
        let mut solver = Epoch::new(&problem, geometry, EpochConstant::new(1.0), &vec![0.0; n * n]).unwrap();
        let stop = Stop::after(100_000).at_epsilon(Epsilon::Absolute(epsilon));
        let report = run(&mut solver, &Options::new(stop), &mut []);
        assert_eq!(report.status, Status::Certified, "{norm}");
        let certificate = report.certificate.unwrap();
        let claim = certificate.claim.unwrap();
        assert!(
            certificate.dual_norm.upper <= claim.dual_norm.unwrap() && certificate.prox_gap <= claim.prox_gap.unwrap()
        );
        assert!(certificate.verify(&problem, &report.x, 1e-9).unwrap().passed(), "{norm}");
        let near = certificate.stationarity.as_ref().unwrap();
        assert_eq!(near.point.len(), report.z.len());
        assert!(near.point.iter().zip(&report.z).all(|(a, b)| (a - b).abs() < 1e-14), "for T = I, x̃ = z");
        // The theorem, in ℓ2: the computed bound is at most c₁‖φ‖_* + L_f‖x̃ − x‖₂.
        let c1 = melmo::geometry::product_equivalence(&certificate.norms).unwrap().c1;
        assert!(near.bound <= c1 * certificate.dual_norm.upper + near.distance + 1e-12, "{norm}");
        assert!(near.distance <= certificate.prox_gap * (1.0 + 1e-12));

        let mut forged = certificate.clone();
        forged.prox_gap *= 0.9;
        assert!(!forged.verify(&problem, &report.x, 1e-9).unwrap().passed());
        let mut forged = certificate.clone();
        forged.dual_norm.upper = 0.9 * forged.dual_norm.lower;
        assert!(!forged.verify(&problem, &report.x, 1e-9).unwrap().passed());
        let mut forged = certificate.clone();
        forged.stationarity.as_mut().unwrap().bound *= 0.5;
        assert!(!forged.verify(&problem, &report.x, 1e-9).unwrap().passed());
        let mut moved = report.x.clone();
        moved[5] += 1e-3;
        assert!(!certificate.verify(&problem, &moved, 1e-9).unwrap().passed());
    }
}

#[test]
fn other_reasons_to_stop() {
    let y: Vec<f64> = Seeded::new(2).normals(50);
    let layout = Layout::vector(50).unwrap();
    let f = MaskedLeastSquares::new(layout.clone(), y, None).unwrap();
    let problem = Problem::new(f, Entrywise::new(L1::new(0.1).unwrap(), 50), Identity::new(layout)).unwrap();
    let start = vec![0.0; 50];
    let go = |stop: Stop, observer: &mut dyn FnMut(u64) -> bool| {
        let geometry = for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap();
        let mut solver = Melmo::new(&problem, geometry, Power::balanced(1.0), &start).unwrap();
        let mut observe = |info: &melmo::solver::Info, _: &mut dyn Solver<f64>| match observer(info.k) {
            true => std::ops::ControlFlow::Break(()),
            false => std::ops::ControlFlow::Continue(()),
        };
        run(&mut solver, &Options::new(stop), &mut [&mut observe])
    };
    let first = problem.objective(&start);
    let report = go(Stop { target: Some(0.5 * first), ..Stop::after(1000) }, &mut |_| false);
    assert_eq!(report.status, Status::Target);
    assert!(report.objective <= 0.5 * first);
    let report = go(Stop::after(1000), &mut |k| k == 7);
    assert_eq!((report.status, report.info.k), (Status::Interrupted, 7));
    let report = go(Stop { time: Some(std::time::Duration::ZERO), ..Stop::after(1000) }, &mut |_| false);
    assert_eq!((report.status, report.info.k), (Status::Time, 1));
    // Steps of more than half a second: the third would end after the limit, and is not begun.
    let limit = std::time::Duration::from_millis(1500);
    let slowly = &mut |_| {
        std::thread::sleep(std::time::Duration::from_millis(550));
        false
    };
    let report = go(Stop { time: Some(limit), ..Stop::after(1000) }, slowly);
    assert!(report.status == Status::Time && report.info.k <= 2, "{:?} at {}", report.status, report.info.k);
    let report = go(Stop::after(1000).at_epsilon(Epsilon::Relative(0.5)), &mut |_| false);
    assert_eq!(report.status, Status::Certified);
    let report = go(Stop::after(0), &mut |_| false);
    assert_eq!((report.status, report.info.k), (Status::Iterations, 1));
    assert_eq!(report.x, start);
    let report = go(Stop::after(3), &mut |_| false);
    assert_eq!((report.status, report.info.k), (Status::Iterations, 4));
}

fn masked(n: usize, seed: u64) -> (Layout, MaskedLeastSquares<f64>) {
    let layout = Layout::vector(n).unwrap();
    let f = MaskedLeastSquares::new(layout.clone(), Seeded::new(seed).normals(n), None).unwrap();
    (layout, f)
}

/// F(x) = ∞ at points that are only nearly feasible; the certificate speaks of x and z all the same.
#[test]
fn an_indicator_is_certified_although_f_is_infinite() {
    let (layout, f) = masked(20, 5);
    let problem = Problem::new(f, Entrywise::new(Nonnegative, 20), Identity::new(layout)).unwrap();
    let geometry = for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap();
    let mut solver = Melmo::new(&problem, geometry, Power::balanced(0.1), &[1.0; 20]).unwrap();
    let stop = Stop::after(100_000).at_epsilon(Epsilon::Absolute(0.1));
    let report = run(&mut solver, &Options::new(stop), &mut []);
    assert_eq!(report.status, Status::Certified);
    assert!(problem.objective(&report.x).is_infinite() && report.z.iter().all(|z| *z >= 0.0));
    assert!(report.objective.is_finite(), "f(x) + g(z), where z keeps the constraint");
    let certificate = report.certificate.expect("a certified run has a certificate");
    assert!(certificate.verify(&problem, &report.x, 1e-9).unwrap().passed());
}

/// Single precision and a large image: rounding must not be a cloak for anything.
#[test]
fn forgeries_are_seen_in_single_precision() {
    let n = 128;
    let y: Vec<f32> = Seeded::new(3).normals::<f32>(n * n).iter().map(|v| 128.0 + 40.0 * v).collect();
    let f = MaskedLeastSquares::new(Layout::matrix(n, n).unwrap(), y.clone(), None).unwrap();
    let problem =
        Problem::new(f, Entrywise::new(L1::new(5.0).unwrap(), 2 * n * n), Difference2d::new(n, n).unwrap()).unwrap();
    let geometry = for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap();
    let schedule = Power { gamma: 50.0, ..Power::balanced(0.1) };
    let mut solver = Melmo::new(&problem, geometry, schedule, &y).unwrap();
    let report = run(&mut solver, &Options::new(Stop::after(300)), &mut []);
    let certificate = report.certificate.unwrap();
    let tolerance = melmo::certificate::Certificate::<f32>::default_tolerance();
    assert!(certificate.verify(&problem, &report.x, tolerance).unwrap().passed());
    for factor in [0.0, 0.5, 0.9] {
        let mut forged = certificate.clone();
        forged.dual_norm.lower *= factor;
        forged.dual_norm.upper *= factor;
        assert!(!forged.verify(&problem, &report.x, tolerance).unwrap().passed(), "×{factor}");
    }
    // A claim finer than what can be checked does not follow from the check.
    let mut forged = certificate;
    forged.claim = Some(melmo::certificate::Claim { dual_norm: Some(1e-9), prox_gap: Some(1e9), gap: None });
    forged.dual_norm = melmo::geometry::Bracket { lower: 0.0, upper: 1e-9 };
    assert!(!forged.verify(&problem, &report.x, tolerance).unwrap().passed());
}

#[test]
fn a_relative_epsilon_is_relative_to_the_start_of_the_whole_run() {
    let (layout, f) = masked(30, 8);
    let problem = Problem::new(f, Entrywise::new(L1::new(0.1).unwrap(), 30), Identity::new(layout)).unwrap();
    let start = vec![4.0; 30];
    let stop = |steps| Stop::after(steps).at_epsilon(Epsilon::Relative(0.05));
    let geometry = || for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap();
    let mut first = Melmo::new(&problem, geometry(), Power::balanced(1.0), &start).unwrap();
    let whole = run(&mut first, &Options::new(stop(100_000)), &mut []);
    assert_eq!(whole.status, Status::Certified);
    let mut pieces = Melmo::new(&problem, geometry(), Power::balanced(1.0), &start).unwrap();
    run(&mut pieces, &Options::new(stop(5)), &mut []);
    let state = pieces.save();
    let mut pieces = Melmo::new(&problem, geometry(), Power::balanced(1.0), &[0.0; 30]).unwrap();
    pieces.restore(&state).unwrap();
    let rest = run(&mut pieces, &Options::new(stop(100_000)), &mut []);
    assert_eq!((rest.status, rest.info.k), (Status::Certified, whole.info.k));
    let claim = whole.certificate.unwrap().claim.unwrap();
    let mut again = Melmo::new(&problem, geometry(), Power::balanced(1.0), &start).unwrap();
    let first = again.next().unwrap();
    assert_eq!(claim.dual_norm, Some(0.05 * first.dual_norm.upper));
    assert_eq!(claim.prox_gap, Some(0.05 * first.prox_gap));
    // Epochs judge x₂ first, but their start is x₁ too.
    let mut epoch = Epoch::new(&problem, geometry(), EpochPower::new(1.0), &start).unwrap();
    epoch.next();
    assert_eq!(epoch.start_measure().unwrap()[0], first.dual_norm.upper);
}

#[test]
fn the_start_counts_for_epochs_too() {
    let (layout, f) = masked(20, 1);
    let problem = Problem::new(f, Entrywise::new(L1::new(0.1).unwrap(), 20), Identity::new(layout)).unwrap();
    let start: Vec<f64> = Seeded::new(1).normals(20); // the minimiser of f
    let epoch = || {
        let geometry = for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap();
        let schedule = EpochConstant { gamma: 50.0, ..EpochConstant::new(1.0) };
        Epoch::new(&problem, geometry, schedule, &start).unwrap()
    };
    let none = run(&mut epoch(), &Options::new(Stop::after(0)), &mut []);
    assert_eq!((none.status, &none.x), (Status::Iterations, &start));
    let mut solver = epoch();
    let mut best = Best::new(&mut solver);
    run(&mut solver, &Options::new(Stop::after(3)), &mut [&mut best]);
    assert!(best.objective <= problem.objective(&start), "{} is worse than the start", best.objective);
}

#[test]
fn first_and_last_rows_are_always_kept() {
    let (layout, f) = masked(20, 1);
    let problem = Problem::new(f, Entrywise::new(L1::new(0.1).unwrap(), 20), Identity::new(layout)).unwrap();
    let geometry = || for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap();
    let options = Options { record: Some(Record::every(10, 20)), ..Options::new(Stop::after(100)) };
    let rows = |solver: &mut dyn Solver<f64>| {
        let trace = run(solver, &options, &mut []).trace;
        (trace[0].k, trace.last().unwrap().k, trace.len())
    };
    let start = vec![1.0; 20];
    assert_eq!(rows(&mut Melmo::new(&problem, geometry(), Power::balanced(1.0), &start).unwrap()), (1, 100, 11));
    assert_eq!(rows(&mut Epoch::new(&problem, geometry(), EpochPower::new(1.0), &start).unwrap()), (2, 101, 11));
}
