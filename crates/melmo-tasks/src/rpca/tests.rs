use melmo::seeded::Seeded;

use super::*;
use crate::{Settings, Watch, solve};

/// A gradient that stays, a bright block that moves over it, and noise: 24 frames of 16×20.
fn video(noise: f64) -> (Vec<f64>, Vec<f64>, Vec<bool>) {
    let (frames, rows, cols) = (24, 16, 20);
    let mut seeded = Seeded::new(9);
    let (mut y, mut background, mut moving) = (Vec::new(), Vec::new(), Vec::new());
    for t in 0..frames {
        for (i, j) in (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))) {
            let still = 0.2 + 0.5 * (i as f64 / rows as f64 + j as f64 / cols as f64) / 2.0;
            let inside = (6..10).contains(&i) && (j + cols - t % cols) % cols < 4;
            background.push(still);
            moving.push(inside);
            y.push(still + if inside { 0.4 } else { 0.0 } + noise * seeded.normal());
        }
    }
    (y, background, moving)
}

fn separated<S: Real>(y: &[S]) -> (Vec<S>, Vec<S>) {
    let (rows, cols) = (24, 320);
    let penalty: PenaltyChoice = PENALTY.parse().unwrap();
    let weights = Weights::choose(&penalty, &penalty, noise(y, rows, cols, &Until::done()).unwrap(), rows, cols);
    let prepared = prepare(&Arc::new(y.to_vec()), rows, cols, &weights, &Until::done()).unwrap();
    let report = solve(&prepared, &Settings::default(), Watch::default()).unwrap().report;
    (report.z[..y.len()].to_vec(), report.z[y.len()..].to_vec())
}

fn check<S: Real>(y: &[S], background: &[f64], moving: &[bool]) {
    let (low_rank, sparse) = separated(y);
    let known = |at: &usize| !y[*at].f64().is_nan();
    let squares: f64 = low_rank.iter().zip(background).map(|(l, b)| (l.f64() - b).powi(2)).sum();
    let error = (squares / background.iter().map(|b| b * b).sum::<f64>()).sqrt();
    assert!(error < 0.02, "background: {error}");
    let found = |at: &usize| sparse[*at].f64().abs() > 0.2;
    let right = (0..y.len()).filter(known).filter(|at| found(at) == moving[*at]).count();
    let all = (0..y.len()).filter(known).count();
    assert!(right as f64 > 0.999 * all as f64, "foreground: {right} of {all}");
    assert!(rank(&low_rank, 24, 320).unwrap() <= 2);
}

#[test]
fn what_stays_and_what_moves_come_apart() {
    let (y, background, moving) = video(0.01);
    check(&y, &background, &moving);
    let single: Vec<f32> = y.iter().map(|&y| y as f32).collect();
    check(&single, &background, &moving);
}

#[test]
fn missing_entries_are_left_out() {
    let (mut y, background, moving) = video(0.01);
    y.iter_mut().skip(5).step_by(11).for_each(|y| *y = f64::NAN);
    check(&y, &background, &moving);
    let (low_rank, sparse) = separated(&y);
    assert!(sparse.iter().zip(&y).all(|(s, y)| !y.is_nan() || *s == 0.0));
    assert!(relative_error(&y, &low_rank, &sparse) < 0.05);
}

#[test]
fn nothing_but_gaps_is_refused() {
    let penalty: PenaltyChoice = PENALTY.parse().unwrap();
    let weights = Weights::choose(&penalty, &penalty, 1.0, 2, 2);
    assert!(prepare(&Arc::new(vec![f64::NAN; 4]), 2, 2, &weights, &Until::done()).is_err());
}

/// Whenever a start is ended, also in the middle of a decomposition, L and S are numbers, and no worse than the first guess.
#[test]
fn a_start_that_is_ended_is_one_all_the_same() {
    use std::ops::ControlFlow;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let (y, ..) = video(0.01);
    let penalty: PenaltyChoice = PENALTY.parse().unwrap();
    let weights = Weights::choose(&penalty, &penalty, 0.01, 24, 320);
    let value = |nth: usize| {
        let asked = Arc::new(AtomicUsize::new(0));
        let until = Until::done().asking(move |_| match asked.fetch_add(1, Ordering::Relaxed) + 1 >= nth {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        });
        let prepared = prepare(&Arc::new(y.clone()), 24, 320, &weights, &until).unwrap();
        prepared.problem.objective(&prepared.start)
    };
    let first = value(1);
    for nth in [2, 3, 5, 9, 40] {
        assert!(value(nth) <= first * (1.0 + 1e-9), "{nth}: {} above {first}", value(nth));
    }
}
