//! The golden cases that have kernels: the same traces to 1e-8 over their stable rows, and certificates that the library verifies.

use melmo::block::Layout;
use melmo::catalogue::{Arguments, Lift, find, penalties};
use melmo::drive::{Epsilon, Options, Status, Stop, run};
use melmo::geometry::{Norm, Oracle, for_layout};
use melmo::operator::{Difference2d, Identity, LinOp};
use melmo::problem::Problem;
use melmo::schedule::{EpochConstant, EpochPower, Horizon, Power, Restart};
use melmo::smooth::MaskedLeastSquares;
use melmo::solver::{Epoch, Melmo, Solver, Subgradient, VariableSmoothing};
use melmo::trace::Record;
use melmo_cuda::Device;

use crate::emulator::machine;

#[path = "../../../melmo/tests/support/mod.rs"]
mod support;
use support::Case;

fn problem(case: &Case) -> Problem<f64> {
    let y = case.file("y.npy");
    let layout = Layout::matrix(y.rows, y.cols).unwrap();
    let mask = (case.problem == "masked").then(|| case.file("mask.npy").data);
    let t: Box<dyn LinOp<f64>> = match mask {
        Some(_) => Box::new(Identity::new(layout.clone())),
        None => Box::new(Difference2d::new(y.rows, y.cols).unwrap()),
    };
    let rows = penalties::<f64>();
    let row = find("penalty", &rows, &case.penalty).unwrap();
    let given = [("lam", case.lam), ("mu", case.mu)];
    let arguments = Arguments::new(&row.entry, &given[..row.entry.parameters.len()]).unwrap();
    let g = (row.build)(&arguments, &Lift::Entries, t.range()).unwrap();
    Problem::from_boxes(Box::new(MaskedLeastSquares::new(layout, y.data, mask).unwrap()), g, t).unwrap()
}

fn solver<'p>(case: &Case, problem: &'p Problem<f64>, x0: &[f64]) -> Option<Box<dyn Solver<f64> + 'p>> {
    let norm: Norm = case.geom.as_deref().unwrap_or("l2").parse().ok()?;
    if !matches!(norm, Norm::L1 | Norm::L2 | Norm::Linf | Norm::Row | Norm::Column) {
        return None;
    }
    let geometry = for_layout::<f64>(norm, problem.layout(), Oracle::Auto).unwrap();
    let space = Device::new(problem, geometry.norms(), machine()?).unwrap();
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
fn cases_with_kernels_come_back() {
    let mut compared = 0;
    for case in Case::all().iter().filter(|case| case.problem != "factorize") {
        let problem = problem(case);
        let x0 = if case.problem == "masked" { case.file("x0.npy").data } else { case.file("y.npy").data };
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
    assert!(compared >= 10 || machine().is_none(), "{compared} cases");
}
