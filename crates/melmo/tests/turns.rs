//! Low rank plus sparse by turns.

use std::sync::atomic::{AtomicUsize, Ordering};

use melmo::block::Layout;
use melmo::certificate::Certificate;
use melmo::drive::{Options, Stop, run};
use melmo::operator::Identity;
use melmo::penalty::{Blocks, Entrywise, L1, Mcp, Prox, Spectral};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::report::Report;
use melmo::seeded::Seeded;
use melmo::smooth::{RobustPca, Smooth};
use melmo::solver::{ProximalGradient, Solver, Turns};

const SIZE: (usize, usize) = (30, 70);

/// Rank two, one entry in twenty off by up to 5, noise of 0.1; and perhaps an entry in seven missing.
fn data<S: Real>() -> Vec<S> {
    let (rows, cols) = SIZE;
    let mut seeded = Seeded::new(8);
    let (a, b): (Vec<f64>, Vec<f64>) = (seeded.normals(2 * rows), seeded.normals(2 * cols));
    let entry = |at: usize| {
        let (i, j) = (at / cols, at % cols);
        let outlier = if seeded.uniform() < 0.05 { 10.0 * seeded.uniform() - 5.0 } else { 0.0 };
        S::of(a[2 * i] * b[2 * j] + a[2 * i + 1] * b[2 * j + 1] + outlier + 0.1 * seeded.normal())
    };
    (0..rows * cols).map(entry).collect()
}

fn with<S: Real>(low_rank: Box<dyn Prox<S>>, sparse: Box<dyn Prox<S>>, missing: bool) -> Problem<S> {
    let (rows, cols) = SIZE;
    let mask = missing.then(|| (0..rows * cols).map(|at| S::of(f64::from(at % 7 != 3))).collect());
    let f = RobustPca::new(data::<S>(), rows, cols, mask).unwrap();
    let layout = f.layout().clone();
    let g = Blocks::new(&layout, vec![("L", 1.0, low_rank), ("S", 1.0, sparse)]).unwrap();
    Problem::new(f, g, Identity::new(layout)).unwrap()
}

fn matrix() -> Layout {
    Layout::matrix(SIZE.0, SIZE.1).unwrap()
}

fn mcp<S: Real>(missing: bool) -> Problem<S> {
    let low_rank = Spectral::new(Mcp::new(2.5, 3.0).unwrap(), &matrix()).unwrap();
    with(Box::new(low_rank), Box::new(Entrywise::new(Mcp::new(0.3, 3.0).unwrap(), SIZE.0 * SIZE.1)), missing)
}

fn convex<S: Real>(missing: bool) -> Problem<S> {
    let low_rank = Spectral::new(L1::new(2.5).unwrap(), &matrix()).unwrap();
    with(Box::new(low_rank), Box::new(Entrywise::new(L1::new(0.3).unwrap(), SIZE.0 * SIZE.1)), missing)
}

fn ended<S: Real>(solver: &mut dyn Solver<S>, steps: u64) -> Report<S> {
    run(solver, &Options::new(Stop::after(steps).at_tolerance(if S::EPSILON > 1e-10 { 1e-5 } else { 1e-8 })), &mut [])
}

fn settles_and_verifies<S: Real>(problem: &Problem<S>) -> Report<S> {
    let start = vec![S::ZERO; problem.layout().size()];
    let report = ended(&mut *Box::new(Turns::new(problem, &start).unwrap()), 2000);
    assert_eq!(report.status.name(), "settled");
    let certificate = report.certificate.as_ref().unwrap();
    let verified = certificate.verify(problem, &report.x, Certificate::<S>::default_tolerance()).unwrap();
    assert!(verified.passed(), "{verified:?}");
    report
}

#[test]
fn the_least_there_is_where_all_is_convex() {
    for missing in [false, true] {
        let problem = convex::<f64>(missing);
        let report = settles_and_verifies(&problem);
        let start = vec![0.0; report.x.len()];
        let known = ended(&mut ProximalGradient::new(&problem, true, &start).unwrap(), 20_000);
        let apart = (report.objective - known.objective).abs();
        assert!(apart <= 1e-8 * known.objective, "{} and {}", report.objective, known.objective);
        settles_and_verifies(&convex::<f32>(missing));
    }
}

