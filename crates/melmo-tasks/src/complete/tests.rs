use melmo::known::Feedback;
use melmo::seeded::Seeded;

use super::*;
use crate::{Settings, Until, Watch, solve};

/// Low rank plus noise, with offsets; everything known.
fn planted(rows: usize, cols: usize, rank: usize, noise: f64) -> Entries {
    let mut seeded = Seeded::new(11);
    let w: Vec<f64> = seeded.normals(rows * rank);
    let h: Vec<f64> = seeded.normals(cols * rank);
    let (a, b): (Vec<f64>, Vec<f64>) = (seeded.normals(rows), seeded.normals(cols));
    let entry = |i: usize, j: usize| (0..rank).map(|k| w[i * rank + k] * h[j * rank + k]).sum::<f64>() + a[i] + b[j];
    let list = (0..rows * cols).map(|at| (at / cols, at % cols, 3.0 + entry(at / cols, at % cols)));
    let list: Vec<_> = list.map(|(i, j, y)| (i, j, y + noise * seeded.normal())).collect();
    Entries::new(rows, cols, list).unwrap()
}

fn completed(known: &Entries, plan: &Plan) -> Vec<f64> {
    let offsets = plan.offsets(known);
    let prepared = plan.prepare::<f64>(offsets.residual(known.clone()), 0, &Until::done()).unwrap();
    let report = solve(&prepared, &Settings::default(), Watch::default()).unwrap().report;
    plan.completed(&offsets, &report.x, &report.z).matrix()
}

#[test]
fn the_chosen_model_predicts_what_it_has_not_seen() {
    let (hidden, known) = planted(60, 45, 3, 0.1).split(0.4, 1);
    for wanted in [
        Wanted { offsets: true, ..Wanted::default() },
        Wanted { offsets: true, penalty: Some(PENALTY.parse().unwrap()), ..Wanted::default() },
        Wanted { offsets: true, rank: Some(5), ..Wanted::default() },
    ] {
        let plan = choose(&known, &wanted, 0, &Until::done()).unwrap();
        let filled = completed(&known, &plan);
        let rmse = hidden.score(|i, j| filled[i * 45 + j]).rmse;
        let offsets = plan.offsets(&known);
        assert!(rmse < 0.2 && rmse < 0.2 * hidden.score(|i, j| offsets.at(i, j)).rmse, "{plan:?}: {rmse}");
    }
}

#[test]
fn what_is_given_is_not_chosen() {
    let entries = planted(12, 10, 1, 0.1);
    let wanted = Wanted { rank: Some(2), ridge: Some(0.7), ..Wanted::default() };
    let plan = choose(&entries, &wanted, 0, &Until::done()).unwrap();
    assert_eq!(
        plan,
        Plan { offset_weight: None, model: Model::Factors { rank: 2, ridge: 0.7 }, feedback: Feedback::Explicit }
    );
    let wanted = Wanted { offsets: true, offset_weight: Some(2.5), ridge: Some(0.7), ..Wanted::default() };
    let plan = choose(&entries, &wanted, 0, &Until::done()).unwrap();
    assert!(plan.offset_weight == Some(2.5) && matches!(plan.model, Model::Factors { ridge: 0.7, .. }));
    let wanted = Wanted { penalty: Some("scad:lambda=3".parse().unwrap()), ..Wanted::default() };
    assert_eq!(
        choose(&entries, &wanted, 0, &Until::done()).unwrap().model,
        Model::SingularValues("scad:lambda=3".parse().unwrap())
    );
    assert!(choose(&entries, &Wanted { rank: Some(11), ..Wanted::default() }, 0, &Until::done()).is_err());
}

#[test]
fn a_run_from_the_start_only_polishes() {
    let entries = planted(30, 20, 2, 0.3);
    let plan =
        Plan { offset_weight: Some(1.0), model: Model::Factors { rank: 4, ridge: 2.0 }, feedback: Feedback::Explicit };
    let offsets = plan.offsets(&entries);
    let prepared = plan.prepare::<f64>(offsets.residual(entries), 0, &Until::done()).unwrap();
    let before = prepared.problem.objective(&prepared.start);
    let report = solve(&prepared, &Settings::default(), Watch::default()).unwrap().report;
    assert!((report.objective - before).abs() < 1e-3 * before, "{before} {}", report.objective);
    assert!(report.info.dual_norm.upper < 1e-2 * before);
}

#[test]
fn rows_and_columns_without_entries_follow_the_offsets() {
    let list = planted(15, 12, 1, 0.1).iter().filter(|&(i, j, _)| i != 4 && j != 7).collect();
    let known = Entries::new(15, 12, list).unwrap();
    assert_eq!(known.empty(), (1, 1));
    let plan = choose(&known, &Wanted { offsets: true, ..Wanted::default() }, 0, &Until::done()).unwrap();
    let offsets = plan.offsets(&known);
    let filled = completed(&known, &plan);
    assert!((filled[4 * 12 + 7] - offsets.mean).abs() < 1e-9);
    assert!((filled[4 * 12 + 3] - offsets.at(4, 3)).abs() < 1e-9);
}

#[test]
fn a_small_weight_does_not_leave_gaps_at_zero() {
    let all = planted(30, 20, 2, 0.0);
    let gap = |i: usize, j: usize| (7 * i + 3 * j).is_multiple_of(5);
    let known = Entries::new(30, 20, all.iter().filter(|&(i, j, _)| !gap(i, j)).collect()).unwrap();
    for model in
        [Model::SingularValues("mcp:lambda=0.01,mu=3".parse().unwrap()), Model::Factors { rank: 4, ridge: 1e-4 }]
    {
        let filled =
            completed(&known, &Plan { offset_weight: Some(1.0), model: model.clone(), feedback: Feedback::Explicit });
        let rmse = all.score(|i, j| filled[i * 20 + j]).rmse;
        assert!(rmse < 0.02, "{model:?}: {rmse}");
    }
}
