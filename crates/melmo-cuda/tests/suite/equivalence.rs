//! Whole runs on the machine and on slices: every solver that is generic in its space, states that go from one to the other, and two
//! runs with the same bits.

use melmo::catalogue::Lift;
use melmo::drive::{Options, Status, Stop, run};
use melmo::geometry::{Geometry, Norm, Oracle, for_layout};
use melmo::problem::Problem;
use melmo::report::Report;
use melmo::schedule::{EpochConstant, Power};
use melmo::seeded::Seeded;
use melmo::solver::{Adaptive, Epoch, Lbfgs, Melmo, Smoothing, Solver, Subgradient, VariableSmoothing};
use melmo::space::{Host, Space};
use melmo_cuda::Device;

use crate::emulator::{Emulator, is_gpu, machine};
use crate::laws::problem;

const SOLVERS: [&str; 6] = ["melmo", "epoch", "variable smoothing", "subgradient", "scaled", "lbfgs"];

fn solver<'s, X: Space<Real = f64> + 's>(name: &str, space: X, x0: &[f64]) -> Box<dyn Solver<f64> + 's> {
    let smoothing = Smoothing::new::<f64>(0.5);
    let smoothed = VariableSmoothing { beta: 0.5, lipschitz: None, normalized: false };
    match name {
        "melmo" => Box::new(Melmo::on(space, Power::balanced(0.5), x0).unwrap()),
        "epoch" => Box::new(Epoch::on(space, EpochConstant::new(0.5), x0).unwrap()),
        "variable smoothing" => Box::new(smoothed.on(space, x0).unwrap()),
        "subgradient" => Box::new(Subgradient::on(space, 0.05, x0).unwrap()),
        "scaled" => Box::new(Adaptive::on(space, smoothing, x0).unwrap()),
        "lbfgs" => Box::new(Lbfgs::on(space, smoothing, 5, x0).unwrap()),
        other => panic!("unknown solver {other}"),
    }
}

fn geometry(norm: Norm, problem: &Problem<f64>) -> Box<dyn Geometry<f64>> {
    for_layout(norm, problem.layout(), Oracle::Auto).unwrap()
}

fn driven(solver: &mut dyn Solver<f64>) -> Report<f64> {
    run(solver, &Options::new(Stop { tolerance: Some(1e-9), ..Stop::after(60) }), &mut [])
}

#[test]
fn every_solver_goes_the_same_way() {
    for (problem, norm) in [
        (problem::<f64>("image", "mcp", Lift::Entries, false), Norm::L2),
        (problem::<f64>("volume", "l1", Lift::Pixels, false), Norm::Linf),
        (problem::<f64>("identity", "mcp", Lift::Entries, true), Norm::L1),
        (problem::<f64>("identity", "l1", Lift::Entries, true), Norm::Row),
        (problem::<f64>("fours", "mcp", Lift::Pixels, false), Norm::Column),
    ] {
        let x0: Vec<f64> = Seeded::new(5).normals(problem.layout().size());
        // Variable smoothing is a method of ℓ2.
        for name in SOLVERS.into_iter().filter(|&name| norm == Norm::L2 || name != "variable smoothing") {
            let Some(machine) = machine() else { return };
            let there = Device::new(&problem, geometry(norm, &problem).norms(), machine).unwrap();
            let here = Host::new(&problem, geometry(norm, &problem)).unwrap();
            let (there, here) = (driven(&mut *solver(name, there, &x0)), driven(&mut *solver(name, here, &x0)));
            assert_eq!((there.status, there.info.k), (here.status, here.info.k), "{name}, {norm}");
            let apart = there.x.iter().zip(&here.x).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-8, "{name}, {norm}: {apart:e}");
            let certificate = there.certificate.unwrap();
            let verified = certificate.verify(&problem, &there.x, 1e-9).unwrap();
            assert!(verified.passed(), "{name}, {norm}: {verified:?}");
            let gaps = [certificate.gap(), here.certificate.unwrap().gap()];
            assert_eq!(gaps[0].is_some(), gaps[1].is_some(), "{name}, {norm}");
        }
    }
}

