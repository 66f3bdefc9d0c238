//! Snapshots: from any of them a run ends where it would have ended.

use std::ops::ControlFlow;
use std::time::Duration;

use melmo_tasks::{Prepared, Settings, Snapshot, Watch, recover, solve};

fn prepared() -> Prepared<f64> {
    let y: Vec<f64> = (0..20).map(|i| f64::from(i % 7) - 3.0).collect();
    recover::prepare(&y, None, 4, 5, &"mcp:lambda=0.3,mu=3".parse().unwrap()).unwrap()
}

#[test]
fn every_snapshot_leads_to_the_same_bits() {
    let (prepared, mut kept) = (prepared(), Vec::<Snapshot<f64>>::new());
    let settings = Settings { iterations: Some(12), tolerance: Some(0.0), ..Settings::method("melmo") };
    let keep = |snapshot: &Snapshot<f64>| {
        kept.push(snapshot.clone());
        ControlFlow::Continue(())
    };
    let watch = Watch { keep: Some((Duration::ZERO, Box::new(keep))), trace_every: 1, ..Watch::default() };
    let whole = solve(&prepared, &settings, watch).unwrap();
    assert_eq!(kept.len(), 12, "every point but the last, from which one step too many would be taken");
    for snapshot in kept {
        let k = snapshot.state.k;
        let watch = Watch { resume: Some(snapshot), trace_every: 1, ..Watch::default() };
        let resumed = solve(&prepared, &settings, watch).unwrap();
        assert_eq!(resumed.report.x, whole.report.x, "from {k}");
        let points = |rows: &[melmo::trace::Row]| rows.iter().map(|row| row.k).collect::<Vec<_>>();
        assert_eq!(points(&resumed.report.trace), points(&whole.report.trace), "from {k}");
    }
}
