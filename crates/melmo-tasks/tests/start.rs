//! The start is a candidate: what was chosen for somebody ends no higher than it began.

use melmo::certificate::Certificate;
use melmo::drive::Status;
use melmo::real::Real;
use melmo_tasks::{Prepared, Settings, Solved, Watch, recover, solve};

/// Data next to nothing under a penalty that starts at 0: methods that smooth move away from it first.
fn prepared<S: Real>(penalty: &str) -> Prepared<S> {
    recover::prepare(&[S::of(1e-5); 12], None, 3, 4, &penalty.parse().unwrap()).unwrap()
}

fn solved<S: Real>(prepared: &Prepared<S>, method: &str) -> Solved<S> {
    let settings = Settings { geometry: "linf".parse().ok(), iterations: Some(3), ..Settings::method(method) };
    solve(prepared, &settings, Watch::default()).unwrap()
}

fn check<S: Real>(penalty: &str) -> bool {
    let prepared = prepared::<S>(penalty);
    let (start, solved) = (prepared.problem.objective(&prepared.start), solved(&prepared, "auto"));
    let report = &solved.report;
    assert!(report.objective <= start * (1.0 + 16.0 * S::EPSILON), "{penalty}: {} above {start}", report.objective);
    let certificate = report.certificate.as_ref().unwrap();
    let verified = certificate.verify(&prepared.problem, &report.x, Certificate::<S>::default_tolerance()).unwrap();
    assert!(verified.passed(), "{penalty}: {verified:?}");
    let returned = report.rose.is_some_and(|rose| rose.returned && rose.end > rose.start);
    assert!(
        !returned || (report.x == prepared.start && report.status != melmo::drive::Status::Iterations),
        "{penalty}"
    );
    assert_eq!(certificate.prox_gap, if returned { report.info.prox_gap } else { certificate.prox_gap });
    returned
}

#[test]
fn auto_ends_no_higher_than_it_began() {
    let penalties = ["scad:lambda=0.1", "mcp:lambda=0.1,mu=1e12", "mcp:lambda=0.1,mu=3", "l1:lambda=0.1"];
    let returned = penalties.iter().filter(|penalty| check::<f32>(penalty) | check::<f64>(penalty)).count();
    assert!(returned > 0, "none of these rose: another example is needed");
}

#[test]
fn whoever_names_a_method_gets_its_last_point_and_is_told() {
    let prepared = prepared::<f64>("l1:lambda=1e-9");
    let solved = solved(&prepared, "melmo");
    let rose = solved.report.rose.unwrap();
    assert!(rose.end > rose.start && !rose.returned);
    assert_eq!((solved.report.objective, solved.report.status), (rose.end, Status::Iterations));
}
