//! Coordinate descent: known answers with budgets of rounds, certificates, paths.

use melmo::block::Layout;
use melmo::certificate::Certificate;
use melmo::drive::{Epsilon, Options, Status, Stop, run};
use melmo::error::Error;
use melmo::operator::{Dense, Identity, LinOp, Select, Sparse};
use melmo::penalty::{ElasticNet, Entrywise, Group, Interval, L1, Mcp, Prox, Scad, Separable, Spectral};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo::smooth::{Cox, HuberRegression, LeastSquares, Logistic, Multinomial, Poisson, Quantile, Smooth};
use melmo::solver::{CoordinateDescent, LambdaPath, Polished, Smoothing, Solver};

pub const ROWS: usize = 40;
pub const COLS: usize = 90;

/// A design whose columns are correlated, and targets from three of them.
pub fn data<S: Real>(rows: usize, cols: usize) -> (Vec<S>, Vec<S>) {
    let mut seeded = Seeded::new(3);
    let a: Vec<f64> = (0..rows)
        .flat_map(|_| {
            let shared = seeded.normal();
            (0..cols).map(|_| 0.5 * shared + seeded.normal()).collect::<Vec<_>>()
        })
        .collect();
    let b = a.chunks(cols).map(|row| 2.0 * row[0] - row[3] + 1.5 * row[7] + 0.3 * seeded.normal());
    (a.iter().map(|&v| S::of(v)).collect(), b.map(S::of).collect())
}

pub fn dense<S: Real>(a: &[S], rows: usize) -> Box<dyn LinOp<S>> {
    Box::new(Dense::new(a.to_vec(), rows, a.len() / rows).unwrap())
}

fn problem<S: Real>(f: impl Smooth<S> + 'static, g: impl Prox<S> + 'static) -> Problem<S> {
    let layout = f.layout().clone();
    Problem::new(f, g, Identity::new(layout)).unwrap()
}

/// Runs so many rounds; F must never rise by more than rounding.
fn descend<S: Real>(problem: &Problem<S>, rounds: u64, slack: f64) -> melmo::report::Report<S> {
    let start = vec![S::ZERO; problem.layout().size()];
    let mut solver = CoordinateDescent::new(problem, &start).unwrap();
    let mut last = f64::INFINITY;
    let mut watch = |info: &melmo::solver::Info, solver: &mut dyn Solver<S>| {
        let objective = info.objective.unwrap();
        assert!(objective <= last + slack * (1.0 + last.abs()), "F rose from {last} to {objective}");
        assert!((objective - problem.objective(&solver.x())).abs() <= slack * (1.0 + objective.abs()));
        last = objective;
        std::ops::ControlFlow::Continue(())
    };
    let report = run(&mut solver, &Options::new(Stop::after(rounds)), &mut [&mut watch]);
    assert_eq!(report.status, Status::Iterations);
    report
}

pub fn gradient<S: Real>(f: &dyn Smooth<S>, x: &[S]) -> Vec<f64> {
    let (mut grad, mut work) = (vec![S::ZERO; x.len()], vec![S::ZERO; f.work_len()]);
    f.value_grad(&mut grad, x, &mut work);
    grad.iter().map(|v| v.f64()).collect()
}

/// 0 ∈ ∇f(x) + ∂(λ|·|)(x), entry by entry.
pub fn lasso_violation<S: Real>(f: &dyn Smooth<S>, x: &[S], lambda: f64) -> f64 {
    let entry = |(slope, x): (&f64, &S)| match x.f64() {
        0.0 => (slope.abs() - lambda).max(0.0),
        x => (slope + lambda * x.signum()).abs(),
    };
    gradient(f, x).iter().zip(x).map(entry).fold(0.0, f64::max)
}

