//! MELMO with minibatches: the same run again, the rate, the ball, what it refuses.

use melmo::block::Layout;
use melmo::drive::{Options, Stop, run};
use melmo::error::Error;
use melmo::geometry::{Norm, Oracle, for_layout};
use melmo::operator::{Dense, Difference2d, Identity, Sparse};
use melmo::penalty::{Entrywise, L1, Mcp};
use melmo::problem::Problem;
use melmo::schedule::{Averaging, Power};
use melmo::seeded::Seeded;
use melmo::smooth::{Factorization, HuberRegression, LeastSquares, Logistic, MaskedLeastSquares, Smooth};
use melmo::solver::{Melmo, Momentum, Rule, Run, Solver, Stochastic};
use melmo::space::Host;
use melmo::sparse::{Csr, Misfit};

const ROWS: usize = 120;
const COLS: usize = 8;

/// ½‖Ax − b‖²/n, noisy, with an ℓ1 penalty.
fn problem() -> Problem<f64> {
    let mut seeded = Seeded::new(3);
    let scale = 1.0 / (ROWS as f64).sqrt();
    let a: Vec<f64> = seeded.normals::<f64>(ROWS * COLS).iter().map(|v| v * scale).collect();
    let b: Vec<f64> = (0..ROWS).map(|i| a[i * COLS] - 2.0 * a[i * COLS + 1] + scale * seeded.normal()).collect();
    let f = LeastSquares::new(Box::new(Dense::new(a, ROWS, COLS).unwrap()), b).unwrap();
    let layout = f.layout().clone();
    Problem::new(f, Entrywise::new(L1::new(0.05).unwrap(), COLS), Identity::new(layout)).unwrap()
}

fn rule(momentum: Momentum, horizon: Option<u64>, seed: u64) -> Rule {
    let [p, q, a] = match momentum {
        Momentum::HeavyBall => [0.75, 0.25, 0.5],
        Momentum::Storm => [2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0],
    };
    let power = Power { beta: 1.0, gamma: 1.0, p, q };
    Rule { schedule: Averaging { power, alpha: 1.0, a, horizon }, momentum, batch: 4, seed, ball: None }
}

fn start(problem: &Problem<f64>, rule: Rule) -> Run<Stochastic<Host<'_, f64>>> {
    let geometry = for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap();
    Stochastic::new(problem, geometry, rule, &[1.0; COLS]).unwrap()
}

fn noise(n: usize, seed: u64) -> Vec<f64> {
    Seeded::new(seed).normals(n)
}

/// Every other entry of 6×7 or so; a row and a column have none.
fn stored() -> Csr<f64> {
    let there = |at: &usize| at.is_multiple_of(2) && at / 7 != 3 && at % 7 != 5;
    let entries = (0..42).filter(there).map(|at| ((at / 7) as u32, (at % 7) as u32, at as f64 - 20.0));
    Csr::from_entries(6, 7, entries, |_, _, y: &[f64]| Ok::<_, Misfit>(y[0])).unwrap()
}

/// Every loss that offers minibatches: rows of a dense and of a sparse matrix, entries and rows of Y, with masks and without, dense and sparse;
/// a rank above the columns.
fn sums() -> Vec<Box<dyn Smooth<f64>>> {
    let dense = || Box::new(Dense::design(noise(60, 1), 12, 5).unwrap());
    let triplets = (0..12).flat_map(|i| [(i, i % 5, 1.0 + i as f64), (i, (i + 2) % 5, -0.5)]);
    let sparse = Sparse::from_triplets(12, 5, triplets).unwrap();
    let signs = (0..12).map(|i| if i % 3 == 0 { -1.0 } else { 1.0 }).collect();
    let mask: Vec<f64> = (0..42).map(|i| f64::from(i % 4 != 1)).collect();
    let factors = Factorization::new(noise(42, 2), 6, 7, 3).unwrap().coefficient(0.7).unwrap().ridge(0.3).unwrap();
    vec![
        Box::new(LeastSquares::new(dense(), noise(12, 3)).unwrap()),
        Box::new(Logistic::new(dense(), signs).unwrap()),
        Box::new(HuberRegression::new(Box::new(sparse), noise(12, 4), 0.5).unwrap()),
        Box::new(MaskedLeastSquares::new(Layout::matrix(6, 7).unwrap(), noise(42, 5), Some(mask.clone())).unwrap()),
        Box::new(factors),
        Box::new(Factorization::masked(noise(42, 6), mask, 6, 7, 2).unwrap()),
        Box::new(Factorization::new(noise(7, 7), 1, 7, 9).unwrap()),
        Box::new(Factorization::sparse(stored(), 1).unwrap()),
        Box::new(Factorization::sparse(stored(), 11).unwrap().ridge(0.2).unwrap()),
    ]
}

