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

/// A signal of n entries that jumps every hundred, and the differences along it.
fn jumps(n: usize) -> (Vec<f64>, Sparse<f64>) {
    let mut seeded = Seeded::new(3);
    let y = (0..n).map(|i| f64::from((i / 100) as u32 % 3) + 0.3 * seeded.normal()).collect();
    let triplets = (0..n - 1).flat_map(|i| [(i, i, -1.0), (i, i + 1, 1.0)]);
    (y, Sparse::from_triplets(n - 1, n, triplets).unwrap())
}

#[test]
fn a_long_chain_is_solved_exactly_in_every_step() {
    let (y, t) = jumps(2000);
    let f = MaskedLeastSquares::new(Layout::vector(2000).unwrap(), y.clone(), None).unwrap();
    let g = Entrywise::new(L1::new(2.0).unwrap(), 1999);
    let problem = Problem::from_boxes(Box::new(f), Box::new(g), Box::new(t)).unwrap();
    assert_eq!(choose(&problem).method, "interior-point");
    let report = solved(&problem, &y);
    assert_eq!(report.status, Status::Settled);
    let gap = report.certificate.unwrap().optimality.unwrap().gap;
    assert!(gap <= 1e-5 * report.objective, "{gap:e} of {}", report.objective);
}

/// A loss as a user's own may be: nothing is known of it but values and gradients.
struct Own<F>(Layout, F);

impl<F: Fn(f64, usize) -> (f64, f64) + Send + Sync> Smooth<f64> for Own<F> {
    fn layout(&self) -> &Layout {
        &self.0
    }

    fn value_grad(&self, grad: &mut [f64], x: &[f64], _: &mut [f64]) -> f64 {
        let each = grad.iter_mut().zip(x).enumerate();
        each.map(|(i, (grad, &x))| {
            let (value, slope) = (self.1)(x, i);
            *grad = slope;
            value
        })
        .sum()
    }
}

/// Σeˣ − yx behind differences: no L_f is known, and none holds everywhere. The answer keeps what a level's counts sum to, but for
/// the multiplier at its ends.
#[test]
fn a_loss_without_a_known_curvature_goes_by_trial() {
    let n = 40;
    let y: Vec<f64> = (0..n).map(|i| if i < n / 2 { 2.0 } else { 9.0 }).collect();
    let (counts, lambda) = (y.clone(), 3.0);
    let f = Own(Layout::vector(n).unwrap(), move |x: f64, i: usize| (x.exp() - counts[i] * x, x.exp() - counts[i]));
    let g = Entrywise::new(L1::new(lambda).unwrap(), n - 1);
    let problem = Problem::from_boxes(Box::new(f), Box::new(g), Box::new(steps(n))).unwrap();
    assert_eq!(choose(&problem).method, "primal-dual");
    let report = solved(&problem, &vec![0.0; n]);
    assert_eq!(report.status, Status::Settled);
    let half = (n / 2) as f64;
    for (x, y) in report.x.iter().zip(&y) {
        let level = if *y < 5.0 { 2.0 + lambda / half } else { 9.0 - lambda / half };
        assert!((x - level.ln()).abs() < 1e-5, "{x} {}", level.ln());
    }
}

/// MCP on random measurements, from 0: plain steps end in a poor local minimum, a path finds what was measured.
#[test]
fn a_path_passes_by_poor_minima() {
    let (rows, cols, nonzero) = (60, 150, 14);
    let mut seeded = Seeded::new(5);
    let a: Vec<f64> = seeded.normals::<f64>(rows * cols).iter().map(|v| v / (rows as f64).sqrt()).collect();
    let truth: Vec<f64> = (0..cols).map(|j| if j % 11 == 0 && j / 11 < nonzero { 1.5 } else { 0.0 }).collect();
    let image = |row: &[f64]| row.iter().zip(&truth).map(|(a, x)| a * x).sum::<f64>();
    let b: Vec<f64> = a.chunks(cols).map(|row| image(row) + 0.01 * seeded.normal()).collect();
    let make = || LeastSquares::new(Box::new(Dense::new(a.clone(), rows, cols).unwrap()), b.clone()).unwrap();
    let penalty = || Entrywise::new(Mcp::new(0.1, 2.0).unwrap(), cols);
    let by_columns = Problem::new(make(), penalty(), Identity::new(Layout::vector(cols).unwrap())).unwrap();
    let own = Problem::from_boxes(
        Box::new(Hidden(make())),
        Box::new(penalty()),
        Box::new(Identity::new(Layout::vector(cols).unwrap())),
    );
    for (problem, method) in [(by_columns, "coordinate-graduated"), (own.unwrap(), "fista-graduated")] {
        assert_eq!(choose(&problem).method, method);
        let report = solved(&problem, &vec![0.0; cols]);
        assert_eq!(report.status, Status::Settled, "{method}");
        let far = report.x.iter().zip(&truth).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(far < 0.05, "{method}: {far:e}");
    }
}

/// A loss that does not say what it is made of.
struct Hidden(LeastSquares<f64>);

impl Smooth<f64> for Hidden {
    fn layout(&self) -> &Layout {
        self.0.layout()
    }

    fn work_len(&self) -> usize {
        self.0.work_len()
    }

    fn value_grad(&self, grad: &mut [f64], x: &[f64], work: &mut [f64]) -> f64 {
        self.0.value_grad(grad, x, work)
    }
}