fn lasso<S: Real>(tolerance: f64) {
    let (a, b) = data::<S>(ROWS, COLS);
    let labels: Vec<S> = b.iter().map(|v| v.sign()).collect();
    let columns = (0..ROWS * COLS).map(|at| (at / COLS, at % COLS, a[at]));
    let sparse = || Box::new(Sparse::from_triplets(ROWS, COLS, columns.clone()).unwrap());
    let g = |lambda| Entrywise::new(L1::new(lambda).unwrap(), COLS);
    let cases: Vec<(&str, f64, Problem<S>)> = vec![
        ("squares", 8.0, problem(LeastSquares::new(dense(&a, ROWS), b.clone()).unwrap(), g(8.0))),
        ("squares, sparse", 8.0, problem(LeastSquares::new(sparse(), b.clone()).unwrap(), g(8.0))),
        ("logistic", 3.0, problem(Logistic::new(dense(&a, ROWS), labels.clone()).unwrap(), g(3.0))),
        ("logistic, sparse", 3.0, problem(Logistic::new(sparse(), labels).unwrap(), g(3.0))),
        ("huber", 4.0, problem(HuberRegression::new(dense(&a, ROWS), b, 1.0).unwrap(), g(4.0))),
    ];
    let mut reached = Vec::new();
    for (name, lambda, problem) in cases {
        let report = descend(&problem, 15, tolerance);
        let violation = lasso_violation(problem.f(), &report.x, lambda);
        assert!(violation <= tolerance * lambda, "{name}: {violation}");
        let zeros = report.x.iter().filter(|v| **v == S::ZERO).count();
        assert!(COLS / 2 < zeros && zeros < COLS, "{name}: {zeros} zeros");
        let certificate = report.certificate.unwrap();
        let checked = certificate.verify(&problem, &report.x, Certificate::<S>::default_tolerance()).unwrap();
        assert!(checked.passed(), "{name}: {checked:?}");
        let small = 10.0 * tolerance.sqrt() * lambda;
        assert!(certificate.dual_norm.upper <= small && certificate.prox_gap <= small, "{name}: {certificate:?}");
        reached.push(report.objective);
    }
    assert!((reached[0] - reached[1]).abs() <= tolerance * reached[0]);
    assert!((reached[2] - reached[3]).abs() <= tolerance * reached[2]);
}

#[test]
fn lasso_conditions_hold_f64() {
    lasso::<f64>(1e-9);
}

#[test]
fn lasso_conditions_hold_f32() {
    lasso::<f32>(1e-4);
}

/// A matrix with orthogonal columns of squared norm `scale`.
fn orthogonal(n: usize, scale: f64) -> Vec<f64> {
    let angle = |i: usize, j: usize| std::f64::consts::PI * (i as f64 + 0.5) * j as f64 / n as f64;
    let length = |j: usize| (scale * if j == 0 { 1.0 } else { 2.0 } / n as f64).sqrt();
    (0..n * n).map(|at| length(at % n) * angle(at / n, at % n).cos()).collect()
}

#[test]
fn orthogonal_designs_have_closed_forms() {
    fn check<P: Separable<f64>>(psi: P) {
        for scale in [1.0, 4.0] {
            let (n, a) = (16, orthogonal(16, scale));
            let truth: Vec<f64> = (0..n).map(|j| 3.0 * ((j as f64) * 1.7).sin()).collect();
            let mut b = vec![0.0; n];
            let design = Dense::new(a, n, n).unwrap();
            design.apply(&mut b, &truth, &mut []);
            let problem = problem(LeastSquares::new(Box::new(design), b).unwrap(), Entrywise::new(psi.clone(), n));
            let report = descend(&problem, 5, 1e-12);
            // ½‖Ax − b‖² = scale/2·‖x − truth‖²: the prox of ψ/scale.
            let closed: Vec<f64> = truth.iter().map(|&v| psi.prox_psi(v, 1.0 / scale)).collect();
            assert!(report.z.iter().zip(&closed).all(|(a, b)| (a - b).abs() < 1e-12), "{:?} {closed:?}", report.z);
            let bound = report.certificate.unwrap().stationarity.unwrap().bound;
            assert!(bound < 1e-6, "{bound}");
        }
    }
    check(Mcp::new(0.8, 3.0).unwrap());
    check(Scad::new(0.5, 3.7).unwrap());
    check(L1::new(0.7).unwrap());
    check(ElasticNet::new(0.4, 0.3).unwrap());
    check(Interval::new(-1.0, 2.0).unwrap());
}

#[test]
fn a_penalty_that_is_more_concave_than_the_loss_is_convex_still_descends() {
    let (a, b) = data::<f64>(ROWS, COLS);
    let small: Vec<f64> = a.iter().map(|v| 0.05 * v).collect(); // ‖a_j‖² ≈ 0.1 < ρ = 2
    let f = LeastSquares::new(dense(&small, ROWS), b).unwrap();
    let problem = problem(f, Entrywise::new(Mcp::new(0.1, 0.5).unwrap(), COLS));
    let report = descend(&problem, 60, 1e-12);
    let stationarity = report.certificate.unwrap().stationarity.unwrap();
    assert!(stationarity.bound < 1e-5, "{}", stationarity.bound);
}