#[test]
fn a_batch_of_every_part_is_the_gradient_and_parts_add_up_to_it() {
    for (index, f) in sums().iter().enumerate() {
        let sampled = f.sampled().unwrap();
        let (n, size) = (sampled.samples(), f.layout().size());
        let x = noise(size, 9);
        let mut work = vec![f64::NAN; f.work_len()];
        let (mut whole, mut all, mut part) = (vec![0.0; size], vec![9.0; size], vec![9.0; size]);
        f.value_grad(&mut whole, &x, &mut work);
        sampled.batch_grad(&mut all, &x, &(0..n).collect::<Vec<_>>(), &mut work);
        let mut mean = vec![0.0; size];
        for i in 0..n {
            sampled.batch_grad(&mut part, &x, &[i, i], &mut work);
            mean.iter_mut().zip(&part).for_each(|(m, p)| *m += p / n as f64);
        }
        for ((w, a), m) in whole.iter().zip(&all).zip(&mean) {
            assert!((w - a).abs() < 1e-11 && (w - m).abs() < 1e-11, "{index}: {w} {a} {m}");
        }
    }
}

const BOTH: [Momentum; 2] = [Momentum::HeavyBall, Momentum::Storm];

#[test]
fn a_resumed_run_is_the_same_run() {
    let problem = problem();
    for momentum in BOTH {
        for ball in [None, Some(3.0)] {
            let rule = Rule { ball, ..rule(momentum, None, 5) };
            let mut whole = start(&problem, rule);
            whole.by_ref().take(12).for_each(drop);
            let state = whole.save();
            let mut resumed = start(&problem, rule);
            resumed.restore(&state).unwrap();
            let ahead: Vec<_> = whole.by_ref().take(20).collect();
            assert_eq!(ahead, resumed.by_ref().take(20).collect::<Vec<_>>());
            assert_eq!(whole.x(), resumed.x());
            let mut other = start(&problem, Rule { seed: 6, ..rule });
            other.by_ref().take(32).for_each(drop);
            assert_ne!(whole.x(), other.x());
        }
    }
}

/// Where all parts are the same, a batch's gradient is the gradient: the steps are the catalogue's `melmo`.
#[test]
fn without_noise_it_is_melmo() {
    let row: Vec<f64> = Seeded::new(4).normals(COLS);
    let f = LeastSquares::new(Box::new(Dense::new(row.repeat(16), 16, COLS).unwrap()), vec![1.5; 16]).unwrap();
    let layout = f.layout().clone();
    let problem = Problem::new(f, Entrywise::new(Mcp::new(0.3, 2.0).unwrap(), COLS), Identity::new(layout)).unwrap();
    let geometry = || for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap();
    let power = Power::balanced(problem.default_beta());
    let schedule = Averaging { power, alpha: 1.0, a: 0.0, horizon: None };
    let rule = Rule { schedule, ..rule(Momentum::HeavyBall, None, 1) };
    let mut stochastic = Stochastic::new(&problem, geometry(), rule, &[1.0; COLS]).unwrap();
    let mut melmo = Melmo::new(&problem, geometry(), power, &[1.0; COLS]).unwrap();
    stochastic.by_ref().take(50).for_each(drop);
    melmo.by_ref().take(50).for_each(drop);
    let [melmo, stochastic] = [melmo.x(), stochastic.x()];
    assert!(melmo.iter().zip(&stochastic).all(|(a, b)| (a - b).abs() < 1e-12), "{melmo:?} {stochastic:?}");
}

