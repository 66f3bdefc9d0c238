//! `auto` on operators without structure: answers that are known otherwise.

use melmo::catalogue::{Arguments, choose, find, methods};
use melmo::prelude::*;

/// What `auto` reaches with its defaults and the tolerance of the front ends.
fn solved(problem: &Problem<f64>, x0: &[f64]) -> Report<f64> {
    let rows = methods::<f64>();
    let row = find("method", &rows, choose(problem).method).unwrap();
    let geometry = for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap();
    let mut solver = (row.build)(&Arguments::defaults(&row.entry).unwrap(), problem, geometry, x0).unwrap();
    let stop = Stop { tolerance: Some(1e-7), ..Stop::after(5000) };
    run(&mut *solver, &Options::new(stop), &mut [])
}

/// n−1 differences of n numbers, as a matrix.
fn steps(n: usize) -> Dense<f64> {
    let entry = |i: usize, j: usize| f64::from(i32::from(j == i + 1) - i32::from(j == i));
    Dense::new((0..(n - 1) * n).map(|at| entry(at / n, at % n)).collect(), n - 1, n).unwrap()
}

fn problem(y: &[f64], g: impl Prox<f64> + 'static, t: Dense<f64>) -> Problem<f64> {
    let f = MaskedLeastSquares::new(Layout::vector(y.len()).unwrap(), y.to_vec(), None).unwrap();
    Problem::from_boxes(Box::new(f), Box::new(g), Box::new(t)).unwrap()
}

/// The nearest sequence that never falls, by pooling neighbours that do.
fn pooled(y: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for &v in y {
        pools.push((v, 1));
        while let [.., (a, m), (b, n)] = pools[..]
            && a > b
        {
            pools.truncate(pools.len() - 2);
            pools.push(((a * m as f64 + b * n as f64) / (m + n) as f64, m + n));
        }
    }
    pools.into_iter().flat_map(|(mean, count)| std::iter::repeat_n(mean, count)).collect()
}

#[test]
fn a_constraint_behind_an_operator_is_kept() {
    let n = 200;
    let mut seeded = Seeded::new(1);
    let y: Vec<f64> = (0..n).map(|i| i as f64 / 100.0 + 0.5 * seeded.normal()).collect();
    let exact = pooled(&y);
    let g = Entrywise::new(Nonnegative, n - 1);
    let problem = problem(&y, g, steps(n));
    for start in [vec![0.0; n], y.clone()] {
        let report = solved(&problem, &start);
        assert_eq!(report.status, Status::Settled);
        let far = report.x.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(far < 1e-5, "{far:e}");
        let least: f64 = exact.iter().zip(&y).map(|(x, y)| 0.5 * (x - y).powi(2)).sum();
        assert!((report.objective - least).abs() < 1e-5 * least, "{} {least}", report.objective);
        assert!(report.z.iter().all(|&step| step >= 0.0));
    }
}

/// Second differences: the condition number of T*T is about n⁴, and steps that only know ‖T‖ stand still.
#[test]
fn a_trend_filter_settles_with_a_small_gap() {
    let n = 300;
    let mut seeded = Seeded::new(2);
    let y: Vec<f64> = (0..n).map(|i| (i as f64 / 40.0).sin().abs() * 5.0 + 0.3 * seeded.normal()).collect();
    let entry = |i: usize, j: usize| {
        if j == i || j == i + 2 {
            1.0
        } else if j == i + 1 {
            -2.0
        } else {
            0.0
        }
    };
    let t = Dense::new((0..(n - 2) * n).map(|at| entry(at / n, at % n)).collect(), n - 2, n).unwrap();
    let problem = problem(&y, Entrywise::new(L1::new(10.0).unwrap(), n - 2), t);
    let report = solved(&problem, &y);
    let gap = report.certificate.unwrap().optimality.unwrap().gap;
    assert_eq!(report.status, Status::Settled);
    assert!(gap <= 1e-6 * report.objective, "{gap:e} of {}", report.objective);
}

#[test]
fn a_large_sparse_operator_needs_no_system_solved() {
    let n = 2000;
    let mut seeded = Seeded::new(3);
    let y: Vec<f64> = (0..n).map(|i| f64::from((i / 100) as u32 % 3) + 0.3 * seeded.normal()).collect();
    let f = MaskedLeastSquares::new(Layout::vector(n).unwrap(), y.clone(), None).unwrap();
    let triplets = (0..n - 1).flat_map(|i| [(i, i, -1.0), (i, i + 1, 1.0)]);
    let t = Sparse::from_triplets(n - 1, n, triplets).unwrap();
    let g = Entrywise::new(L1::new(2.0).unwrap(), n - 1);
    let problem = Problem::from_boxes(Box::new(f), Box::new(g), Box::new(t)).unwrap();
    assert_eq!(choose(&problem).method, "primal-dual");
    let report = solved(&problem, &y);
    assert_eq!(report.status, Status::Settled);
    let gap = report.certificate.unwrap().optimality.unwrap().gap;
    assert!(gap <= 1e-5 * report.objective, "{gap:e} of {}", report.objective);
}