#[test]
fn two_runs_have_the_same_bits_and_states_move() {
    let problem = problem::<f64>("image", "mcp", Lift::Pixels, true);
    let x0: Vec<f64> = Seeded::new(6).normals(problem.layout().size());
    let made = || {
        Some(
            Melmo::on(
                Device::new(&problem, geometry(Norm::L2, &problem).norms(), machine()?).unwrap(),
                Power::balanced(0.5),
                &x0,
            )
            .unwrap(),
        )
    };
    let (Some(mut first), Some(mut second)) = (made(), made()) else { return };
    for _ in 0..25 {
        assert_eq!(first.next(), second.next());
    }
    assert_eq!(first.x(), second.x());
    let mut here =
        Melmo::on(Host::new(&problem, geometry(Norm::L2, &problem)).unwrap(), Power::balanced(0.5), &x0).unwrap();
    here.restore(&first.save()).unwrap();
    let (a, b) = (first.next().unwrap(), here.next().unwrap());
    assert!((a.dual_norm.upper - b.dual_norm.upper).abs() < 1e-10 * b.dual_norm.upper);
}

/// In single precision a run goes on, and its certificate is verified on slices.
#[test]
fn single_precision_is_certified() {
    let problem = problem::<f32>("fours", "mcp", Lift::Entries, false);
    let x0: Vec<f32> = Seeded::new(6).normals(problem.layout().size());
    let Some(machine) = machine() else { return };
    let norms = for_layout::<f32>(Norm::L2, problem.layout(), Oracle::Auto).unwrap().norms();
    let space = Device::new(&problem, norms, machine).unwrap();
    let mut solver = Adaptive::on(space, Smoothing::new::<f32>(problem.default_beta()), &x0).unwrap();
    let report = run(&mut solver, &Options::new(Stop { tolerance: Some(1e-4), ..Stop::after(2000) }), &mut []);
    let verified = report.certificate.unwrap().verify(&problem, &report.x, 1e-4).unwrap();
    assert!(verified.passed(), "{:?} {verified:?}", report.status);
}

/// A machine that fails ends the run with a status.
#[test]
fn a_lost_device_ends_the_run() {
    let problem = problem::<f64>("image", "mcp", Lift::Entries, false);
    let x0: Vec<f64> = Seeded::new(6).normals(problem.layout().size());
    let Some(emulator) = Emulator::new().filter(|_| !is_gpu()) else { return };
    let mut machine = emulator;
    machine.lasts = 20;
    let space = Device::new(&problem, geometry(Norm::L2, &problem).norms(), machine).unwrap();
    let mut solver = Melmo::on(space, Power::balanced(0.5), &x0).unwrap();
    let report = run(&mut solver, &Options::new(Stop::after(100)), &mut []);
    assert_eq!(report.status, Status::Fault);
    assert!(report.info.k >= 10 && solver.fault().unwrap().contains("lost"));
    // Nothing was copied in so short a run but the start.
    assert_eq!(report.x, x0);
}

/// Where there is no room for the point before x, steps write where they read: the same points, one array less.
#[test]
fn steps_in_place_are_the_same_steps() {
    let problem = problem::<f64>("volume", "mcp", Lift::Pixels, false);
    let x0: Vec<f64> = Seeded::new(6).normals(problem.layout().size());
    let (Some(mut small), Some(large)) = (Emulator::new(), Emulator::new()) else { return };
    small.memory = problem.layout().size() * 8 * 4;
    let on = |machine| Device::new(&problem, geometry(Norm::L2, &problem).norms(), machine).unwrap();
    let (small, large) = (on(small), on(large));
    assert!(small.is_frugal() && !large.is_frugal());
    let mut small = Melmo::on(small, Power::balanced(0.5), &x0).unwrap();
    let mut large = Melmo::on(large, Power::balanced(0.5), &x0).unwrap();
    for _ in 0..25 {
        let (a, b) = (small.next().unwrap(), large.next().unwrap());
        assert!((a.dual_norm.upper - b.dual_norm.upper).abs() <= 1e-12 * b.dual_norm.upper);
    }
    let apart = small.x().iter().zip(&large.x()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 1e-12, "{apart:e}");
}
