//! The golden cases on ranks: over their stable rows the points and the numbers of one machine to 1e-10, and the same certificates.

use melmo::block::Layout;
use melmo::catalogue::{Arguments, Lift, Value, find, method_in, methods, penalties};
use melmo::drive::{Epsilon, Options, Stop, run};
use melmo::geometry::{Geometry, Norm, Oracle, for_layout};
use melmo::problem::Problem;
use melmo::report::Report;
use melmo::solver::Solver;
use melmo::space::{Host, Space};
use melmo::trace::Record;
use melmo_mpi::{Distributed, Ranks};

use crate::whole::{Kind, Whole, on_ranks};

#[path = "../../../melmo/tests/support/mod.rs"]
mod support;
pub use support::Case;

fn whole(case: &Case) -> (Whole, Vec<f64>) {
    let y = case.file("y.npy");
    let (name, given) = (case.penalty.clone(), [("lam", case.lam), ("mu", case.mu)]);
    let penalty = move |range: &Layout| {
        let rows = penalties::<f64>();
        let row = find("penalty", &rows, &name).unwrap();
        let arguments = Arguments::new(&row.entry, &given[..row.entry.parameters.len()]).unwrap();
        (row.build)(&arguments, &Lift::Entries, range).unwrap()
    };
    let (kind, mask, x0) = match &*case.problem {
        "factorize" => {
            let start = [case.file("w0.npy").data, case.file("h0.npy").data].concat();
            (Kind::Factors(case.rank.unwrap(), false), None, start)
        }
        "masked" => (Kind::Entries, Some(case.file("mask.npy").data), case.file("x0.npy").data),
        _ => (Kind::Image, None, y.data.clone()),
    };
    (Whole { kind, mask, rows: y.rows, cols: y.cols, y: y.data, penalty: Box::new(penalty) }, x0)
}

fn norm(case: &Case) -> (Norm, Oracle) {
    match case.geom.as_deref() {
        None => (Norm::L2, Oracle::Auto),
        Some("spectral") => (Norm::Spectral, Oracle::Svd),
        Some("ns6") => (Norm::Spectral, Oracle::NewtonSchulz(6)),
        Some("ns2") => (Norm::Spectral, Oracle::NewtonSchulz(2)),
        Some(name) => (name.parse().unwrap(), Oracle::Auto),
    }
}

fn solver<'s, X: Space<Real = f64> + 's>(case: &Case, space: X, x0: &[f64]) -> Box<dyn Solver<f64> + 's> {
    let rows = methods::<f64>();
    let row = find("method", &rows, &case.method).unwrap();
    let number = |value: Option<f64>| value.map(Value::Number);
    let known = [
        ("gamma", number(case.gamma)),
        ("beta", number(Some(case.beta.unwrap_or(1.0)))),
        ("p", number(case.p)),
        ("q", number(case.q)),
        ("lipschitz", number(case.lipschitz)),
        ("normalized", number(Some(f64::from(u8::from(case.normalized))))),
        ("step", number(case.step)),
        ("steps", number(Some(case.trace.len() as f64))),
        ("restart", case.restart.clone().map(Value::from)),
    ];
    let has = |name: &str| row.entry.parameters.iter().any(|p| p.name == name);
    let given: Vec<(&str, Value)> =
        known.into_iter().filter(|(name, _)| has(name)).filter_map(|(name, v)| Some((name, v?))).collect();
    method_in(&case.method, &Arguments::new(&row.entry, &given).unwrap(), space, x0, |_| 1.0).unwrap()
}

fn driven(case: &Case, solver: &mut dyn Solver<f64>) -> Report<f64> {
    let mut stop = Stop::after(case.stable_rows as u64);
    if let Some(epsilon) = case.eps.filter(|_| case.stable_rows == case.trace.len()) {
        stop = stop.at_epsilon(Epsilon::Absolute(epsilon));
        stop.iterations = (1 << case.max_epochs.unwrap()) - 1;
    }
    let options = Options { record: Some(Record::every(1, case.trace.len())), ..Options::new(stop) };
    run(solver, &options, &mut [])
}