#[test]
fn groups_are_all_or_nothing() {
    let (a, b) = data::<f64>(ROWS, COLS);
    let layout = Layout::matrix(COLS / 3, 3).unwrap();
    let f = LeastSquares::new(dense(&a, ROWS), b).unwrap();
    let lambda = 12.0;
    let problem = problem(f, Group::rows(L1::new(lambda).unwrap(), &layout).unwrap());
    let report = descend(&problem, 15, 1e-12);
    let grad = gradient(problem.f(), &report.z);
    let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let mut active = 0;
    for (x, grad) in report.z.chunks(3).zip(grad.chunks(3)) {
        if norm(x) == 0.0 {
            assert!(norm(grad) <= lambda * (1.0 + 1e-9));
        } else {
            active += 1;
            let size = norm(x);
            let rest: Vec<f64> = x.iter().zip(grad).map(|(x, g)| g + lambda * x / size).collect();
            assert!(norm(&rest) < 1e-7 * lambda, "{rest:?}");
        }
    }
    assert!((1..COLS / 3).contains(&active), "{active}");
}

#[test]
fn an_epsilon_ends_the_run_with_a_claim_that_verifies() {
    let (a, b) = data::<f64>(ROWS, COLS);
    let f = LeastSquares::new(dense(&a, ROWS), b).unwrap();
    let problem = problem(f, Entrywise::new(Scad::new(6.0, 3.7).unwrap(), COLS));
    let mut solver = CoordinateDescent::new(&problem, &[0.0; COLS]).unwrap();
    let stop = Stop::after(100).at_epsilon(Epsilon::Absolute(1e-3));
    let report = run(&mut solver, &Options::new(stop), &mut []);
    assert_eq!(report.status, Status::Certified);
    let certificate = report.certificate.unwrap();
    assert!(certificate.claim.is_some());
    let checked = certificate.verify(&problem, &report.x, 1e-9).unwrap();
    assert!(checked.passed(), "{checked:?}");
    assert!(solver.violation() < 1e-3);
    // z is the solver's own kind of point: exact zeros, and F there is not above the last iterate's.
    assert!(problem.objective(&report.z) <= report.objective + 1e-9);
    assert!(solver.exact_dual_norm() <= 1e-3);
}

#[test]
fn other_problems_are_refused() {
    let (a, b) = data::<f64>(ROWS, COLS);
    let f = || LeastSquares::new(dense(&a, ROWS), b.clone()).unwrap();
    let refused = |problem: Problem<f64>| {
        let n = problem.layout().size();
        assert!(matches!(CoordinateDescent::new(&problem, &vec![0.0; n]), Err(Error::Unsupported(_))));
    };
    let layout = Layout::matrix(9, 10).unwrap();
    refused(problem(f(), Spectral::new(L1::new(1.0).unwrap(), &layout).unwrap()));
    let select = Select::new(f().layout(), &["x"]).unwrap();
    refused(Problem::new(f(), Entrywise::new(L1::new(1.0).unwrap(), COLS), select).unwrap());
    let image = LeastSquares::new(Box::new(Identity::new(layout.clone())), vec![0.0; 90]).unwrap();
    refused(problem(image, Entrywise::new(L1::new(1.0).unwrap(), 90)));
    let good = problem(f(), Entrywise::new(L1::new(1.0).unwrap(), COLS));
    assert!(matches!(CoordinateDescent::new(&good, &[0.0; 3]), Err(Error::Shape { .. })));
}

/// Neighbouring columns correlated by ½, every thirtieth behind the target, much noise.
fn chained(seed: u64, rows: usize, cols: usize) -> (Vec<f64>, Vec<f64>) {
    let mut seeded = Seeded::new(seed);
    let mut a = vec![0.0; rows * cols];
    for row in a.chunks_mut(cols) {
        let mut last = seeded.normal();
        for v in row {
            *v = last / (rows as f64).sqrt();
            last = 0.5 * last + 0.75f64.sqrt() * seeded.normal();
        }
    }
    let signal = |row: &[f64]| row.iter().skip(15).step_by(30).sum::<f64>();
    let b = a.chunks(cols).map(|row| signal(row) + 0.2 * seeded.normal()).collect();
    (a, b)
}

