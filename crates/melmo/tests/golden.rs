//! Every golden case: the same trace to 1e-8 over its stable rows, the same first step, the same stop.

use crate::support::{self, Case};
use melmo::block::Layout;
use melmo::catalogue::{Arguments, Lift, Value, find, methods, penalties};
use melmo::drive::{Epsilon, Options, Status, Stop, run};
use melmo::geometry::{Geometry, Norm, Oracle, for_layout};
use melmo::operator::{Difference2d, Identity, LinOp, Select};
use melmo::problem::Problem;
use melmo::smooth::{Factorization, MaskedLeastSquares, Smooth};
use melmo::solver::Solver;
use melmo::trace::{Record, Row};

type Terms = (Box<dyn Smooth<f64>>, Box<dyn LinOp<f64>>, Vec<f64>);

fn problem(case: &Case) -> (Problem<f64>, Vec<f64>) {
    let y = case.file("y.npy");
    let (rows, cols) = (y.rows, y.cols);
    let (f, t, x0): Terms = match &*case.problem {
        "factorize" => {
            let f = Factorization::new(y.data, rows, cols, case.rank.unwrap()).unwrap();
            let t = Select::new(f.layout(), &["W"]).unwrap();
            let start = [case.file("w0.npy").data, case.file("h0.npy").data].concat();
            (Box::new(f), Box::new(t), start)
        }
        "tv" => {
            let start = y.data.clone();
            let f = MaskedLeastSquares::new(Layout::matrix(rows, cols).unwrap(), y.data, None).unwrap();
            (Box::new(f), Box::new(Difference2d::new(rows, cols).unwrap()), start)
        }
        "masked" => {
            let layout = Layout::matrix(rows, cols).unwrap();
            let f = MaskedLeastSquares::new(layout.clone(), y.data, Some(case.file("mask.npy").data)).unwrap();
            (Box::new(f), Box::new(Identity::new(layout)), case.file("x0.npy").data)
        }
        other => panic!("unknown problem {other}"),
    };
    let rows = penalties::<f64>();
    let row = find("penalty", &rows, &case.penalty).unwrap();
    let given = [("lam", case.lam), ("mu", case.mu)];
    let arguments = Arguments::new(&row.entry, &given[..row.entry.parameters.len()]).unwrap();
    let g = (row.build)(&arguments, &Lift::Entries, t.range()).unwrap();
    (Problem::from_boxes(f, g, t).unwrap(), x0)
}

fn geometry(case: &Case, layout: &Layout) -> Box<dyn Geometry<f64>> {
    let (norm, oracle) = match case.geom.as_deref() {
        None => (Norm::L2, Oracle::Auto),
        Some("spectral") => (Norm::Spectral, Oracle::Svd),
        Some("ns6") => (Norm::Spectral, Oracle::NewtonSchulz(6)),
        Some("ns2") => (Norm::Spectral, Oracle::NewtonSchulz(2)),
        Some(name) => (name.parse().unwrap(), Oracle::Auto),
    };
    for_layout(norm, layout, oracle).unwrap()
}

fn solver<'p>(case: &Case, problem: &'p Problem<f64>, x0: &[f64]) -> Box<dyn Solver<f64> + 'p> {
    let rows = methods::<f64>();
    let row = find("method", &rows, &case.method).unwrap();
    let steps = case.trace.len() as f64;
    let number = |value: Option<f64>| value.map(Value::Number);
    let known = [
        ("gamma", number(case.gamma)),
        ("beta", number(Some(case.beta.unwrap_or(1.0)))),
        ("p", number(case.p)),
        ("q", number(case.q)),
        ("lipschitz", number(case.lipschitz)),
        ("normalized", number(Some(f64::from(u8::from(case.normalized))))),
        ("step", number(case.step)),
        ("steps", number(Some(steps))),
        ("restart", case.restart.clone().map(Value::from)),
    ];
    let has = |name: &str| row.entry.parameters.iter().any(|p| p.name == name);
    let given: Vec<(&str, Value)> =
        known.into_iter().filter(|(name, _)| has(name)).filter_map(|(name, v)| Some((name, v?))).collect();
    let arguments = Arguments::new(&row.entry, &given).unwrap();
    (row.build)(&arguments, problem, geometry(case, problem.layout()), x0).unwrap()
}

