//! The seam between solvers and where x lives: the same solvers on this machine's vectors, on opaque handles, and on two ranks.

mod arena;
mod ranks;

use std::sync::atomic::Ordering;

use arena::Arena;
use melmo::block::Layout;
use melmo::certificate::Certificate;
use melmo::drive::{Epsilon, Options, Status, Stop, run};
use melmo::geometry::{Geometry, Norm, Oracle, for_layout};
use melmo::metric;
use melmo::operator::{Difference2d, Identity};
use melmo::penalty::{Entrywise, L1, Mcp};
use melmo::problem::Problem;
use melmo::report::Report;
use melmo::schedule::{EpochConstant, EpochPower, Power};
use melmo::seeded::Seeded;
use melmo::smooth::MaskedLeastSquares;
use melmo::solver::{Adaptive, Epoch, Info, Lbfgs, Melmo, Smoothing, Solver, State, Subgradient, VariableSmoothing};
use melmo::space::{Host, Space};
use melmo::trace::Record;
use ranks::{Ranks, Together};

fn problem() -> (Problem<f64>, Vec<f64>) {
    let (rows, cols) = (9, 7);
    let mut seeded = Seeded::new(7);
    let f = MaskedLeastSquares::new(Layout::matrix(rows, cols).unwrap(), seeded.normals(63), None).unwrap();
    let g = Entrywise::new(Mcp::new(0.3, 2.0).unwrap(), 126);
    (Problem::new(f, g, Difference2d::new(rows, cols).unwrap()).unwrap(), seeded.normals(63))
}

/// Every solver that is generic in its space, on a space.
const SOLVERS: [&str; 9] = [
    "melmo",
    "epoch, best",
    "epoch, none",
    "variable smoothing",
    "variable smoothing, normalised",
    "subgradient",
    "adaptive",
    "metric",
    "lbfgs",
];

fn solver<'s, X: Space<Real = f64> + 's>(
    name: &str,
    space: X,
    metric: impl FnOnce() -> Option<X::Metric>,
    x0: &[f64],
) -> Option<Box<dyn Solver<f64> + 's>> {
    let smoothing = Smoothing::new::<f64>(0.5);
    let smoothed = |normalized| VariableSmoothing { beta: 0.5, lipschitz: None, normalized };
    Some(match name {
        "melmo" => Box::new(Melmo::on(space, Power::balanced(0.5), x0).unwrap()),
        "epoch, best" => Box::new(Epoch::on(space, EpochConstant::new(0.5), x0).unwrap()),
        "epoch, none" => Box::new(Epoch::on(space, EpochPower::new(0.5), x0).unwrap()),
        "variable smoothing" => Box::new(smoothed(false).on(space, x0).unwrap()),
        "variable smoothing, normalised" => Box::new(smoothed(true).on(space, x0).unwrap()),
        "subgradient" => Box::new(Subgradient::on(space, 0.05, x0).unwrap()),
        "adaptive" => Box::new(Adaptive::on(space, smoothing, x0).unwrap()),
        "metric" => Box::new(Adaptive::metric_on(space, metric()?, smoothing, x0).unwrap()),
        "lbfgs" => Box::new(Lbfgs::on(space, smoothing, 5, x0).unwrap()),
        other => panic!("unknown solver {other}"),
    })
}

fn points(solver: &mut dyn Solver<f64>, steps: usize) -> Vec<(Info, Vec<f64>, [f64; 3])> {
    (0..steps)
        .map_while(|_| {
            let info = solver.next()?;
            let numbers = [solver.objective(), solver.smoothed(), solver.exact_dual_norm()];
            Some((info, solver.x(), numbers))
        })
        .collect()
}

fn driven(solver: &mut dyn Solver<f64>, stop: Stop) -> Report<f64> {
    let options = Options { record: Some(Record::every(3, 100)), ..Options::new(stop) };
    run(solver, &options, &mut [])
}

/// All that a report says but its clocks.
fn told(report: &Report<f64>) -> String {
    let Report { status, x, z, objective, info, certificate, .. } = report;
    format!("{status:?} {x:?} {z:?} {objective} {info:?} {certificate:?}")
}

#[test]
fn handles_give_the_same_bits() {
    let (problem, x0) = problem();
    for norm in [Norm::L2, Norm::Linf, Norm::Spectral] {
        let geometry = || -> Box<dyn Geometry<f64>> { for_layout(norm, problem.layout(), Oracle::Auto).unwrap() };
        let metric = || Some(metric::for_problem(&problem).unwrap().1);
        for name in SOLVERS {
            let on_host = || solver(name, Host::new(&problem, geometry()).unwrap(), metric, &x0).unwrap();
            let on_arena = || {
                let space = Arena::new(Host::new(&problem, geometry()).unwrap());
                solver(name, space, metric, &x0).unwrap()
            };
            assert_eq!(points(&mut *on_host(), 40), points(&mut *on_arena(), 40), "{name}, {norm}");
            let stops = [
                Stop::after(30),
                Stop::after(200).at_epsilon(Epsilon::Relative(0.5)),
                Stop { tolerance: Some(0.05), ..Stop::after(200) },
            ];
            for stop in stops {
                let here = driven(&mut *on_host(), stop);
                let there = driven(&mut *on_arena(), stop);
                assert_eq!(told(&here), told(&there), "{name}, {norm}");
                let verified = there.certificate.unwrap().verify(&problem, &there.x, 1e-9).unwrap();
                assert!(verified.passed(), "{name}, {norm}: {verified:?}");
            }
        }
    }
}