/// Against coordinate descent from the same start: never above; and taken up again anywhere the same.
#[test]
fn polishing_is_never_worse_and_resumes() {
    let (rows, cols) = (60, 300);
    for (seed, lambda) in [(1, 0.02), (2, 0.02), (3, 0.02), (4, 0.05), (5, 0.05), (6, 0.2)] {
        let (a, b) = chained(seed, rows, cols);
        let f = LeastSquares::new(dense(&a, rows), b).unwrap();
        let problem = problem(f, Entrywise::new(Mcp::new(lambda, 3.0).unwrap(), cols));
        let mut plain = CoordinateDescent::new(&problem, &vec![0.0; cols]).unwrap();
        let plain = run(&mut plain, &Options::new(Stop::after(2000)), &mut []).objective;
        let start = || {
            let smoothing = Smoothing::new::<f64>(problem.beta_limit()).with(Some(1e-4), None).unwrap();
            Polished::new(&problem, smoothing, &vec![0.0; cols]).unwrap()
        };
        let (mut solver, mut fresh) = (start(), start());
        fresh.next();
        let report = run(&mut solver, &Options::new(Stop::after(2000)), &mut []);
        assert_eq!(solver.start_measure(), fresh.start_measure(), "what thresholds are relative to has moved");
        assert!(report.objective <= plain * (1.0 + 1e-9), "{} above {plain}", report.objective);
        assert!(report.certificate.unwrap().verify(&problem, &report.x, 1e-9).unwrap().passed());
        for cut in [1, 5, 40, 200] {
            let (mut first, mut second) = (start(), start());
            assert_eq!(first.by_ref().take(cut).count(), cut);
            second.restore(&first.save()).unwrap();
            for _ in 0..200 {
                let (one, two) = (first.next().unwrap(), second.next().unwrap());
                assert_eq!((one, first.x()), (two, second.x()), "cut after {cut}");
            }
        }
    }
}

/// Columns that nearly repeat one another, classes that are nearly separable, a weight near 0: steps of the length that sup h″ allows
/// would take thousands of rounds.
#[test]
fn an_ill_conditioned_logistic_model_takes_a_few_rounds() {
    let (rows, cols) = (300, 12);
    let mut seeded = Seeded::new(8);
    let mut a = Vec::new();
    let mut labels = Vec::new();
    for _ in 0..rows {
        let common = seeded.normal();
        a.extend((0..cols).map(|_| common + 0.05 * seeded.normal()));
        labels.push(f64::from(common + 0.3 * seeded.normal() > 0.0));
    }
    let f = Logistic::new(dense(&a, rows), labels).unwrap();
    for convex in [true, false] {
        let penalty = |lambda: f64| -> Result<Box<dyn Prox<f64>>, Error> {
            Ok(match convex {
                true => Box::new(Entrywise::new(L1::new(lambda)?, cols)),
                false => Box::new(Entrywise::new(Mcp::new(lambda, 3.0)?, cols)),
            })
        };
        let mut path = LambdaPath::new(&f, None, penalty).unwrap().accuracy(1e-8, 100);
        let last = path.lambda_max().unwrap() / 1000.0;
        let point = path.solve(last).unwrap();
        assert!(point.violation <= 1e-8 * point.kink && point.rounds <= 20, "{point:?}");
    }
}

/// −∇f(x) ∈ λ∂‖x‖₁, to a part of λ.
fn is_lasso<S: Real>(f: &dyn Smooth<S>, lambda: f64, tolerance: f64, about: &str) {
    let size = f.layout().size();
    let penalty =
        |lambda: f64| -> Result<Box<dyn Prox<S>>, Error> { Ok(Box::new(Entrywise::new(L1::new(lambda)?, size))) };
    let mut path = LambdaPath::new(f, None, penalty).unwrap().accuracy(tolerance, 500);
    let lambda = lambda * path.lambda_max().unwrap();
    let point = path.solve(lambda).unwrap();
    assert!(point.violation <= tolerance * point.kink, "{about}: {} after {} rounds", point.violation, point.rounds);
    let (slopes, room) = (gradient(f, &point.x), 4.0 * tolerance * lambda + 1e-4 * S::EPSILON.sqrt() * lambda);
    for (slope, x) in slopes.iter().zip(&point.x) {
        let holds = match x.f64() {
            0.0 => slope.abs() <= lambda + room,
            x => (slope + lambda * x.signum()).abs() <= room,
        };
        assert!(holds, "{about}: slope {slope} at {x}, λ = {lambda}");
    }
    assert!(point.x.iter().any(|x| *x != S::ZERO) && point.x.contains(&S::ZERO));
}