fn compare(case: &Case, trace: &[Row]) {
    assert!(trace.len() >= case.stable_rows, "{}: {} rows", case.name, trace.len());
    let first = &case.trace[0];
    let close = |what: &str, k: u64, got: f64, want: Option<f64>, scale: Option<f64>| {
        let Some(want) = want else { return };
        let tolerance = 1e-8 * want.abs() + 1e-10 * scale.unwrap().abs();
        assert!((got - want).abs() <= tolerance, "{} k={k} {what}: {got:e} instead of {want:e}", case.name);
    };
    for (row, golden) in trace.iter().zip(&case.trace).take(case.stable_rows) {
        assert_eq!((row.k, row.epoch), (golden.k, golden.epoch), "{}", case.name);
        close("F", row.k, row.objective, Some(golden.objective), Some(first.objective));
        close("F_smoothed", row.k, row.smoothed, golden.smoothed, first.smoothed);
        close("dual_norm", row.k, row.dual_norm.unwrap(), golden.dual_norm, first.dual_norm);
        close("prox_gap", row.k, row.prox_gap, golden.prox_gap, first.prox_gap);
        close("beta", row.k, row.beta, golden.beta, first.beta);
        close("gamma", row.k, row.gamma, golden.gamma, first.gamma);
        if let Some(exact) = golden.dual_norm {
            let slack = 1e-8 * exact;
            let holds = row.bracket.lower <= exact + slack && exact <= row.bracket.upper + slack;
            assert!(holds, "{} k={}: {exact} is not in {:?}", case.name, row.k, row.bracket);
        }
    }
}

fn close_arrays(name: &str, got: &[f64], want: &[f64], tolerance: f64) {
    let scale = want.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    for (i, (a, b)) in got.iter().zip(want).enumerate() {
        assert!((a - b).abs() <= tolerance * scale, "{name}: entry {i} is {a:e} instead of {b:e}");
    }
}

#[test]
fn every_case_comes_back() {
    let cases = Case::all();
    assert_eq!(cases.len(), 35, "a golden case is missing");
    for case in &cases {
        let (problem, x0) = problem(case);
        let kept = x0.clone();
        let mut solver = solver(case, &problem, &x0);
        let mut stop = Stop::after(case.trace.len() as u64);
        if let Some(epsilon) = case.eps {
            stop = stop.at_epsilon(Epsilon::Absolute(epsilon));
            stop.iterations = (1 << case.max_epochs.unwrap()) - 1;
        }
        let options = Options { record: Some(Record::every(1, case.trace.len())), ..Options::new(stop) };
        let report = run(&mut *solver, &options, &mut []);
        compare(case, &report.trace);
        assert_eq!(x0, kept, "{}: the start was modified", case.name);
        assert_eq!(report.status == Status::Certified, case.certified, "{}", case.name);
        if let Some(k) = case.certified_at {
            assert_eq!(report.info.k, k, "{}", case.name);
        }
        if case.stable_rows == case.trace.len() {
            assert_eq!(report.trace.len(), case.trace.len(), "{}", case.name);
            close_arrays(&case.name, &report.x, &case.point("final").unwrap(), 1e-7);
        }
        let certificate = report.certificate.unwrap();
        let verification = certificate.verify(&problem, &report.x, 1e-6).unwrap();
        assert!(verification.passed(), "{}: {verification:?}", case.name);
    }
}