/// The mean of ‖∇F_β(x_k)‖_* over a run of K steps, over eight seeds: what Theorem 10 bounds.
fn mean_dual_norm(problem: &Problem<f64>, momentum: Momentum, steps: u64) -> f64 {
    let mut total = 0.0;
    for seed in 1..=8 {
        let mut solver = start(problem, rule(momentum, Some(steps), seed));
        let mut sum = 0.0;
        for k in 1..=steps {
            solver.next().unwrap();
            sum += if k % 4 == 0 { 4.0 * solver.exact_dual_norm() } else { 0.0 };
        }
        total += sum / steps as f64 / 8.0;
    }
    total
}

#[test]
fn the_mean_dual_norm_falls_at_the_proven_rate() {
    let problem = problem();
    for (momentum, rate) in [(Momentum::HeavyBall, 0.25), (Momentum::Storm, 1.0 / 3.0)] {
        let found = [64, 512, 4096].map(|steps| mean_dual_norm(&problem, momentum, steps));
        let slope = (found[2] / found[0]).ln() / 64f64.ln();
        println!("{momentum:?}: {found:?}, K^{slope:.3}");
        assert!(slope < -rate + 0.04, "{momentum:?}: {found:?}, K^{slope:.3}");
    }
}

#[test]
fn points_stay_in_the_ball_and_the_gap_falls() {
    let problem = problem();
    for momentum in BOTH {
        let mut solver = start(&problem, Rule { ball: Some(3.0), ..rule(momentum, None, 2) });
        assert!(start(&problem, rule(momentum, None, 2)).frank_wolfe_gap().is_none());
        solver.next().unwrap();
        let first = solver.frank_wolfe_gap().unwrap();
        for _ in 0..3000 {
            solver.next().unwrap();
            assert!(melmo::vector::norm2(&solver.x()) <= 3.0 + 1e-9);
        }
        let last = solver.frank_wolfe_gap().unwrap();
        assert!((0.0..0.05 * first).contains(&last), "{momentum:?}: {first} {last}");
    }
}

#[test]
fn the_certificate_is_that_of_a_full_pass() {
    let problem = problem();
    let mut solver = start(&problem, rule(Momentum::HeavyBall, None, 7));
    let report = run(&mut solver, &Options::new(Stop::after(2000)), &mut []);
    let certificate = report.certificate.unwrap();
    let (mut phi, mut work) = (vec![0.0; COLS], vec![0.0; problem.work_len()]);
    problem.smoothed_gradient(&mut phi, &report.x, certificate.beta, &mut work);
    let exact = melmo::vector::norm2(&phi);
    let bracket = certificate.dual_norm;
    assert!(bracket.lower <= exact && exact <= bracket.upper && exact < 0.3, "{bracket:?} {exact}");
}

/// Logistic regression of 3000 rows, with weights and offsets, after some steps.
fn classified() -> Problem<f64> {
    let (rows, cols) = (3000, 5);
    let mut seeded = Seeded::new(8);
    let a: Vec<f64> = seeded.normals(rows * cols);
    let labels = a.chunks(cols).map(|row| if row[0] - row[1] + seeded.normal() > 0.0 { 1.0 } else { -1.0 }).collect();
    let offsets = (0..rows).map(|i| 0.1 * (i % 7) as f64).collect();
    let weights = (0..rows).map(|i| (1.0 + (i % 3) as f64) / rows as f64).collect();
    let f = Logistic::new(Box::new(Dense::design(a, rows, cols).unwrap()), labels).unwrap();
    let f = f.weighted(weights).unwrap().shifted(offsets).unwrap();
    let layout = f.layout().clone();
    Problem::new(f, Entrywise::new(L1::new(1e-3).unwrap(), cols), Identity::new(layout)).unwrap()
}