fn close(what: &str, got: f64, want: f64, scale: f64) {
    assert!((got - want).abs() <= 1e-10 * scale.abs().max(want.abs()), "{what}: {got:e} instead of {want:e}");
}

/// What one machine finds.
pub fn alone(case: &Case) -> Report<f64> {
    let (whole, x0) = whole(case);
    let problem: Problem<f64> = whole.alone();
    let (norm, oracle) = norm(case);
    let geometry: Box<dyn Geometry<f64>> = for_layout(norm, problem.layout(), oracle).unwrap();
    driven(case, &mut *solver(case, Host::new(&problem, geometry).unwrap(), &x0))
}

/// Runs a case on these ranks, and compares this rank's part with that of one machine.
pub fn compare_part(case: &Case, alone: &Report<f64>, ranks: Box<dyn Ranks>) -> Report<f64> {
    let (rank, size) = (ranks.rank(), ranks.size());
    let (whole, x0) = whole(case);
    let (norm, oracle) = norm(case);
    let part = whole.part(rank, size);
    let space = Distributed::new(&part.problem, &part.pieces, &whole.measure(Some(norm)), oracle, ranks).unwrap();
    let report = driven(case, &mut *solver(case, space, &whole.own(&x0, rank, size)));
    let name = format!("{} on {size}", case.name);
    let scale = alone.x.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let want = whole.own(&alone.x, rank, size);
    assert_eq!(report.x.len(), want.len(), "{name}");
    report.x.iter().zip(&want).for_each(|(a, b)| close(&name, *a, *b, scale));
    compare_reports(case, &name, &report, alone);
    report
}

fn compare_reports(case: &Case, name: &str, report: &Report<f64>, alone: &Report<f64>) {
    assert_eq!(report.status, alone.status, "{name}");
    assert_eq!(report.trace.len(), alone.trace.len(), "{name}");
    let first = &alone.trace[0];
    let size = first.dual_norm.unwrap();
    for (a, b) in report.trace.iter().zip(&alone.trace).take(case.stable_rows) {
        assert_eq!((a.k, a.epoch), (b.k, b.epoch), "{name}");
        close(&format!("{name} k={} F", a.k), a.objective, b.objective, first.objective);
        close(&format!("{name} k={} dual norm", a.k), a.dual_norm.unwrap(), b.dual_norm.unwrap(), size);
        close(&format!("{name} k={} gap", a.k), a.prox_gap, b.prox_gap, first.prox_gap);
    }
    let (here, there) = (report.certificate.as_ref().unwrap(), alone.certificate.as_ref().unwrap());
    assert_eq!(here.norms, there.norms, "{name}");
    let near =
        |a: f64, b: f64| assert!((a - b).abs() <= 1e-6 * (a.abs() + b.abs()) + 1e-9 * size, "{name}: {a:e}, {b:e}");
    near(here.dual_norm.upper, there.dual_norm.upper);
    near(here.prox_gap, there.prox_gap);
    assert_eq!(here.claim, there.claim, "{name}");
    assert_eq!(here.optimality.is_some(), there.optimality.is_some(), "{name}");
    assert_eq!(here.stationarity.is_some(), there.stationarity.is_some(), "{name}");
}

fn compare(case: &Case, size: usize) {
    let alone = alone(case);
    let reports = on_ranks(size, |thread, _| compare_part(case, &alone, Box::new(thread)));
    for report in &reports {
        assert_eq!(report.info, reports[0].info, "{} on {size}: ranks see the same numbers", case.name);
    }
}

#[test]
fn three_ranks_are_one_machine() {
    let cases = Case::all();
    assert_eq!(cases.len(), 35, "a golden case is missing");
    cases.iter().for_each(|case| compare(case, 3));
}

#[test]
fn so_are_one_two_and_four() {
    for case in Case::all().iter().filter(|case| !case.name.contains("synthetic")) {
        [1, 2, 4].into_iter().for_each(|size| compare(case, size));
    }
}