/// A state that was saved in one space is taken up in another: it is plain data, and says nothing about where x lived.
#[test]
fn a_run_goes_on_in_another_space() {
    let (problem, x0) = problem();
    let elsewhere: Vec<f64> = x0.iter().map(|x| x + 1.0).collect();
    let geometry = || -> Box<dyn Geometry<f64>> { for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap() };
    let metric = || Some(metric::for_problem(&problem).unwrap().1);
    for name in SOLVERS {
        let host = |x0: &[f64]| solver(name, Host::new(&problem, geometry()).unwrap(), metric, x0).unwrap();
        let whole = points(&mut *host(&x0), 30);
        for cut in [0, 1, 16] {
            let mut first = host(&x0);
            points(&mut *first, cut);
            let text = serde_json::to_string(&first.save()).unwrap();
            let state: State<f64> = serde_json::from_str(&text).unwrap();
            let arena = Arena::new(Host::new(&problem, geometry()).unwrap());
            let mut second = solver(name, arena, metric, &elsewhere).unwrap();
            points(&mut *second, 3);
            second.restore(&state).unwrap();
            assert_eq!(points(&mut *second, 30 - cut), whole[cut..], "{name}, cut after {cut}");
        }
    }
}

/// Nothing reads x but who asks for it: a device would have to send it.
#[test]
fn a_run_reads_no_point() {
    let (problem, x0) = problem();
    let geometry = for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap();
    let arena = Arena::new(Host::new(&problem, geometry).unwrap());
    let reads = arena.reads();
    let mut solver = Melmo::on(arena, Power::balanced(0.5), &x0).unwrap();
    let mut watched = 0;
    let mut watch = |info: &Info, _: &mut dyn Solver<f64>| {
        watched = info.k;
        std::ops::ControlFlow::Continue(())
    };
    let report =
        run(&mut solver, &Options::new(Stop::after(50).at_epsilon(Epsilon::Absolute(1e-9))), &mut [&mut watch]);
    assert_eq!((report.status, watched), (Status::Iterations, 51));
    assert_eq!(reads.load(Ordering::Relaxed), 1, "once, for the report");
}

/// Rows of an image without a penalty between them, on two ranks: each holds its part, all see the same numbers.
#[test]
fn two_ranks_are_one() {
    let (n, parts) = (24, 2);
    let mut seeded = Seeded::new(3);
    let (y, x0): (Vec<f64>, Vec<f64>) = (seeded.normals(n), seeded.normals(n));
    let separable = |y: &[f64]| {
        let layout = Layout::vector(y.len()).unwrap();
        let f = MaskedLeastSquares::new(layout.clone(), y.to_vec(), None).unwrap();
        Problem::new(f, Entrywise::new(L1::new(0.2).unwrap(), y.len()), Identity::new(layout)).unwrap()
    };
    let whole = separable(&y);
    let problems: Vec<Problem<f64>> = y.chunks(n / parts).map(separable).collect();
    let geometry = |problem: &Problem<f64>| for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap();
    for name in SOLVERS {
        let Some(mut alone) = solver(name, Host::new(&whole, geometry(&whole)).unwrap(), || None, &x0) else {
            continue;
        };
        let stop = Stop { tolerance: Some(1e-3), ..Stop::after(60) };
        let alone = driven(&mut *alone, stop);
        let together = Together::new(parts);
        let reports: Vec<Report<f64>> = std::thread::scope(|scope| {
            let ranks = problems.iter().zip(x0.chunks(n / parts)).enumerate().map(|(rank, (problem, x0))| {
                let space = Ranks::new(Host::new(problem, geometry(problem)).unwrap(), &together, rank);
                scope.spawn(move || driven(&mut *solver(name, space, || None, x0).unwrap(), stop))
            });
            let ranks: Vec<_> = ranks.collect();
            ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
        });
        let x: Vec<f64> = reports.iter().flat_map(|report| report.x.clone()).collect();
        let apart = x.iter().zip(&alone.x).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-12, "{name}: {apart}");
        for report in &reports {
            assert_eq!(report.status, alone.status, "{name}");
            assert_eq!(report.info, reports[0].info, "{name}: ranks see the same numbers");
            let (here, there): (&Certificate<f64>, _) =
                (report.certificate.as_ref().unwrap(), alone.certificate.as_ref().unwrap());
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
            assert!(close(here.dual_norm.upper, there.dual_norm.upper), "{name}");
            assert!(close(here.prox_gap, there.prox_gap), "{name}");
            assert!(close(here.optimality.unwrap().gap, there.optimality.unwrap().gap), "{name}");
        }
    }
}