/// Counts, quantiles, several classes and times; full and sparse, with weights and offsets.
fn models_are_solved<S: Real>(tolerance: f64) {
    let (rows, cols) = (60, 20);
    let (a, b) = data::<S>(rows, cols);
    let a: Vec<S> = a.iter().map(|v| S::of(0.3 * v.f64())).collect();
    let triplets = || a.iter().enumerate().map(|(at, &v)| (at / cols, at % cols, v));
    for sparse in [false, true] {
        let design = || -> Box<dyn LinOp<S>> {
            if sparse { Box::new(Sparse::from_triplets(rows, cols, triplets()).unwrap()) } else { dense(&a, rows) }
        };
        let to = |map: &dyn Fn(f64) -> f64| b.iter().map(|b| S::of(map(b.f64()))).collect::<Vec<S>>();
        let weights = || (0..rows).map(|i| S::of(1.0 + (i % 3) as f64)).collect::<Vec<S>>();
        let offset = || (0..rows).map(|i| S::of(0.1 * (i % 5) as f64)).collect::<Vec<S>>();
        let counts = to(&|b| (0.5 * b).exp().floor().min(20.0));
        let poisson = Poisson::new(design(), counts).unwrap();
        is_lasso(&poisson.weighted(weights()).unwrap().shifted(offset()).unwrap(), 0.1, tolerance, "poisson");
        is_lasso(&Quantile::new(design(), to(&|b| b), 0.7, 0.5).unwrap(), 0.2, tolerance, "quantile");
        let classes = to(&|b| if b < -1.0 { 0.0 } else { 1.0 + f64::from(b > 1.0) });
        is_lasso(
            &Multinomial::new(design(), classes, 3).unwrap().weighted(weights()).unwrap(),
            0.1,
            tolerance,
            "multinomial",
        );
        let times = to(&|b| (1.0 + (3.0 * b).abs().floor()) * if (10.0 * b).fract().abs() < 0.7 { 1.0 } else { -1.0 });
        is_lasso(&Cox::signed(design(), times).unwrap(), 0.1, tolerance, "cox");
        let labels = to(&|b| f64::from(b > 0.0));
        is_lasso(&Logistic::new(design(), labels).unwrap().weighted(weights()).unwrap(), 0.1, tolerance, "logistic");
        is_lasso(
            &LeastSquares::new(design(), to(&|b| b)).unwrap().weighted(weights()).unwrap(),
            0.1,
            tolerance,
            "squares",
        );
    }
}

#[test]
fn generalised_linear_models() {
    models_are_solved::<f64>(1e-8);
    models_are_solved::<f32>(1e-3);
}

/// Without an intercept the penalty holds the minimisers, and the gap is proven; with two free entries nothing does.
#[test]
fn certificates_of_generalised_linear_models() {
    let (rows, cols) = (60, 20);
    let (a, b) = data::<f64>(rows, cols);
    let a: Vec<f64> = a.iter().map(|v| 0.3 * v).collect();
    let counts: Vec<f64> = b.iter().map(|b| (0.5 * b).exp().floor().min(20.0)).collect();
    let times: Vec<f64> = b.iter().map(|b| 1.0 + (3.0 * b).abs().floor()).collect();
    let f: [(&str, Box<dyn Smooth<f64>>); 3] = [
        ("poisson", Box::new(Poisson::new(dense(&a, rows), counts).unwrap())),
        ("quantile", Box::new(Quantile::new(dense(&a, rows), b, 0.7, 0.5).unwrap())),
        ("cox", Box::new(Cox::signed(dense(&a, rows), times).unwrap())),
    ];
    for (about, f) in f {
        let g = Box::new(Entrywise::new(L1::new(5.0).unwrap(), cols));
        let t = Box::new(Identity::new(f.layout().clone()));
        let problem = Problem::from_boxes(f, g, t).unwrap();
        let mut solver = CoordinateDescent::new(&problem, &vec![0.0; cols]).unwrap();
        let report = run(&mut solver, &Options::new(Stop::after(60)), &mut []);
        let certificate = report.certificate.unwrap();
        assert!(certificate.verify(&problem, &report.x, 1e-9).unwrap().passed(), "{about}");
        let gap = certificate.optimality.map_or(f64::INFINITY, |found| found.gap);
        assert!(gap <= 1e-5 * report.objective.abs(), "{about}: {gap} of {}", report.objective);
    }
}
