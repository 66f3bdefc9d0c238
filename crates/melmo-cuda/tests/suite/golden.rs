//! The golden cases: the same traces to 1e-8 over their stable rows, and certificates that the library verifies.

use melmo::block::Layout;
use melmo::catalogue::{Arguments, Lift, find, penalties};
use melmo::drive::{Epsilon, Options, Status, Stop, run};
use melmo::geometry::{Norm, Oracle, for_layout};
use melmo::operator::{Difference2d, Identity, LinOp, Select};
use melmo::problem::Problem;
use melmo::schedule::{EpochConstant, EpochPower, Horizon, Power, Restart};
use melmo::smooth::{Factorization, MaskedLeastSquares, Smooth};
use melmo::solver::{Epoch, Melmo, Solver, Subgradient, VariableSmoothing};
use melmo::trace::Record;
use melmo_cuda::{Arithmetic, Device};

use crate::emulator::machine;

#[path = "../../../melmo/tests/support/mod.rs"]
mod support;
use support::Case;

type Terms = (Box<dyn Smooth<f64>>, Box<dyn LinOp<f64>>, Vec<f64>);

/// The problem, and where a run starts.
fn problem(case: &Case) -> (Problem<f64>, Vec<f64>) {
    let y = case.file("y.npy");
    let (rows, cols) = (y.rows, y.cols);
    let (f, t, x0): Terms = match &*case.problem {
        "factorize" => {
            let f = Factorization::new(y.data, rows, cols, case.rank.unwrap()).unwrap();
            let t = Select::new(f.layout(), &["W"]).unwrap();
            (Box::new(f), Box::new(t), [case.file("w0.npy").data, case.file("h0.npy").data].concat())
        }
        _ => {
            let layout = Layout::matrix(rows, cols).unwrap();
            let mask = (case.problem == "masked").then(|| case.file("mask.npy").data);
            let t: Box<dyn LinOp<f64>> = match mask {
                Some(_) => Box::new(Identity::new(layout.clone())),
                None => Box::new(Difference2d::new(rows, cols).unwrap()),
            };
            let x0 = if mask.is_some() { case.file("x0.npy").data } else { y.data.clone() };
            (Box::new(MaskedLeastSquares::new(layout, y.data, mask).unwrap()), t, x0)
        }
    };
    let rows = penalties::<f64>();
    let row = find("penalty", &rows, &case.penalty).unwrap();
    let given = [("lam", case.lam), ("mu", case.mu)];
    let arguments = Arguments::new(&row.entry, &given[..row.entry.parameters.len()]).unwrap();
    let g = (row.build)(&arguments, &Lift::Entries, t.range()).unwrap();
    (Problem::from_boxes(f, g, t).unwrap(), x0)
}

/// The norm of a case, and the arithmetic that takes its directions: for exact ones of the spectral norm, the best polynomial there is.
fn norm(case: &Case) -> (Norm, Arithmetic) {
    match case.geom.as_deref() {
        None => (Norm::L2, Arithmetic::Auto),
        Some("spectral") => (Norm::Spectral, Arithmetic::Minimax(16)),
        Some("ns6") => (Norm::Spectral, Arithmetic::NewtonSchulz(6)),
        Some("ns2") => (Norm::Spectral, Arithmetic::NewtonSchulz(2)),
        Some(name) => (name.parse().unwrap(), Arithmetic::Auto),
    }
}

fn solver<'p>(case: &Case, problem: &'p Problem<f64>, x0: &[f64]) -> Option<Box<dyn Solver<f64> + 'p>> {
    let (norm, arithmetic) = norm(case);
    let geometry = for_layout::<f64>(norm, problem.layout(), Oracle::Auto).unwrap();
    let space = Device::with(problem, geometry.norms(), arithmetic, machine()?).unwrap();
    let (beta, gamma) = (case.beta.unwrap_or(1.0), case.gamma.unwrap_or(1.0));
    let power = |p: f64, q: f64| Power { beta, gamma, p: case.p.unwrap_or(p), q: case.q.unwrap_or(q) };
    let restart = match case.restart.as_deref() {
        Some("start") => Restart::Start,
        Some("none") => Restart::None,
        _ => Restart::Best,
    };
    let smoothed = VariableSmoothing { beta, lipschitz: case.lipschitz, normalized: case.normalized };
    Some(match &*case.method {
        "melmo" => Box::new(Melmo::on(space, power(7.0 / 12.0, 1.0 / 3.0), x0).unwrap()),
        "melmo-horizon" => {
            Box::new(Melmo::on(space, Horizon { beta, gamma, steps: case.trace.len() as u64 }, x0).unwrap())
        }
        "epoch-power" => Box::new(Epoch::on(space, EpochPower { power: power(2.0 / 3.0, 0.25) }, x0).unwrap()),
        "epoch-constant" => Box::new(Epoch::on(space, EpochConstant { beta, gamma, restart }, x0).unwrap()),
        "variable-smoothing" => Box::new(smoothed.on(space, x0).unwrap()),
        "subgradient" => Box::new(Subgradient::on(space, case.step.unwrap(), x0).unwrap()),
        other => panic!("unknown method {other}"),
    })
}

#[test]
fn every_case_comes_back() {
    let mut compared = 0;
    for case in &Case::all() {
        let (problem, x0) = problem(case);
        let Some(mut solver) = solver(case, &problem, &x0) else { continue };
        let mut stop = Stop::after(case.trace.len() as u64);
        if let Some(epsilon) = case.eps {
            stop = stop.at_epsilon(Epsilon::Absolute(epsilon));
            stop.iterations = (1 << case.max_epochs.unwrap()) - 1;
        }
        let options = Options { record: Some(Record::every(1, case.trace.len())), ..Options::new(stop) };
        let report = run(&mut *solver, &options, &mut []);
        assert!(report.trace.len() >= case.stable_rows, "{}: {} rows", case.name, report.trace.len());
        let first = &case.trace[0];
        for (row, golden) in report.trace.iter().zip(&case.trace).take(case.stable_rows) {
            let pairs = [
                ("F", row.objective, Some(golden.objective), Some(first.objective)),
                ("F_smoothed", row.smoothed, golden.smoothed, first.smoothed),
                ("dual_norm", row.dual_norm.unwrap(), golden.dual_norm, first.dual_norm),
                ("prox_gap", row.prox_gap, golden.prox_gap, first.prox_gap),
            ];
            for (what, got, want, scale) in pairs {
                let Some(want) = want else { continue };
                let room = 1e-8 * want.abs() + 1e-10 * scale.unwrap().abs();
                assert!((got - want).abs() <= room, "{} k={} {what}: {got:e} instead of {want:e}", case.name, row.k);
            }
        }
        assert_eq!(report.status == Status::Certified, case.certified, "{}", case.name);
        let verified = report.certificate.unwrap().verify(&problem, &report.x, 1e-6).unwrap();
        assert!(verified.passed(), "{}: {verified:?}", case.name);
        compared += 1;
    }
    assert!(compared == 35 || machine().is_none(), "{compared} cases");
}