/// Proposition 11, simulated: the bracket of a sample holds the dual norm of the full pass at least as often as it says, narrows as it should, and a
/// run does not notice that somebody looked.
#[test]
fn a_sample_s_bracket_holds_what_a_full_pass_finds() {
    let problem = classified();
    for norm in [Norm::L2, Norm::Linf] {
        let geometry = || for_layout(norm, problem.layout(), Oracle::Auto).unwrap();
        let new = || Stochastic::new(&problem, geometry(), rule(Momentum::HeavyBall, None, 5), &[0.5; 5]).unwrap();
        let (mut solver, mut alone) = (new(), new());
        for run in [&mut solver, &mut alone] {
            run.by_ref().take(40).for_each(drop);
        }
        let exact = solver.exact_dual_norm();
        let (mut held, mut errors) = (0, 0.0);
        for seed in 0..200 {
            let found = solver.sampled_dual_norm(400, 0.8, seed).unwrap();
            held += u32::from(found.dual_norm.lower <= exact && exact <= found.dual_norm.upper);
            errors += (found.mean - exact).abs() / 200.0;
            assert!(found.deviation > 0.0 && found.parts == 400 && found.confidence == 0.8);
        }
        assert!(held >= 160, "{norm:?}: {held} of 200");
        let [small, large] = [400, 40_000].map(|parts| solver.sampled_dual_norm(parts, 0.8, 1).unwrap());
        println!(
            "{norm:?}: held {held} of 200; error {:.3}, mean error {errors:.4}; {:.4} of 40000",
            small.error, large.error
        );
        // Not vacuous: below the deviation's own share twice over where n is large, and 1/√n.
        assert!(
            large.error < 0.15 * small.error && large.error < 2.5 * large.deviation * (2.0 * 15f64.ln() / 4e4).sqrt()
        );
        assert_eq!(solver.by_ref().take(10).collect::<Vec<_>>(), alone.by_ref().take(10).collect::<Vec<_>>());
    }
}

/// The bound that the estimate's error is stated with: no part's gradient is longer, for every loss that knows one.
#[test]
fn no_part_has_a_longer_gradient_than_its_bound() {
    let mut knew = 0;
    for f in sums() {
        let (sampled, x) = (f.sampled().unwrap(), noise(f.layout().size(), 9));
        let Some(bound) = sampled.part_bound(&x) else { continue };
        knew += 1;
        let (mut part, mut work) = (vec![0.0; x.len()], vec![f64::NAN; f.work_len()]);
        let longest = (0..sampled.samples()).map(|i| {
            sampled.batch_grad(&mut part, &x, &[i], &mut work);
            melmo::vector::norm2(&part)
        });
        let longest = longest.fold(0.0, f64::max);
        assert!(longest <= bound * (1.0 + 1e-12) && bound < 100.0 * longest, "{longest} {bound}");
    }
    assert_eq!(knew, 3);
}

#[test]
fn what_cannot_be_is_refused() {
    let problem = problem();
    let geometry = || for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap();
    let refused = |rule: Rule| Stochastic::new(&problem, geometry(), rule, &[0.0; COLS]).err().unwrap();
    let good = rule(Momentum::Storm, None, 1);
    for batch in [0, ROWS + 1] {
        assert!(matches!(refused(Rule { batch, ..good }), Error::Parameter { name: "batch", .. }));
    }
    assert!(matches!(refused(Rule { ball: Some(-1.0), ..good }), Error::Parameter { name: "ball", .. }));
    let schedule = Averaging { alpha: 1.5, ..good.schedule };
    assert!(matches!(refused(Rule { schedule, ..good }), Error::Parameter { name: "alpha", .. }));
    let mut run = start(&problem, good);
    run.next();
    assert!(matches!(run.sampled_dual_norm(1, 0.9, 1), Err(Error::Parameter { name: "parts", .. })));
    assert!(matches!(run.sampled_dual_norm(9, 1.0, 1), Err(Error::Parameter { name: "confidence", .. })));
    // The differences of an image are no matrix with rows to draw from.
    let labels = vec![1.0; 24];
    let f = Logistic::new(Box::new(Difference2d::new(3, 4).unwrap()), labels).unwrap();
    let layout = f.layout().clone();
    let other = Problem::new(f, Entrywise::new(L1::new(0.1).unwrap(), 12), Identity::new(layout.clone())).unwrap();
    let geometry = for_layout(Norm::L2, &layout, Oracle::Auto).unwrap();
    assert!(matches!(Stochastic::new(&other, geometry, good, &[0.0; 12]), Err(Error::Unsupported(_))));
}