#[test]
fn first_gradient_and_first_step_come_back() {
    let mut compared = 0;
    for case in Case::all() {
        let (Some(phi), Some(x2)) = (case.point("phi1"), case.point("x2")) else { continue };
        let (problem, x0) = problem(&case);
        for problem in [&problem, &self::problem(&case).0.chained()] {
            let (mut grad, mut work) = (vec![0.0; x0.len()], vec![0.0; problem.work_len()]);
            problem.smoothed_gradient(&mut grad, &x0, case.trace[0].beta.unwrap(), &mut work);
            close_arrays(&case.name, &grad, &phi, 1e-12);
        }
        let mut solver = solver(&case, &problem, &x0);
        solver.next();
        solver.next();
        close_arrays(&case.name, &solver.x(), &x2, 1e-10);
        compared += 1;
    }
    assert_eq!(compared, 16);
}

#[test]
fn prox_table_comes_back() {
    let text = std::fs::read_to_string(support::golden().join("prox-table/rows.json")).unwrap();
    let table: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let (rows, layout) = (penalties::<f64>(), Layout::vector(1).unwrap());
    for line in &table {
        let number = |key: &str| line[key].as_f64().unwrap();
        let row = find("penalty", &rows, line["penalty"].as_str().unwrap()).unwrap();
        let values = [number("lam"), number("par")];
        let given: Vec<_> = row.entry.parameters.iter().zip(values).map(|(p, v)| (p.name, v)).collect();
        let arguments = Arguments::new(&row.entry, &given).unwrap();
        let g = (row.build)(&arguments, &Lift::Entries, &layout).unwrap();
        let (x, beta) = ([number("x")], number("beta"));
        let (mut z, mut slope) = ([0.0], [0.0]);
        g.prox(&mut z, &x, beta, &mut []);
        let envelope = g.moreau(&mut slope, &x, beta, &mut []);
        assert!((z[0] - number("prox")).abs() <= 1e-6, "{line}: prox {}", z[0]);
        let want = number("envelope");
        assert!((envelope.value - want).abs() <= 1e-11 * (1.0 + want.abs()), "{line}: envelope {}", envelope.value);
        if let Some(want) = line["value"].as_f64() {
            let got = g.value(&x, &mut []);
            assert!((got - want).abs() <= 1e-12 * (1.0 + want.abs()), "{line}: value {got}");
        }
    }
    assert_eq!(table.len(), 364);
}

#[test]
fn oracle_table_comes_back() {
    let text = std::fs::read_to_string(support::golden().join("oracle-table/rows.json")).unwrap();
    let table: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    for line in &table {
        let (name, geom) = (line["phi"].as_str().unwrap(), line["geom"].as_str().unwrap());
        let folder = support::golden().join("oracle-table");
        let phi = support::npy(&folder.join(format!("{name}.npy")));
        let stored = support::npy(&folder.join(format!("{name}-{geom}.npy")));
        let exact = line["dual_norm"].as_f64().unwrap();
        let layout = Layout::matrix(phi.rows, phi.cols).unwrap();
        let (norm, oracle) = match geom.strip_prefix("ns") {
            Some(steps) => (Norm::Spectral, Oracle::NewtonSchulz(steps.parse().unwrap())),
            None => (geom.parse().unwrap(), Oracle::Svd),
        };
        let mut geometry = for_layout::<f64>(norm, &layout, oracle).unwrap();
        let mut d = vec![0.0; phi.data.len()];
        let answer = geometry.lmo(&mut d, &phi.data);
        // Libraries break ties differently: directions are compared by what they are for.
        let inner = |d: &[f64]| phi.data.iter().zip(d).map(|(a, b)| a * b).sum::<f64>();
        let (got, want) = (inner(&d), inner(&stored.data));
        assert!((got - want).abs() <= 1e-9 * exact.max(1e-300), "{name} {geom}: ⟨φ,d⟩ {got} instead of {want}");
        assert!((geometry.dual_norm(&phi.data) - exact).abs() <= 1e-9 * exact, "{name} {geom}");
        let bracket = answer.dual_norm;
        assert!(bracket.lower <= exact * (1.0 + 1e-12) && exact <= bracket.upper * (1.0 + 1e-12), "{name} {geom}");
        assert!((answer.decrease + got).abs() <= 1e-9 * exact, "{name} {geom}: {answer:?}");
    }
    assert_eq!(table.len(), 104);
}