#[test]
fn f_falls_with_every_step() {
    for missing in [false, true] {
        let problem = mcp::<f64>(missing);
        let mut solver = Turns::new(&problem, &vec![0.0; problem.layout().size()]).unwrap();
        let mut last = f64::INFINITY;
        for k in 1..40 {
            let info = solver.next().unwrap();
            let (value, exact) = (problem.objective(&solver.x()), solver.exact_dual_norm());
            assert!(value <= last * (1.0 + 1e-12), "step {k}: {value} after {last}");
            assert!((solver.objective() - value).abs() <= 1e-10 * value);
            assert!(info.objective.is_none_or(|told| (told - value).abs() <= 1e-10 * value), "step {k}");
            if k > 1 {
                assert!((info.dual_norm.upper - exact).abs() <= 1e-9 * (1.0 + exact), "{info:?} {exact}");
            }
            last = value;
        }
        settles_and_verifies(&problem);
        settles_and_verifies(&mcp::<f32>(missing));
    }
}

#[test]
fn a_run_that_is_taken_up_again_is_the_same_one() {
    let problem = mcp::<f64>(true);
    let start = vec![0.0; problem.layout().size()];
    let mut solver = Turns::new(&problem, &start).unwrap();
    (0..5).for_each(|_| assert!(solver.next().unwrap().finite));
    let state = solver.save();
    let mut other = Turns::new(&problem, &start).unwrap();
    other.restore(&state).unwrap();
    for _ in 0..3 {
        assert_eq!(format!("{:?}", solver.next()), format!("{:?}", other.next()));
    }
    assert_eq!(solver.x(), other.x());
}

/// Singular values, as long as there are calls left.
struct GivesUp {
    g: Spectral<Mcp, f64>,
    calls: AtomicUsize,
}

impl Prox<f64> for GivesUp {
    fn size(&self) -> usize {
        Prox::<f64>::size(&self.g)
    }

    fn weak_convexity(&self) -> f64 {
        self.g.weak_convexity()
    }

    fn lipschitz(&self) -> Option<f64> {
        self.g.lipschitz()
    }

    fn work_len(&self) -> usize {
        self.g.work_len()
    }

    fn value(&self, u: &[f64], work: &mut [f64]) -> f64 {
        self.g.value(u, work)
    }

    fn prox(&self, z: &mut [f64], u: &[f64], beta: f64, work: &mut [f64]) -> f64 {
        match self.calls.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)) {
            Ok(_) => self.g.prox(z, u, beta, work),
            Err(_) => {
                z.fill(f64::NAN);
                f64::NAN
            }
        }
    }

    fn subgradient(&self, v: &mut [f64], u: &[f64], work: &mut [f64]) -> f64 {
        self.g.subgradient(v, u, work)
    }
}

#[test]
fn a_step_that_leads_nowhere_leaves_everything_as_it_was() {
    let g = Spectral::new(Mcp::new(2.5, 3.0).unwrap(), &matrix()).unwrap();
    let low_rank = GivesUp { g, calls: AtomicUsize::new(4) };
    let sparse = Entrywise::new(Mcp::new(0.3, 3.0).unwrap(), SIZE.0 * SIZE.1);
    let problem = with(Box::new(low_rank), Box::new(sparse), false);
    let mut solver = Turns::new(&problem, &vec![0.0; problem.layout().size()]).unwrap();
    (0..4).for_each(|_| assert!(solver.next().unwrap().finite));
    let (state, exact) = (solver.save(), solver.exact_dual_norm());
    assert!(solver.whole_steps() && !solver.next().unwrap().finite && solver.next().is_none());
    assert_eq!((solver.save(), solver.exact_dual_norm()), (state, exact));
}

#[test]
fn what_turns_cannot_solve_is_refused() {
    let steep = Spectral::new(Mcp::new(2.5, 0.9).unwrap(), &matrix()).unwrap();
    let entries = || Box::new(Entrywise::new(L1::new(0.3).unwrap(), SIZE.0 * SIZE.1));
    let values = || Box::new(Spectral::new(L1::new(2.5).unwrap(), &matrix()).unwrap());
    let steep: Problem<f64> = with(Box::new(steep), entries(), false);
    let twice: Problem<f64> = with(values(), values(), false);
    for (problem, needs) in [(steep, "ρ < 1"), (twice, "entries of S")] {
        let Err(error) = Turns::new(&problem, &vec![0.0; problem.layout().size()]) else { panic!("{needs}") };
        assert!(error.to_string().contains(needs), "{error}");
    }
}
